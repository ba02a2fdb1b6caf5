// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37
// RUN: norm-compile %s --target=oracle -o %t.rmsn
// RUN: %python %S/Inputs/rope_pairs.py %t.rmsn %source %libdir/librmsnorm_runtime.so | FileCheck %s --check-prefix=FORMULA
// FORMULA-COUNT-3: {{: 0 of 3072 wrong$}}

// Pairs as exporters write them: the columns of a head as [64, 2], of which one
// and the other are rotated, stacked and put together again.
// CHECK-LABEL: func.func @pairs(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns [64, 2]
// CHECK: tile_load tile %{{.*}} : memref<?x8x128xbf16
// CHECK: tile_load column
// CHECK: rmsnorm.take
// CHECK-COUNT-2: tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x64xf32
// CHECK: rmsnorm.put
// CHECK: tile_store tile
func.func @pairs(%x: tensor<?x8x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x8x128xbf16>) {
  %ct = arith.constant 0 : index
  %tokens = tensor.dim %x, %ct : tensor<?x8x128xbf16>
  %v1 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%v1 : tensor<?x8x128xf32>) eps = 1.0e-05 -> tensor<?x8x128xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1], [2, 3]] output_shape [%tokens, 8, 64, 2] : tensor<?x8x128xf32> into tensor<?x8x64x2xf32>
  %v4 = tensor.extract_slice %v3[0, 0, 0, 0] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64x2xf32> to tensor<?x8x64xf32>
  %v5 = tensor.extract_slice %v3[0, 0, 0, 1] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64x2xf32> to tensor<?x8x64xf32>
  %v6 = tensor.empty(%tokens) : tensor<?x8x64xbf16>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v6 : tensor<?x8x64xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %d = arith.subf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %v8 = tensor.empty(%tokens) : tensor<?x8x64xbf16>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v8 : tensor<?x8x64xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %d = arith.addf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %v10 = tensor.empty(%tokens) : tensor<?x8x64x2xbf16>
  %v11 = tensor.insert_slice %v7 into %v10[0, 0, 0, 0] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x64x2xbf16>
  %v12 = tensor.insert_slice %v9 into %v11[0, 0, 0, 1] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x64x2xbf16>
  %v13 = tensor.collapse_shape %v12 [[0], [1], [2, 3]] : tensor<?x8x64x2xbf16> into tensor<?x8x128xbf16>
  return %v13 : tensor<?x8x128xbf16>
}

// Of the first half of the columns only.
// CHECK-LABEL: func.func @partial(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns [2, 32, 2]
// CHECK: tile_load tile %{{.*}} : memref<?x8x128xbf16
// CHECK: tile_load column
// CHECK-COUNT-2: tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x32xf32
// CHECK: tile_store tile
func.func @partial(%x: tensor<?x8x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> (tensor<?x8x128xbf16>) {
  %ct = arith.constant 0 : index
  %tokens = tensor.dim %x, %ct : tensor<?x8x128xbf16>
  %v1 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%v1 : tensor<?x8x128xf32>) eps = 1.0e-05 -> tensor<?x8x128xf32>
  %v3 = tensor.extract_slice %v2[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1], [2, 3]] output_shape [%tokens, 8, 32, 2] : tensor<?x8x64xf32> into tensor<?x8x32x2xf32>
  %v5 = tensor.extract_slice %v4[0, 0, 0, 0] [%tokens, 8, 32, 1] [1, 1, 1, 1] : tensor<?x8x32x2xf32> to tensor<?x8x32xf32>
  %v6 = tensor.extract_slice %v4[0, 0, 0, 1] [%tokens, 8, 32, 1] [1, 1, 1, 1] : tensor<?x8x32x2xf32> to tensor<?x8x32xf32>
  %v7 = tensor.empty(%tokens) : tensor<?x8x32xbf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v5, %v6, %cos, %sin : tensor<?x8x32xf32>, tensor<?x8x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%v7 : tensor<?x8x32xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %d = arith.subf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x32xbf16>
  %v9 = tensor.empty(%tokens) : tensor<?x8x32xbf16>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v5, %v6, %cos, %sin : tensor<?x8x32xf32>, tensor<?x8x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%v9 : tensor<?x8x32xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %d = arith.addf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x32xbf16>
  %v11 = tensor.empty(%tokens) : tensor<?x8x32x2xbf16>
  %v12 = tensor.insert_slice %v8 into %v11[0, 0, 0, 0] [%tokens, 8, 32, 1] [1, 1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x32x2xbf16>
  %v13 = tensor.insert_slice %v10 into %v12[0, 0, 0, 1] [%tokens, 8, 32, 1] [1, 1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x32x2xbf16>
  %v14 = tensor.collapse_shape %v13 [[0], [1], [2, 3]] : tensor<?x8x32x2xbf16> into tensor<?x8x64xbf16>
  %v15 = tensor.extract_slice %v2[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v16 = tensor.empty(%tokens) : tensor<?x8x64xbf16>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v15 : tensor<?x8x64xf32>) outs(%v16 : tensor<?x8x64xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %v18 = tensor.empty(%tokens) : tensor<?x8x128xbf16>
  %v19 = tensor.insert_slice %v14 into %v18[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %v20 = tensor.insert_slice %v17 into %v19[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  return %v20 : tensor<?x8x128xbf16>
}

// Written with the heads in front.
// CHECK-LABEL: func.func @transposed(
// CHECK: rmsnorm.rows
// CHECK: tile_load tile
// CHECK: tile_load column
// CHECK-COUNT-2: tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x64xf32
// CHECK: tile_store tile %{{.*}} memref<?x8x128xbf16, strided<[?, ?, 1]>>
func.func @transposed(%x: tensor<?x8x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<8x?x128xbf16>) {
  %ct = arith.constant 0 : index
  %tokens = tensor.dim %x, %ct : tensor<?x8x128xbf16>
  %v1 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%v1 : tensor<?x8x128xf32>) eps = 1.0e-05 -> tensor<?x8x128xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1], [2, 3]] output_shape [%tokens, 8, 64, 2] : tensor<?x8x128xf32> into tensor<?x8x64x2xf32>
  %v4 = tensor.extract_slice %v3[0, 0, 0, 0] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64x2xf32> to tensor<?x8x64xf32>
  %v5 = tensor.extract_slice %v3[0, 0, 0, 1] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64x2xf32> to tensor<?x8x64xf32>
  %v6 = tensor.empty(%tokens) : tensor<?x8x64xbf16>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v6 : tensor<?x8x64xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %d = arith.subf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %v8 = tensor.empty(%tokens) : tensor<?x8x64xbf16>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v8 : tensor<?x8x64xbf16>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: bf16):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %d = arith.addf %p, %q : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %v10 = tensor.empty(%tokens) : tensor<?x8x64x2xbf16>
  %v11 = tensor.insert_slice %v7 into %v10[0, 0, 0, 0] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x64x2xbf16>
  %v12 = tensor.insert_slice %v9 into %v11[0, 0, 0, 1] [%tokens, 8, 64, 1] [1, 1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x64x2xbf16>
  %v13 = tensor.collapse_shape %v12 [[0], [1], [2, 3]] : tensor<?x8x64x2xbf16> into tensor<?x8x128xbf16>
  %v14 = tensor.empty(%tokens) : tensor<8x?x128xbf16>
  %v15 = linalg.transpose ins(%v13 : tensor<?x8x128xbf16>) outs(%v14 : tensor<8x?x128xbf16>) permutation = [1, 0, 2]
  return %v15 : tensor<8x?x128xbf16>
}

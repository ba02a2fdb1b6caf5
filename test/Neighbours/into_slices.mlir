// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

// Heads in packed qkv are normed where they are.
// CHECK-LABEL: func.func @same_slice(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns(128)
// CHECK: tile_load tile
// CHECK: tile_store tile
func.func @same_slice(%qkv: tensor<?x12x128xbf16>) -> (tensor<?x12x128xbf16>) {
  %ct = arith.constant 0 : index
  %tokens = tensor.dim %qkv, %ct : tensor<?x12x128xbf16>
  %v1 = tensor.extract_slice %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x12x128xbf16> to tensor<?x8x128xbf16>
  %v2 = tensor.empty(%tokens) : tensor<?x8x128xbf16>
  %v3 = rmsnorm.forward input(%v1 : tensor<?x8x128xbf16>) output(%v2 : tensor<?x8x128xbf16>) eps = 1.0e-05 -> tensor<?x8x128xbf16>
  %v4 = tensor.insert_slice %v3 into %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x8x128xbf16> into tensor<?x12x128xbf16>
  return %v4 : tensor<?x12x128xbf16>
}

// And rotated, halves put together before they are rounded.
// CHECK-LABEL: func.func @rotated(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns [2, 64]
// CHECK-COUNT-3: tile_load tile
// CHECK: tile_store tile
func.func @rotated(%qkv: tensor<?x12x128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x12x128xbf16>) {
  %ct = arith.constant 0 : index
  %tokens = tensor.dim %qkv, %ct : tensor<?x12x128xbf16>
  %v1 = tensor.extract_slice %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x12x128xbf16> to tensor<?x8x128xbf16>
  %v2 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v3 = rmsnorm.forward input(%v1 : tensor<?x8x128xbf16>) output(%v2 : tensor<?x8x128xf32>) eps = 1.0e-05 -> tensor<?x8x128xf32>
  %v4 = tensor.extract_slice %v3[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v5 = tensor.extract_slice %v3[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v6 = tensor.empty(%tokens) : tensor<?x8x64xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v6 : tensor<?x8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x8x64xf32>
  %v8 = tensor.empty(%tokens) : tensor<?x8x64xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v8 : tensor<?x8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x8x64xf32>
  %v10 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v11 = tensor.insert_slice %v7 into %v10[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v12 = tensor.insert_slice %v9 into %v11[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v13 = tensor.empty(%tokens) : tensor<?x8x128xbf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12 : tensor<?x8x128xf32>) outs(%v13 : tensor<?x8x128xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x128xbf16>
  %v15 = tensor.insert_slice %v14 into %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x8x128xbf16> into tensor<?x12x128xbf16>
  return %v15 : tensor<?x12x128xbf16>
}

// The second half of the rows of somebody's buffer, in its type.
// CHECK-LABEL: func.func @half(
// CHECK: %[[HALF:.*]] = memref.subview %{{.*}}[0, 256]
// CHECK: rmsnorm.rows {{.*}} write %[[HALF]]
// CHECK: tile_load tile
// CHECK: tile_store tile {{.*}} vector<1x256xf8E4M3FN>
func.func @half(%x: tensor<?x256xbf16>, %dest: tensor<?x512xf8E4M3FN>) -> (tensor<?x512xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %v1 = tensor.empty(%rows) : tensor<?x256xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%v1 : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %v3 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2 : tensor<?x256xf32>) outs(%v3 : tensor<?x256xf8E4M3FN>) {
  ^bb0(%a0: f32, %o: f8E4M3FN):
    %r = arith.truncf %a0 : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x256xf8E4M3FN>
  %v5 = tensor.insert_slice %v4 into %dest[0, 256] [%rows, 256] [1, 1] : tensor<?x256xf8E4M3FN> into tensor<?x512xf8E4M3FN>
  return %v5 : tensor<?x512xf8E4M3FN>
}

// Both of q and k: their slices share nothing, whenever they are read.
// CHECK-LABEL: func.func @q_and_k(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns [2, 64]
// CHECK: tile_load tile
// CHECK: tile_load column
// CHECK-COUNT-2: tile_load tile
// CHECK: tile_store tile
// CHECK: rmsnorm.rows sizes [%{{.*}}, 2] columns [2, 64]
// CHECK: tile_load tile
// CHECK: tile_load column
// CHECK-COUNT-2: tile_load tile
// CHECK: tile_store tile
func.func @q_and_k(%qkv: tensor<?x12x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x12x128xbf16>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %qkv, %c0 : tensor<?x12x128xbf16>
  %v1 = tensor.extract_slice %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x12x128xbf16> to tensor<?x8x128xbf16>
  %v2 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v3 = rmsnorm.forward input(%v1 : tensor<?x8x128xbf16>) weight(%wq : tensor<128xbf16>) output(%v2 : tensor<?x8x128xf32>) eps = 1.0e-05 -> tensor<?x8x128xf32>
  %v4 = tensor.extract_slice %v3[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v5 = tensor.extract_slice %v3[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v6 = tensor.empty(%tokens) : tensor<?x8x64xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v6 : tensor<?x8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x8x64xf32>
  %v8 = tensor.empty(%tokens) : tensor<?x8x64xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v5, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v8 : tensor<?x8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x8x64xf32>
  %v10 = tensor.empty(%tokens) : tensor<?x8x128xf32>
  %v11 = tensor.insert_slice %v7 into %v10[0, 0, 0] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v12 = tensor.insert_slice %v9 into %v11[0, 0, 64] [%tokens, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v13 = tensor.empty(%tokens) : tensor<?x8x128xbf16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12 : tensor<?x8x128xf32>) outs(%v13 : tensor<?x8x128xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x128xbf16>
  %v15 = tensor.insert_slice %v14 into %qkv[0, 0, 0] [%tokens, 8, 128] [1, 1, 1] : tensor<?x8x128xbf16> into tensor<?x12x128xbf16>
  %v16 = tensor.extract_slice %qkv[0, 8, 0] [%tokens, 2, 128] [1, 1, 1] : tensor<?x12x128xbf16> to tensor<?x2x128xbf16>
  %v17 = tensor.empty(%tokens) : tensor<?x2x128xf32>
  %v18 = rmsnorm.forward input(%v16 : tensor<?x2x128xbf16>) weight(%wk : tensor<128xbf16>) output(%v17 : tensor<?x2x128xf32>) eps = 1.0e-05 -> tensor<?x2x128xf32>
  %v19 = tensor.extract_slice %v18[0, 0, 0] [%tokens, 2, 64] [1, 1, 1] : tensor<?x2x128xf32> to tensor<?x2x64xf32>
  %v20 = tensor.extract_slice %v18[0, 0, 64] [%tokens, 2, 64] [1, 1, 1] : tensor<?x2x128xf32> to tensor<?x2x64xf32>
  %v21 = tensor.empty(%tokens) : tensor<?x2x64xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v19, %v20, %cos, %sin : tensor<?x2x64xf32>, tensor<?x2x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v21 : tensor<?x2x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a0, %a2 : f32
    %q = arith.mulf %a1, %a3 : f32
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x2x64xf32>
  %v23 = tensor.empty(%tokens) : tensor<?x2x64xf32>
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v19, %v20, %cos, %sin : tensor<?x2x64xf32>, tensor<?x2x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v23 : tensor<?x2x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %o: f32):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a0, %a3 : f32
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x2x64xf32>
  %v25 = tensor.empty(%tokens) : tensor<?x2x128xf32>
  %v26 = tensor.insert_slice %v22 into %v25[0, 0, 0] [%tokens, 2, 64] [1, 1, 1] : tensor<?x2x64xf32> into tensor<?x2x128xf32>
  %v27 = tensor.insert_slice %v24 into %v26[0, 0, 64] [%tokens, 2, 64] [1, 1, 1] : tensor<?x2x64xf32> into tensor<?x2x128xf32>
  %v28 = tensor.empty(%tokens) : tensor<?x2x128xbf16>
  %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v27 : tensor<?x2x128xf32>) outs(%v28 : tensor<?x2x128xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x2x128xbf16>
  %v30 = tensor.insert_slice %v29 into %v15[0, 8, 0] [%tokens, 2, 128] [1, 1, 1] : tensor<?x2x128xbf16> into tensor<?x12x128xbf16>
  return %v30 : tensor<?x12x128xbf16>
}

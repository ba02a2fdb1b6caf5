// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

// Mamba's norm as models write it: a gate on whole rows, a norm of their groups,
// a weight of whole rows.
// CHECK-LABEL: func.func @gate_first(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 2] columns(128)
// CHECK-COUNT-2: tile_load tile %{{.*}} : memref<?x?x2x128xbf16
// CHECK: tile_load tile %{{.*}} map(r0, r1, r2, c) -> (r2, c) : memref<2x128xbf16
// CHECK: tile_store tile %{{.*}} : vector<1x128xbf16>, memref<?x?x2x128xbf16
func.func @gate_first(%x: tensor<?x?x256xbf16>, %z: tensor<?x?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x?x256xbf16>) {
  %cb = arith.constant 0 : index
  %batch = tensor.dim %x, %cb : tensor<?x?x256xbf16>
  %ct = arith.constant 1 : index
  %tokens = tensor.dim %x, %ct : tensor<?x?x256xbf16>
  %v1 = tensor.empty(%batch, %tokens) : tensor<?x?x256xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %z : tensor<?x?x256xbf16>, tensor<?x?x256xbf16>) outs(%v1 : tensor<?x?x256xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %w0 = arith.extf %a0 : bf16 to f32
    %w1 = arith.extf %a1 : bf16 to f32
    %r = arith.mulf %w0, %w1 : f32
    linalg.yield %r : f32
  } -> tensor<?x?x256xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1], [2, 3]] output_shape [%batch, %tokens, 2, 128] : tensor<?x?x256xf32> into tensor<?x?x2x128xf32>
  %v4 = tensor.empty(%batch, %tokens) : tensor<?x?x2x128xf32>
  %v5 = rmsnorm.forward input(%v3 : tensor<?x?x2x128xf32>) output(%v4 : tensor<?x?x2x128xf32>) eps = 1.0e-05 -> tensor<?x?x2x128xf32>
  %v6 = tensor.collapse_shape %v5 [[0], [1], [2, 3]] : tensor<?x?x2x128xf32> into tensor<?x?x256xf32>
  %v7 = tensor.empty(%batch, %tokens) : tensor<?x?x256xbf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6, %w : tensor<?x?x256xf32>, tensor<256xbf16>) outs(%v7 : tensor<?x?x256xbf16>) {
  ^bb0(%a0: f32, %a1: bf16, %o: bf16):
    %w2 = arith.extf %a1 : bf16 to f32
    %p2 = arith.mulf %a0, %w2 : f32
    %r = arith.truncf %p2 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x?x256xbf16>
  return %v8 : tensor<?x?x256xbf16>
}

// CHECK-LABEL: func.func @gate_behind(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 2] columns(128)
// CHECK-COUNT-2: tile_load tile %{{.*}} : memref<?x2x128xbf16
// CHECK: tile_load tile %{{.*}} map(r0, r1, c) -> (r1, c) : memref<2x128xbf16
// CHECK: tile_store tile
func.func @gate_behind(%x: tensor<?x256xbf16>, %z: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %v1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 2, 128] : tensor<?x256xbf16> into tensor<?x2x128xbf16>
  %v2 = tensor.empty(%rows) : tensor<?x2x128xf32>
  %v3 = rmsnorm.forward input(%v1 : tensor<?x2x128xbf16>) output(%v2 : tensor<?x2x128xf32>) eps = 1.0e-05 -> tensor<?x2x128xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<?x2x128xf32> into tensor<?x256xf32>
  %v5 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v4, %z, %w : tensor<?x256xf32>, tensor<?x256xbf16>, tensor<256xbf16>) outs(%v5 : tensor<?x256xbf16>) {
  ^bb0(%a0: f32, %a1: bf16, %a2: bf16, %o: bf16):
    %w1 = arith.extf %a1 : bf16 to f32
    %w2 = arith.extf %a2 : bf16 to f32
    %p = arith.mulf %a0, %w1 : f32
    %p2 = arith.mulf %p, %w2 : f32
    %r = arith.truncf %p2 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x256xbf16>
  return %v6 : tensor<?x256xbf16>
}

// And fp8 with a scale a group.
// CHECK-LABEL: func.func @quantised(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 2] columns(128)
// CHECK-COUNT-2: tile_load tile %{{.*}} : memref<?x2x128xbf16
// CHECK: tile_load tile %{{.*}} map(r0, r1, c) -> (r1, c) : memref<2x128xbf16
// CHECK-DAG: tile_store row
// CHECK-DAG: tile_store tile {{.*}} vector<1x128xf8E4M3FN>
func.func @quantised(%x: tensor<?x256xbf16>, %z: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %v1 = tensor.empty(%rows) : tensor<?x256xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %z : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%v1 : tensor<?x256xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %w0 = arith.extf %a0 : bf16 to f32
    %w1 = arith.extf %a1 : bf16 to f32
    %ng = arith.negf %w1 : f32
    %ex = math.exp %ng : f32
    %one = arith.constant 1.0 : f32
    %d = arith.addf %ex, %one : f32
    %s = arith.divf %w1, %d : f32
    %r = arith.mulf %w0, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [%rows, 2, 128] : tensor<?x256xf32> into tensor<?x2x128xf32>
  %v4 = tensor.expand_shape %w [[0, 1]] output_shape [2, 128] : tensor<256xbf16> into tensor<2x128xbf16>
  %v5 = tensor.empty(%rows) : tensor<?x2x128xf32>
  %v6 = rmsnorm.forward input(%v3 : tensor<?x2x128xf32>) output(%v5 : tensor<?x2x128xf32>) eps = 1.0e-05 -> tensor<?x2x128xf32>
  %v7 = tensor.empty(%rows) : tensor<?x2x128xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6, %v4 : tensor<?x2x128xf32>, tensor<2x128xbf16>) outs(%v7 : tensor<?x2x128xf32>) {
  ^bb0(%a0: f32, %a1: bf16, %o: f32):
    %w1 = arith.extf %a1 : bf16 to f32
    %r = arith.mulf %a0, %w1 : f32
    linalg.yield %r : f32
  } -> tensor<?x2x128xf32>
  %v9 = tensor.collapse_shape %v8 [[0], [1, 2]] : tensor<?x2x128xf32> into tensor<?x256xf32>
  %v10 = tensor.expand_shape %v9 [[0], [1, 2]] output_shape [%rows, 2, 128] : tensor<?x256xf32> into tensor<?x2x128xf32>
  %v11 = tensor.empty(%rows) : tensor<?x2xf32>
  %v12 = arith.constant 0.0 : f32
  %v13 = linalg.fill ins(%v12 : f32) outs(%v11 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v10 : tensor<?x2x128xf32>) outs(%v13 : tensor<?x2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %s = math.absf %a0 : f32
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<?x2xf32>
  %v15 = tensor.empty(%rows) : tensor<?x2xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v14 : tensor<?x2xf32>) outs(%v15 : tensor<?x2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %k = arith.constant 448.0 : f32
    %fl = arith.constant 1.0e-10 : f32
    %d = arith.divf %a0, %k : f32
    %r = arith.maximumf %d, %fl : f32
    linalg.yield %r : f32
  } -> tensor<?x2xf32>
  %v17 = tensor.empty(%rows) : tensor<?x2x128xf8E4M3FN>
  %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v10, %v16 : tensor<?x2x128xf32>, tensor<?x2xf32>) outs(%v17 : tensor<?x2x128xf8E4M3FN>) {
  ^bb0(%a0: f32, %a1: f32, %o: f8E4M3FN):
    %q = arith.divf %a0, %a1 : f32
    %l = arith.constant -448.0 : f32
    %h = arith.constant 448.0 : f32
    %x1 = arith.maximumf %q, %l : f32
    %x2 = arith.minimumf %x1, %h : f32
    %r = arith.truncf %x2 : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x2x128xf8E4M3FN>
  %v19 = tensor.collapse_shape %v18 [[0], [1, 2]] : tensor<?x2x128xf8E4M3FN> into tensor<?x256xf8E4M3FN>
  return %v19, %v16 : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
}

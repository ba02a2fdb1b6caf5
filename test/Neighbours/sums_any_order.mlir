// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate|row_reduce}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=0,1,2,3,4,67,134,201,268 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=1
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0

// Sums over rows are what their results say, whichever loop stands first: JAX
// has the parallel ones there. Beside a sum over all rows one over rows that a
// reshape counts in one dimension.
// CHECK-LABEL: func.func @parallel_first(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns(256)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x256xf32> into memref<256xf32>
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x256xf32> into memref<256xf32>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last_first = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#first = affine_map<(d0, d1, d2) -> (d0)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>
#first2 = affine_map<(d0, d1) -> (d0)>
func.func @parallel_first(%x: tensor<?x3x256xbf16>, %dy: tensor<?x3x256xbf16>) -> (tensor<?x3x256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x3x256xbf16>
  %e = tensor.empty(%b) : tensor<?x3x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x3x256xbf16>) output(%e : tensor<?x3x256xf32>) eps = 1.0e-05 -> tensor<?x3x256xf32>
  %se = tensor.empty() : tensor<256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#last_first, #last_first, #first], iterator_types = ["parallel", "reduction", "reduction"]} ins(%dy, %y : tensor<?x3x256xbf16>, tensor<?x3x256xf32>) outs(%sf : tensor<256xf32>) {
  ^bb0(%d: bf16, %h: f32, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %p = arith.mulf %d32, %h : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %flat = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x3x256xf32> into tensor<?x256xf32>
  %t = linalg.generic {indexing_maps = [#swapped, #first2], iterator_types = ["parallel", "reduction"]} ins(%flat : tensor<?x256xf32>) outs(%sf : tensor<256xf32>) {
  ^bb0(%h: f32, %o: f32):
    %r = arith.addf %o, %h : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  return %y, %s, %t : tensor<?x3x256xf32>, tensor<256xf32>, tensor<256xf32>
}

// The same where each head has a sum of its own.
// CHECK-LABEL: func.func @heads(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] segments [1] columns(64)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32
#rows_last = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#head = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @heads(%x: tensor<?x4x64xbf16>) -> (tensor<?x4x64xf32>, tensor<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%t) : tensor<?x4x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xbf16>) output(%e : tensor<?x4x64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>
  %se = tensor.empty() : tensor<4x64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = linalg.generic {indexing_maps = [#rows_last, #head], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<?x4x64xf32>) outs(%sf : tensor<4x64xf32>) {
  ^bb0(%h: f32, %o: f32):
    %r = arith.addf %o, %h : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  return %y, %s : tensor<?x4x64xf32>, tensor<4x64xf32>
}

// Groups of a row are the rows of the norm, and a weight has an element for
// each column of the whole: what is summed up is split into groups, also what
// is added to.
// CHECK-LABEL: func.func @groups(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] segments [1] columns(64)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}}) map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32
func.func @groups(%x: tensor<?x256xbf16>, %dy: tensor<?x256xbf16>, %dw: tensor<256xf32>) -> (tensor<?x256xf32>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%t) : tensor<?x4x64xf32>
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [%t, 4, 64] : tensor<?x256xbf16> into tensor<?x4x64xbf16>
  %n = rmsnorm.forward input(%g : tensor<?x4x64xbf16>) output(%e : tensor<?x4x64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>
  %y = tensor.collapse_shape %n [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %s = linalg.generic {indexing_maps = [#swapped, #swapped, #first2], iterator_types = ["parallel", "reduction"]} ins(%dy, %y : tensor<?x256xbf16>, tensor<?x256xf32>) outs(%dw : tensor<256xf32>) {
  ^bb0(%d: bf16, %h: f32, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %p = arith.mulf %d32, %h : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  return %y, %s : tensor<?x256xf32>, tensor<256xf32>
}

// Each position has a sum, over the first and the last dimension of the rows: it
// is the first one then.
// CHECK-LABEL: func.func @positions(
// CHECK: memref.transpose %{{.*}} (d0, d1, d2, d3) -> (d1, d0, d2, d3)
// CHECK: rmsnorm.rows sizes [4, %{{.*}}, 3] segments [0] columns(64)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, r2, c) -> (r0, c)
#all4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#position = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
func.func @positions(%x: tensor<?x4x3x64xbf16>) -> (tensor<?x4x3x64xf32>, tensor<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x4x3x64xbf16>
  %e = tensor.empty(%b) : tensor<?x4x3x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x3x64xbf16>) output(%e : tensor<?x4x3x64xf32>) eps = 1.0e-05 -> tensor<?x4x3x64xf32>
  %se = tensor.empty() : tensor<4x64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = linalg.generic {indexing_maps = [#all4, #position], iterator_types = ["reduction", "parallel", "reduction", "parallel"]} ins(%y : tensor<?x4x3x64xf32>) outs(%sf : tensor<4x64xf32>) {
  ^bb0(%h: f32, %o: f32):
    %r = arith.addf %o, %h : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  return %y, %s : tensor<?x4x3x64xf32>, tensor<4x64xf32>
}

// A number of two dimensions, the last one first.
// CHECK-LABEL: func.func @numbers(
// CHECK: rmsnorm.rows sizes [3, %{{.*}}, 4] segments [0, 1] columns(64)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, r2, c) -> (r0, r1) : vector<1x1xf32> into memref<3x?xf32
#last_first4 = affine_map<(d0, d1, d2, d3) -> (d2, d0)>
func.func @numbers(%x: tensor<?x4x3x64xbf16>) -> (tensor<?x4x3x64xf32>, tensor<3x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x4x3x64xbf16>
  %e = tensor.empty(%b) : tensor<?x4x3x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x3x64xbf16>) output(%e : tensor<?x4x3x64xf32>) eps = 1.0e-05 -> tensor<?x4x3x64xf32>
  %se = tensor.empty(%b) : tensor<3x?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<3x?xf32>) -> tensor<3x?xf32>
  %s = linalg.generic {indexing_maps = [#all4, #last_first4], iterator_types = ["parallel", "reduction", "parallel", "reduction"]} ins(%y : tensor<?x4x3x64xf32>) outs(%sf : tensor<3x?xf32>) {
  ^bb0(%h: f32, %o: f32):
    %r = arith.addf %o, %h : f32
    linalg.yield %r : f32
  } -> tensor<3x?xf32>
  return %y, %s : tensor<?x4x3x64xf32>, tensor<3x?xf32>
}

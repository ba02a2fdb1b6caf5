// A value for each 3 columns beside one for each 6 of them, of rows that are
// taken apart: only the larger groups were looked at, and kernels took the value
// of another one.
// RUN: not norm-compile %s --target=sim:sm_90 -o %t.rmsn 2>&1 | FileCheck %s
// CHECK: groups_of_three.mlir:[[#@LINE+8]]:9: error: 'linalg.generic' op is in no kernel with what it uses or computes, which no argument holds: it divides columns into groups of 3, not of 2, 4, 8, ... 128
func.func @f(%x: tensor<?x96xf32>, %a: tensor<?x32xf32>, %b: tensor<16xf32>) -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e0 = tensor.empty(%m) : tensor<?x96xf32>
  %n = rmsnorm.forward input(%x : tensor<?x96xf32>) output(%e0 : tensor<?x96xf32>) eps = 1.0e-03 -> tensor<?x96xf32>
  %p0 = tensor.expand_shape %n [[0], [1, 2]] output_shape [%m, 32, 3] : tensor<?x96xf32> into tensor<?x32x3xf32>
  %pe = tensor.empty(%m) : tensor<?x32x3xf32>
  %p1 = linalg.generic {indexing_maps = [affine_map<(r, g, j) -> (r, g, j)>, affine_map<(r, g, j) -> (r, g)>, affine_map<(r, g, j) -> (r, g, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p0, %a : tensor<?x32x3xf32>, tensor<?x32xf32>) outs(%pe : tensor<?x32x3xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %r = arith.mulf %u, %v : f32
    linalg.yield %r : f32
  } -> tensor<?x32x3xf32>
  %p2 = tensor.collapse_shape %p1 [[0], [1, 2]] : tensor<?x32x3xf32> into tensor<?x96xf32>
  %q0 = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [%m, 16, 6] : tensor<?x96xf32> into tensor<?x16x6xf32>
  %qe = tensor.empty(%m) : tensor<?x16x6xf32>
  %q1 = linalg.generic {indexing_maps = [affine_map<(r, g, j) -> (r, g, j)>, affine_map<(r, g, j) -> (g)>, affine_map<(r, g, j) -> (r, g, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q0, %b : tensor<?x16x6xf32>, tensor<16xf32>) outs(%qe : tensor<?x16x6xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %r = arith.mulf %u, %v : f32
    linalg.yield %r : f32
  } -> tensor<?x16x6xf32>
  %q2 = tensor.collapse_shape %q1 [[0], [1, 2]] : tensor<?x16x6xf32> into tensor<?x96xf32>
  %t0 = tensor.expand_shape %q2 [[0], [1, 2, 3]] output_shape [%m, 4, 4, 6] : tensor<?x96xf32> into tensor<?x4x4x6xf32>
  %t1 = tensor.extract_slice %t0[0, 0, 3, 0] [%m, 4, 1, 6] [1, 1, 1, 1] : tensor<?x4x4x6xf32> to tensor<?x4x6xf32>
  %t2 = tensor.collapse_shape %t1 [[0], [1, 2]] : tensor<?x4x6xf32> into tensor<?x24xf32>
  return %t2 : tensor<?x24xf32>
}

// A dimension of one element after the groups of columns, transposed, reshaped or
// read: the groups lie side by side.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=5 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=5 | FileCheck %s
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=5 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=5 | FileCheck %s
// CHECK: {{^}}transposed {{.*}} ok
// CHECK: {{^}}expanded {{.*}} ok
// CHECK: {{^}}read {{.*}} ok
func.func @transposed(%x: tensor<?x1x256xf32>) -> (tensor<?x1x256xf32>, tensor<?x4x1xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1x256xf32>
  %e = tensor.empty(%m) : tensor<?x1x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1x256xf32>) output(%e : tensor<?x1x256xf32>) eps = 1.0e-05 -> tensor<?x1x256xf32>
  %g = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%m, 1, 4, 64] : tensor<?x1x256xf32> into tensor<?x1x4x64xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty(%m) : tensor<?x1x4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x1x4xf32>) -> tensor<?x1x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%g : tensor<?x1x4x64xf32>) outs(%i : tensor<?x1x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %q, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x1x4xf32>
  %k = arith.constant 448.0 : f32
  %es = tensor.empty(%m) : tensor<?x1x4xf32>
  %s2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<?x1x4xf32>) outs(%es : tensor<?x1x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %b = arith.divf %a, %k : f32
    linalg.yield %b : f32
  } -> tensor<?x1x4xf32>
  %e2 = tensor.empty(%m) : tensor<?x4x1xf32>
  %t = linalg.transpose ins(%s2 : tensor<?x1x4xf32>) outs(%e2 : tensor<?x4x1xf32>) permutation = [0, 2, 1]
  return %y, %t : tensor<?x1x256xf32>, tensor<?x4x1xf32>
}
func.func @expanded(%x: tensor<?x256xf32>) -> (tensor<?x256xf32>, tensor<?x4x1xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty(%m) : tensor<?x4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d2, d3) -> (d0, d2)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x4x64xf32>) outs(%i : tensor<?x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %q, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  %t = tensor.expand_shape %s [[0], [1, 2]] output_shape [%m, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  return %y, %t : tensor<?x256xf32>, tensor<?x4x1xf32>
}
func.func @read(%x: tensor<?x256xf32>, %s: tensor<?x4x1xf32>) -> (tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x4x64xf32>
  %sc = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(d0, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d2, d3) -> (d0, d2)>, affine_map<(d0, d2, d3) -> (d0, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %sc : tensor<?x4x64xf32>, tensor<?x4xf32>) outs(%e1 : tensor<?x4x64xf32>) {
  ^bb0(%a: f32, %q: f32, %o: f32):
    %b = arith.mulf %a, %q : f32
    linalg.yield %b : f32
  } -> tensor<?x4x64xf32>
  %h = tensor.collapse_shape %d [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%h : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

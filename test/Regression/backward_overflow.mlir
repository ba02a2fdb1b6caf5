// c was computed as rstd * sum(g * x), which is infinite where the op's own
// formula, sum(g * (x * rstd)), is an ordinary number.
// RUN: norm-compile %s --target=sim:sm_90 --target=sim:gfx942 --target=oracle --rows=5 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=5 | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=5 | FileCheck %s
// CHECK: recomputed {{.*}} ok

#id = affine_map<(d0, d1) -> (d0, d1)>

// Inputs are about 1 and made large here.
func.func @recomputed(%dy: tensor<?x256xf32>, %x: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %large_x = arith.constant 1.0e+16 : f32
  %large_dy = arith.constant 1.0e+23 : f32
  %xs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %large_x : f32
    linalg.yield %q : f32
  } -> tensor<?x256xf32>
  %dys = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%dy : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %large_dy : f32
    linalg.yield %q : f32
  } -> tensor<?x256xf32>
  %dx = rmsnorm.backward dy(%dys : tensor<?x256xf32>) input(%xs : tensor<?x256xf32>) dx(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  return %dx : tensor<?x256xf32>
}

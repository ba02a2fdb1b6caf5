// RUN: not norm-compile %s --target=sm_90 -o %t.rmsn 2>&1 | FileCheck %s
// RUN: not norm-compile %s --target=sim -o %t.rmsn 2>&1 | FileCheck %s
// RUN: not norm-compile %s --target=oracle -o %t.rmsn 2>&1 | FileCheck %s

// Kernels loaded f64 and computed in it, at a fraction of the speed, and no oracle checked what.
// CHECK: f64.mlir:[[#@LINE+10]]:{{.*}} error: 'arith.truncf' op expected f16, bf16, f32, {{.*}}, got 'f64'
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f64(%x: tensor<?x256xf32>, %z: tensor<?x256xf64>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  // Here.
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<?x256xf32>, tensor<?x256xf64>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f64, %o: f32):
    %t = arith.truncf %b : f64 to f32
    %r = arith.addf %t, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  return %q : tensor<?x256xf32>
}

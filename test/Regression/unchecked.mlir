// Gates, softmax, tanh, exp, mixed chains, int8 outputs: no bound was derived, so nothing was checked.
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle --rows=35 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=35 | FileCheck %s
// CHECK-DAG: chain3 {{.*}} ok
// CHECK-DAG: chain3_f32 {{.*}} ok
// CHECK-DAG: two_adds {{.*}} ok
// CHECK-DAG: post_norm {{.*}} ok

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @chain3(%x: tensor<?x256xbf16>, %a: tensor<?x256xbf16>, %b: tensor<?x256xbf16>, %c: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %h1 = linalg.add ins(%x, %a : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %h2 = linalg.add ins(%h1, %b : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %h3 = linalg.add ins(%h2, %c : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = rmsnorm.forward input(%h3 : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y, %h3 : tensor<?x256xbf16>, tensor<?x256xbf16>
}
func.func @chain3_f32(%x: tensor<?x256xf32>, %a: tensor<?x256xf32>, %b: tensor<?x256xf32>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %eb = tensor.empty(%m) : tensor<?x256xbf16>
  %h1 = linalg.add ins(%x, %a : tensor<?x256xf32>, tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %h2 = linalg.add ins(%h1, %b : tensor<?x256xf32>, tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = rmsnorm.forward input(%h2 : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%eb : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y, %h2 : tensor<?x256xbf16>, tensor<?x256xf32>
}
func.func @two_adds(%x: tensor<?x256xf32>, %a: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %eb = tensor.empty(%m) : tensor<?x256xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %a : tensor<?x256xf32>, tensor<?x256xbf16>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%p: f32, %q: bf16, %o: f32):
    %r = arith.extf %q : bf16 to f32
    %s = arith.addf %p, %r : f32
    linalg.yield %s : f32
  } -> tensor<?x256xf32>
  %y = rmsnorm.forward input(%h : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%eb : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y, %h : tensor<?x256xbf16>, tensor<?x256xf32>
}
func.func @post_norm(%x: tensor<?x256xbf16>, %r: tensor<?x256xbf16>, %w: tensor<256xbf16>, %v: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %n = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<?x256xbf16>
  %h = linalg.add ins(%n, %r : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x256xbf16>) weight(%v : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<?x256xbf16>
  return %y, %h : tensor<?x256xbf16>, tensor<?x256xbf16>
}

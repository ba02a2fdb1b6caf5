// A rotation whose halves are put together by tensor.concat is part of the
// kernel in a module, too.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="rmsnorm.rows sizes"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=5 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=5 | FileCheck %s --check-prefix=OK
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=5 | FileCheck %s --check-prefix=OK
// CHECK-LABEL: func.func @rotated(
// CHECK:         rmsnorm.rows sizes
// OK: rotated{{.*}}ok

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @rotated(%x: tensor<?x64xf32>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %n = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %a = tensor.extract_slice %n[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %n[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %minus = arith.negf %b : tensor<?x32xf32>
  %half = tensor.concat dim(1) %minus, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%n, %half, %cos, %sin : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%p: f32, %r: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %p, %c : f32
    %1 = arith.mulf %r, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

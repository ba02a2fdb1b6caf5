// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

#half = affine_map<(t, h, c) -> (t, h, c)>

// A section that goes elsewhere, of which a constant is the first operand: a
// thread holds all of them.
// CHECK-LABEL: func.func @moved(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 8, 4]
// CHECK-NOT: rmsnorm.rows
func.func @moved(%x: tensor<?x3x64xbf16>) -> tensor<?x3x32xbf16> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<?x3x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x3x64xbf16>) output(%e : tensor<?x3x64xbf16>) eps = 1.0e-06 -> tensor<?x3x64xbf16>
  %h = tensor.extract_slice %y[0, 0, 0] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %l = tensor.extract_slice %y[0, 0, 32] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %f = tensor.empty(%m) : tensor<?x3x32xbf16>
  %a = linalg.add ins(%h, %l : tensor<?x3x32xbf16>, tensor<?x3x32xbf16>) outs(%f : tensor<?x3x32xbf16>) -> tensor<?x3x32xbf16>
  %p = tensor.extract_slice %a[0, 0, 0] [%m, 3, 12] [1, 1, 1] : tensor<?x3x32xbf16> to tensor<?x3x12xbf16>
  %g = tensor.empty(%m) : tensor<?x3x12xbf16>
  %q = linalg.generic {indexing_maps = [#half, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<?x3x12xbf16>) outs(%g : tensor<?x3x12xbf16>) {
  ^bb0(%u: bf16, %z: bf16):
    %one = arith.constant 1.0 : bf16
    %0 = arith.subf %one, %u : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x3x12xbf16>
  %n = arith.constant 0.0 : bf16
  %k = linalg.fill ins(%n : bf16) outs(%f : tensor<?x3x32xbf16>) -> tensor<?x3x32xbf16>
  %r = tensor.insert_slice %q into %k[0, 0, 16] [%m, 3, 12] [1, 1, 1] : tensor<?x3x12xbf16> into tensor<?x3x32xbf16>
  return %r : tensor<?x3x32xbf16>
}

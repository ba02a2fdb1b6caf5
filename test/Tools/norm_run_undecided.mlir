// What cancels wholly tells nothing: a program that cannot be checked is an error, unless it is of a few elements only.
// RUN: not norm-run %s --rows=35 2>&1 | FileCheck %s
// CHECK: f 35x64 {{.*}} 0.7{{[0-9]+ .*}} UNDECIDED
// CHECK: error: {{.*}}entry 'f': cannot be checked on this data: more than half of the elements are undecided
// RUN: norm-run %s --rows=1 | FileCheck %s --check-prefix=FEW
// FEW: f 1x64 {{.*}} 1.0000 {{.*}} ok

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %ef = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) output(%ef : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %s = arith.subf %a, %a : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  return %d : tensor<?x64xbf16>
}

// LLVM's loop strength reduction divides 64-bit trip counts in 128 bits, which
// code generators leave to a library: the simulator's code did not link.
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle --rows=5 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=5 | FileCheck %s
// CHECK: scale {{.*}} ok
func.func @scale(%x: tensor<?x?x5x5x8xbf16>) -> (tensor<?x?x5x5xbf16>, tensor<?x?x5x5x8xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x5x5x8xbf16>
  %n = tensor.dim %x, %c1 : tensor<?x?x5x5x8xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?x5x5x8xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x5x5x8xbf16>) output(%e : tensor<?x?x5x5x8xbf16>) eps = 1.0e-03 -> tensor<?x?x5x5x8xbf16>
  %zero = arith.constant 0.0 : bf16
  %f = tensor.empty(%m, %n) : tensor<?x?x5x5xbf16>
  %g = linalg.fill ins(%zero : bf16) outs(%f : tensor<?x?x5x5xbf16>) -> tensor<?x?x5x5xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%y : tensor<?x?x5x5x8xbf16>) outs(%g : tensor<?x?x5x5xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %m0 = math.absf %a : bf16
    %r = arith.maximumf %m0, %o : bf16
    linalg.yield %r : bf16
  } -> tensor<?x?x5x5xbf16>
  return %s, %y : tensor<?x?x5x5xbf16>, tensor<?x?x5x5x8xbf16>
}

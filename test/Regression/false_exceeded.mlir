// A sum of converted integers was taken for one of terms that are not negative,
// and the error it was allowed was too small.
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 | FileCheck %s
// CHECK: f {{.*}} ok

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<?x255xi8>, %w: tensor<255xbf16>, %b: tensor<?x255xf32>) -> (tensor<?x255xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %k = arith.constant 0.1 : f32
  %m = tensor.dim %x, %c0 : tensor<?x255xi8>
  %e = tensor.empty(%m) : tensor<?x255xbf16>
  %ef = tensor.empty(%m) : tensor<?x255xf32>
  %e1 = tensor.empty(%m) : tensor<?xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x255xi8>) outs(%ef : tensor<?x255xf32>) {
  ^bb0(%p: i8, %o: f32):
    %a = arith.sitofp %p : i8 to f32
    %bb = arith.mulf %a, %k : f32
    linalg.yield %bb : f32
  } -> tensor<?x255xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<?x255xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = rmsnorm.forward input(%h : tensor<?x255xf32>) weight(%w : tensor<255xbf16>) output(%e : tensor<?x255xbf16>) eps = 1.0e-05 -> tensor<?x255xbf16>
  return %y, %s : tensor<?x255xbf16>, tensor<?xf32>
}

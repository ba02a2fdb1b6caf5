// The oracle's stack does not grow with rows, however little its code is
// optimised.
// DEFINE: %{few} = sh -c "ulimit -s 256 && exec norm-run %t.rmsn --device=sim:sm_90 --rows=300"
// RUN: norm-compile %s --target=sim:sm_90,oracle -o %t.rmsn
// RUN: %{few}
// RUN: norm-compile %s --target=sim:sm_90,oracle --host-optimization=1 -o %t.rmsn
// RUN: %{few}
// RUN: norm-compile %s --target=sim:sm_90,oracle --host-optimization=2 -o %t.rmsn
// RUN: %{few}
// RUN: norm-compile %s --target=sim:sm_90,oracle --host-optimization=3 -o %t.rmsn
// RUN: %{few}

#row = affine_map<(m, k) -> (m)>
#id = affine_map<(m, k) -> (m, k)>
func.func @gather(%ids: tensor<?xi64>, %table: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %t = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<?xi64>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<?x256xf32>
    linalg.yield %v : f32
  } -> tensor<?x256xf32>
  %y = rmsnorm.forward input(%t : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-06 -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

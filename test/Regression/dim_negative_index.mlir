// RUN: norm-opt %s --rmsnorm-tensor-half --split-input-file --verify-diagnostics
// RUN: norm-opt %s --rmsnorm-tile-clusters --split-input-file -o /dev/null

func.func @negative(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c = arith.constant -2 : index
  // expected-error @below {{expected a dimension of 'tensor<?x64xf32>', got -2}}
  %m = tensor.dim %x, %c : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

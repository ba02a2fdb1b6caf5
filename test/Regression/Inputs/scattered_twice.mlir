func.func @d3(%x: tensor<?x128xf32>, %cache: tensor<?x128xf32>, %s: tensor<?xi64>, %t: tensor<?xi64>) -> (tensor<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%n) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-5 -> tensor<?x128xf32>
  %z = rmsnorm.forward input(%y : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0 -> tensor<?x128xf32>
  %q = rmsnorm.scatter %y into %cache at(%t : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xf32>
  %r = rmsnorm.scatter %z into %q at(%s : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}

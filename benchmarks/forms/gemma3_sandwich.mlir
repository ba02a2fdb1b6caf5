// Gemma 3: the norm of a branch is added to the residual stream, which goes on
// and whose norm is next. Weights are about zero.
func.func @gemma3_sandwich(%h: tensor<?x3584xbf16>, %branch: tensor<?x3584xbf16>, %w1: tensor<3584xbf16>, %w2: tensor<3584xbf16>)
    -> (tensor<?x3584xbf16>, tensor<?x3584xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %h, %c0 : tensor<?x3584xbf16>
  %e = tensor.empty(%m) : tensor<?x3584xbf16>
  %p = rmsnorm.forward input(%branch : tensor<?x3584xbf16>) weight(%w1 : tensor<3584xbf16>) output(%e : tensor<?x3584xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<?x3584xbf16>
  %r = linalg.add ins(%h, %p : tensor<?x3584xbf16>, tensor<?x3584xbf16>) outs(%e : tensor<?x3584xbf16>) -> tensor<?x3584xbf16>
  %n = rmsnorm.forward input(%r : tensor<?x3584xbf16>) weight(%w2 : tensor<3584xbf16>) output(%e : tensor<?x3584xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<?x3584xbf16>
  return %n, %r : tensor<?x3584xbf16>, tensor<?x3584xbf16>
}

// The norm of an f32 residual stream, in bf16.
func.func @stream_norm(%x: tensor<?x4096xf32>, %weight: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xf32>
  %empty = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xf32>) weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

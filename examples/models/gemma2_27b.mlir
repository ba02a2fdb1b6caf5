// Gemma 2 normalises on both sides of a layer: what attention computes is
// normalised and added to the residual stream, and that is normalised for the
// next layer. Weights are stored as their difference from 1.
func.func @gemma2_27b(%x: tensor<?x4608xbf16>, %h: tensor<?x4608xbf16>,
                      %post: tensor<4608xbf16>, %pre: tensor<4608xbf16>)
    -> (tensor<?x4608xbf16>, tensor<?x4608xbf16>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x4608xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x4608xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4608xbf16>)
      weight(%post : tensor<4608xbf16>)
      output(%empty : tensor<?x4608xbf16>) eps = 1.0e-06 offset = 1.0
      -> tensor<?x4608xbf16>
  %sum = linalg.add ins(%h, %y : tensor<?x4608xbf16>, tensor<?x4608xbf16>)
      outs(%empty : tensor<?x4608xbf16>) -> tensor<?x4608xbf16>
  %z = rmsnorm.forward input(%sum : tensor<?x4608xbf16>)
      weight(%pre : tensor<4608xbf16>)
      output(%empty : tensor<?x4608xbf16>) eps = 1.0e-06 offset = 1.0
      -> tensor<?x4608xbf16>
  return %z, %sum : tensor<?x4608xbf16>, tensor<?x4608xbf16>
}

// OLMo 2 normalises what a layer computes, not what it reads: h + norm(x).
func.func @olmo2_7b(%x: tensor<?x4096xbf16>, %h: tensor<?x4096xbf16>,
                    %weight: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-06 -> tensor<?x4096xbf16>
  %sum = linalg.add ins(%y, %h : tensor<?x4096xbf16>, tensor<?x4096xbf16>)
      outs(%empty : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %sum : tensor<?x4096xbf16>
}

// Llama-3 8B: the norm in front of each attention and MLP block. Hidden size
// 4096, bf16 throughout, any number of tokens.
//
//   norm-run examples/llama3_8b.mlir --device=sim:sm_90

func.func @llama3_8b(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-05
      -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

// Llama as Hugging Face's transformers computes it: the normalised row is
// rounded to bf16 before the multiplication by the weight. A model trained with
// that rounding is served with it. The f32 weight is not rounded.
//
//   norm-run examples/llama_hf.mlir --device=sim:sm_90

func.func @llama_hf(%x: tensor<?x4096xbf16>, %weight: tensor<4096xf32>)
    -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xf32>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-06 casting = llama
      -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

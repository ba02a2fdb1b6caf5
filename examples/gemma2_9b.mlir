// Gemma-2 9B: hidden size 3584, and weights stored as their difference from 1
// ("zero-centred"). The 1 is added in f32, not in bf16, where it would cost
// most of a small weight's bits.
//
//   norm-run examples/gemma2_9b.mlir --device=sim:gfx942

func.func @gemma2_9b(%x: tensor<?x3584xbf16>, %weight: tensor<3584xbf16>)
    -> tensor<?x3584xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x3584xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x3584xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x3584xbf16>)
      weight(%weight : tensor<3584xbf16>)
      output(%empty : tensor<?x3584xbf16>) eps = 1.0e-06 offset = 1.0
      -> tensor<?x3584xbf16>
  return %y : tensor<?x3584xbf16>
}

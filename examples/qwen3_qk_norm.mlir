// Qwen3-8B: queries and keys are normalised head by head, rows of 128 only, very
// many of them. Several rows share a block and even a subgroup.
//
// In a model q and k are slices of one packed qkv tensor: (batch, token, 48,
// 128), of which heads 0..31 are q and 32..39 are k. Strides are run-time
// values, so the slices are passed as they lie, and nothing is copied. The
// results are dense, or slices of something else: the caller decides.
//
//   norm-run examples/qwen3_qk_norm.mlir --device=sim:sm_90 --strided

func.func @qwen3_q_norm(%q: tensor<?x?x32x128xbf16>, %weight: tensor<128xbf16>)
    -> tensor<?x?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x32x128xbf16>
  %tokens = tensor.dim %q, %c1 : tensor<?x?x32x128xbf16>
  %empty = tensor.empty(%batch, %tokens) : tensor<?x?x32x128xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x?x32x128xbf16>)
      weight(%weight : tensor<128xbf16>)
      output(%empty : tensor<?x?x32x128xbf16>) eps = 1.0e-06
      -> tensor<?x?x32x128xbf16>
  return %y : tensor<?x?x32x128xbf16>
}

func.func @qwen3_k_norm(%k: tensor<?x?x8x128xbf16>, %weight: tensor<128xbf16>)
    -> tensor<?x?x8x128xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %k, %c0 : tensor<?x?x8x128xbf16>
  %tokens = tensor.dim %k, %c1 : tensor<?x?x8x128xbf16>
  %empty = tensor.empty(%batch, %tokens) : tensor<?x?x8x128xbf16>
  %y = rmsnorm.forward input(%k : tensor<?x?x8x128xbf16>)
      weight(%weight : tensor<128xbf16>)
      output(%empty : tensor<?x?x8x128xbf16>) eps = 1.0e-06
      -> tensor<?x?x8x128xbf16>
  return %y : tensor<?x?x8x128xbf16>
}

// Qwen3-Next's linear attention normalises each head and gates it:
// norm(x) * silu(z).
#row = affine_map<(t, h, n) -> (t, h, n)>
func.func @qwen3_next_80b(%x: tensor<?x32x128xbf16>, %z: tensor<?x32x128xbf16>,
                          %weight: tensor<128xbf16>) -> tensor<?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x32x128xbf16>
  %f32 = tensor.empty(%tokens) : tensor<?x32x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x32x128xbf16>)
      weight(%weight : tensor<128xbf16>)
      output(%f32 : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %empty = tensor.empty(%tokens) : tensor<?x32x128xbf16>
  %gated = linalg.generic {
      indexing_maps = [#row, #row, #row],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %z : tensor<?x32x128xf32>, tensor<?x32x128xbf16>)
      outs(%empty : tensor<?x32x128xbf16>) {
  ^bb0(%a: f32, %b: bf16, %out: bf16):
    %z32 = arith.extf %b : bf16 to f32
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %z32 : f32
    %power = math.exp %minus : f32
    %divisor = arith.addf %one, %power : f32
    %silu = arith.divf %z32, %divisor : f32
    %product = arith.mulf %a, %silu : f32
    %rounded = arith.truncf %product : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x32x128xbf16>
  return %gated : tensor<?x32x128xbf16>
}

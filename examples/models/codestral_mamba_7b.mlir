// Mamba-2 gates first, and normalises 8 groups of the channels apart, with
// weights of their own: norm(x * silu(z)).
#row = affine_map<(t, g, n) -> (t, g, n)>
#group = affine_map<(t, g, n) -> (g, n)>
func.func @codestral_mamba_7b(%x: tensor<?x8x1024xbf16>, %z: tensor<?x8x1024xbf16>,
                              %weight: tensor<8x1024xbf16>) -> tensor<?x8x1024xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x8x1024xbf16>
  %f32 = tensor.empty(%tokens) : tensor<?x8x1024xf32>
  %gated = linalg.generic {
      indexing_maps = [#row, #row, #row],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %z : tensor<?x8x1024xbf16>, tensor<?x8x1024xbf16>)
      outs(%f32 : tensor<?x8x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %a32 = arith.extf %a : bf16 to f32
    %z32 = arith.extf %b : bf16 to f32
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %z32 : f32
    %power = math.exp %minus : f32
    %divisor = arith.addf %one, %power : f32
    %silu = arith.divf %z32, %divisor : f32
    %product = arith.mulf %a32, %silu : f32
    linalg.yield %product : f32
  } -> tensor<?x8x1024xf32>
  %y = rmsnorm.forward input(%gated : tensor<?x8x1024xf32>)
      output(%f32 : tensor<?x8x1024xf32>) eps = 1.0e-05 -> tensor<?x8x1024xf32>
  %empty = tensor.empty(%tokens) : tensor<?x8x1024xbf16>
  %weighted = linalg.generic {
      indexing_maps = [#row, #group, #row],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %weight : tensor<?x8x1024xf32>, tensor<8x1024xbf16>)
      outs(%empty : tensor<?x8x1024xbf16>) {
  ^bb0(%a: f32, %b: bf16, %out: bf16):
    %w = arith.extf %b : bf16 to f32
    %product = arith.mulf %a, %w : f32
    %rounded = arith.truncf %product : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x8x1024xbf16>
  return %weighted : tensor<?x8x1024xbf16>
}

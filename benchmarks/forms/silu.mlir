// silu(norm(x)), as in the decoders of video models.
func.func @silu(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %empty = tensor.empty(%rows) : tensor<?x4096xbf16>
  %gated = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x4096xf32>) outs(%empty : tensor<?x4096xbf16>) {
  ^bb0(%value: f32, %out: bf16):
    %one = arith.constant 1.0 : f32
    %negative = arith.negf %value : f32
    %power = math.exp %negative : f32
    %sum = arith.addf %one, %power : f32
    %product = arith.divf %value, %sum : f32
    %narrow = arith.truncf %product : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?x4096xbf16>
  return %gated : tensor<?x4096xbf16>
}

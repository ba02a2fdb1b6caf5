// silu(norm(x)) in fp8, with a scale of one.
func.func @silu_fp8(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> tensor<?x4096xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %empty = tensor.empty(%rows) : tensor<?x4096xf8E4M3FN>
  %gated = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<?x4096xf32>) outs(%empty : tensor<?x4096xf8E4M3FN>) {
  ^bb0(%value: f32, %out: f8E4M3FN):
    %one = arith.constant 1.0 : f32
    %negative = arith.negf %value : f32
    %power = math.exp %negative : f32
    %sum = arith.addf %one, %power : f32
    %product = arith.divf %value, %sum : f32
    %least = arith.constant -448.0 : f32
    %most = arith.constant 448.0 : f32
    %low = arith.maximumf %product, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %narrow = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %narrow : f8E4M3FN
  } -> tensor<?x4096xf8E4M3FN>
  return %gated : tensor<?x4096xf8E4M3FN>
}

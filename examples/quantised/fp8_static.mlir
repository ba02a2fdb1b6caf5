// An fp8 output with a scale that is known before: y / scale, saturated. As in
// vLLM and FlashInfer the reciprocal of the scale is what is multiplied with.
func.func @fp8_static(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>,
                      %scale: tensor<f32>) -> tensor<?x4096xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %f8 = tensor.empty(%rows) : tensor<?x4096xf8E4M3FN>
  %q = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %scale : tensor<?x4096xf32>, tensor<f32>)
      outs(%f8 : tensor<?x4096xf8E4M3FN>) {
  ^bb0(%value: f32, %s: f32, %out: f8E4M3FN):
    %one = arith.constant 1.0 : f32
    %least = arith.constant -448.0 : f32
    %most = arith.constant 448.0 : f32
    %reciprocal = arith.divf %one, %s : f32
    %scaled = arith.mulf %value, %reciprocal : f32
    %low = arith.maximumf %scaled, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x4096xf8E4M3FN>
  return %q : tensor<?x4096xf8E4M3FN>
}

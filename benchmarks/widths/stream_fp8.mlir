// x is added to an f32 residual stream, which goes on; its norm goes out as fp8 with
// a scale that is known before.
func.func @stream_fp8(%x: tensor<?x4096xbf16>, %residual: tensor<?x4096xf32>, %weight: tensor<4096xbf16>, %scale: tensor<f32>)
    -> (tensor<?x4096xf32>, tensor<?x4096xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%m) : tensor<?x4096xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %residual : tensor<?x4096xbf16>, tensor<?x4096xf32>) outs(%f32 : tensor<?x4096xf32>) {
  ^bb0(%a: bf16, %b: f32, %out: f32):
    %wide = arith.extf %a : bf16 to f32
    %sum = arith.addf %wide, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x4096xf32>
  %y = rmsnorm.forward input(%h : tensor<?x4096xf32>) weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %f8 = tensor.empty(%m) : tensor<?x4096xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> ()>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %scale : tensor<?x4096xf32>, tensor<f32>) outs(%f8 : tensor<?x4096xf8E4M3FN>) {
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
  return %h, %q : tensor<?x4096xf32>, tensor<?x4096xf8E4M3FN>
}

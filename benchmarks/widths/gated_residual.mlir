// alpha * residual + beta * RMSNorm(branch * (weight + center)); f32 stream, f32 gates
func.func @gated_residual(%branch: tensor<?x8192xbf16>, %residual: tensor<?x8192xf32>, %weight: tensor<8192xbf16>, %alpha: tensor<8192xf32>, %beta: tensor<8192xf32>) -> (tensor<?x8192xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %branch, %c0 : tensor<?x8192xbf16>
  %v1 = tensor.empty(%m) : tensor<?x8192xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%branch, %weight : tensor<?x8192xbf16>, tensor<8192xbf16>) outs(%v1 : tensor<?x8192xf32>) {
  ^bb0(%i0: bf16, %i1: bf16, %o0: f32):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.extf %i1 : bf16 to f32
    %b3 = arith.constant 1.000000000e+00 : f32
    %b4 = arith.addf %b2, %b3 : f32
    %b5 = arith.mulf %b1, %b4 : f32
    linalg.yield %b5 : f32
  } -> tensor<?x8192xf32>
  %v3 = tensor.empty(%m) : tensor<?x8192xf32>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x8192xf32>) output(%v3 : tensor<?x8192xf32>) eps = 1.000000000e-06 -> tensor<?x8192xf32>
  %v5 = tensor.empty(%m) : tensor<?x8192xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%residual, %v4, %alpha, %beta : tensor<?x8192xf32>, tensor<?x8192xf32>, tensor<8192xf32>, tensor<8192xf32>) outs(%v5 : tensor<?x8192xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i2, %i0 : f32
    %b2 = arith.mulf %i3, %i1 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x8192xf32>
  return %v6 : tensor<?x8192xf32>
}

// residual_out = alpha * residual + beta * RMSNorm(branch * post_weight), f32; ffn_input = bf16 RMSNorm(residual_out) * (next_weight + 1)
func.func @gated_residual_next(%branch: tensor<?x8192xbf16>, %residual: tensor<?x8192xf32>, %next_weight: tensor<8192xbf16>, %alpha: tensor<8192xf32>, %beta: tensor<8192xf32>, %post_weight: tensor<8192xbf16>) -> (tensor<?x8192xf32>, tensor<?x8192xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %branch, %c0 : tensor<?x8192xbf16>
  %v1 = tensor.empty(%m) : tensor<?x8192xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%branch, %post_weight : tensor<?x8192xbf16>, tensor<8192xbf16>) outs(%v1 : tensor<?x8192xf32>) {
  ^bb0(%i0: bf16, %i1: bf16, %o0: f32):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.extf %i1 : bf16 to f32
    %b3 = arith.mulf %b1, %b2 : f32
    linalg.yield %b3 : f32
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
  %v7 = tensor.empty(%m) : tensor<?x8192xbf16>
  %v8 = rmsnorm.forward input(%v6 : tensor<?x8192xf32>) weight(%next_weight : tensor<8192xbf16>) output(%v7 : tensor<?x8192xbf16>) eps = 1.000000000e-06 offset = 1.000000000e+00 -> tensor<?x8192xbf16>
  return %v6, %v8 : tensor<?x8192xf32>, tensor<?x8192xbf16>
}

// x + residual (f32, kept), norm, bias, rstd
func.func @bias_residual(%x: tensor<?x4096xbf16>, %w: tensor<4096xf32>, %bias: tensor<4096xf32>, %residual: tensor<?x4096xf32>) -> (tensor<?x4096xbf16>, tensor<?x4096xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %v1 = tensor.empty(%m) : tensor<?x4096xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %residual : tensor<?x4096xbf16>, tensor<?x4096xf32>) outs(%v1 : tensor<?x4096xf32>) {
  ^bb0(%i0: bf16, %i1: f32, %o0: f32):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.addf %b1, %i1 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x4096xf32>
  %v3 = tensor.empty(%m) : tensor<?x4096xf32>
  %v5 = tensor.empty(%m) : tensor<?xf32>
  %v4, %v6 = rmsnorm.forward input(%v2 : tensor<?x4096xf32>) weight(%w : tensor<4096xf32>) output(%v3 : tensor<?x4096xf32>) rstd(%v5 : tensor<?xf32>) eps = 1.000000000e-06 -> tensor<?x4096xf32>, tensor<?xf32>
  %v7 = tensor.empty(%m) : tensor<?x4096xbf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%v4, %bias : tensor<?x4096xf32>, tensor<4096xf32>) outs(%v7 : tensor<?x4096xbf16>) {
  ^bb0(%i0: f32, %i1: f32, %o0: bf16):
    %b1 = arith.addf %i0, %i1 : f32
    %b2 = arith.truncf %b1 : f32 to bf16
    linalg.yield %b2 : bf16
  } -> tensor<?x4096xbf16>
  return %v8, %v2, %v6 : tensor<?x4096xbf16>, tensor<?x4096xf32>, tensor<?xf32>
}

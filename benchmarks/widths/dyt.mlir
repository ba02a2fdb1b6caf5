// tanh(alpha x) * gamma + beta: row-wise, without a sum, so marked
func.func @dyt(%x: tensor<?x4096xbf16>, %alpha: tensor<1xf32>, %gamma: tensor<4096xf32>, %beta: tensor<4096xf32>) -> (tensor<?x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %v1 = tensor.empty(%m) : tensor<?x4096xbf16>
  %v2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (0)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %alpha, %gamma, %beta : tensor<?x4096xbf16>, tensor<1xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%v1 : tensor<?x4096xbf16>) attrs = {rmsnorm.row_wise} {
  ^bb0(%i0: bf16, %i1: f32, %i2: f32, %i3: f32, %o0: bf16):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.mulf %i1, %b1 : f32
    %b3 = math.tanh %b2 : f32
    %b4 = arith.mulf %b3, %i2 : f32
    %b5 = arith.addf %b4, %i3 : f32
    %b6 = arith.truncf %b5 : f32 to bf16
    linalg.yield %b6 : bf16
  } -> tensor<?x4096xbf16>
  return %v2 : tensor<?x4096xbf16>
}

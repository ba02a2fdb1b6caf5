// silu(x) * up + bias, with a bias in f32: no sum, so marked.
func.func @silu_gate(%x: tensor<?x4096xbf16>, %up: tensor<?x4096xbf16>, %bias: tensor<4096xf32>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %up, %bias : tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<4096xf32>) outs(%empty : tensor<?x4096xbf16>) attrs = {rmsnorm.row_wise} {
  ^bb0(%value: bf16, %factor: bf16, %shift: f32, %out: bf16):
    %one = arith.constant 1.0 : f32
    %v = arith.extf %value : bf16 to f32
    %f = arith.extf %factor : bf16 to f32
    %negative = arith.negf %v : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %silu = arith.divf %v, %sum : f32
    %product = arith.mulf %silu, %f : f32
    %shifted = arith.addf %product, %shift : f32
    %y16 = arith.truncf %shifted : f32 to bf16
    linalg.yield %y16 : bf16
  } -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

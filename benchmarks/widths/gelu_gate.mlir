// gelu(x) * up by tanh, as gated layers have it: no sum, so marked.
func.func @gelu_gate(%x: tensor<?x4096xbf16>, %up: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %up : tensor<?x4096xbf16>, tensor<?x4096xbf16>) outs(%empty : tensor<?x4096xbf16>) attrs = {rmsnorm.row_wise} {
  ^bb0(%value: bf16, %factor: bf16, %out: bf16):
    %half = arith.constant 5.000000e-01 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 4.471500e-02 : f32
    %scale = arith.constant 0.797884583 : f32
    %v = arith.extf %value : bf16 to f32
    %f = arith.extf %factor : bf16 to f32
    %square = arith.mulf %v, %v : f32
    %cube = arith.mulf %square, %v : f32
    %part = arith.mulf %cube, %cubic : f32
    %sum = arith.addf %v, %part : f32
    %inner = arith.mulf %sum, %scale : f32
    %tanh = math.tanh %inner : f32
    %share = arith.addf %one, %tanh : f32
    %halved = arith.mulf %v, %half : f32
    %gelu = arith.mulf %halved, %share : f32
    %product = arith.mulf %gelu, %f : f32
    %y16 = arith.truncf %product : f32 to bf16
    linalg.yield %y16 : bf16
  } -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

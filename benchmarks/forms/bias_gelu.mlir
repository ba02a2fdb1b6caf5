// The norm of gelu(x + bias), by erf, as encoders have it after a projection.
func.func @bias_gelu(%x: tensor<?x4096xbf16>, %bias: tensor<4096xbf16>,
                     %weight: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %active = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<?x4096xbf16>, tensor<4096xbf16>)
      outs(%f32 : tensor<?x4096xf32>) {
  ^bb0(%value: bf16, %shift: bf16, %out: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %scale = arith.constant 0.70710678118 : f32
    %wide = arith.extf %value : bf16 to f32
    %wide_shift = arith.extf %shift : bf16 to f32
    %sum = arith.addf %wide, %wide_shift : f32
    %scaled = arith.mulf %sum, %scale : f32
    %erf = math.erf %scaled : f32
    %share = arith.addf %one, %erf : f32
    %part = arith.mulf %half, %sum : f32
    %gelu = arith.mulf %part, %share : f32
    linalg.yield %gelu : f32
  } -> tensor<?x4096xf32>
  %empty = tensor.empty(%rows) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%active : tensor<?x4096xf32>)
      weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

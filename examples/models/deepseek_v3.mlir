// DeepSeek-V3 multiplies matrices in fp8 with a scale for 128 columns: a residual
// is added, and its norm quantised.
#group = affine_map<(i, j, k) -> (i, j)>
#element = affine_map<(i, j, k) -> (i, j, k)>
func.func @deepseek_v3(%x: tensor<?x7168xbf16>, %residual: tensor<?x7168xbf16>, %weight: tensor<7168xbf16>)
    -> (tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>, tensor<?x7168xbf16>) {
  %c00 = arith.constant 0 : index
  %rr = tensor.dim %x, %c00 : tensor<?x7168xbf16>
  %hb = tensor.empty(%rr) : tensor<?x7168xbf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %residual : tensor<?x7168xbf16>, tensor<?x7168xbf16>) outs(%hb : tensor<?x7168xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %s32 = arith.addf %a32, %b32 : f32
    %s16 = arith.truncf %s32 : f32 to bf16
    linalg.yield %s16 : bf16
  } -> tensor<?x7168xbf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x7168xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x7168xf32>
  %y = rmsnorm.forward input(%h : tensor<?x7168xbf16>)
      weight(%weight : tensor<7168xbf16>)
      output(%f32 : tensor<?x7168xf32>) eps = 1.0e-06 -> tensor<?x7168xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%rows, 56, 128]
      : tensor<?x7168xf32> into tensor<?x56x128xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?x56xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x56xf32>)
      -> tensor<?x56xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x56x128xf32>) outs(%zeros : tensor<?x56xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x56xf32>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x56xf32>) outs(%scalars : tensor<?x56xf32>) {
  ^bb0(%size: f32, %out: f32):
    %floor = arith.constant 1.0e-12 : f32
    %most = arith.constant 448.0 : f32
    %share = arith.divf %size, %most : f32
    %positive = arith.maximumf %share, %floor : f32
    linalg.yield %positive : f32
  } -> tensor<?x56xf32>
  %bytes = tensor.empty(%rows) : tensor<?x56x128xf8E4M3FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, #element],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x56x128xf32>, tensor<?x56xf32>)
      outs(%bytes : tensor<?x56x128xf8E4M3FN>) {
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
  } -> tensor<?x56x128xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]]
      : tensor<?x56x128xf8E4M3FN> into tensor<?x7168xf8E4M3FN>
  return %whole, %scale, %h : tensor<?x7168xf8E4M3FN>, tensor<?x56xf32>, tensor<?x7168xbf16>
}

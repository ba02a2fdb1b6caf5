// e4m3 of the rounded result with a power of two for 128 columns, transposed.
#group = affine_map<(i, j, k) -> (i, j)>
#element = affine_map<(i, j, k) -> (i, j, k)>
func.func @e8m0_block_y(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> (tensor<?x4096xf8E4M3FN>, tensor<32x?xf8E8M0FNU>, tensor<?x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%rows) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%rows, 32, 128]
      : tensor<?x4096xbf16> into tensor<?x32x128xbf16>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x32xf32>)
      -> tensor<?x32xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x32x128xbf16>) outs(%zeros : tensor<?x32xf32>) {
  ^bb0(%rounded: bf16, %most: f32):
    %value = arith.extf %rounded : bf16 to f32
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x32xf32>
  %powers = tensor.empty(%rows) : tensor<?x32xf8E8M0FNU>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x32xf32>) outs(%powers : tensor<?x32xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %reciprocal = arith.constant 2.23214296e-03 : f32 // 1 / 448
    %share = arith.mulf %size, %reciprocal : f32
    %power = arith.truncf %share upward : f32 to f8E8M0FNU
    linalg.yield %power : f8E8M0FNU
  } -> tensor<?x32xf8E8M0FNU>
  %bytes = tensor.empty(%rows) : tensor<?x32x128xf8E4M3FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, #element],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x32x128xbf16>, tensor<?x32xf8E8M0FNU>)
      outs(%bytes : tensor<?x32x128xf8E4M3FN>) {
  ^bb0(%rounded: bf16, %s: f8E8M0FNU, %out: f8E4M3FN):
    %value = arith.extf %rounded : bf16 to f32
    %one = arith.constant 1.0 : f32
    %least = arith.constant -448.0 : f32
    %most = arith.constant 448.0 : f32
    %power = arith.extf %s : f8E8M0FNU to f32
    %reciprocal = arith.divf %one, %power : f32
    %scaled = arith.mulf %value, %reciprocal : f32
    %low = arith.maximumf %scaled, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x32x128xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]]
      : tensor<?x32x128xf8E4M3FN> into tensor<?x4096xf8E4M3FN>
  %columns = tensor.empty(%rows) : tensor<32x?xf8E8M0FNU>
  %transposed = linalg.transpose ins(%scale : tensor<?x32xf8E8M0FNU>)
      outs(%columns : tensor<32x?xf8E8M0FNU>) permutation = [1, 0]
  return %whole, %transposed, %y : tensor<?x4096xf8E4M3FN>, tensor<32x?xf8E8M0FNU>,
      tensor<?x4096xbf16>
}

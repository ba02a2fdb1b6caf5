// mxfp4: e2m1, two a byte, with a power of two for each 32 columns: that of the
// largest of them, by 2^2, that of e2m1's largest number, as the OCP's
// specification has it. What is above 6 then becomes 6.
#group = affine_map<(i, j, k) -> (i, j)>
#element = affine_map<(i, j, k) -> (i, j, k)>
func.func @mxfp4(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> (tensor<?x4096xf4E2M1FN>, tensor<?x128xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%rows, 128, 32]
      : tensor<?x4096xf32> into tensor<?x128x32xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x128xf32>)
      -> tensor<?x128xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x128x32xf32>) outs(%zeros : tensor<?x128xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x128xf32>
  %narrow = tensor.empty(%rows) : tensor<?x128xf8E8M0FNU>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x128xf32>) outs(%narrow : tensor<?x128xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %quarter = arith.constant 0.25 : f32
    %share = arith.mulf %size, %quarter : f32
    %power = arith.truncf %share toward_zero : f32 to f8E8M0FNU
    linalg.yield %power : f8E8M0FNU
  } -> tensor<?x128xf8E8M0FNU>
  %numbers = tensor.empty(%rows) : tensor<?x128x32xf4E2M1FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, #element],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x128x32xf32>, tensor<?x128xf8E8M0FNU>)
      outs(%numbers : tensor<?x128x32xf4E2M1FN>) {
  ^bb0(%value: f32, %s: f8E8M0FNU, %out: f4E2M1FN):
    %one = arith.constant 1.0 : f32
    %power = arith.extf %s : f8E8M0FNU to f32
    %reciprocal = arith.divf %one, %power : f32
    %scaled = arith.mulf %value, %reciprocal : f32
    %number = arith.truncf %scaled : f32 to f4E2M1FN
    linalg.yield %number : f4E2M1FN
  } -> tensor<?x128x32xf4E2M1FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]]
      : tensor<?x128x32xf4E2M1FN> into tensor<?x4096xf4E2M1FN>
  return %whole, %scale : tensor<?x4096xf4E2M1FN>, tensor<?x128xf8E8M0FNU>
}

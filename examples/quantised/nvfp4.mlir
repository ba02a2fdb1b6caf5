// nvfp4: e2m1, two a byte, with an e4m3 scale for each 16 columns, times one for
// the whole tensor (448 * 6 / its largest element) that is known before.
#group = affine_map<(i, j, k) -> (i, j)>
#element = affine_map<(i, j, k) -> (i, j, k)>
func.func @nvfp4(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>,
                 %global: tensor<f32>)
    -> (tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%rows, 256, 16]
      : tensor<?x4096xf32> into tensor<?x256x16xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?x256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x256xf32>)
      -> tensor<?x256xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x256x16xf32>) outs(%zeros : tensor<?x256xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x256xf32>
  %narrow = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest, %global : tensor<?x256xf32>, tensor<f32>) outs(%narrow : tensor<?x256xf8E4M3FN>) {
  ^bb0(%size: f32, %whole: f32, %out: f8E4M3FN):
    %sixth = arith.constant 0.166666672 : f32
    %most = arith.constant 448.0 : f32
    %share = arith.mulf %size, %sixth : f32
    %scaled = arith.mulf %share, %whole : f32
    %clamped = arith.minimumf %scaled, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x256xf8E4M3FN>
  %numbers = tensor.empty(%rows) : tensor<?x256x16xf4E2M1FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, affine_map<(i, j, k) -> ()>, #element],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale, %global
          : tensor<?x256x16xf32>, tensor<?x256xf8E4M3FN>, tensor<f32>)
      outs(%numbers : tensor<?x256x16xf4E2M1FN>) {
  ^bb0(%value: f32, %s: f8E4M3FN, %whole: f32, %out: f4E2M1FN):
    %none = arith.constant 0.0 : f32
    %share = arith.extf %s : f8E4M3FN to f32
    %quotient = arith.divf %whole, %share : f32
    %isNone = arith.cmpf oeq, %share, %none : f32
    %factor = arith.select %isNone, %none, %quotient : f32
    %scaled = arith.mulf %value, %factor : f32
    %number = arith.truncf %scaled : f32 to f4E2M1FN
    linalg.yield %number : f4E2M1FN
  } -> tensor<?x256x16xf4E2M1FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]]
      : tensor<?x256x16xf4E2M1FN> into tensor<?x4096xf4E2M1FN>
  return %whole, %scale : tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>
}

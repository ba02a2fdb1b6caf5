// nvfp4 with its scales where tensor cores read them: tiles of 128 rows and 4
// groups, that of row r and group k at [r / 128, k / 4, r % 32, r / 32 % 4, k % 4]
// (cuBLAS, "1D Block Scaling Factors Layout":
// https://docs.nvidia.com/cuda/cublas/index.html#d-block-scaling-factors-layout).
// Rows come in blocks of 128.
#row = affine_map<(b, i, j) -> (b, i, j)>
#group = affine_map<(b, i, j, k) -> (b, i, j)>
#element = affine_map<(b, i, j, k) -> (b, i, j, k)>
func.func @nvfp4_swizzled(%x: tensor<?x128x4096xbf16>,
                          %weight: tensor<4096xbf16>, %global: tensor<f32>)
    -> (tensor<?x128x4096xf4E2M1FN>, tensor<?x64x32x4x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %blocks = tensor.dim %x, %c0 : tensor<?x128x4096xbf16>
  %f32 = tensor.empty(%blocks) : tensor<?x128x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x128x4096xf32>) eps = 1.0e-05
      -> tensor<?x128x4096xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]]
      output_shape [%blocks, 128, 256, 16]
      : tensor<?x128x4096xf32> into tensor<?x128x256x16xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%blocks) : tensor<?x128x256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x128x256xf32>)
      -> tensor<?x128x256xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x128x256x16xf32>)
      outs(%zeros : tensor<?x128x256xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x128x256xf32>
  %narrow = tensor.empty(%blocks) : tensor<?x128x256xf8E4M3FN>
  %scale = linalg.generic {
      indexing_maps = [#row, affine_map<(b, i, j) -> ()>, #row],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%largest, %global : tensor<?x128x256xf32>, tensor<f32>)
      outs(%narrow : tensor<?x128x256xf8E4M3FN>) {
  ^bb0(%size: f32, %whole: f32, %out: f8E4M3FN):
    %sixth = arith.constant 0.166666672 : f32
    %most = arith.constant 448.0 : f32
    %share = arith.mulf %size, %sixth : f32
    %scaled = arith.mulf %share, %whole : f32
    %clamped = arith.minimumf %scaled, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x128x256xf8E4M3FN>
  %numbers = tensor.empty(%blocks) : tensor<?x128x256x16xf4E2M1FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, affine_map<(b, i, j, k) -> ()>,
                       #element],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%groups, %scale, %global
          : tensor<?x128x256x16xf32>, tensor<?x128x256xf8E4M3FN>, tensor<f32>)
      outs(%numbers : tensor<?x128x256x16xf4E2M1FN>) {
  ^bb0(%value: f32, %s: f8E4M3FN, %whole: f32, %out: f4E2M1FN):
    %none = arith.constant 0.0 : f32
    %share = arith.extf %s : f8E4M3FN to f32
    %quotient = arith.divf %whole, %share : f32
    %isNone = arith.cmpf oeq, %share, %none : f32
    %factor = arith.select %isNone, %none, %quotient : f32
    %scaled = arith.mulf %value, %factor : f32
    %number = arith.truncf %scaled : f32 to f4E2M1FN
    linalg.yield %number : f4E2M1FN
  } -> tensor<?x128x256x16xf4E2M1FN>
  %whole = tensor.collapse_shape %q [[0], [1], [2, 3]]
      : tensor<?x128x256x16xf4E2M1FN> into tensor<?x128x4096xf4E2M1FN>
  %tiles = tensor.expand_shape %scale [[0], [1, 2], [3, 4]]
      output_shape [%blocks, 4, 32, 64, 4]
      : tensor<?x128x256xf8E4M3FN> into tensor<?x4x32x64x4xf8E4M3FN>
  %to = tensor.empty(%blocks) : tensor<?x64x32x4x4xf8E4M3FN>
  %swizzled = linalg.transpose
      ins(%tiles : tensor<?x4x32x64x4xf8E4M3FN>)
      outs(%to : tensor<?x64x32x4x4xf8E4M3FN>) permutation = [0, 3, 2, 1, 4]
  return %whole, %swizzled
      : tensor<?x128x4096xf4E2M1FN>, tensor<?x64x32x4x4xf8E4M3FN>
}

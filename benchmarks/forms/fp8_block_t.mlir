// examples/quantised/fp8_block.mlir with its scales as DeepGEMM reads them: a row for
// each group.
#group = affine_map<(i, j, k) -> (i, j)>
#element = affine_map<(i, j, k) -> (i, j, k)>
func.func @fp8_block_t(%x: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> (tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%rows, 32, 128]
      : tensor<?x4096xf32> into tensor<?x32x128xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x32xf32>)
      -> tensor<?x32xf32>
  %largest = linalg.generic {
      indexing_maps = [#element, #group],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x32x128xf32>) outs(%zeros : tensor<?x32xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x32xf32>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x32xf32>) outs(%scalars : tensor<?x32xf32>) {
  ^bb0(%size: f32, %out: f32):
    %floor = arith.constant 1.0e-12 : f32
    %most = arith.constant 448.0 : f32
    %share = arith.divf %size, %most : f32
    %positive = arith.maximumf %share, %floor : f32
    linalg.yield %positive : f32
  } -> tensor<?x32xf32>
  %bytes = tensor.empty(%rows) : tensor<?x32x128xf8E4M3FN>
  %q = linalg.generic {
      indexing_maps = [#element, #group, #element],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x32x128xf32>, tensor<?x32xf32>)
      outs(%bytes : tensor<?x32x128xf8E4M3FN>) {
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
  } -> tensor<?x32x128xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]]
      : tensor<?x32x128xf8E4M3FN> into tensor<?x4096xf8E4M3FN>
  %columns = tensor.empty(%rows) : tensor<32x?xf32>
  %transposed = linalg.transpose ins(%scale : tensor<?x32xf32>)
      outs(%columns : tensor<32x?xf32>) permutation = [1, 0]
  return %whole, %transposed : tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>
}

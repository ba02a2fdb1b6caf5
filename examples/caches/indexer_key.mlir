// The key of DeepSeek's indexer: a LayerNorm of its 128 columns, the first 64 of
// which are rotated, in fp8 with a scale, both in the cache at the token's slot.
// One launch.
#tile = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#each_row = affine_map<(i) -> (i)>
func.func @indexer_key(%x: tensor<?x128xbf16>, %weight: tensor<128xf32>, %bias: tensor<128xf32>,
                       %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %slots: tensor<?xi64>,
                       %keys: tensor<?x128xf8E4M3FN>, %scales: tensor<?xf32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 128.0 : f32
  %eps = arith.constant 1.0e-06 : f32
  %floor = arith.constant 1.0e-04 : f32
  %inverse = arith.constant 0x3B124925 : f32  // 1 / 448
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x128xbf16>
  %per_row = tensor.empty(%t) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_row : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x128xbf16>) outs(%zeros : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%xi: bf16, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %next = arith.addf %acc, %xf : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%per_row : tensor<?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %q = arith.divf %s, %n : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<?x128xbf16>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%xi: bf16, %mi: f32, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %dd = arith.mulf %d, %d : f32
    %next = arith.addf %acc, %dd : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%squares : tensor<?xf32>) outs(%per_row : tensor<?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %q = arith.divf %s, %n : f32
    %e = arith.addf %q, %eps : f32
    %r = math.rsqrt %e : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%t) : tensor<?x128xf32>
  %y = linalg.generic {indexing_maps = [#tile, #row, #row, #column, #column, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %rstd, %weight, %bias : tensor<?x128xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<128xf32>, tensor<128xf32>)
      outs(%empty : tensor<?x128xf32>) {
  ^bb0(%xi: bf16, %mi: f32, %ri: f32, %wi: f32, %bi: f32, %o: f32):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %h = arith.mulf %d, %ri : f32
    %p = arith.mulf %h, %wi : f32
    %s = arith.addf %p, %bi : f32
    linalg.yield %s : f32
  } -> tensor<?x128xf32>
  %turned = tensor.extract_slice %y[0, 0] [%t, 64] [1, 1] : tensor<?x128xf32> to tensor<?x64xf32>
  %rotated_lo = tensor.extract_slice %turned[0, 0] [%t, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %rotated_hi = tensor.extract_slice %turned[0, 32] [%t, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %rotated_half = tensor.empty(%t) : tensor<?x32xf32>
  %rotated_o1 = linalg.generic {indexing_maps = [#tile, #tile, #tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%rotated_lo, %rotated_hi, %cos, %sin : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
      outs(%rotated_half : tensor<?x32xf32>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: f32):
    %first = arith.mulf %lo, %cosine : f32
    %second = arith.mulf %hi, %sine : f32
    %turn = arith.subf %first, %second : f32
    linalg.yield %turn : f32
  } -> tensor<?x32xf32>
  %rotated_o2 = linalg.generic {indexing_maps = [#tile, #tile, #tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%rotated_lo, %rotated_hi, %cos, %sin : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
      outs(%rotated_half : tensor<?x32xf32>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: f32):
    %first = arith.mulf %hi, %cosine : f32
    %second = arith.mulf %lo, %sine : f32
    %turn = arith.addf %first, %second : f32
    linalg.yield %turn : f32
  } -> tensor<?x32xf32>
  %rotated_whole = tensor.empty(%t) : tensor<?x64xf32>
  %rotated_1 = tensor.insert_slice %rotated_o1 into %rotated_whole[0, 0] [%t, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %rotated = tensor.insert_slice %rotated_o2 into %rotated_1[0, 32] [%t, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %key = tensor.insert_slice %rotated into %y[0, 0] [%t, 64] [1, 1] : tensor<?x64xf32> into tensor<?x128xf32>
  %largest = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%key : tensor<?x128xf32>)
      outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?xf32>
  %scale = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%largest : tensor<?xf32>)
      outs(%per_row : tensor<?xf32>) {
  ^bb0(%most: f32, %o: f32):
    %least = arith.maximumf %most, %floor : f32
    %step = arith.mulf %least, %inverse : f32
    linalg.yield %step : f32
  } -> tensor<?xf32>
  %fp8 = tensor.empty(%t) : tensor<?x128xf8E4M3FN>
  %quantised = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%key, %scale : tensor<?x128xf32>, tensor<?xf32>)
      outs(%fp8 : tensor<?x128xf8E4M3FN>) {
  ^bb0(%value: f32, %step: f32, %o: f8E4M3FN):
    %scaled = arith.divf %value, %step : f32
    %narrow = arith.truncf %scaled : f32 to f8E4M3FN
    linalg.yield %narrow : f8E4M3FN
  } -> tensor<?x128xf8E4M3FN>
  %new_keys = rmsnorm.scatter %quantised into %keys at(%slots : tensor<?xi64>) dims [0] skip_negative
      : tensor<?x128xf8E4M3FN> into tensor<?x128xf8E4M3FN>
  %new_scales = rmsnorm.scatter %scale into %scales at(%slots : tensor<?xi64>) dims [0] skip_negative
      : tensor<?xf32> into tensor<?xf32>
  return %new_keys, %new_scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}

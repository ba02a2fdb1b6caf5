// DeepSeek's latent of a token, as its sparse attention reads it: a row of 656
// bytes in the cache, 512 numbers in fp8, four scales in f32, and 64 rotated
// numbers in bf16. The three parts of a row are three arguments, views of one
// buffer: rows of 656, 164 and 328 elements, which begin 0, 512 and 528 bytes
// into it. One launch.
#tile = affine_map<(i, j) -> (i, j)>
#in_group = affine_map<(i, j, k) -> (i, j, k)>
#group = affine_map<(i, j, k) -> (i, j)>
func.func @latent(%kv: tensor<?x576xbf16>, %weight: tensor<512xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>,
                  %slots: tensor<?xi64>, %latents: tensor<?x512xf8E4M3FN>, %scales: tensor<?x4xf32>,
                  %keys: tensor<?x64xbf16>)
    -> (tensor<?x512xf8E4M3FN>, tensor<?x4xf32>, tensor<?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %floor = arith.constant 1.0e-04 : f32
  %inverse = arith.constant 0x3B124925 : f32  // 1 / 448
  %t = tensor.dim %kv, %c0 : tensor<?x576xbf16>
  %c = tensor.extract_slice %kv[0, 0] [%t, 512] [1, 1] : tensor<?x576xbf16> to tensor<?x512xbf16>
  %k = tensor.extract_slice %kv[0, 512] [%t, 64] [1, 1] : tensor<?x576xbf16> to tensor<?x64xbf16>
  %normed_f32 = tensor.empty(%t) : tensor<?x512xf32>
  %normed = rmsnorm.forward input(%c : tensor<?x512xbf16>) weight(%weight : tensor<512xbf16>)
      output(%normed_f32 : tensor<?x512xf32>) eps = 1.0e-06 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %normed [[0], [1, 2]] output_shape [%t, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %per_group = tensor.empty(%t) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_group : tensor<?x4xf32>) -> tensor<?x4xf32>
  %largest = linalg.generic {indexing_maps = [#in_group, #group], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x128xf32>)
      outs(%zeros : tensor<?x4xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x4xf32>
  %scale = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x4xf32>)
      outs(%per_group : tensor<?x4xf32>) {
  ^bb0(%most: f32, %o: f32):
    %least = arith.maximumf %most, %floor : f32
    %step = arith.mulf %least, %inverse : f32
    linalg.yield %step : f32
  } -> tensor<?x4xf32>
  %fp8 = tensor.empty(%t) : tensor<?x4x128xf8E4M3FN>
  %quantised = linalg.generic {indexing_maps = [#in_group, #group, #in_group], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x4x128xf32>, tensor<?x4xf32>)
      outs(%fp8 : tensor<?x4x128xf8E4M3FN>) {
  ^bb0(%value: f32, %step: f32, %o: f8E4M3FN):
    %scaled = arith.divf %value, %step : f32
    %narrow = arith.truncf %scaled : f32 to f8E4M3FN
    linalg.yield %narrow : f8E4M3FN
  } -> tensor<?x4x128xf8E4M3FN>
  %latent = tensor.collapse_shape %quantised [[0], [1, 2]] : tensor<?x4x128xf8E4M3FN> into tensor<?x512xf8E4M3FN>
  %key_lo = tensor.extract_slice %k[0, 0] [%t, 32] [1, 1] : tensor<?x64xbf16> to tensor<?x32xbf16>
  %key_hi = tensor.extract_slice %k[0, 32] [%t, 32] [1, 1] : tensor<?x64xbf16> to tensor<?x32xbf16>
  %key_half = tensor.empty(%t) : tensor<?x32xbf16>
  %key_o1 = linalg.generic {indexing_maps = [#tile, #tile, #tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%key_lo, %key_hi, %cos, %sin : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>)
      outs(%key_half : tensor<?x32xbf16>) {
  ^bb0(%lo: bf16, %hi: bf16, %cosine: f32, %sine: f32, %o: bf16):
    %low = arith.extf %lo : bf16 to f32
    %high = arith.extf %hi : bf16 to f32
    %first = arith.mulf %low, %cosine : f32
    %second = arith.mulf %high, %sine : f32
    %sum = arith.subf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x32xbf16>
  %key_o2 = linalg.generic {indexing_maps = [#tile, #tile, #tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%key_lo, %key_hi, %cos, %sin : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>)
      outs(%key_half : tensor<?x32xbf16>) {
  ^bb0(%lo: bf16, %hi: bf16, %cosine: f32, %sine: f32, %o: bf16):
    %low = arith.extf %lo : bf16 to f32
    %high = arith.extf %hi : bf16 to f32
    %first = arith.mulf %high, %cosine : f32
    %second = arith.mulf %low, %sine : f32
    %sum = arith.addf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x32xbf16>
  %key_whole = tensor.empty(%t) : tensor<?x64xbf16>
  %key_1 = tensor.insert_slice %key_o1 into %key_whole[0, 0] [%t, 32] [1, 1] : tensor<?x32xbf16> into tensor<?x64xbf16>
  %key = tensor.insert_slice %key_o2 into %key_1[0, 32] [%t, 32] [1, 1] : tensor<?x32xbf16> into tensor<?x64xbf16>
  %new_latents = rmsnorm.scatter %latent into %latents at(%slots : tensor<?xi64>) dims [0] skip_negative
      : tensor<?x512xf8E4M3FN> into tensor<?x512xf8E4M3FN>
  %new_scales = rmsnorm.scatter %scale into %scales at(%slots : tensor<?xi64>) dims [0] skip_negative
      : tensor<?x4xf32> into tensor<?x4xf32>
  %new_keys = rmsnorm.scatter %key into %keys at(%slots : tensor<?xi64>) dims [0] skip_negative
      : tensor<?x64xbf16> into tensor<?x64xbf16>
  return %new_latents, %new_scales, %new_keys : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>, tensor<?x64xbf16>
}

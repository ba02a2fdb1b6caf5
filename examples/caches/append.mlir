// What vLLM, SGLang and FlashInfer do between the projection and attention: the
// heads of q and k are normed and rotated, and k and v are appended to paged
// caches of blocks of 16 tokens, each token at its slot. A token that fills up the
// batch has the slot -1 and is not stored. One launch.
#token = affine_map<(t) -> (t)>
#head = affine_map<(t, h, d) -> (t, h, d)>
#angle = affine_map<(t, h, d) -> (t, d)>
func.func @append(%qkv: tensor<?x48x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>,
                  %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>, %slots: tensor<?xi64>,
                  %keys: tensor<?x16x8x128xbf16>, %values: tensor<?x16x8x128xbf16>)
    -> (tensor<?x32x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?x16x8x128xbf16>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : i64
  %t = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%t, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %k = tensor.extract_slice %qkv[0, 32, 0] [%t, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>
  %v = tensor.extract_slice %qkv[0, 40, 0] [%t, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>

  %q_norm_f32 = tensor.empty(%t) : tensor<?x32x128xf32>
  %q_norm = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>)
      output(%q_norm_f32 : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %q_rotated_lo = tensor.extract_slice %q_norm[0, 0, 0] [%t, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %q_rotated_hi = tensor.extract_slice %q_norm[0, 0, 64] [%t, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %q_rotated_half = tensor.empty(%t) : tensor<?x32x64xbf16>
  %q_rotated_o1 = linalg.generic {indexing_maps = [#head, #head, #angle, #angle, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q_rotated_lo, %q_rotated_hi, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%q_rotated_half : tensor<?x32x64xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: bf16):
    %first = arith.mulf %lo, %cosine : f32
    %second = arith.mulf %hi, %sine : f32
    %sum = arith.subf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x32x64xbf16>
  %q_rotated_o2 = linalg.generic {indexing_maps = [#head, #head, #angle, #angle, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q_rotated_lo, %q_rotated_hi, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%q_rotated_half : tensor<?x32x64xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: bf16):
    %first = arith.mulf %hi, %cosine : f32
    %second = arith.mulf %lo, %sine : f32
    %sum = arith.addf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x32x64xbf16>
  %q_rotated_whole = tensor.empty(%t) : tensor<?x32x128xbf16>
  %q_rotated_1 = tensor.insert_slice %q_rotated_o1 into %q_rotated_whole[0, 0, 0] [%t, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %q_rotated = tensor.insert_slice %q_rotated_o2 into %q_rotated_1[0, 0, 64] [%t, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>

  %k_norm_f32 = tensor.empty(%t) : tensor<?x8x128xf32>
  %k_norm = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%wk : tensor<128xbf16>)
      output(%k_norm_f32 : tensor<?x8x128xf32>) eps = 1.0e-06 -> tensor<?x8x128xf32>
  %k_rotated_lo = tensor.extract_slice %k_norm[0, 0, 0] [%t, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %k_rotated_hi = tensor.extract_slice %k_norm[0, 0, 64] [%t, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %k_rotated_half = tensor.empty(%t) : tensor<?x8x64xbf16>
  %k_rotated_o1 = linalg.generic {indexing_maps = [#head, #head, #angle, #angle, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k_rotated_lo, %k_rotated_hi, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%k_rotated_half : tensor<?x8x64xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: bf16):
    %first = arith.mulf %lo, %cosine : f32
    %second = arith.mulf %hi, %sine : f32
    %sum = arith.subf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x8x64xbf16>
  %k_rotated_o2 = linalg.generic {indexing_maps = [#head, #head, #angle, #angle, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k_rotated_lo, %k_rotated_hi, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%k_rotated_half : tensor<?x8x64xbf16>) {
  ^bb0(%lo: f32, %hi: f32, %cosine: f32, %sine: f32, %o: bf16):
    %first = arith.mulf %hi, %cosine : f32
    %second = arith.mulf %lo, %sine : f32
    %sum = arith.addf %first, %second : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x8x64xbf16>
  %k_rotated_whole = tensor.empty(%t) : tensor<?x8x128xbf16>
  %k_rotated_1 = tensor.insert_slice %k_rotated_o1 into %k_rotated_whole[0, 0, 0] [%t, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %k_rotated = tensor.insert_slice %k_rotated_o2 into %k_rotated_1[0, 0, 64] [%t, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>

  // The block of a slot, and where in it.
  %indices = tensor.empty(%t) : tensor<?xi64>
  %block = linalg.generic {indexing_maps = [#token, #token], iterator_types = ["parallel"]}
      ins(%slots : tensor<?xi64>)
      outs(%indices : tensor<?xi64>) {
  ^bb0(%slot: i64, %o: i64):
    %i = arith.floordivsi %slot, %c16 : i64
    linalg.yield %i : i64
  } -> tensor<?xi64>
  %place = linalg.generic {indexing_maps = [#token, #token], iterator_types = ["parallel"]}
      ins(%slots : tensor<?xi64>)
      outs(%indices : tensor<?xi64>) {
  ^bb0(%slot: i64, %o: i64):
    %i = arith.remsi %slot, %c16 : i64
    linalg.yield %i : i64
  } -> tensor<?xi64>
  %new_keys = rmsnorm.scatter %k_rotated into %keys at(%block, %place : tensor<?xi64>, tensor<?xi64>)
      dims [0, 1] skip_negative : tensor<?x8x128xbf16> into tensor<?x16x8x128xbf16>
  %new_values = rmsnorm.scatter %v into %values at(%block, %place : tensor<?xi64>, tensor<?xi64>)
      dims [0, 1] skip_negative : tensor<?x8x128xbf16> into tensor<?x16x8x128xbf16>
  return %q_rotated, %new_keys, %new_values
      : tensor<?x32x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?x16x8x128xbf16>
}

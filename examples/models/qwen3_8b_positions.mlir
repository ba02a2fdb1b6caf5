// Qwen3's queries as a server has them: on their slice of packed qkv, each token
// at a position of its own, whose cos and sin stand side by side in a row of a
// table (torch's index_select, as torch-mlir writes it, and chunk).
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#token = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @qwen3_8b_positions(%qkv: tensor<?x48x128xbf16>, %w: tensor<128xbf16>, %positions: tensor<?xi64>, %cos_sin_cache: tensor<40960x128xbf16>) -> tensor<?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %e = tensor.empty(%m) : tensor<?x32x128xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x32x128xbf16>) eps = 1.0e-06 -> tensor<?x32x128xbf16>
  %rows = tensor.empty(%m) : tensor<?x128xbf16>
  %cos_sin = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%positions : tensor<?xi64>) outs(%rows : tensor<?x128xbf16>) {
  ^bb0(%position: i64, %z: bf16):
    %i = arith.index_cast %position : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %cos_sin_cache[%i, %j] : tensor<40960x128xbf16>
    linalg.yield %v : bf16
  } -> tensor<?x128xbf16>
  %cos = tensor.extract_slice %cos_sin[0, 0] [%m, 64] [1, 1] : tensor<?x128xbf16> to tensor<?x64xbf16>
  %sin = tensor.extract_slice %cos_sin[0, 64] [%m, 64] [1, 1] : tensor<?x128xbf16> to tensor<?x64xbf16>
  %y1 = tensor.extract_slice %y[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xbf16> to tensor<?x32x64xbf16>
  %y2 = tensor.extract_slice %y[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xbf16> to tensor<?x32x64xbf16>
  %half = tensor.empty(%m) : tensor<?x32x64xbf16>
  %o1 = linalg.generic {indexing_maps = [#id, #id, #token, #token, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xbf16>, tensor<?x32x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%half : tensor<?x32x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %s: bf16, %z: bf16):
    %p = arith.mulf %a, %c : bf16
    %r = arith.mulf %b, %s : bf16
    %d = arith.subf %p, %r : bf16
    linalg.yield %d : bf16
  } -> tensor<?x32x64xbf16>
  %o2 = linalg.generic {indexing_maps = [#id, #id, #token, #token, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xbf16>, tensor<?x32x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%half : tensor<?x32x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %s: bf16, %z: bf16):
    %p = arith.mulf %b, %c : bf16
    %r = arith.mulf %a, %s : bf16
    %d = arith.addf %p, %r : bf16
    linalg.yield %d : bf16
  } -> tensor<?x32x64xbf16>
  %o = tensor.empty(%m) : tensor<?x32x128xbf16>
  %i1 = tensor.insert_slice %o1 into %o[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %i2 = tensor.insert_slice %o2 into %i1[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  return %i2 : tensor<?x32x128xbf16>
}

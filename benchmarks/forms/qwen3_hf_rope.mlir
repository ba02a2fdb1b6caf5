// Qwen3 as Hugging Face writes it: norms of q and k head by head, heads transposed
// between norm and rotation, whose halves are put together by a concatenation.
#x = affine_map<(h, t, c) -> (h, t, c)>
#t = affine_map<(h, t, c) -> (t, c)>
func.func @qwen3_hf_rope(%q: tensor<?x32x128xbf16>, %k: tensor<?x8x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>,
                         %cos: tensor<?x128xbf16>, %sin: tensor<?x128xbf16>) -> (tensor<32x?x128xbf16>, tensor<8x?x128xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x32x128xbf16>
  %qe = tensor.empty(%m) : tensor<?x32x128xf32>
  %qn = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>) output(%qe : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %qte = tensor.empty(%m) : tensor<32x?x128xf32>
  %qt = linalg.transpose ins(%qn : tensor<?x32x128xf32>) outs(%qte : tensor<32x?x128xf32>) permutation = [1, 0, 2]
  %q1 = tensor.extract_slice %qt[0, 0, 0] [32, %m, 64] [1, 1, 1] : tensor<32x?x128xf32> to tensor<32x?x64xf32>
  %q2 = tensor.extract_slice %qt[0, 0, 64] [32, %m, 64] [1, 1, 1] : tensor<32x?x128xf32> to tensor<32x?x64xf32>
  %qhe = tensor.empty(%m) : tensor<32x?x64xf32>
  %qm = linalg.negf ins(%q2 : tensor<32x?x64xf32>) outs(%qhe : tensor<32x?x64xf32>) -> tensor<32x?x64xf32>
  %qr = tensor.concat dim(2) %qm, %q1 : (tensor<32x?x64xf32>, tensor<32x?x64xf32>) -> tensor<32x?x128xf32>
  %qoe = tensor.empty(%m) : tensor<32x?x128xbf16>
  %qo = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qt, %qr, %cos, %sin : tensor<32x?x128xf32>, tensor<32x?x128xf32>, tensor<?x128xbf16>, tensor<?x128xbf16>) outs(%qoe : tensor<32x?x128xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: bf16, %s: bf16, %z: bf16):
    %cf = arith.extf %c : bf16 to f32
    %sf = arith.extf %s : bf16 to f32
    %p = arith.mulf %a, %cf : f32
    %r = arith.mulf %b, %sf : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<32x?x128xbf16>
  %ke = tensor.empty(%m) : tensor<?x8x128xf32>
  %kn = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%wk : tensor<128xbf16>) output(%ke : tensor<?x8x128xf32>) eps = 1.0e-06 -> tensor<?x8x128xf32>
  %kte = tensor.empty(%m) : tensor<8x?x128xf32>
  %kt = linalg.transpose ins(%kn : tensor<?x8x128xf32>) outs(%kte : tensor<8x?x128xf32>) permutation = [1, 0, 2]
  %k1 = tensor.extract_slice %kt[0, 0, 0] [8, %m, 64] [1, 1, 1] : tensor<8x?x128xf32> to tensor<8x?x64xf32>
  %k2 = tensor.extract_slice %kt[0, 0, 64] [8, %m, 64] [1, 1, 1] : tensor<8x?x128xf32> to tensor<8x?x64xf32>
  %khe = tensor.empty(%m) : tensor<8x?x64xf32>
  %km = linalg.negf ins(%k2 : tensor<8x?x64xf32>) outs(%khe : tensor<8x?x64xf32>) -> tensor<8x?x64xf32>
  %kr = tensor.concat dim(2) %km, %k1 : (tensor<8x?x64xf32>, tensor<8x?x64xf32>) -> tensor<8x?x128xf32>
  %koe = tensor.empty(%m) : tensor<8x?x128xbf16>
  %ko = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%kt, %kr, %cos, %sin : tensor<8x?x128xf32>, tensor<8x?x128xf32>, tensor<?x128xbf16>, tensor<?x128xbf16>) outs(%koe : tensor<8x?x128xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: bf16, %s: bf16, %z: bf16):
    %cf = arith.extf %c : bf16 to f32
    %sf = arith.extf %s : bf16 to f32
    %p = arith.mulf %a, %cf : f32
    %r = arith.mulf %b, %sf : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8x?x128xbf16>
  return %qo, %ko : tensor<32x?x128xbf16>, tensor<8x?x128xbf16>
}

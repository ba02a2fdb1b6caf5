// All of a layer's projections in one row of 9216: q and k are normed over all
// of their 24 heads and rotated by halves, v is copied.
#r = affine_map<(t, h, j) -> (t, h, j)>
#j = affine_map<(t, h, j) -> (t, j)>

func.func @heads_rope(%x: tensor<?x9216xbf16>, %wq: tensor<3072xbf16>, %wk: tensor<3072xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x24x128xbf16>, tensor<?x24x128xbf16>, tensor<?x3072xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x9216xbf16>
  %qx = tensor.extract_slice %x[0, 0] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %qye = tensor.empty(%m) : tensor<?x3072xbf16>
  %qy = rmsnorm.forward input(%qx : tensor<?x3072xbf16>) weight(%wq : tensor<3072xbf16>) output(%qye : tensor<?x3072xbf16>) eps = 1.0e-06 -> tensor<?x3072xbf16>
  %q3 = tensor.expand_shape %qy [[0], [1, 2]] output_shape [%m, 24, 128] : tensor<?x3072xbf16> into tensor<?x24x128xbf16>
  %qa = tensor.extract_slice %q3[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xbf16> to tensor<?x24x64xbf16>
  %qb = tensor.extract_slice %q3[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xbf16> to tensor<?x24x64xbf16>
  %qel = tensor.empty(%m) : tensor<?x24x64xbf16>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x24x64xbf16>, tensor<?x24x64xbf16>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%qel : tensor<?x24x64xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x24x64xbf16>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x24x64xbf16>, tensor<?x24x64xbf16>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%qel : tensor<?x24x64xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x24x64xbf16>
  %qe2 = tensor.empty(%m) : tensor<?x24x128xbf16>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xbf16> into tensor<?x24x128xbf16>
  %q = tensor.insert_slice %qd into %qi[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xbf16> into tensor<?x24x128xbf16>
  %kx = tensor.extract_slice %x[0, 3072] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %kye = tensor.empty(%m) : tensor<?x3072xbf16>
  %ky = rmsnorm.forward input(%kx : tensor<?x3072xbf16>) weight(%wk : tensor<3072xbf16>) output(%kye : tensor<?x3072xbf16>) eps = 1.0e-06 -> tensor<?x3072xbf16>
  %k3 = tensor.expand_shape %ky [[0], [1, 2]] output_shape [%m, 24, 128] : tensor<?x3072xbf16> into tensor<?x24x128xbf16>
  %ka = tensor.extract_slice %k3[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xbf16> to tensor<?x24x64xbf16>
  %kb = tensor.extract_slice %k3[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xbf16> to tensor<?x24x64xbf16>
  %kel = tensor.empty(%m) : tensor<?x24x64xbf16>
  %kc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ka, %kb, %cos, %sin : tensor<?x24x64xbf16>, tensor<?x24x64xbf16>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%kel : tensor<?x24x64xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x24x64xbf16>
  %kd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%kb, %ka, %cos, %sin : tensor<?x24x64xbf16>, tensor<?x24x64xbf16>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%kel : tensor<?x24x64xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x24x64xbf16>
  %ke2 = tensor.empty(%m) : tensor<?x24x128xbf16>
  %ki = tensor.insert_slice %kc into %ke2[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xbf16> into tensor<?x24x128xbf16>
  %k = tensor.insert_slice %kd into %ki[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xbf16> into tensor<?x24x128xbf16>
  %vx = tensor.extract_slice %x[0, 6144] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %ve = tensor.empty(%m) : tensor<?x3072xbf16>
  %v = linalg.copy ins(%vx : tensor<?x3072xbf16>) outs(%ve : tensor<?x3072xbf16>) -> tensor<?x3072xbf16>
  return %q, %k, %v : tensor<?x24x128xbf16>, tensor<?x24x128xbf16>, tensor<?x3072xbf16>
}

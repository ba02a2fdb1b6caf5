// All of a layer's projections in one row of 9216: q and k are normed over all
// of their 24 heads and rotated by halves, v is as it is; all become fp8
// by a static scale.
#r = affine_map<(t, h, j) -> (t, h, j)>
#j = affine_map<(t, h, j) -> (t, j)>
#s = affine_map<(t, h, j) -> ()>
#w = affine_map<(t, c) -> (t, c)>
#z = affine_map<(t, c) -> ()>

func.func @heads_rope_fp8(%x: tensor<?x9216xbf16>, %wq: tensor<3072xbf16>, %wk: tensor<3072xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>, %scale: tensor<f32>) -> (tensor<?x24x128xf8E4M3FN>, tensor<?x24x128xf8E4M3FN>, tensor<?x3072xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x9216xbf16>
  %qx = tensor.extract_slice %x[0, 0] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %qye = tensor.empty(%m) : tensor<?x3072xf32>
  %qy = rmsnorm.forward input(%qx : tensor<?x3072xbf16>) weight(%wq : tensor<3072xbf16>) output(%qye : tensor<?x3072xf32>) eps = 1.0e-06 -> tensor<?x3072xf32>
  %q3 = tensor.expand_shape %qy [[0], [1, 2]] output_shape [%m, 24, 128] : tensor<?x3072xf32> into tensor<?x24x128xf32>
  %qa = tensor.extract_slice %q3[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xf32> to tensor<?x24x64xf32>
  %qb = tensor.extract_slice %q3[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xf32> to tensor<?x24x64xf32>
  %qel = tensor.empty(%m) : tensor<?x24x64xf8E4M3FN>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin, %scale : tensor<?x24x64xf32>, tensor<?x24x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>) outs(%qel : tensor<?x24x64xf8E4M3FN>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %k: f32, %o: f8E4M3FN):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.subf %3, %4 : f32
    %one = arith.constant 1.0 : f32
    %inv = arith.divf %one, %k : f32
    %6 = arith.mulf %5, %inv : f32
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %7 = arith.minimumf %6, %most : f32
    %8 = arith.maximumf %7, %least : f32
    %9 = arith.truncf %8 : f32 to f8E4M3FN
    linalg.yield %9 : f8E4M3FN
  } -> tensor<?x24x64xf8E4M3FN>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin, %scale : tensor<?x24x64xf32>, tensor<?x24x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>) outs(%qel : tensor<?x24x64xf8E4M3FN>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %k: f32, %o: f8E4M3FN):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.addf %3, %4 : f32
    %one = arith.constant 1.0 : f32
    %inv = arith.divf %one, %k : f32
    %6 = arith.mulf %5, %inv : f32
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %7 = arith.minimumf %6, %most : f32
    %8 = arith.maximumf %7, %least : f32
    %9 = arith.truncf %8 : f32 to f8E4M3FN
    linalg.yield %9 : f8E4M3FN
  } -> tensor<?x24x64xf8E4M3FN>
  %qe2 = tensor.empty(%m) : tensor<?x24x128xf8E4M3FN>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xf8E4M3FN> into tensor<?x24x128xf8E4M3FN>
  %q = tensor.insert_slice %qd into %qi[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xf8E4M3FN> into tensor<?x24x128xf8E4M3FN>
  %kx = tensor.extract_slice %x[0, 3072] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %kye = tensor.empty(%m) : tensor<?x3072xf32>
  %ky = rmsnorm.forward input(%kx : tensor<?x3072xbf16>) weight(%wk : tensor<3072xbf16>) output(%kye : tensor<?x3072xf32>) eps = 1.0e-06 -> tensor<?x3072xf32>
  %k3 = tensor.expand_shape %ky [[0], [1, 2]] output_shape [%m, 24, 128] : tensor<?x3072xf32> into tensor<?x24x128xf32>
  %ka = tensor.extract_slice %k3[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xf32> to tensor<?x24x64xf32>
  %kb = tensor.extract_slice %k3[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x128xf32> to tensor<?x24x64xf32>
  %kel = tensor.empty(%m) : tensor<?x24x64xf8E4M3FN>
  %kc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ka, %kb, %cos, %sin, %scale : tensor<?x24x64xf32>, tensor<?x24x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>) outs(%kel : tensor<?x24x64xf8E4M3FN>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %k: f32, %o: f8E4M3FN):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.subf %3, %4 : f32
    %one = arith.constant 1.0 : f32
    %inv = arith.divf %one, %k : f32
    %6 = arith.mulf %5, %inv : f32
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %7 = arith.minimumf %6, %most : f32
    %8 = arith.maximumf %7, %least : f32
    %9 = arith.truncf %8 : f32 to f8E4M3FN
    linalg.yield %9 : f8E4M3FN
  } -> tensor<?x24x64xf8E4M3FN>
  %kd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%kb, %ka, %cos, %sin, %scale : tensor<?x24x64xf32>, tensor<?x24x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>) outs(%kel : tensor<?x24x64xf8E4M3FN>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %k: f32, %o: f8E4M3FN):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.addf %3, %4 : f32
    %one = arith.constant 1.0 : f32
    %inv = arith.divf %one, %k : f32
    %6 = arith.mulf %5, %inv : f32
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %7 = arith.minimumf %6, %most : f32
    %8 = arith.maximumf %7, %least : f32
    %9 = arith.truncf %8 : f32 to f8E4M3FN
    linalg.yield %9 : f8E4M3FN
  } -> tensor<?x24x64xf8E4M3FN>
  %ke2 = tensor.empty(%m) : tensor<?x24x128xf8E4M3FN>
  %ki = tensor.insert_slice %kc into %ke2[0, 0, 0] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xf8E4M3FN> into tensor<?x24x128xf8E4M3FN>
  %k = tensor.insert_slice %kd into %ki[0, 0, 64] [%m, 24, 64] [1, 1, 1] : tensor<?x24x64xf8E4M3FN> into tensor<?x24x128xf8E4M3FN>
  %vx = tensor.extract_slice %x[0, 6144] [%m, 3072] [1, 1] : tensor<?x9216xbf16> to tensor<?x3072xbf16>
  %ve = tensor.empty(%m) : tensor<?x3072xf8E4M3FN>
  %v = linalg.generic {indexing_maps = [#w, #z, #w], iterator_types = ["parallel", "parallel"]} ins(%vx, %scale : tensor<?x3072xbf16>, tensor<f32>) outs(%ve : tensor<?x3072xf8E4M3FN>) {
  ^bb0(%u: bf16, %d: f32, %o: f8E4M3FN):
    %1 = arith.extf %u : bf16 to f32
    %one = arith.constant 1.0 : f32
    %inv = arith.divf %one, %d : f32
    %6 = arith.mulf %1, %inv : f32
    %most = arith.constant 448.0 : f32
    %least = arith.constant -448.0 : f32
    %7 = arith.minimumf %6, %most : f32
    %8 = arith.maximumf %7, %least : f32
    %9 = arith.truncf %8 : f32 to f8E4M3FN
    linalg.yield %9 : f8E4M3FN
  } -> tensor<?x3072xf8E4M3FN>
  return %q, %k, %v : tensor<?x24x128xf8E4M3FN>, tensor<?x24x128xf8E4M3FN>, tensor<?x3072xf8E4M3FN>
}

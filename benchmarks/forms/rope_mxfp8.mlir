// q of 32 heads: a norm for each, a rotation of its halves, then mxfp8: a power of two for each 32 columns.
func.func @rope_mxfp8(%q: tensor<?x32x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x32x128xf8E4M3FN>, tensor<?x32x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x32x128xbf16>
  %v1 = tensor.empty(%m) : tensor<?x32x128xf32>
  %v2 = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%v1 : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %v3 = tensor.extract_slice %v2[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %v4 = tensor.extract_slice %v2[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %v5 = tensor.empty(%m) : tensor<?x32x64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v4, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v5 : tensor<?x32x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x32x64xf32>
  %v7 = tensor.empty(%m) : tensor<?x32x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v4, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v7 : tensor<?x32x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i1, %i2 : f32
    %b2 = arith.mulf %i0, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x32x64xf32>
  %v9 = tensor.empty(%m) : tensor<?x32x128xf32>
  %v10 = tensor.insert_slice %v6 into %v9[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xf32> into tensor<?x32x128xf32>
  %v11 = tensor.insert_slice %v8 into %v10[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xf32> into tensor<?x32x128xf32>
  %v12 = tensor.expand_shape %v11 [[0], [1], [2, 3]] output_shape [%m, 32, 4, 32] : tensor<?x32x128xf32> into tensor<?x32x4x32xf32>
  %v13 = tensor.empty(%m) : tensor<?x32x4xf32>
  %v14 = arith.constant 0.0 : f32
  %v15 = linalg.fill ins(%v14 : f32) outs(%v13 : tensor<?x32x4xf32>) -> tensor<?x32x4xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v12 : tensor<?x32x4x32xf32>) outs(%v15 : tensor<?x32x4xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x32x4xf32>
  %v17 = tensor.empty(%m) : tensor<?x32x4xf8E8M0FNU>
  %v18 = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v16 : tensor<?x32x4xf32>) outs(%v17 : tensor<?x32x4xf8E8M0FNU>) {
  ^bb0(%i0: f32, %o0: f8E8M0FNU):
    %b1 = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %b1 : f32
    %b3 = arith.truncf %b2 upward : f32 to f8E8M0FNU
    linalg.yield %b3 : f8E8M0FNU
  } -> tensor<?x32x4xf8E8M0FNU>
  %v19 = tensor.empty(%m) : tensor<?x32x4x32xf8E4M3FN>
  %v20 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %v18 : tensor<?x32x4x32xf32>, tensor<?x32x4xf8E8M0FNU>) outs(%v19 : tensor<?x32x4x32xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f8E8M0FNU, %o0: f8E4M3FN):
    %b1 = arith.extf %i1 : f8E8M0FNU to f32
    %b2 = arith.constant 1.0 : f32
    %b3 = arith.divf %b2, %b1 : f32
    %b4 = arith.mulf %i0, %b3 : f32
    %b5 = arith.constant -448.0 : f32
    %b6 = arith.maximumf %b4, %b5 : f32
    %b7 = arith.constant 448.0 : f32
    %b8 = arith.minimumf %b6, %b7 : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x32x4x32xf8E4M3FN>
  %v21 = tensor.collapse_shape %v20 [[0], [1], [2, 3]] : tensor<?x32x4x32xf8E4M3FN> into tensor<?x32x128xf8E4M3FN>
  return %v21, %v18 : tensor<?x32x128xf8E4M3FN>, tensor<?x32x4xf8E8M0FNU>
}

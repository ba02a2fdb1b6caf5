// WAN: residual (+ input * (gate + bias)); LayerNorm, modulated by chunks of temb [b, rows, 6, N]
func.func @scale_shift(%x: tensor<?x?x3072xbf16>, %residual: tensor<?x?x3072xbf16>, %temb: tensor<?x?x6x3072xbf16>, %gate_bias: tensor<3072xf32>, %scale_bias: tensor<3072xf32>, %shift_bias: tensor<3072xf32>) -> (tensor<?x?x3072xbf16>, tensor<?x?x3072xbf16>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x3072xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x3072xbf16>
  %v1 = tensor.extract_slice %temb[0, 0, 2, 0] [%b, %t, 1, 3072] [1, 1, 1, 1] : tensor<?x?x6x3072xbf16> to tensor<?x?x3072xbf16>
  %v2 = tensor.empty(%b, %t) : tensor<?x?x3072xbf16>
  %v3 = linalg.generic {indexing_maps = [affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (k)>, affine_map<(b, t, k) -> (b, t, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %residual, %v1, %gate_bias : tensor<?x?x3072xbf16>, tensor<?x?x3072xbf16>, tensor<?x?x3072xbf16>, tensor<3072xf32>) outs(%v2 : tensor<?x?x3072xbf16>) {
  ^bb0(%i0: bf16, %i1: bf16, %i2: bf16, %i3: f32, %o0: bf16):
    %b1 = arith.extf %i1 : bf16 to f32
    %b2 = arith.extf %i0 : bf16 to f32
    %b3 = arith.extf %i2 : bf16 to f32
    %b4 = arith.addf %b3, %i3 : f32
    %b5 = arith.mulf %b2, %b4 : f32
    %b6 = arith.addf %b1, %b5 : f32
    %b7 = arith.truncf %b6 : f32 to bf16
    linalg.yield %b7 : bf16
  } -> tensor<?x?x3072xbf16>
  %v4 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %v5 = arith.constant 0.000000000e+00 : f32
  %v6 = linalg.fill ins(%v5 : f32) outs(%v4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(a, b, z) -> (a, b, z)>, affine_map<(a, b, z) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v3 : tensor<?x?x3072xbf16>) outs(%v6 : tensor<?x?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%i0: bf16, %o0: f32):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.addf %o0, %b1 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x?xf32>
  %v8 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<?x?xf32>) outs(%v8 : tensor<?x?xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = arith.constant 3.072000000e+03 : f32
    %b2 = arith.divf %i0, %b1 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x?xf32>
  %v10 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %v11 = arith.constant 0.000000000e+00 : f32
  %v12 = linalg.fill ins(%v11 : f32) outs(%v10 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(a, b, z) -> (a, b, z)>, affine_map<(a, b, z) -> (a, b)>, affine_map<(a, b, z) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v3, %v9 : tensor<?x?x3072xbf16>, tensor<?x?xf32>) outs(%v12 : tensor<?x?xf32>) {
  ^bb0(%i0: bf16, %i1: f32, %o0: f32):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.subf %b1, %i1 : f32
    %b3 = arith.mulf %b2, %b2 : f32
    %b4 = arith.addf %o0, %b3 : f32
    linalg.yield %b4 : f32
  } -> tensor<?x?xf32>
  %v14 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%v13 : tensor<?x?xf32>) outs(%v14 : tensor<?x?xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = arith.constant 3.072000000e+03 : f32
    %b2 = arith.divf %i0, %b1 : f32
    %b3 = arith.constant 1.000000000e-06 : f32
    %b4 = arith.addf %b2, %b3 : f32
    %b5 = math.rsqrt %b4 : f32
    linalg.yield %b5 : f32
  } -> tensor<?x?xf32>
  %v16 = tensor.extract_slice %temb[0, 0, 1, 0] [%b, %t, 1, 3072] [1, 1, 1, 1] : tensor<?x?x6x3072xbf16> to tensor<?x?x3072xbf16>
  %v17 = tensor.extract_slice %temb[0, 0, 0, 0] [%b, %t, 1, 3072] [1, 1, 1, 1] : tensor<?x?x6x3072xbf16> to tensor<?x?x3072xbf16>
  %v18 = tensor.empty(%b, %t) : tensor<?x?x3072xbf16>
  %v19 = linalg.generic {indexing_maps = [affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (b, t)>, affine_map<(b, t, k) -> (b, t)>, affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (b, t, k)>, affine_map<(b, t, k) -> (k)>, affine_map<(b, t, k) -> (k)>, affine_map<(b, t, k) -> (b, t, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v9, %v15, %v16, %v17, %scale_bias, %shift_bias : tensor<?x?x3072xbf16>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?x3072xbf16>, tensor<?x?x3072xbf16>, tensor<3072xf32>, tensor<3072xf32>) outs(%v18 : tensor<?x?x3072xbf16>) {
  ^bb0(%i0: bf16, %i1: f32, %i2: f32, %i3: bf16, %i4: bf16, %i5: f32, %i6: f32, %o0: bf16):
    %b1 = arith.extf %i0 : bf16 to f32
    %b2 = arith.subf %b1, %i1 : f32
    %b3 = arith.mulf %b2, %i2 : f32
    %b4 = arith.extf %i3 : bf16 to f32
    %b5 = arith.constant 1.000000000e+00 : f32
    %b6 = arith.addf %b5, %b4 : f32
    %b7 = arith.addf %b6, %i5 : f32
    %b8 = arith.mulf %b3, %b7 : f32
    %b9 = arith.extf %i4 : bf16 to f32
    %b10 = arith.addf %b9, %i6 : f32
    %b11 = arith.addf %b8, %b10 : f32
    %b12 = arith.truncf %b11 : f32 to bf16
    linalg.yield %b12 : bf16
  } -> tensor<?x?x3072xbf16>
  return %v3, %v19 : tensor<?x?x3072xbf16>, tensor<?x?x3072xbf16>
}

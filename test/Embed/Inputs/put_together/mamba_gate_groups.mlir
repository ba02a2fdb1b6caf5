#i3 = affine_map<(i,j,k)->(i,j,k)>
func.func @mg(%p: tensor<32x1064xbf16>, %x: tensor<32x4x128xbf16>, %w: tensor<128xbf16>) -> tensor<32x4x128xbf16> {
  %s = tensor.extract_slice %p[0, 0] [32, 512] [1, 1] : tensor<32x1064xbf16> to tensor<32x512xbf16>
  %g = tensor.expand_shape %s [[0], [1, 2]] output_shape [32, 4, 128] : tensor<32x512xbf16> into tensor<32x4x128xbf16>
  %e = tensor.empty() : tensor<32x4x128xbf16>
  %h = linalg.mul ins(%g, %x : tensor<32x4x128xbf16>, tensor<32x4x128xbf16>) outs(%e : tensor<32x4x128xbf16>) -> tensor<32x4x128xbf16>
  %y = rmsnorm.forward input(%h : tensor<32x4x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<32x4x128xbf16>) eps = 1.0e-05 -> tensor<32x4x128xbf16>
  return %y : tensor<32x4x128xbf16>
}

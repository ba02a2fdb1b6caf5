func.func @rp(%x: tensor<7x128xf32>) -> tensor<7x128xf32> {
  %e = tensor.empty() : tensor<7x128xf32>
  %y = rmsnorm.forward input(%x : tensor<7x128xf32>) output(%e : tensor<7x128xf32>) eps = 1.0e-05 -> tensor<7x128xf32>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [7, 64, 2] : tensor<7x128xf32> into tensor<7x64x2xf32>
  %a = tensor.extract_slice %p[0, 0, 0] [7, 64, 1] [1, 1, 1] : tensor<7x64x2xf32> to tensor<7x64xf32>
  %b = tensor.extract_slice %p[0, 0, 1] [7, 64, 1] [1, 1, 1] : tensor<7x64x2xf32> to tensor<7x64xf32>
  %eh = tensor.empty() : tensor<7x64xf32>
  %na = linalg.negf ins(%b : tensor<7x64xf32>) outs(%eh : tensor<7x64xf32>) -> tensor<7x64xf32>
  %d = tensor.empty() : tensor<7x64x2xf32>
  %i = tensor.insert_slice %na into %d[0, 0, 0] [7, 64, 1] [1, 1, 1] : tensor<7x64xf32> into tensor<7x64x2xf32>
  %j = tensor.insert_slice %a into %i[0, 0, 1] [7, 64, 1] [1, 1, 1] : tensor<7x64xf32> into tensor<7x64x2xf32>
  %c = tensor.collapse_shape %j [[0], [1, 2]] : tensor<7x64x2xf32> into tensor<7x128xf32>
  return %c : tensor<7x128xf32>
}

func.func @q3(%x: tensor<7x128xf32>) -> tensor<7x128xf32> {
  %s = tensor.extract_slice %x[0, 0] [7, 64] [1, 1] : tensor<7x128xf32> to tensor<7x64xf32>
  %k = tensor.extract_slice %x[0, 64] [7, 64] [1, 1] : tensor<7x128xf32> to tensor<7x64xf32>
  %e = tensor.empty() : tensor<7x64xf32>
  %y = rmsnorm.forward input(%s : tensor<7x64xf32>) output(%e : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %u = linalg.add ins(%y, %k : tensor<7x64xf32>, tensor<7x64xf32>) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
  %j = tensor.insert_slice %y into %x[0, 64] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  %j2 = tensor.insert_slice %u into %j[0, 0] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  return %j2 : tensor<7x128xf32>
}

func.func @b4(%x: tensor<7x128xf32>, %d: tensor<10x128xf32>) -> tensor<10x128xf32> {
  %e = tensor.empty() : tensor<7x128xf32>
  %y = rmsnorm.forward input(%x : tensor<7x128xf32>) output(%e : tensor<7x128xf32>) eps = 1.0e-05 -> tensor<7x128xf32>
  %b = linalg.exp ins(%y : tensor<7x128xf32>) outs(%e : tensor<7x128xf32>) -> tensor<7x128xf32>
  %i = tensor.insert_slice %b into %d[0, 0] [7, 128] [1, 1] : tensor<7x128xf32> into tensor<10x128xf32>
  %j = tensor.insert_slice %y into %i[3, 0] [7, 128] [1, 1] : tensor<7x128xf32> into tensor<10x128xf32>
  return %j : tensor<10x128xf32>
}

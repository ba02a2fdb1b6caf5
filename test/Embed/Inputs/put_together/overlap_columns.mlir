#id = affine_map<(i,j)->(i,j)>
func.func @b1(%x: tensor<7x128xf32>, %d: tensor<7x256xf32>) -> tensor<7x256xf32> {
  %e = tensor.empty() : tensor<7x128xf32>
  %y = rmsnorm.forward input(%x : tensor<7x128xf32>) output(%e : tensor<7x128xf32>) eps = 1.0e-05 -> tensor<7x128xf32>
  %b = linalg.exp ins(%y : tensor<7x128xf32>) outs(%e : tensor<7x128xf32>) -> tensor<7x128xf32>
  %i = tensor.insert_slice %b into %d[0, 0] [7, 128] [1, 1] : tensor<7x128xf32> into tensor<7x256xf32>
  %j = tensor.insert_slice %y into %i[0, 64] [7, 128] [1, 1] : tensor<7x128xf32> into tensor<7x256xf32>
  return %j : tensor<7x256xf32>
}

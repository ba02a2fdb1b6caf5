func.func @rows_as_columns(%x: tensor<4x8x16xf32>, %d: tensor<4x128xf32>) -> tensor<4x128xf32> {
  %e = tensor.empty() : tensor<4x8x16xf32>
  %y = rmsnorm.forward input(%x : tensor<4x8x16xf32>) output(%e : tensor<4x8x16xf32>) eps = 1.0e-05 -> tensor<4x8x16xf32>
  %c = tensor.collapse_shape %y [[0], [1, 2]] : tensor<4x8x16xf32> into tensor<4x128xf32>
  %f = tensor.empty() : tensor<4x128xf32>
  %s = linalg.add ins(%c, %c : tensor<4x128xf32>, tensor<4x128xf32>) outs(%f : tensor<4x128xf32>) -> tensor<4x128xf32>
  %i = tensor.insert_slice %s into %d[0, 0] [4, 128] [1, 1] : tensor<4x128xf32> into tensor<4x128xf32>
  return %i : tensor<4x128xf32>
}

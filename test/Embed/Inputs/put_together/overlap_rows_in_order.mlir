func.func @one_norm_rows_twice(%x: tensor<7x64xf32>, %d: tensor<10x64xf32>) -> tensor<10x64xf32> {
  %e = tensor.empty() : tensor<7x64xf32>
  %y = rmsnorm.forward input(%x : tensor<7x64xf32>) output(%e : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %b = linalg.exp ins(%y : tensor<7x64xf32>) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
  %i = tensor.insert_slice %y into %d[0, 0] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<10x64xf32>
  %j = tensor.insert_slice %b into %i[3, 0] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<10x64xf32>
  return %j : tensor<10x64xf32>
}

func.func @q2(%x: tensor<7x2x64xf32>) -> tensor<7x2x64xf32> {
  %s = tensor.extract_slice %x[0, 0, 0] [7, 1, 64] [1, 1, 1] : tensor<7x2x64xf32> to tensor<7x64xf32>
  %k = tensor.extract_slice %x[0, 1, 0] [7, 1, 64] [1, 1, 1] : tensor<7x2x64xf32> to tensor<7x64xf32>
  %e = tensor.empty() : tensor<7x64xf32>
  %y = rmsnorm.forward input(%s : tensor<7x64xf32>) output(%e : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %u = linalg.add ins(%y, %k : tensor<7x64xf32>, tensor<7x64xf32>) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
  %j = tensor.insert_slice %u into %x[0, 0, 0] [7, 1, 64] [1, 1, 1] : tensor<7x64xf32> into tensor<7x2x64xf32>
  return %j : tensor<7x2x64xf32>
}

func.func @insertion_of_others(%a0: tensor<3x1x16xf32>, %a1: tensor<3x1x16xf32>, %a2: tensor<2x3x32xf32>, %a3: tensor<2x3x64xf32>) -> (tensor<2x3x64xf32>, tensor<2x3x32xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<3x1x16xf32>
  %v1 = rmsnorm.forward input(%a1 : tensor<3x1x16xf32>) output(%e0 : tensor<3x1x16xf32>) eps = 1.0e-5 -> tensor<3x1x16xf32>
  %e2 = tensor.empty() : tensor<1x3x16xf32>
  %t3 = linalg.transpose ins(%v1 : tensor<3x1x16xf32>) outs(%e2 : tensor<1x3x16xf32>) permutation = [1, 0, 2]
  %v4 = tensor.insert_slice %t3 into %a2[0, 0, 16] [1, 3, 16] [1, 1, 1] : tensor<1x3x16xf32> into tensor<2x3x32xf32>
  %v5 = tensor.insert_slice %v4 into %a3[0, 0, 0] [2, 3, 32] [1, 1, 1] : tensor<2x3x32xf32> into tensor<2x3x64xf32>
  return %v5, %v4 : tensor<2x3x64xf32>, tensor<2x3x32xf32>
}

func.func @insertions_of_others(%a0: tensor<8x8x32xf32>, %a1: tensor<16x8x32xf32>, %a2: tensor<8x16x32xf32>, %a3: tensor<16x16x64xf32>) -> (tensor<16x16x64xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<8x8x32xf32>
  %v1 = rmsnorm.forward input(%a0 : tensor<8x8x32xf32>) output(%e0 : tensor<8x8x32xf32>) eps = 1.0e-5 -> tensor<8x8x32xf32>
  %v2 = tensor.insert_slice %v1 into %a1[8, 0, 0] [8, 8, 32] [1, 1, 1] : tensor<8x8x32xf32> into tensor<16x8x32xf32>
  %e3 = tensor.empty() : tensor<8x8x32xf32>
  %v4 = rmsnorm.forward input(%a0 : tensor<8x8x32xf32>) output(%e3 : tensor<8x8x32xf32>) eps = 1.0e-5 -> tensor<8x8x32xf32>
  %v5 = tensor.insert_slice %v4 into %a2[0, 8, 0] [8, 8, 32] [1, 1, 1] : tensor<8x8x32xf32> into tensor<8x16x32xf32>
  %v6 = tensor.insert_slice %v5 into %a3[0, 0, 32] [8, 16, 32] [1, 1, 1] : tensor<8x16x32xf32> into tensor<16x16x64xf32>
  return %v6 : tensor<16x16x64xf32>
}

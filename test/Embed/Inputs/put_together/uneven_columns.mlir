func.func @uneven_columns(%a0: tensor<3x16xf32>, %a1: tensor<16xf32>, %a2: tensor<3x16xf32>, %a3: tensor<16xf32>, %a4: tensor<24xf32>) -> (tensor<2x12xf32>, tensor<24xf32>, tensor<3x16xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<3x16xf32>
  %v1 = rmsnorm.forward input(%a0 : tensor<3x16xf32>) weight(%a1 : tensor<16xf32>) output(%e0 : tensor<3x16xf32>) eps = 1.0e-5 -> tensor<3x16xf32>
  %v2 = tensor.collapse_shape %a0 [[0, 1]] : tensor<3x16xf32> into tensor<48xf32>
  %e3 = tensor.empty() : tensor<3x16xf32>
  %v4 = rmsnorm.forward input(%v1 : tensor<3x16xf32>) output(%e3 : tensor<3x16xf32>) eps = 1.0e-5 -> tensor<3x16xf32>
  %v5 = tensor.insert_slice %v4 into %a2[0, 0] [3, 16] [1, 1] : tensor<3x16xf32> into tensor<3x16xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v5, %a3 : tensor<3x16xf32>, tensor<16xf32>) outs(%v4 : tensor<3x16xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.maximumf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<3x16xf32>
  %v7 = tensor.extract_slice %v2[4] [24] [1] : tensor<48xf32> to tensor<24xf32>
  %e8 = tensor.empty() : tensor<24xf32>
  %v9 = rmsnorm.forward input(%v7 : tensor<24xf32>) weight(%a4 : tensor<24xf32>) output(%e8 : tensor<24xf32>) eps = 1.0e-5 -> tensor<24xf32>
  %v10 = tensor.expand_shape %v9 [[0, 1]] output_shape [2, 12] : tensor<24xf32> into tensor<2x12xf32>
  return %v10, %v9, %v1 : tensor<2x12xf32>, tensor<24xf32>, tensor<3x16xf32>
}

func.func @inserted_apart(%a0: tensor<2x64xf32>, %a1: tensor<2x64xf32>, %a2: tensor<4x2x64xf32>) -> (tensor<4x2x64xf32>, tensor<2x64xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %v0 = tensor.extract_slice %a1[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> to tensor<2x64xf32>
  %e1 = tensor.empty() : tensor<2x64xf32>
  %v2 = rmsnorm.forward input(%v0 : tensor<2x64xf32>) output(%e1 : tensor<2x64xf32>) eps = 1.0e-5 -> tensor<2x64xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [2, 2, 32] : tensor<2x64xf32> into tensor<2x2x32xf32>
  %e4 = tensor.empty() : tensor<2x2x32xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v3 : tensor<2x2x32xf32>, tensor<2x2x32xf32>) outs(%e4 : tensor<2x2x32xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.subf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<2x2x32xf32>
  %v6 = tensor.insert_slice %v5 into %a2[2, 0, 0] [2, 2, 32] [1, 1, 1] : tensor<2x2x32xf32> into tensor<4x2x64xf32>
  return %v6, %v2 : tensor<4x2x64xf32>, tensor<2x64xf32>
}

func.func @groups_apart(%a0: tensor<2x8xf32>, %a1: tensor<2x8xf32>, %a2: tensor<16xf32>, %a3: tensor<16xf32>) -> (tensor<2xf32>, tensor<16xf32>, tensor<16xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %v0 = tensor.extract_slice %a1[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> to tensor<2x8xf32>
  %v1 = tensor.collapse_shape %v0 [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %e2 = tensor.empty() : tensor<16xf32>
  %v3 = rmsnorm.forward input(%v1 : tensor<16xf32>) weight(%a2 : tensor<16xf32>) output(%e2 : tensor<16xf32>) eps = 1.0e-5 -> tensor<16xf32>
  %e4 = tensor.empty() : tensor<16xf32>
  %v5 = rmsnorm.forward input(%v3 : tensor<16xf32>) weight(%a3 : tensor<16xf32>) output(%e4 : tensor<16xf32>) eps = 1.0e-5 -> tensor<16xf32>
  %e6 = tensor.empty() : tensor<8x2xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<2x8xf32>) outs(%e6 : tensor<8x2xf32>) {
  ^bb0(%b0: f32, %o: f32):
    linalg.yield %b0 : f32
  } -> tensor<8x2xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v7, %v7 : tensor<8x2xf32>, tensor<8x2xf32>) outs(%v7 : tensor<8x2xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.subf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<8x2xf32>
  %e9 = tensor.empty() : tensor<2xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%v0 : tensor<2x8xf32>) outs(%e9 : tensor<2xf32>) {
  ^bb0(%b0: f32, %o: f32):
    linalg.yield %b0 : f32
  } -> tensor<2xf32>
  return %v10, %v3, %v5 : tensor<2xf32>, tensor<16xf32>, tensor<16xf32>
}

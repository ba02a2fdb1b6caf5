func.func @rows_in_digits(%a0: tensor<4x4x32xf32>, %a1: tensor<4x32x4xf32>, %a2: tensor<32x4x4xf32>, %a3: tensor<32xf32>) -> (tensor<4x4x32xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<4x4x32xf32>
  %v1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a0, %a1 : tensor<4x4x32xf32>, tensor<4x32x4xf32>) outs(%e0 : tensor<4x4x32xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.mulf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x4x32xf32>
  %e2 = tensor.empty() : tensor<4x4x32xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %a2 : tensor<4x4x32xf32>, tensor<32x4x4xf32>) outs(%e2 : tensor<4x4x32xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.addf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x4x32xf32>
  %e4 = tensor.empty() : tensor<4x4x32xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %v3 : tensor<4x4x32xf32>, tensor<4x4x32xf32>) outs(%e4 : tensor<4x4x32xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.subf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x4x32xf32>
  %e6 = tensor.empty() : tensor<4x4x32xf32>
  %v7 = rmsnorm.forward input(%v5 : tensor<4x4x32xf32>) weight(%a3 : tensor<32xf32>) output(%e6 : tensor<4x4x32xf32>) eps = 1.0e-5 -> tensor<4x4x32xf32>
  %e8 = tensor.empty() : tensor<4x4x32xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v7, %v5 : tensor<4x4x32xf32>, tensor<4x4x32xf32>) outs(%e8 : tensor<4x4x32xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.subf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x4x32xf32>
  %e10 = tensor.empty() : tensor<4x4xf32>
  %i11 = linalg.fill ins(%zero : f32) outs(%e10 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v9 : tensor<4x4x32xf32>) outs(%i11 : tensor<4x4xf32>) {
  ^bb0(%b0: f32, %o: f32):
    %r = arith.addf %o, %b0 : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %e13 = tensor.empty() : tensor<4x4xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v12, %v12 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e13 : tensor<4x4xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.subf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  %v15 = tensor.expand_shape %v14 [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
  %v16 = tensor.insert_slice %v15 into %a0[0, 0, 0] [2, 2, 4] [1, 1, 1] : tensor<2x2x4xf32> into tensor<4x4x32xf32>
  return %v16 : tensor<4x4x32xf32>
}

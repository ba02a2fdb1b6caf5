func.func @constant_part(%a0: tensor<8x64xf32>, %a1: tensor<8x64xf32>, %a2: tensor<64xf32>, %a3: tensor<64xf32>, %a4: tensor<16x64xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>, tensor<8x64xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %v0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1, %a1 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%a0 : tensor<8x64xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.maximumf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %e1 = tensor.empty() : tensor<8x64xf32>
  %v2 = linalg.fill ins(%c : f32) outs(%e1 : tensor<8x64xf32>) -> tensor<8x64xf32>
  %e3 = tensor.empty() : tensor<8x64xf32>
  %v4 = rmsnorm.forward input(%v2 : tensor<8x64xf32>) weight(%a2 : tensor<64xf32>) output(%e3 : tensor<8x64xf32>) eps = 1.0e-5 -> tensor<8x64xf32>
  %e5 = tensor.empty() : tensor<8x64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v4, %a3 : tensor<8x64xf32>, tensor<64xf32>) outs(%e5 : tensor<8x64xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.maximumf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %v7 = tensor.insert_slice %v6 into %a4[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<16x64xf32>
  %e8 = tensor.empty() : tensor<16x64xf32>
  %v9 = linalg.fill ins(%c : f32) outs(%e8 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %v10 = tensor.extract_slice %v2[0, 16] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  return %v10, %v4, %v6 : tensor<8x32xf32>, tensor<8x64xf32>, tensor<8x64xf32>
}

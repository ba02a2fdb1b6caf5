func.func @repeated_row_value(%a0: tensor<1x1x32xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x32xf32>) {
  %c = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<32x1x1x2xf32>
  %v1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d1, d0, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0 : tensor<1x1x32xf32>) outs(%e0 : tensor<32x1x1x2xf32>) {
  ^bb0(%b0: f32, %o: f32):
    linalg.yield %b0 : f32
  } -> tensor<32x1x1x2xf32>
  %e2 = tensor.empty() : tensor<32x1x1x2xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v1, %v1 : tensor<32x1x1x2xf32>, tensor<32x1x1x2xf32>) outs(%e2 : tensor<32x1x1x2xf32>) {
  ^bb0(%b0: f32, %b1: f32, %o: f32):
    %r = arith.mulf %b0, %b1 : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<32x1x1x2xf32>
  %e4 = tensor.empty() : tensor<1x1x32xf32>
  %v5 = rmsnorm.forward input(%a0 : tensor<1x1x32xf32>) output(%e4 : tensor<1x1x32xf32>) eps = 1.0e-5 -> tensor<1x1x32xf32>
  %e6 = tensor.empty() : tensor<1x1x32xf32>
  %v7 = rmsnorm.forward input(%v5 : tensor<1x1x32xf32>) output(%e6 : tensor<1x1x32xf32>) eps = 1.0e-5 -> tensor<1x1x32xf32>
  %v8 = tensor.extract_slice %v5[0, 0, 7] [1, 1, 16] [1, 1, 1] : tensor<1x1x32xf32> to tensor<1x1x16xf32>
  %e9 = tensor.empty() : tensor<1x1x16xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2 * 2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v5 : tensor<1x1x32xf32>) outs(%e9 : tensor<1x1x16xf32>) {
  ^bb0(%b0: f32, %o: f32):
    linalg.yield %b0 : f32
  } -> tensor<1x1x16xf32>
  %e11 = tensor.empty() : tensor<1x1xf32>
  %i12 = linalg.fill ins(%least : f32) outs(%e11 : tensor<1x1xf32>) -> tensor<1x1xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v7 : tensor<1x1x32xf32>) outs(%i12 : tensor<1x1xf32>) {
  ^bb0(%b0: f32, %o: f32):
    %r = arith.maximumf %o, %b0 : f32
    linalg.yield %r : f32
  } -> tensor<1x1xf32>
  %e14 = tensor.empty() : tensor<1x1x2xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v13 : tensor<1x1xf32>) outs(%e14 : tensor<1x1x2xf32>) {
  ^bb0(%b0: f32, %o: f32):
    linalg.yield %b0 : f32
  } -> tensor<1x1x2xf32>
  return %v15, %v5 : tensor<1x1x2xf32>, tensor<1x1x32xf32>
}

func.func @row_value_updated(%x: tensor<7x60000xf32>, %d: tensor<7xf32>) -> (tensor<7xf32>, tensor<7x60000xf32>) {
  %e = tensor.empty() : tensor<7x60000xf32>
  %c = arith.constant 0xFF800000 : f32
  %y0 = rmsnorm.forward input(%x : tensor<7x60000xf32>) output(%e : tensor<7x60000xf32>) eps = 1.0e-5 -> tensor<7x60000xf32>
  %d0 = linalg.fill ins(%c : f32) outs(%d : tensor<7xf32>) -> tensor<7xf32>
  %m = linalg.reduce ins(%y0 : tensor<7x60000xf32>) outs(%d0 : tensor<7xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %s = arith.maximumf %a, %b : f32  linalg.yield %s : f32 }
  %y = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%y0, %d : tensor<7x60000xf32>, tensor<7xf32>) outs(%e : tensor<7x60000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<7x60000xf32>
  return %m, %y : tensor<7xf32>, tensor<7x60000xf32>
}

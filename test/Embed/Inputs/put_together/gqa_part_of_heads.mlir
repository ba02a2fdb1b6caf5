func.func @s4(%x: tensor<7x4x64xf32>, %t: tensor<7x4x64xf32>) -> tensor<7x4x64xf32> {
  %e = tensor.empty() : tensor<7x4x64xf32>
  %y = rmsnorm.forward input(%x : tensor<7x4x64xf32>) output(%e : tensor<7x4x64xf32>) eps = 1.0e-05 -> tensor<7x4x64xf32>
  %s = tensor.extract_slice %t[0, 0, 0] [7, 2, 64] [1, 1, 1] : tensor<7x4x64xf32> to tensor<7x2x64xf32>
  %y4 = tensor.expand_shape %y [[0], [1, 2], [3]] output_shape [7, 2, 2, 64] : tensor<7x4x64xf32> into tensor<7x2x2x64xf32>
  %t4 = tensor.expand_shape %t [[0], [1, 2], [3]] output_shape [7, 2, 2, 64] : tensor<7x4x64xf32> into tensor<7x2x2x64xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i,j,k,l)->(i,j,k,l)>, affine_map<(i,j,k,l)->(i,j,l)>, affine_map<(i,j,k,l)->(i,j,k,l)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y4, %s : tensor<7x2x2x64xf32>, tensor<7x2x64xf32>) outs(%y4 : tensor<7x2x2x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<7x2x2x64xf32>
  %r = tensor.collapse_shape %u [[0], [1, 2], [3]] : tensor<7x2x2x64xf32> into tensor<7x4x64xf32>
  return %r : tensor<7x4x64xf32>
}

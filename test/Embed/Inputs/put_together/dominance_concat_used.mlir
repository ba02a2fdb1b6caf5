#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>
#col = affine_map<(i,j)->(j)>
func.func @concat_used(%x: tensor<7x64xf32>, %k: tensor<128x128xf32>) -> (tensor<7x128xf32>, tensor<7x128xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x64xf32>
  %d = tensor.empty() : tensor<7x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%d : tensor<7x128xf32>) -> tensor<7x128xf32>
  %y = rmsnorm.forward input(%x : tensor<7x64xf32>) output(%e : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel","parallel"]} ins(%y : tensor<7x64xf32>) outs(%e : tensor<7x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %c = math.tanh %a0 : f32
    linalg.yield %c : f32
  } -> tensor<7x64xf32>
  %i = tensor.insert_slice %b into %f[0, 0] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  %p = linalg.matmul ins(%i, %k : tensor<7x128xf32>, tensor<128x128xf32>) outs(%f : tensor<7x128xf32>) -> tensor<7x128xf32>
  %j = tensor.insert_slice %y into %i[0, 64] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  return %p, %j : tensor<7x128xf32>, tensor<7x128xf32>
}

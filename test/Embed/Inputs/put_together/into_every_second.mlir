#every_second = affine_map<(a, b, c) -> (a, b * 2, c)>
#id = affine_map<(a, b, c) -> (a, b, c)>
func.func @every_second(%x: tensor<4x8x128xf32>, %z: tensor<4x31x128xf32>, %o: tensor<4x16x128xf32>) -> tensor<4x16x128xf32> {
  %e = tensor.empty() : tensor<4x8x128xf32>
  %y = rmsnorm.forward input(%x : tensor<4x8x128xf32>) output(%e : tensor<4x8x128xf32>) eps = 1.0e-05 -> tensor<4x8x128xf32>
  %f = tensor.empty() : tensor<4x16x128xf32>
  %g = linalg.generic {indexing_maps = [#every_second, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : tensor<4x31x128xf32>) outs(%f : tensor<4x16x128xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x16x128xf32>
  %i = tensor.insert_slice %y into %g[0, 0, 0] [4, 8, 128] [1, 1, 1] : tensor<4x8x128xf32> into tensor<4x16x128xf32>
  %r = linalg.copy ins(%i : tensor<4x16x128xf32>) outs(%o : tensor<4x16x128xf32>) -> tensor<4x16x128xf32>
  return %r : tensor<4x16x128xf32>
}

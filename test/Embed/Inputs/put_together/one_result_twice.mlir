#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>
#col = affine_map<(i,j)->(j)>
func.func @two_ins_overlap(%x: tensor<7x64xf32>, %d: tensor<7x128xf32>) -> tensor<7x128xf32> {
  %e = tensor.empty() : tensor<7x64xf32>
  %y = rmsnorm.forward input(%x : tensor<7x64xf32>) output(%e : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %i = tensor.insert_slice %y into %d[0, 0] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  %j = tensor.insert_slice %y into %i[0, 32] [7, 64] [1, 1] : tensor<7x64xf32> into tensor<7x128xf32>
  return %j : tensor<7x128xf32>
}

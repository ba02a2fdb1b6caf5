func.func @dest_fill(%x: tensor<?x128xf32>) -> (tensor<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e_s = tensor.empty(%n) : tensor<?xi64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e_s : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %cm = arith.constant 1 : index
    %ca = arith.constant 0 : index
    %j = arith.muli %i, %cm : index
    %kk = arith.addi %j, %ca : index
    %k = arith.index_cast %kk : index to i64
    linalg.yield %k : i64
  } -> tensor<?xi64>
  %z0 = arith.constant 0.0 : f32
  %c_ = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%z0 : f32) outs(%c_ : tensor<64x128xf32>) -> tensor<64x128xf32>
  %e_y = tensor.empty(%n) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e_y : tensor<?x128xf32>) eps = 1.0e-3 -> tensor<?x128xf32>
  %r = rmsnorm.scatter %y into %c at(%s : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

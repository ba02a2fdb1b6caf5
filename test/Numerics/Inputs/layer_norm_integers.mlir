// LayerNorm of integers 0 to 3: f32 has their mean and their variance exactly.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#each_row = affine_map<(d0) -> (d0)>

func.func @layer_norm(%x: tensor<?x64xi8>, %weight: tensor<64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xi8>
  %per_row = tensor.empty(%m) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_row : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xi8>) outs(%zeros : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%xi: i8, %acc: f32):
    %three = arith.constant 3 : i8
    %low = arith.andi %xi, %three : i8
    %xf = arith.uitofp %low : i8 to f32
    %next = arith.addf %acc, %xf : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%per_row : tensor<?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %q = arith.divf %s, %n : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<?x64xi8>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%xi: i8, %mi: f32, %acc: f32):
    %three = arith.constant 3 : i8
    %low = arith.andi %xi, %three : i8
    %xf = arith.uitofp %low : i8 to f32
    %d = arith.subf %xf, %mi : f32
    %dd = arith.mulf %d, %d : f32
    %next = arith.addf %acc, %dd : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#tile, #row, #row, #column, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %squares, %weight : tensor<?x64xi8>, tensor<?xf32>, tensor<?xf32>, tensor<64xf32>)
      outs(%empty : tensor<?x64xf32>) {
  ^bb0(%xi: i8, %mi: f32, %si: f32, %wi: f32, %o: f32):
    %three = arith.constant 3 : i8
    %low = arith.andi %xi, %three : i8
    %xf = arith.uitofp %low : i8 to f32
    %d = arith.subf %xf, %mi : f32
    %q = arith.divf %si, %n : f32
    %e = arith.addf %q, %eps : f32
    %r = math.rsqrt %e : f32
    %h = arith.mulf %d, %r : f32
    %p = arith.mulf %h, %wi : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

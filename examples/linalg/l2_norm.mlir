// x / max(|x|, eps) in linalg, |x| the Euclidean norm of a row: one kernel, see
// layer_norm.mlir. The rows have two dimensions.

#tile = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>

func.func @l2_norm(%x: tensor<?x8x128xf32>) -> tensor<?x8x128xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-12 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8x128xf32>
  %per_row = tensor.empty(%m) : tensor<?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_row : tensor<?x8xf32>) -> tensor<?x8xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x8x128xf32>) outs(%zeros : tensor<?x8xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%xi: f32, %acc: f32):
    %xx = arith.mulf %xi, %xi : f32
    %next = arith.addf %acc, %xx : f32
    linalg.yield %next : f32
  } -> tensor<?x8xf32>
  %empty = tensor.empty(%m) : tensor<?x8x128xf32>
  %y = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %squares : tensor<?x8x128xf32>, tensor<?x8xf32>) outs(%empty : tensor<?x8x128xf32>) {
  ^bb0(%xi: f32, %s: f32, %o: f32):
    %norm = math.sqrt %s : f32
    %limited = arith.maximumf %norm, %eps : f32
    %q = arith.divf %xi, %limited : f32
    linalg.yield %q : f32
  } -> tensor<?x8x128xf32>
  return %y : tensor<?x8x128xf32>
}

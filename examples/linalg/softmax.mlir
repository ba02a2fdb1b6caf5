// Softmax in linalg: one kernel of two reductions, see layer_norm.mlir.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @softmax(%x: tensor<?x2048xbf16>) -> tensor<?x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %per_row = tensor.empty(%m) : tensor<?xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%per_row : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x2048xbf16>) outs(%start : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%xi: bf16, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %next = arith.maximumf %acc, %xf : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_row : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : tensor<?x2048xbf16>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%xi: bf16, %mi: f32, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %e = math.exp %d : f32
    %next = arith.addf %acc, %e : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%m) : tensor<?x2048xbf16>
  %y = linalg.generic {indexing_maps = [#tile, #row, #row, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max, %sum : tensor<?x2048xbf16>, tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?x2048xbf16>) {
  ^bb0(%xi: bf16, %mi: f32, %si: f32, %o: bf16):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %e = math.exp %d : f32
    %q = arith.divf %e, %si : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x2048xbf16>
  return %y : tensor<?x2048xbf16>
}

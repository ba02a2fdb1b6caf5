// Zamba2: the gate stands in front of the split of columns into groups, whose
// norms are merged again before the weight.
#id = affine_map<(m, c) -> (m, c)>
#column = affine_map<(m, c) -> (c)>
func.func @zamba2_gated(%x: tensor<?x7168xbf16>, %z: tensor<?x7168xbf16>, %w: tensor<7168xbf16>) -> tensor<?x7168xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x7168xbf16>
  %e = tensor.empty(%m) : tensor<?x7168xf32>
  %gated = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<?x7168xbf16>, tensor<?x7168xbf16>) outs(%e : tensor<?x7168xf32>) {
  ^bb0(%a: bf16, %g: bf16, %o: f32):
    %one = arith.constant 1.0 : f32
    %af = arith.extf %a : bf16 to f32
    %gf = arith.extf %g : bf16 to f32
    %n = arith.negf %gf : f32
    %ex = math.exp %n : f32
    %d = arith.addf %one, %ex : f32
    %silu = arith.divf %gf, %d : f32
    %v = arith.mulf %af, %silu : f32
    linalg.yield %v : f32
  } -> tensor<?x7168xf32>
  %groups = tensor.expand_shape %gated [[0], [1, 2]] output_shape [%m, 2, 3584] : tensor<?x7168xf32> into tensor<?x2x3584xf32>
  %ge = tensor.empty(%m) : tensor<?x2x3584xf32>
  %n = rmsnorm.forward input(%groups : tensor<?x2x3584xf32>) output(%ge : tensor<?x2x3584xf32>) eps = 1.0e-05 -> tensor<?x2x3584xf32>
  %merged = tensor.collapse_shape %n [[0], [1, 2]] : tensor<?x2x3584xf32> into tensor<?x7168xf32>
  %oe = tensor.empty(%m) : tensor<?x7168xbf16>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%merged, %w : tensor<?x7168xf32>, tensor<7168xbf16>) outs(%oe : tensor<?x7168xbf16>) {
  ^bb0(%a: f32, %b: bf16, %o: bf16):
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %bf : f32
    %v = arith.truncf %p : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x7168xbf16>
  return %y : tensor<?x7168xbf16>
}

// AdaLN: norm(x) * (1 + scale) + shift, with a scale and a shift for each batch.
#token = affine_map<(b, t, n) -> (b, t, n)>
#batch = affine_map<(b, t, n) -> (b, n)>
func.func @adaln(%x: tensor<?x?x4096xbf16>, %scale: tensor<?x4096xbf16>,
                 %shift: tensor<?x4096xbf16>) -> tensor<?x?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4096xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x4096xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x4096xbf16>)
      output(%e : tensor<?x?x4096xf32>) eps = 1.0e-05 -> tensor<?x?x4096xf32>
  %o = tensor.empty(%b, %t) : tensor<?x?x4096xbf16>
  %q = linalg.generic {
      indexing_maps = [#token, #batch, #batch, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %scale, %shift : tensor<?x?x4096xf32>, tensor<?x4096xbf16>, tensor<?x4096xbf16>)
      outs(%o : tensor<?x?x4096xbf16>) {
  ^bb0(%a: f32, %s: bf16, %h: bf16, %z: bf16):
    %one = arith.constant 1.0 : f32
    %s32 = arith.extf %s : bf16 to f32
    %h32 = arith.extf %h : bf16 to f32
    %factor = arith.addf %one, %s32 : f32
    %scaled = arith.mulf %a, %factor : f32
    %shifted = arith.addf %scaled, %h32 : f32
    %v = arith.truncf %shifted : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x4096xbf16>
  return %q : tensor<?x?x4096xbf16>
}

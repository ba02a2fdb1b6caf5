// AdaLN-zero: a norm modulated by two parts of one projection, a row of them for
// each batch, as `[:, None]` writes it.
#id = affine_map<(b, t, c) -> (b, t, c)>
#batch = affine_map<(b, t, c) -> (b, 0, c)>
func.func @adaln_zero(%x: tensor<?x?x3584xbf16>, %emb: tensor<?x7168xbf16>) -> tensor<?x?x3584xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x3584xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?x3584xbf16>
  %e = tensor.empty(%b, %m) : tensor<?x?x3584xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x3584xbf16>) output(%e : tensor<?x?x3584xf32>) eps = 1.0e-06 -> tensor<?x?x3584xf32>
  %shift2 = tensor.extract_slice %emb[0, 0] [%b, 3584] [1, 1] : tensor<?x7168xbf16> to tensor<?x3584xbf16>
  %scale2 = tensor.extract_slice %emb[0, 3584] [%b, 3584] [1, 1] : tensor<?x7168xbf16> to tensor<?x3584xbf16>
  %shift = tensor.expand_shape %shift2 [[0, 1], [2]] output_shape [%b, 1, 3584] : tensor<?x3584xbf16> into tensor<?x1x3584xbf16>
  %scale = tensor.expand_shape %scale2 [[0, 1], [2]] output_shape [%b, 1, 3584] : tensor<?x3584xbf16> into tensor<?x1x3584xbf16>
  %oe = tensor.empty(%b, %m) : tensor<?x?x3584xbf16>
  %o = linalg.generic {indexing_maps = [#id, #batch, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %scale, %shift : tensor<?x?x3584xf32>, tensor<?x1x3584xbf16>, tensor<?x1x3584xbf16>) outs(%oe : tensor<?x?x3584xbf16>) {
  ^bb0(%a: f32, %s: bf16, %h: bf16, %z: bf16):
    %one = arith.constant 1.0 : f32
    %sf = arith.extf %s : bf16 to f32
    %hf = arith.extf %h : bf16 to f32
    %factor = arith.addf %one, %sf : f32
    %scaled = arith.mulf %a, %factor : f32
    %shifted = arith.addf %scaled, %hf : f32
    %v = arith.truncf %shifted : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x3584xbf16>
  return %o : tensor<?x?x3584xbf16>
}

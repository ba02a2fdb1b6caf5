// Narrow types around a norm: programs that users and exporters write.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @fp8_input(%x8: tensor<?x256xf8E4M3FN>, %w: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x8, %c0 : tensor<?x256xf8E4M3FN>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %x = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel"]} ins(%x8 : tensor<?x256xf8E4M3FN>) outs(%e : tensor<?x256xbf16>) {
    ^bb0(%a: f8E4M3FN, %z: bf16):
      %b = arith.extf %a : f8E4M3FN to bf16
      linalg.yield %b : bf16
  } -> tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05  -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

func.func @largest(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %z = arith.constant 0.0 : f32
  %r0 = tensor.empty(%m) : tensor<?xf32>
  %rf = linalg.fill ins(%z : f32) outs(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x256xbf16>) outs(%rf : tensor<?xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %p1 = arith.extf %p : bf16 to f32
    %q = math.absf %p1 : f32
    %r = arith.maxnumf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y, %a : tensor<?x256xbf16>, tensor<?xf32>
}

func.func @residual(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %r: tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %h = arith.addf %x, %r : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y, %h : tensor<?x256xbf16>, tensor<?x256xbf16>
}

func.func @masked(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %s: tensor<?xi1>) -> (tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %o0 = tensor.empty(%m) : tensor<?x256xbf16>
  %g = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<?x256xbf16>, tensor<?xi1>) outs(%o0 : tensor<?x256xbf16>) {
  ^bb0(%p: bf16, %q: i1, %o: bf16):
    %z = arith.constant 0.0 : bf16
    %c = arith.select %q, %p, %z : bf16
    linalg.yield %c : bf16
  } -> tensor<?x256xbf16>
  return %g : tensor<?x256xbf16>
}

// Neither clamped: what overflows is NaN in the one, infinity in the other.
func.func @open(%x: tensor<?x256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x256xf8E5M2>, tensor<?x256xf8E4M3FNUZ>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %a = tensor.empty(%m) : tensor<?x256xf8E4M3FN>
  %b = tensor.empty(%m) : tensor<?x256xf8E5M2>
  %c = tensor.empty(%m) : tensor<?x256xf8E4M3FNUZ>
  %q:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x256xf32>) outs(%a, %b, %c : tensor<?x256xf8E4M3FN>, tensor<?x256xf8E5M2>, tensor<?x256xf8E4M3FNUZ>) {
  ^bb0(%p: f32, %za: f8E4M3FN, %zb: f8E5M2, %zc: f8E4M3FNUZ):
    %k0 = arith.constant 200.0 : f32
    %k1 = arith.constant 30000.0 : f32
    %p0 = arith.mulf %p, %k0 : f32
    %p1 = arith.mulf %p, %k1 : f32
    %q0 = arith.truncf %p0 : f32 to f8E4M3FN
    %q1 = arith.truncf %p1 : f32 to f8E5M2
    %q2 = arith.truncf %p0 : f32 to f8E4M3FNUZ
    linalg.yield %q0, %q1, %q2 : f8E4M3FN, f8E5M2, f8E4M3FNUZ
  } -> (tensor<?x256xf8E4M3FN>, tensor<?x256xf8E5M2>, tensor<?x256xf8E4M3FNUZ>)
  return %q#0, %q#1, %q#2 : tensor<?x256xf8E4M3FN>, tensor<?x256xf8E5M2>, tensor<?x256xf8E4M3FNUZ>
}

#group = affine_map<(d0, d1, d2) -> (d0, d1)>
#element = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Returned in groups.
func.func @in_groups(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x16x16xbf16>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 16] : tensor<?x256xf32> into tensor<?x16x16xf32>
  %z = arith.constant 1.0e-10 : f32
  %k = tensor.empty(%m) : tensor<?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%k : tensor<?x16xf32>) -> tensor<?x16xf32>
  %a = linalg.generic {indexing_maps = [#element, #group], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x16x16xf32>) outs(%f : tensor<?x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.absf %p : f32
    %r = arith.maxnumf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  %b = tensor.empty(%m) : tensor<?x16x16xbf16>
  %q = linalg.generic {indexing_maps = [#element, #group, #element], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %a : tensor<?x16x16xf32>, tensor<?x16xf32>) outs(%b : tensor<?x16x16xbf16>) {
  ^bb0(%p: f32, %s: f32, %o: bf16):
    %v = arith.divf %p, %s : f32
    %t = arith.truncf %v : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x16x16xbf16>
  return %q, %a : tensor<?x16x16xbf16>, tensor<?x16xf32>
}

// Quantised by groups before the norm.
func.func @dequantised(%x: tensor<?x256xf8E4M3FN>, %s: tensor<?x16xf32>, %w: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf8E4M3FN>
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 16, 16] : tensor<?x256xf8E4M3FN> into tensor<?x16x16xf8E4M3FN>
  %b = tensor.empty(%m) : tensor<?x16x16xbf16>
  %h = linalg.generic {indexing_maps = [#element, #group, #element], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %s : tensor<?x16x16xf8E4M3FN>, tensor<?x16xf32>) outs(%b : tensor<?x16x16xbf16>) {
  ^bb0(%p: f8E4M3FN, %q: f32, %o: bf16):
    %v = arith.extf %p : f8E4M3FN to f32
    %u = arith.mulf %v, %q : f32
    %t = arith.truncf %u : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x16x16xbf16>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x16x16xbf16> into tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%r : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

// From mxfp8, with powers of two for scales.
func.func @from_mxfp8(%x: tensor<?x256xf8E4M3FN>, %s: tensor<?x8xf8E8M0FNU>, %w: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf8E4M3FN>
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 8, 32] : tensor<?x256xf8E4M3FN> into tensor<?x8x32xf8E4M3FN>
  %b = tensor.empty(%m) : tensor<?x8x32xf32>
  %h = linalg.generic {indexing_maps = [#element, #group, #element], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %s : tensor<?x8x32xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) outs(%b : tensor<?x8x32xf32>) {
  ^bb0(%p: f8E4M3FN, %q: f8E8M0FNU, %o: f32):
    %v = arith.extf %p : f8E4M3FN to f32
    %k = arith.extf %q : f8E8M0FNU to f32
    %u = arith.mulf %v, %k : f32
    linalg.yield %u : f32
  } -> tensor<?x8x32xf32>
  %r = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x8x32xf32> into tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%r : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

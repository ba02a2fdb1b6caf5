// RUN: norm-opt %s --rmsnorm-tensor-half --split-input-file --verify-diagnostics

// The residual is read again, by something that is no part of the loop, after
// the loop has written it: bufferization saves a copy first.
func.func @read_after_write(%x: tensor<64x64xf32>, %r: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %h = linalg.add ins(%x, %r : tensor<64x64xf32>, tensor<64x64xf32>) outs(%r : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{expected what one kernel computes for another to be returned, or computed into an argument, and arguments to be read before they are written, got a new 'memref<64x64xf32>'}}
  %y = rmsnorm.forward input(%h : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{begins another kernel: in the one next to it, it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%r : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  return %h, %y, %t : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

func.func @memref(%x: memref<?x64xf32>, %y0: memref<?x64xf32>) {
  // expected-error @below {{expected a norm on tensors to be lowered to kernels, got one on memrefs}}
  rmsnorm.forward input(%x : memref<?x64xf32>) output(%y0 : memref<?x64xf32>) eps = 1.0e-5
  return
}

// -----

// The same of dy, in whose buffer dx is wanted although dy is read later: no
// silent copy, and no dx over it.
func.func @dy_read_after(%dy: tensor<64x64xf32>, %x: tensor<64x64xf32>, %t0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // expected-error @below {{expected what one kernel computes for another to be returned, or computed into an argument, and arguments to be read before they are written, got a new 'memref<64x64xf32>'}}
  %dx = rmsnorm.backward dy(%dy : tensor<64x64xf32>) input(%x : tensor<64x64xf32>) dx(%dy : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{begins another kernel: in the one next to it, it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%dy : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  return %dx, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

func.func @table(%x: tensor<?x2xf32>, %y0: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @below {{expected constants of one value, and others to be arguments, got a constant of different values, 'memref<2xf32>'}}
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = rmsnorm.forward input(%x : tensor<?x2xf32>) weight(%w : tensor<2xf32>) output(%y0 : tensor<?x2xf32>) eps = 1.0e-5 -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// A function with other work: what is said is that, once, and where to go.
func.func @matmul(%x: tensor<?x64xf32>, %b: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %y0 = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z0 = tensor.empty(%m) : tensor<?x8xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%z0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error @below {{'linalg.matmul' op is in no kernel: it multiplies rows by a matrix; functions with other work are for rmsnorm-embed-tensors}}
  %z = linalg.matmul ins(%y, %b : tensor<?x64xf32>, tensor<64x8xf32>) outs(%z1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

func.func @sum_in_column(%x: tensor<?x64xf32>, %big: tensor<64x5xf32>) -> (tensor<?x64xf32>, tensor<64x5xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%es : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @below {{'linalg.generic' op is in no kernel: it inserts a sum over rows into another tensor}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%fill : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<64xf32>
  %v = tensor.insert_slice %s into %big[0, 2] [64, 1] [1, 1] : tensor<64xf32> into tensor<64x5xf32>
  return %y, %v : tensor<?x64xf32>, tensor<64x5xf32>
}

// -----

func.func @sum_with_a_last_dimension(%x: tensor<?x64xf32>, %big: tensor<64x5xf32>) -> (tensor<?x64xf32>, tensor<64x1xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x1xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%es : tensor<64x1xf32>) -> tensor<64x1xf32>
  // expected-error @below {{'linalg.generic' op is in no kernel: it sums up to columns that will not lie side by side}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, 0)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%fill : tensor<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<64x1xf32>
  return %y, %s : tensor<?x64xf32>, tensor<64x1xf32>
}

// -----

// The op that was written is named, once.
func.func @softmax_over_rows(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  // expected-error @below {{'linalg.softmax' op is in no kernel with what it uses or computes, which no argument holds: it uses a sum over rows}}
  %y = linalg.softmax dimension(0) ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// A factor with more rows than the norm has.
func.func @more_rows(%x: tensor<?x64xf32>, %f: tensor<2x?x64xf32>) -> tensor<2x?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %o = tensor.empty(%m) : tensor<2x?x64xf32>
  %n = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-error @below {{'linalg.generic' op is in no kernel with what it uses or computes, which no argument holds: it works on each of the norm's rows more than once}}
  %y = linalg.generic {indexing_maps = [affine_map<(c, a, b) -> (a, b)>, affine_map<(c, a, b) -> (c, a, b)>, affine_map<(c, a, b) -> (c, a, b)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%n, %f : tensor<?x64xf32>, tensor<2x?x64xf32>) outs(%o : tensor<2x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %q: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32 } -> tensor<2x?x64xf32>
  return %y : tensor<2x?x64xf32>
}

// -----

// Other indices than those of loops.
func.func @reversed_rows(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-5 -> tensor<8x64xf32>
  // expected-error @below {{'linalg.generic' op is in no kernel: it indexes tensors by more than its loops and constants; functions with other work are for rmsnorm-embed-tensors}}
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (7 - a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32 } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// A padding of different values.
func.func @padding_by_index(%x: tensor<?x60xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x60xf32>
  %e = tensor.empty(%m) : tensor<?x60xf32>
  %n = rmsnorm.forward input(%x : tensor<?x60xf32>) output(%e : tensor<?x60xf32>) eps = 1.0e-5 -> tensor<?x60xf32>
  // expected-error @below {{'tensor.pad' op expected result #0 to be computed by norms, linalg and elementwise ops, reshapes, slices and insertions, which kernels are made of, got a padding that is not by a constant, or begins at a place that is not static}}
  %y = tensor.pad %n low[0, 0] high[0, 4] {
  ^bb0(%i: index, %j: index):
    %a = arith.index_cast %j : index to i32
    %b = arith.sitofp %a : i32 to f32
    tensor.yield %b : f32 } : tensor<?x60xf32> to tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Groups that two halves have a part of.
func.func @groups_across_halves(%q: tensor<?x3x96xbf16>, %w: tensor<96xbf16>, %cos: tensor<?x48xf32>, %sin: tensor<?x48xf32>) -> (tensor<?x3x96xf8E4M3FN>, tensor<?x3x3xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x3x96xbf16>
  %e = tensor.empty(%m) : tensor<?x3x96xf32>
  %y = rmsnorm.forward input(%q : tensor<?x3x96xbf16>) weight(%w : tensor<96xbf16>) output(%e : tensor<?x3x96xf32>) eps = 1.0e-6 -> tensor<?x3x96xf32>
  %a = tensor.extract_slice %y[0, 0, 0] [%m, 3, 48] [1, 1, 1] : tensor<?x3x96xf32> to tensor<?x3x48xf32>
  %b = tensor.extract_slice %y[0, 0, 48] [%m, 3, 48] [1, 1, 1] : tensor<?x3x96xf32> to tensor<?x3x48xf32>
  %eh = tensor.empty(%m) : tensor<?x3x48xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x3x48xf32>, tensor<?x3x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>) outs(%eh : tensor<?x3x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x48xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %a, %cos, %sin : tensor<?x3x48xf32>, tensor<?x3x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>) outs(%eh : tensor<?x3x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x48xf32>
  %z0 = tensor.insert_slice %u into %e[0, 0, 0] [%m, 3, 48] [1, 1, 1] : tensor<?x3x48xf32> into tensor<?x3x96xf32>
  %z = tensor.insert_slice %v into %z0[0, 0, 48] [%m, 3, 48] [1, 1, 1] : tensor<?x3x48xf32> into tensor<?x3x96xf32>
  %x4 = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [%m, 3, 3, 32] : tensor<?x3x96xf32> into tensor<?x3x3x32xf32>
  %zero = arith.constant 0.0 : f32
  %egs = tensor.empty(%m) : tensor<?x3x3xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%egs : tensor<?x3x3xf32>) -> tensor<?x3x3xf32>
  // expected-error @below {{'linalg.generic' op is in no kernel with what it uses or computes, which no argument holds: it fits in no kernel with 'rmsnorm.forward': that divides columns by 48, beside 'linalg.generic', which divides them by 32}}
  %am = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x4 : tensor<?x3x3x32xf32>) outs(%fill : tensor<?x3x3xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x3x3xf32>
  %esc = tensor.empty(%m) : tensor<?x3x3xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%am : tensor<?x3x3xf32>) outs(%esc : tensor<?x3x3xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %k = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %k : f32
    
    %b4 = arith.addf %b2, %k : f32
    linalg.yield %b4 : f32
  } -> tensor<?x3x3xf32>
  %eq = tensor.empty(%m) : tensor<?x3x3x32xf8E4M3FN>
  %q4 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x4, %sc : tensor<?x3x3x32xf32>, tensor<?x3x3xf32>) outs(%eq : tensor<?x3x3x32xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f8E4M3FN):
    %o = arith.constant 1.0 : f32 %s = arith.mulf %i1, %o : f32
    %b4 = arith.divf %i0, %s : f32
    %lo = arith.constant -448.0 : f32
    %b6 = arith.maximumf %b4, %lo : f32
    %hi = arith.constant 448.0 : f32
    %b8 = arith.minimumf %b6, %hi : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x3x3x32xf8E4M3FN>
  %r = tensor.collapse_shape %q4 [[0], [1], [2, 3]] : tensor<?x3x3x32xf8E4M3FN> into tensor<?x3x96xf8E4M3FN>
  return %r, %sc : tensor<?x3x96xf8E4M3FN>, tensor<?x3x3xf32>
}

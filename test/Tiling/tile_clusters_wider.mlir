// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A LayerNorm, which nothing marks, of what norms of heads compute.
#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @heads_then_layer(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @heads_then_layer(%x: tensor<6x8x64xf32>, %w: tensor<64xf32>) -> tensor<6x512xf32> {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  %le = tensor.empty() : tensor<6x512xf32>
  // expected-remark @below {{begins the kernel of the norm next to it, as its rows hold those of the norm}}
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<6x512xf32>) outs(%rf, %rf : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %sums#0, %sums#1 : tensor<6x512xf32>, tensor<6xf32>, tensor<6xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x512xf32>
  return %y : tensor<6x512xf32>
}

// -----

#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @layer_then_heads(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @layer_then_heads(%x: tensor<6x512xf32>, %w: tensor<64xf32>) -> tensor<6x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  %le = tensor.empty() : tensor<6x512xf32>
  // expected-remark @below {{begins the kernel of the norm next to it, as its rows hold those of the norm}}
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x512xf32>) outs(%rf, %rf : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums#0, %sums#1 : tensor<6x512xf32>, tensor<6xf32>, tensor<6xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x512xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 8, 64] : tensor<6x512xf32> into tensor<6x8x64xf32>
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%h : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  return %n : tensor<6x8x64xf32>
}

// -----

// What asks for a kernel needs no remark.
// CHECK-LABEL: func.func @heads_then_norm(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @heads_then_norm(%x: tensor<6x8x64xf32>, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// -----

// What only the wider cluster has and no kernel holds stays outside.
#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @left_out(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK:         math.sincos
// CHECK:         return
func.func @left_out(%x: tensor<6x8x64xf32>, %w: tensor<64xf32>) -> tensor<6x512xf32> {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  %le = tensor.empty() : tensor<6x512xf32>
  // expected-remark @below {{begins the kernel of the norm next to it, as its rows hold those of the norm}}
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<6x512xf32>) outs(%rf, %rf : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %sums#0, %sums#1 : tensor<6x512xf32>, tensor<6xf32>, tensor<6xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x512xf32>
  // expected-remark @below {{not tiled with the norm next to it: it has no tile program: 'math.sincos' op is computed by no kernel: expected math.sin and math.cos}}
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<6x512xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0, %1 = math.sincos %a : f32
    linalg.yield %0 : f32
  } -> tensor<6x512xf32>
  return %z : tensor<6x512xf32>
}

// -----

// What the norm's kernel has, and the wider one cannot have, gives the wider one
// up: that is no fault of the op that began it.
#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @given_up(
// CHECK:         rmsnorm.rows sizes [6, 8] columns(64)
// CHECK:         linalg.generic
// CHECK:         return
func.func @given_up(%dy: tensor<6x8x64xf32>, %x: tensor<6x8x64xf32>, %w: tensor<64xf32>) -> (tensor<6x8x64xf32>, tensor<64xf32>, tensor<6xf32>) {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<6x8x64xf32>) input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%he : tensor<6x8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<6x8x64xf32>, tensor<64xf32>
  %f = tensor.collapse_shape %dx [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  // expected-remark @below {{not tiled with the norm next to it: it would begin a kernel that 'rmsnorm.backward' cannot be part of: that sums up a part of the columns}}
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<6x512xf32>) outs(%rf : tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %dx, %dw, %sum : tensor<6x8x64xf32>, tensor<64xf32>, tensor<6xf32>
}

// -----

// The heads of an argument may lie apart: each vector has columns of one.
// CHECK-LABEL: func.func @apart(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK:         return
func.func @apart(%x: tensor<6x8x64xf32> {bufferization.buffer_layout = strided<[?, ?, 1]>}, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// -----

// Its tokens may, but a head follows the other.
// CHECK-LABEL: func.func @side_by_side(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @side_by_side(%x: tensor<6x8x64xf32> {bufferization.buffer_layout = strided<[?, 64, 1]>}, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// -----

// So it is with heads of a slice, if all of each is in it.
// CHECK-LABEL: func.func @slice(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @slice(%qkv: tensor<6x24x64xf32>, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %x = tensor.extract_slice %qkv[0, 8, 0] [6, 8, 64] [1, 1, 1] : tensor<6x24x64xf32> to tensor<6x8x64xf32>
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// -----

// A buffer of others is as its type says.
// CHECK-LABEL: func.func @buffer(
// CHECK:         rmsnorm.rows sizes [6] columns [8, 64]
// CHECK-NOT:     rmsnorm.rows
// CHECK:         return
func.func @buffer(%b: memref<6x8x64xf32, strided<[1024, 128, 1]>>, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %x = bufferization.to_tensor %b restrict : memref<6x8x64xf32, strided<[1024, 128, 1]>> to tensor<6x8x64xf32>
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// -----

// A variance over the tokens of a batch reduces a value of each of the norm's
// rows, not the rows themselves. No kernel is as wide as all of a batch.
#id3 = affine_map<(b, t, c) -> (b, t, c)>
#token3 = affine_map<(b, t, c) -> (b, t)>
#token = affine_map<(b, t) -> (b, t)>
#batch = affine_map<(b, t) -> (b)>
// CHECK-LABEL: func.func @over_tokens(
// CHECK:         rmsnorm.rows sizes [2, 16] segments [0] columns(64)
// CHECK:         linalg.generic
// CHECK:         return
func.func @over_tokens(%x: tensor<2x16x64xf32>) -> (tensor<2x16x64xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16x64xf32>
  %y = rmsnorm.forward input(%x : tensor<2x16x64xf32>) output(%e : tensor<2x16x64xf32>) eps = 1.0e-06 -> tensor<2x16x64xf32>
  %te = tensor.empty() : tensor<2x16xf32>
  %tf = linalg.fill ins(%zero : f32) outs(%te : tensor<2x16xf32>) -> tensor<2x16xf32>
  %s = linalg.generic {indexing_maps = [#id3, #token3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<2x16x64xf32>) outs(%tf : tensor<2x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x16xf32>
  %be = tensor.empty() : tensor<2xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#token, #batch], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<2x16xf32>) outs(%bf : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2xf32>
  // expected-remark @below {{not tiled with the norm next to it: it would begin a kernel that 'linalg.generic' cannot be part of: that reduces a part of the columns}}
  %v = linalg.generic {indexing_maps = [#token, #batch, #batch], iterator_types = ["parallel", "reduction"]}
      ins(%s, %sum : tensor<2x16xf32>, tensor<2xf32>) outs(%bf : tensor<2xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %n = arith.constant 16.0 : f32
    %0 = arith.divf %m, %n : f32
    %1 = arith.subf %a, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %2, %o : f32
    linalg.yield %3 : f32
  } -> tensor<2xf32>
  return %y, %v : tensor<2x16x64xf32>, tensor<2xf32>
}

// RUN: norm-opt %s --split-input-file --rmsnorm-print-accesses -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// Maps: rows as the norm has them, then the columns of the member.

func.func @slices(%qkv: tensor<?x48x128xbf16>, %cos: tensor<?x64xbf16>) -> tensor<?x48x128xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %k = tensor.extract_slice %qkv[0, 32, 0] [%n, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>
  %e = tensor.empty(%n) : tensor<?x8x128xbf16>
  %y = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) output(%e : tensor<?x8x128xbf16>) eps = 1.0e-05 -> tensor<?x8x128xbf16>
  %even = tensor.extract_slice %y[0, 0, 0] [%n, 8, 64] [1, 1, 2] : tensor<?x8x128xbf16> to tensor<?x8x64xbf16>
  %odd = tensor.extract_slice %y[0, 0, 1] [%n, 8, 64] [1, 1, 2] : tensor<?x8x128xbf16> to tensor<?x8x64xbf16>
  %he = tensor.empty(%n) : tensor<?x8x64xbf16>
  %h = linalg.generic {indexing_maps = [affine_map<(t, h, c) -> (t, h, c)>, affine_map<(t, h, c) -> (t, h, c)>, affine_map<(t, h, c) -> (t, c)>, affine_map<(t, h, c) -> (t, h, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%even, %odd, %cos : tensor<?x8x64xbf16>, tensor<?x8x64xbf16>, tensor<?x64xbf16>) outs(%he : tensor<?x8x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %o: bf16):
    %p = arith.mulf %a, %c : bf16
    %r = arith.addf %p, %b : bf16
    linalg.yield %r : bf16
  } -> tensor<?x8x64xbf16>
  %k1 = tensor.insert_slice %h into %k[0, 0, 1] [%n, 8, 64] [1, 1, 2] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %k2 = tensor.insert_slice %even into %k1[0, 0, 0] [%n, 8, 64] [1, 1, 2] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %result = tensor.insert_slice %k2 into %qkv[0, 32, 0] [%n, 8, 128] [1, 1, 1] : tensor<?x8x128xbf16> into tensor<?x48x128xbf16>
  return %result : tensor<?x48x128xbf16>
}
// CHECK-LABEL:func @slices
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?, 8)
//  CHECK-NEXT:    rmsnorm.forward: columns (128)
//  CHECK-NEXT:      load %arg0: (d0, d1, d2) -> (d0, d1 + 32, d2)
//  CHECK-NEXT:      store 0 into %arg0, columns (64): (d0, d1, d2) -> (d0, d1 + 32, d2 * 2)
//  CHECK-NEXT:    linalg.generic: columns (64)
//  CHECK-NEXT:      member rmsnorm.forward, part: (d0, d1, d2) -> (d0, d1, d2 * 2)
//  CHECK-NEXT:      member rmsnorm.forward, part: (d0, d1, d2) -> (d0, d1, d2 * 2 + 1)
//  CHECK-NEXT:      load %arg1: (d0, d1, d2) -> (d0, d2)
//  CHECK-NEXT:      store 0 into %arg0, columns (64): (d0, d1, d2) -> (d0, d1 + 32, d2 * 2 + 1)

// -----

func.func @transposes(%x: tensor<8x?x64xf32>) -> tensor<?x64x8xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<8x?x64xf32>
  %e = tensor.empty(%n) : tensor<?x8x64xf32>
  %t = linalg.transpose ins(%x : tensor<8x?x64xf32>) outs(%e : tensor<?x8x64xf32>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%t : tensor<?x8x64xf32>) output(%e : tensor<?x8x64xf32>) eps = 1.0e-05 -> tensor<?x8x64xf32>
  %f = tensor.empty(%n) : tensor<?x64x8xf32>
  %r = linalg.transpose ins(%y : tensor<?x8x64xf32>) outs(%f : tensor<?x64x8xf32>) permutation = [0, 2, 1]
  return %r : tensor<?x64x8xf32>
}
// CHECK-LABEL:func @transposes
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?, 8)
//  CHECK-NEXT:    linalg.transpose: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1, d2) -> (d1, d0, d2)
//  CHECK-NEXT:    rmsnorm.forward: columns (64)
//  CHECK-NEXT:      member linalg.transpose, same columns: (d0, d1, d2) -> (d0, d1, d2)
//  CHECK-NEXT:    linalg.transpose: columns (64)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1, d2) -> (d0, d1, d2)
//  CHECK-NEXT:      store 0 into %2, columns (64): (d0, d1, d2) -> (d0, d2, d1)

// -----

// Rows that are one dimension in one tensor and two in the other; where the size
// is not known it is a symbol.
func.func @rows(%x: tensor<?x?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %m = tensor.dim %flat, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%flat : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
// CHECK-LABEL:func @rows
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?)
//  CHECK-NEXT:    rmsnorm.forward: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1)[s0] -> (d0 floordiv s0, d0 mod s0, d1)
//  CHECK-NEXT:      store 0 into %0, columns (64): (d0, d1) -> (d0, d1)

func.func @expanded(%x: tensor<?x64xf32>, %r: tensor<?x4x64xf32>, %n: index) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %q = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 4, 64] : tensor<?x64xf32> into tensor<?x4x64xf32>
  %f = tensor.empty(%n) : tensor<?x4x64xf32>
  %s = linalg.add ins(%q, %r : tensor<?x4x64xf32>, tensor<?x4x64xf32>) outs(%f : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  return %s : tensor<?x4x64xf32>
}
// CHECK-LABEL:func @expanded
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?)
//  CHECK-NEXT:    rmsnorm.forward: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.add: columns (64)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load %arg1: (d0, d1) -> (d0 floordiv 4, d0 mod 4, d1)
//  CHECK-NEXT:      store 0 into %2, columns (64): (d0, d1) -> (d0 floordiv 4, d0 mod 4, d1)

// -----

// Groups of columns, and their scales in blocks of 128 rows and 4 scales, where
// 32 rows stand together.
func.func @swizzled(%x: tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<2x4x32x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %y = rmsnorm.forward input(%x : tensor<256x512xf32>) output(%e : tensor<256x512xf32>) eps = 1.0e-05 -> tensor<256x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [256, 16, 32] : tensor<256x512xf32> into tensor<256x16x32xf32>
  %se = tensor.empty() : tensor<256x16xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%se : tensor<256x16xf32>) -> tensor<256x16xf32>
  %amax = linalg.generic {indexing_maps = [affine_map<(r, g, c) -> (r, g, c)>, affine_map<(r, g, c) -> (r, g)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<256x16x32xf32>) outs(%fill : tensor<256x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<256x16xf32>
  %ge = tensor.empty() : tensor<256x16x32xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(r, g, c) -> (r, g, c)>, affine_map<(r, g, c) -> (r, g)>, affine_map<(r, g, c) -> (r, g, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %amax : tensor<256x16x32xf32>, tensor<256x16xf32>) outs(%ge : tensor<256x16x32xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<256x16x32xf32>
  %flat = tensor.collapse_shape %q [[0], [1, 2]] : tensor<256x16x32xf32> into tensor<256x512xf32>
  %blocks = tensor.expand_shape %amax [[0, 1, 2], [3, 4]] output_shape [2, 4, 32, 4, 4] : tensor<256x16xf32> into tensor<2x4x32x4x4xf32>
  %be = tensor.empty() : tensor<2x4x32x4x4xf32>
  %t = linalg.transpose ins(%blocks : tensor<2x4x32x4x4xf32>) outs(%be : tensor<2x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %flat, %t : tensor<256x512xf32>, tensor<2x4x32x4x4xf32>
}
// CHECK-LABEL:func @swizzled
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (256)
//  CHECK-NEXT:    rmsnorm.forward: columns (512)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.generic: columns (512)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      constant linalg.fill: (d0, d1) -> (d0, d1 floordiv 32)
//  CHECK-NEXT:    linalg.generic: columns (512)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      member linalg.generic, groups: (d0, d1) -> (d0, d1 floordiv 32)
//  CHECK-NEXT:      store 0 into %5, columns (512): (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.transpose: columns (16)
//  CHECK-NEXT:      member linalg.generic, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 1 into %7, columns (16): (d0, d1) -> (d0 floordiv 128, d1 floordiv 4, d0 mod 32, (d0 floordiv 32) mod 4, d1 mod 4)

// -----

// Dimensions of size 1, what is left of them, and an operand for some rows that
// is computed where it is used.
func.func @unit(%x: tensor<?x1x8x64xf32>, %scale: tensor<?x1x64xf32>) -> tensor<?x8x1x64xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x1x8x64xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<?x1x8x64xf32> into tensor<?x8x64xf32>
  %e = tensor.empty(%n) : tensor<?x8x64xf32>
  %y = rmsnorm.forward input(%flat : tensor<?x8x64xf32>) output(%e : tensor<?x8x64xf32>) eps = 1.0e-05 -> tensor<?x8x64xf32>
  %se = tensor.empty(%n) : tensor<?x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, u, c) -> (b, u, c)>, affine_map<(b, u, c) -> (b, u, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scale : tensor<?x1x64xf32>) outs(%se : tensor<?x1x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %one : f32
    linalg.yield %p : f32
  } -> tensor<?x1x64xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(b, t, c) -> (b, t, c)>, affine_map<(b, t, c) -> (b, 0, c)>, affine_map<(b, t, c) -> (b, t, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<?x8x64xf32>, tensor<?x1x64xf32>) outs(%e : tensor<?x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x8x64xf32>
  %r = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [%n, 8, 1, 64] : tensor<?x8x64xf32> into tensor<?x8x1x64xf32>
  return %r : tensor<?x8x1x64xf32>
}
// CHECK-LABEL:func @unit
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?, 8)
//  CHECK-NEXT:    rmsnorm.forward: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1, d2) -> (d0, 0, d1, d2)
//  CHECK-NEXT:    linalg.generic: columns (64)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1, d2) -> (d0, d1, d2)
//  CHECK-NEXT:      computed linalg.generic: (d0, d1, d2) -> (d0, 0, d2)
//  CHECK-NEXT:        load %arg1: (d0, d1, d2) -> (d0, 0, d2)
//  CHECK-NEXT:      store 0 into %0, columns (64): (d0, d1, d2) -> (d0, d1, 0, d2)

// -----

func.func @gathers(%x: tensor<?x128xf32>, %table: tensor<100x256xf32>, %ids: tensor<?xi32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%n) : tensor<?x128xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(t, c) -> (t, c)>, affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t, c)>], iterator_types = ["parallel", "parallel"]} ins(%x, %ids : tensor<?x128xf32>, tensor<?xi32>) outs(%e : tensor<?x128xf32>) {
  ^bb0(%v: f32, %id: i32, %o: f32):
    %i = arith.index_cast %id : i32 to index
    %c = linalg.index 1 : index
    %second = arith.addi %c, %c128 : index
    %t = tensor.extract %table[%i, %second] : tensor<100x256xf32>
    %s = arith.addf %v, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x128xf32>
  %y = rmsnorm.forward input(%a : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
// CHECK-LABEL:func @gathers
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (?)
//  CHECK-NEXT:    linalg.generic: columns (128)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load %arg2: (d0, d1) -> (d0)
//  CHECK-NEXT:      gather %arg1: (d0, d1)[s0] -> (s0, d1 + 128)
//  CHECK-NEXT:    rmsnorm.forward: columns (128)
//  CHECK-NEXT:      member linalg.generic, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 0 into %0, columns (128): (d0, d1) -> (d0, d1)

// -----

// What is at an offset that is computed is a tensor of its own.
func.func @offset(%x: tensor<64x128xf32>, %i: index) -> tensor<16x128xf32> {
  %s = tensor.extract_slice %x[%i, 0] [16, 128] [1, 1] : tensor<64x128xf32> to tensor<16x128xf32>
  %e = tensor.empty() : tensor<16x128xf32>
  %y = rmsnorm.forward input(%s : tensor<16x128xf32>) output(%e : tensor<16x128xf32>) eps = 1.0e-05 -> tensor<16x128xf32>
  return %y : tensor<16x128xf32>
}
// CHECK-LABEL:func @offset
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (16)
//  CHECK-NEXT:    rmsnorm.forward: columns (128)
//  CHECK-NEXT:      load tensor.extract_slice: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 0 into %0, columns (128): (d0, d1) -> (d0, d1)

// -----

// Sums over rows, and what others make of them.
func.func @sums(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xf32>, %db: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) dx(%e : tensor<?x64xf32>) dweight(%f : tensor<64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>, tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(t, c) -> (t, c)>, affine_map<(t, c) -> (c)>], iterator_types = ["reduction", "parallel"]} ins(%dy : tensor<?x64xf32>) outs(%db : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  %twice = linalg.add ins(%sum, %w : tensor<64xf32>, tensor<64xf32>) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  return %dx, %dw, %twice : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL:func @sums
//  CHECK-NEXT:  cluster of rmsnorm.backward: rows (?)
//  CHECK-NEXT:    rmsnorm.backward: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load %arg1: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load %arg2: (d0, d1) -> (d1)
//  CHECK-NEXT:      store 0 into %0, columns (64): (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      accumulate 1 into %1, columns (64): (d0, d1) -> (d1)
//  CHECK-NEXT:    linalg.generic: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load %arg3: (d0, d1) -> (d1)
//  CHECK-NEXT:      escape to linalg.add

// -----

// Parts that are put together, and read again.
func.func @parts(%x: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %e = tensor.empty() : tensor<32x128xf32>
  %y = rmsnorm.forward input(%x : tensor<32x128xf32>) output(%e : tensor<32x128xf32>) eps = 1.0e-05 -> tensor<32x128xf32>
  %a = tensor.extract_slice %y[0, 0] [32, 64] [1, 1] : tensor<32x128xf32> to tensor<32x64xf32>
  %b = tensor.extract_slice %y[0, 64] [32, 64] [1, 1] : tensor<32x128xf32> to tensor<32x64xf32>
  %0 = tensor.insert_slice %b into %e[0, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<32x128xf32>
  %1 = tensor.insert_slice %a into %0[0, 64] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<32x128xf32>
  %z = linalg.add ins(%1, %y : tensor<32x128xf32>, tensor<32x128xf32>) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %z : tensor<32x128xf32>
}
// CHECK-LABEL:func @parts
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (32)
//  CHECK-NEXT:    rmsnorm.forward: columns (128)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.add: columns (128)
//  CHECK-NEXT:      assembled tensor.insert_slice: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:        assembled tensor.insert_slice: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:          constant tensor.empty: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:          member rmsnorm.forward, part: (d0, d1) -> (d0, d1 + 64)
//  CHECK-NEXT:        member rmsnorm.forward, part: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 0 into %0, columns (128): (d0, d1) -> (d0, d1)

// -----

// A row that is another one, and ops outside: what stands after them is no
// member.
func.func @refused(%x: tensor<32x32xf32>, %m: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %e = tensor.empty() : tensor<32x32xf32>
  %y = rmsnorm.forward input(%x : tensor<32x32xf32>) output(%e : tensor<32x32xf32>) eps = 1.0e-05 -> tensor<32x32xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} ins(%y, %y : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<32x32xf32>
  %p = linalg.matmul ins(%y, %m : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = linalg.add ins(%p, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y, %t, %s : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
// CHECK-LABEL:func @refused
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (32)
//  CHECK-NEXT:    rmsnorm.forward: columns (32)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 0 into %0, columns (32): (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      escape to linalg.matmul
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:    not linalg.generic: has operands with other rows
//  CHECK-NEXT:    not linalg.matmul: multiplies rows by a matrix
//  CHECK-NEXT:    not linalg.add: uses what an op outside computes from the cluster

// -----

// A part that is written over is not stored.
func.func @overwritten(%x: tensor<32x64xf32>, %z: tensor<16x64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %y = rmsnorm.forward input(%x : tensor<32x64xf32>) output(%e : tensor<32x64xf32>) eps = 1.0e-05 -> tensor<32x64xf32>
  %r = tensor.insert_slice %z into %y[0, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}
// CHECK-LABEL:func @overwritten
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (32)
//  CHECK-NEXT:    rmsnorm.forward: columns (64)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      escape to tensor.insert_slice

// -----

func.func @empty(%x: tensor<0x64xf32>) -> tensor<0x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<0x64xf32>) output(%x : tensor<0x64xf32>) eps = 1.0e-05 -> tensor<0x64xf32>
  return %y : tensor<0x64xf32>
}
// CHECK-LABEL:func @empty

// -----

// Rows beside rows, and a diagonal, are no rows.
func.func @twice(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %y = rmsnorm.forward input(%x : tensor<8x8xf32>) output(%e : tensor<8x8xf32>) eps = 1.0e-05 -> tensor<8x8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %v = linalg.reduce { arith.addf } ins(%y : tensor<8x8xf32>) outs(%fill : tensor<8xf32>) dimensions = [1]
  %outer = linalg.generic {indexing_maps = [affine_map<(r, s) -> (r)>, affine_map<(r, s) -> (s)>, affine_map<(r, s) -> (r, s)>], iterator_types = ["parallel", "parallel"]} ins(%v, %v : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %diagonal = linalg.generic {indexing_maps = [affine_map<(r) -> (r, r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]} ins(%y : tensor<8x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %outer, %diagonal : tensor<8x8xf32>, tensor<8xf32>
}
// CHECK-LABEL:func @twice
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (8)
//  CHECK-NEXT:    rmsnorm.forward: columns (8)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:    linalg.reduce: columns (8)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      constant linalg.fill: (d0, d1) -> (d0)
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:    not linalg.generic: does not have all rows, each once
//  CHECK-NEXT:    not linalg.generic: has operands with other rows

// -----

// Norms along other dimensions are two clusters; what is after both is outside
// of the first.
func.func @apart(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %y = rmsnorm.forward input(%x : tensor<8x16xf32>) output(%e : tensor<8x16xf32>) eps = 1.0e-05 -> tensor<8x16xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%y : tensor<8x16xf32>) outs(%f : tensor<16x8xf32>) permutation = [1, 0]
  %z = rmsnorm.forward input(%t : tensor<16x8xf32>) output(%f : tensor<16x8xf32>) eps = 1.0e-05 -> tensor<16x8xf32>
  %back = linalg.transpose ins(%z : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) permutation = [1, 0]
  %s = linalg.add ins(%back, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}
// CHECK-LABEL:func @apart
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (8)
//  CHECK-NEXT:    rmsnorm.forward: columns (16)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      escape to linalg.add
//  CHECK-NEXT:      escape to rmsnorm.forward
//  CHECK-NEXT:    not linalg.transpose: uses what an op outside computes from the cluster
//  CHECK-NEXT:    not linalg.add: uses what an op outside computes from the cluster
//  CHECK-NEXT:    not linalg.transpose: is computed where its result is used
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (16)
//  CHECK-NEXT:    linalg.transpose: columns (8)
//  CHECK-NEXT:      load rmsnorm.forward: (d0, d1) -> (d1, d0)
//  CHECK-NEXT:    rmsnorm.forward: columns (8)
//  CHECK-NEXT:      member linalg.transpose, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.transpose: columns (8)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.add: columns (8)
//  CHECK-NEXT:      member linalg.transpose, same columns: (d0, d1) -> (d1, d0)
//  CHECK-NEXT:      load rmsnorm.forward: (d0, d1) -> (d1, d0)
//  CHECK-NEXT:      store 0 into %0, columns (8): (d0, d1) -> (d1, d0)

// -----

// What reads rows of two norms is of the cluster that was found first, or the two
// would need results of each other.
func.func @each_other(%x: tensor<8x16xf32>, %z: tensor<16x8xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %a = rmsnorm.forward input(%x : tensor<8x16xf32>) output(%e : tensor<8x16xf32>) eps = 1.0e-05 -> tensor<8x16xf32>
  %b = rmsnorm.forward input(%z : tensor<16x8xf32>) output(%f : tensor<16x8xf32>) eps = 1.0e-05 -> tensor<16x8xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<8x16xf32>, tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.addf %v, %w : f32
    linalg.yield %p : f32
  } -> tensor<8x16xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c, r)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} ins(%b, %a : tensor<16x8xf32>, tensor<8x16xf32>) outs(%f : tensor<16x8xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w : f32
    linalg.yield %p : f32
  } -> tensor<16x8xf32>
  return %c, %d : tensor<8x16xf32>, tensor<16x8xf32>
}
// CHECK-LABEL:func @each_other
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (8)
//  CHECK-NEXT:    rmsnorm.forward: columns (16)
//  CHECK-NEXT:      load %arg0: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.generic: columns (16)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      load rmsnorm.forward: (d0, d1) -> (d1, d0)
//  CHECK-NEXT:      store 0 into %0, columns (16): (d0, d1) -> (d0, d1)
//  CHECK-NEXT:    linalg.generic: columns (16)
//  CHECK-NEXT:      load rmsnorm.forward: (d0, d1) -> (d1, d0)
//  CHECK-NEXT:      member rmsnorm.forward, same columns: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      store 1 into %1, columns (16): (d0, d1) -> (d1, d0)
//  CHECK-NEXT:    not rmsnorm.forward: does not have all rows, each once
//  CHECK-NEXT:  cluster of rmsnorm.forward: rows (16)
//  CHECK-NEXT:    rmsnorm.forward: columns (8)
//  CHECK-NEXT:      load %arg1: (d0, d1) -> (d0, d1)
//  CHECK-NEXT:      escape to linalg.generic
//  CHECK-NEXT:      escape to linalg.generic

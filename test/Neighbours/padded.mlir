// What tensor.pad adds to a norm's result, or a fill and an insertion, is stored by kernels of their own: of one launch
// with that of the norm, where it is known that they write other places.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-run %s --device=sim:sm_90,sim:gfx942 --rows=7 > %t.txt
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=RESULT --implicit-check-not=WRONG
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=ONE
// RESULT-COUNT-40: {{^[a-z_]+ .*}} ok
// ONE-COUNT-14: {{registers +sim:.*}} ok

// Columns of zeros after those of the norm.
// CHECK-LABEL: func.func @columns_high(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(32) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read
func.func @columns_high(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %p = tensor.pad %y low[0, 0] high[0, 32] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<?x64xf32> to tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// In front of them, of another number.
// CHECK-LABEL: func.func @columns_low(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(16) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read
func.func @columns_low(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> (tensor<?x80xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant -1.5 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x64xbf16>) eps = 1.0e-05 -> tensor<?x64xbf16>
  %p = tensor.pad %y low[0, 16] high[0, 0] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : bf16
  } : tensor<?x64xbf16> to tensor<?x80xbf16>
  return %p : tensor<?x80xbf16>
}

// On both sides; the norm itself is a result, too.
// CHECK-LABEL: func.func @columns_both(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(7) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(21) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(100) buffers(read
func.func @columns_both(%x: tensor<?x100xf16>, %w: tensor<100xf16>) -> (tensor<?x128xf16>, tensor<?x100xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : tensor<?x100xf16>
  %e = tensor.empty(%m) : tensor<?x100xf16>
  %y = rmsnorm.forward input(%x : tensor<?x100xf16>) weight(%w : tensor<100xf16>) output(%e : tensor<?x100xf16>) eps = 1.0e-05 -> tensor<?x100xf16>
  %p = tensor.pad %y low[0, 7] high[0, 21] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f16
  } : tensor<?x100xf16> to tensor<?x128xf16>
  return %p, %y : tensor<?x128xf16>, tensor<?x100xf16>
}

// A width that no vector divides.
// CHECK-LABEL: func.func @columns_odd(
// CHECK: rmsnorm.rows sizes [5] columns(23) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(41) buffers(read
func.func @columns_odd(%x: tensor<5x41xf32>, %w: tensor<41xf32>) -> (tensor<5x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x41xf32>
  %y = rmsnorm.forward input(%x : tensor<5x41xf32>) weight(%w : tensor<41xf32>) output(%e : tensor<5x41xf32>) eps = 1.0e-05 -> tensor<5x41xf32>
  %p = tensor.pad %y low[0, 0] high[0, 23] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<5x41xf32> to tensor<5x64xf32>
  return %p : tensor<5x64xf32>
}

// Rows.
// CHECK-LABEL: func.func @rows_high(
// CHECK: rmsnorm.rows sizes [3] columns(64) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(64) buffers(read
func.func @rows_high(%x: tensor<5x64xf32>, %w: tensor<64xf32>) -> (tensor<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  %p = tensor.pad %y low[0, 0] high[3, 0] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<8x64xf32>
  return %p : tensor<8x64xf32>
}

// Rows in front.
// CHECK-LABEL: func.func @rows_low(
// CHECK: rmsnorm.rows sizes [2] columns(64) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(64) buffers(read
func.func @rows_low(%x: tensor<5x64xf32>, %w: tensor<64xf32>) -> (tensor<7x64xf32>, tensor<5x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  %p = tensor.pad %y low[2, 0] high[0, 0] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<7x64xf32>
  return %p, %y : tensor<7x64xf32>, tensor<5x64xf32>
}

// All around: four kernels beside that of the norm.
// CHECK-LABEL: func.func @all_around(
// CHECK: rmsnorm.rows sizes [2] columns(72) buffers(write
// CHECK: rmsnorm.rows sizes [1] columns(72) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(3) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(5) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(64) buffers(read
func.func @all_around(%x: tensor<5x64xf32>, %w: tensor<64xf32>) -> (tensor<8x72xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  %p = tensor.pad %y low[2, 3] high[1, 5] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<8x72xf32>
  return %p : tensor<8x72xf32>
}

// To as many rows as another argument has.
// CHECK-LABEL: func.func @rows_given(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read
func.func @rows_given(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %full: tensor<?x64xf32>) -> (tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %full0 = tensor.dim %full, %c0 : tensor<?x64xf32>
  %h = arith.subi %full0, %m : index
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %p = tensor.pad %y low[0, 0] high[%h, 0] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<?x64xf32> to tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// Columns of a number that only a call knows.
// CHECK-LABEL: func.func @columns_dynamic(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(1073741824, %{{.*}}) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(1073741824, %{{.*}}) buffers(read
func.func @columns_dynamic(%x: tensor<?x?xf32>, %w: tensor<?xf32>) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<?xf32>) output(%e : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  %p = tensor.pad %y low[0, 0] high[0, 32] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// A head more, of more columns.
// CHECK-LABEL: func.func @heads(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(96) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns(32) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns(64) buffers(read
func.func @heads(%x: tensor<?x3x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x4x96xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x3x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x3x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x3x64xbf16>) eps = 1.0e-05 -> tensor<?x3x64xbf16>
  %p = tensor.pad %y low[0, 0, 0] high[0, 1, 32] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : bf16
  } : tensor<?x3x64xbf16> to tensor<?x4x96xbf16>
  return %p : tensor<?x4x96xbf16>
}

// The same written by a fill and an insertion.
// CHECK-LABEL: func.func @by_hand(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(8) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(8) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read
func.func @by_hand(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 2.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %f = tensor.empty(%m) : tensor<?x80xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?x80xf32>) -> tensor<?x80xf32>
  %p = tensor.insert_slice %y into %z[0, 8] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x80xf32>
  return %p : tensor<?x80xf32>
}

// Two results in what one constant fills.
// CHECK-LABEL: func.func @two_parts(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(160) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read
func.func @two_parts(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x160xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 2.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %n = linalg.negf ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = tensor.empty(%m) : tensor<?x160xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?x160xf32>) -> tensor<?x160xf32>
  %p = tensor.insert_slice %y into %z[0, 8] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x160xf32>
  %q = tensor.insert_slice %n into %p[0, 80] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x160xf32>
  return %q : tensor<?x160xf32>
}

// A value of each row.
// CHECK-LABEL: func.func @row_values(
// CHECK: rmsnorm.rows sizes [1] columns(3) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(64) buffers(read
func.func @row_values(%x: tensor<5x64xf32>, %w: tensor<64xf32>) -> (tensor<5x64xf32>, tensor<8xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %s = tensor.empty() : tensor<5xf32>
  %y, %r = rmsnorm.forward input(%x : tensor<5x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<5x64xf32>) rstd(%s : tensor<5xf32>) eps = 1.0e-05 -> tensor<5x64xf32>, tensor<5xf32>
  %p = tensor.pad %r low[0] high[3] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<5xf32> to tensor<8xf32>
  return %y, %p : tensor<5x64xf32>, tensor<8xf32>
}

// Two results that are padded with one constant.
// CHECK-LABEL: func.func @twice(
// CHECK: rmsnorm.rows sizes [5] columns(8) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(8) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(64) buffers(read
func.func @twice(%x: tensor<5x64xf32>, %w: tensor<64xf32>) -> (tensor<5x72xf32>, tensor<5x72xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  %h = linalg.negf ins(%x : tensor<5x64xf32>) outs(%e : tensor<5x64xf32>) -> tensor<5x64xf32>
  %p = tensor.pad %y low[0, 0] high[0, 8] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<5x72xf32>
  %q = tensor.pad %h low[0, 8] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<5x72xf32>
  return %p, %q : tensor<5x72xf32>, tensor<5x72xf32>
}

// Padded rows as groups of columns.
// CHECK-LABEL: func.func @reshaped(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(4) buffers(write
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(60) buffers(read
func.func @reshaped(%x: tensor<?x60xf32>, %w: tensor<60xf32>) -> tensor<?x2x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x60xf32>
  %e = tensor.empty(%m) : tensor<?x60xf32>
  %y = rmsnorm.forward input(%x : tensor<?x60xf32>) weight(%w : tensor<60xf32>) output(%e : tensor<?x60xf32>) eps = 1.0e-05 -> tensor<?x60xf32>
  %p = tensor.pad %y low[0, 0] high[0, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x60xf32> to tensor<?x64xf32>
  %r = tensor.expand_shape %p [[0], [1, 2]] output_shape [%m, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
  return %r : tensor<?x2x32xf32>
}

// Scales of more rows than there are, in another order: all of them are filled first.
// CHECK-LABEL: func.func @swizzled(
// CHECK: rmsnorm.rows sizes [3, 4, 32, 4] columns(4) buffers(write
// CHECK: rmsnorm.rows sizes [300] columns [16, 32] buffers(read
func.func @swizzled(%x: tensor<300x512xbf16>) -> tensor<3x4x32x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x512xf32>
  %y = rmsnorm.forward input(%x : tensor<300x512xbf16>) output(%e : tensor<300x512xf32>) eps = 1.0e-05 -> tensor<300x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [300, 16, 32] : tensor<300x512xf32> into tensor<300x16x32xf32>
  %f = tensor.empty() : tensor<300x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<300x16xf32>) -> tensor<300x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<300x16x32xf32>) outs(%zeros : tensor<300x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<300x16xf32>
  %pe = tensor.empty() : tensor<384x16xf32>
  %none = linalg.fill ins(%zero : f32) outs(%pe : tensor<384x16xf32>) -> tensor<384x16xf32>
  %all = tensor.insert_slice %s into %none[0, 0] [300, 16] [1, 1] : tensor<300x16xf32> into tensor<384x16xf32>
  %x5 = tensor.expand_shape %all [[0, 1, 2], [3, 4]] output_shape [3, 4, 32, 4, 4] : tensor<384x16xf32> into tensor<3x4x32x4x4xf32>
  %te = tensor.empty() : tensor<3x4x32x4x4xf32>
  %tr = linalg.transpose ins(%x5 : tensor<3x4x32x4x4xf32>) outs(%te : tensor<3x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %tr : tensor<3x4x32x4x4xf32>
}

// Padded twice by one constant.
// CHECK-LABEL: func.func @pads_alike(
// CHECK: rmsnorm.rows sizes [8] columns(64) buffers(write
// CHECK: rmsnorm.rows sizes [5] columns(60) buffers(read
func.func @pads_alike(%x: tensor<5x60xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x60xf32>
  %y = rmsnorm.forward input(%x : tensor<5x60xf32>) output(%e : tensor<5x60xf32>) eps = 1.0e-05 -> tensor<5x60xf32>
  %p = tensor.pad %y low[0, 0] high[0, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<5x60xf32> to tensor<5x64xf32>
  %q = tensor.pad %p low[1, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<5x64xf32> to tensor<8x64xf32>
  return %q : tensor<8x64xf32>
}

// Padding by nothing keeps the padding that is there.
// CHECK-LABEL: func.func @nothing_more(
// CHECK: rmsnorm.rows sizes [2] columns(34) buffers(write
// CHECK: rmsnorm.rows sizes [2] columns(32) buffers(read
func.func @nothing_more(%a0: tensor<2x32xf32>) -> (tensor<2x34xf32>) {
  %v1 = tensor.empty() : tensor<2x32xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<2x32xf32>) output(%v1 : tensor<2x32xf32>) eps = 1.0e-03 -> tensor<2x32xf32>
  %v7 = arith.constant 1.5 : f32
  %v8 = tensor.pad %v2 low[0, 2] high[0, 0] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v7 : f32
  } : tensor<2x32xf32> to tensor<2x34xf32>
  %v9 = arith.constant 1.5 : f32
  %v10 = tensor.pad %v8 low[0, 0] high[0, 0] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v9 : f32
  } : tensor<2x34xf32> to tensor<2x34xf32>
  return %v10 : tensor<2x34xf32>
}

// A copy of a part, into what others have put something else into.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: rmsnorm.rows
func.func @others(%x: tensor<5x64xf32>, %b: tensor<2x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x64xf32>) output(%e0 : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %q = tensor.insert_slice %b into %f[5, 0] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<8x64xf32>
  %p = tensor.insert_slice %y into %q[0, 0] [5, 64] [1, 1] : tensor<5x64xf32> into tensor<8x64xf32>
  %r = linalg.copy ins(%p : tensor<8x64xf32>) outs(%q : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// A norm of what is padded: the part's columns do not divide the row's.
// CHECK-LABEL: func.func @in_front_of_norm(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [16, 4]
func.func @in_front_of_norm(%x: tensor<?x60xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x60xbf16>
  %p = tensor.pad %x low[0, 0] high[0, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : bf16
  } : tensor<?x60xbf16> to tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %y = rmsnorm.forward input(%p : tensor<?x64xbf16>) output(%e : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

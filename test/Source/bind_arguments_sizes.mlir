// RUN: norm-opt %s --split-input-file --rmsnorm-bind-arguments --mlir-print-local-scope | FileCheck %s
// RUN: norm-opt %s --split-input-file --rmsnorm-bind-arguments | norm-opt --split-input-file --mlir-print-local-scope | FileCheck %s

// A result with the rows of two dimensions.
// CHECK-LABEL: @merge(
// CHECK-SAME: rmsnorm.dims = array<i64: -1, -2, 64>
// CHECK-SAME: rmsnorm.dims = array<i64: -3, 64>
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1, s2] : (s2 - s0 * s1 == 0)>}
func.func @merge(%x: tensor<?x?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x64xf32>) output(%e : tensor<?x?x64xf32>) eps = 1.0e-05 -> tensor<?x?x64xf32>
  %q = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// -----

// An operand and a result with those rows: the operand says how many.
// CHECK-LABEL: @residual(
// CHECK-SAME: rmsnorm.dims = array<i64: -3, 64>
// CHECK-SAME: rmsnorm.dims = array<i64: -3, 64>
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1, s2] : (s2 - s0 * s1 == 0)>}
func.func @residual(%x: tensor<?x?x64xf32>, %r: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %q = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %m = tensor.dim %r, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %s = linalg.add ins(%q, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Rows in groups of 4: there must be no rest.
// CHECK-LABEL: @split(
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1] : (s1 - s0 floordiv 4 == 0, s0 mod 4 == 0)>}
func.func @split(%x: tensor<?x64xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %b = arith.divui %m, %c4 : index
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %q = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, 4, 64] : tensor<?x64xf32> into tensor<?x4x64xf32>
  return %q : tensor<?x4x64xf32>
}

// -----

// The destination's dimensions are the caller's.
// CHECK-LABEL: @destination(
// CHECK-SAME: rmsnorm.dims = array<i64: -1, 64>
// CHECK-SAME: rmsnorm.dims = array<i64: -2, -3, 64>
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1, s2] : (s0 - s1 * s2 == 0)>}
func.func @destination(%x: tensor<?x64xf32>, %o: tensor<?x?x64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tensor.collapse_shape %o [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%q : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %b = tensor.dim %o, %c0 : tensor<?x?x64xf32>
  %t = tensor.dim %o, %c1 : tensor<?x?x64xf32>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %t, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  return %r : tensor<?x?x64xf32>
}

// -----

// As many rows as another operand has, from row 3 on.
// CHECK-LABEL: @slice(
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1] : (s0 - s1 - 3 >= 0)>}
func.func @slice(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %r, %c0 : tensor<?x64xf32>
  %s = tensor.extract_slice %x[3, 0] [%m, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %a = linalg.add ins(%s, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%a : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// The second half lies in the whole for any size.
// CHECK-LABEL: @half(
// CHECK-SAME: attributes {rmsnorm.sizes = affine_set<()[s0, s1] : (s1 - s0 floordiv 2 == 0)>}
func.func @half(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %b = arith.divui %m, %c2 : index
  %s = tensor.extract_slice %x[%b, 0] [%b, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// What is inserted has as many rows as the insertion says: one symbol, no set.
// CHECK-LABEL: @inserted(
// CHECK-SAME: %[[R:.*]]: tensor<?x64xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, 64>
// CHECK-SAME: %[[X:.*]]: tensor<?x128xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, 128>
// CHECK-NOT: rmsnorm.sizes
func.func @inserted(%r: tensor<?x64xf32>, %x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  %i = tensor.insert_slice %r into %y[0, 64] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x128xf32>
  return %i : tensor<?x128xf32>
}

// -----

// Nothing but equal sizes: no set.
// CHECK-LABEL: @equal(
// CHECK-NOT: rmsnorm.sizes
func.func @equal(%x: tensor<?x4x64xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %e = tensor.empty(%m) : tensor<?x4x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xf32>) output(%e : tensor<?x4x64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>
  %q = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  return %q : tensor<?x256xf32>
}

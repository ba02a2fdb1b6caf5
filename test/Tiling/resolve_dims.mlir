// RUN: norm-opt %s --rmsnorm-resolve-dims | FileCheck %s
// RUN: norm-opt %s --rmsnorm-resolve-dims --canonicalize | FileCheck %s --check-prefix=FOLDED

// MLIR drops the first dimension of one element, and reads the size behind the
// last one of what is left.
// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME: index, %[[N:[a-z0-9]+]]: index)
// CHECK: memref.subview
// CHECK: %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK: return %[[N]], %[[C2]] : index, index
// FOLDED-LABEL: func.func @one_of_two(
// FOLDED: return %{{.*}}, %c2 : index, index
func.func @one_of_two(%x: memref<1x?x2x3x24xf32, strided<[?, ?, ?, ?, 1]>>, %i: index, %n: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = memref.subview %x[0, 0, 0, 2, 0] [1, %n, 2, 1, 24] [1, 1, 1, 1, 1] : memref<1x?x2x3x24xf32, strided<[?, ?, ?, ?, 1]>> to memref<1x?x2x24xf32, strided<[?, ?, ?, 1], offset: ?>>
  %d = memref.dim %v, %c1 : memref<1x?x2x24xf32, strided<[?, ?, ?, 1], offset: ?>>
  %e = memref.dim %v, %c2 : memref<1x?x2x24xf32, strided<[?, ?, ?, 1], offset: ?>>
  return %d, %e : index, index
}

// Others stay: a dimension that MLIR drops, too, and one that only a call knows.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: memref.dim
func.func @others(%x: memref<?x?x24xf32>, %n: index, %k: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %v = memref.subview %x[0, 2, 0] [%n, 1, 24] [1, 1, 1] : memref<?x?x24xf32> to memref<?x24xf32, strided<[?, 1], offset: 48>>
  %d = memref.dim %v, %c0 : memref<?x24xf32, strided<[?, 1], offset: 48>>
  %e = memref.dim %v, %k : memref<?x24xf32, strided<[?, 1], offset: 48>>
  %f = memref.dim %x, %c0 : memref<?x?x24xf32>
  return %d, %e, %f : index, index, index
}

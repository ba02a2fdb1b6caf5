// RUN: norm-opt %s --rmsnorm-drop-results | FileCheck %s

// CHECK-LABEL: func.func @some(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>) -> index {
// CHECK:         return %c1 : index
func.func @some(%x: memref<4xf32>, %y: memref<4xf32>) -> (memref<4xf32>, index, memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %z = memref.cast %x : memref<4xf32> to memref<?xf32>
  return %y, %c1, %z : memref<4xf32>, index, memref<?xf32>
}

// Somebody may look at what this one returns.
// CHECK-LABEL: func.func private @private(
// CHECK:         return %{{.*}} : memref<4xf32>
func.func private @private(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// RUN: norm-opt %s --rmsnorm-prepare-oracle | FileCheck %s

// The results go, buffers are freed, copies are loops.

// CHECK-LABEL: func.func @entry(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<?x8xf32>, %[[Y:[^ ]*]]: memref<4x8xf32, strided<[16, 1]>>) attributes {llvm.emit_c_interface}
// CHECK:         %[[T:.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : {{.*}}) outs(%[[Y]] :
// CHECK:         memref.dealloc %[[T]]
// CHECK-NEXT:    return{{$}}
func.func @entry(%x: memref<?x8xf32> {rmsnorm.name = "x"},
                 %y: memref<4x8xf32, strided<[16, 1]>>)
    -> memref<?x8xf32, strided<[?, 1]>> {
  %t = memref.alloc() : memref<4x8xf32>
  memref.copy %t, %y : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>
  %c = memref.cast %y : memref<4x8xf32, strided<[16, 1]>>
      to memref<?x8xf32, strided<[?, 1]>>
  return %c : memref<?x8xf32, strided<[?, 1]>>
}

// A private function is no entry.

// CHECK-LABEL: func.func private @helper(
// CHECK-SAME:    %{{.*}}: f32) -> f32 {
func.func private @helper(%x: f32) -> f32 {
  return %x : f32
}

// RUN: norm-opt %s --rmsnorm-prepare-oracle | FileCheck %s --check-prefix=PREPARE
// RUN: norm-opt %s --rmsnorm-to-oracle | FileCheck %s

// The results go, buffers are freed, copies are loops.

// PREPARE-LABEL: func.func @entry(
// PREPARE-SAME:    %[[X:[^ ]*]]: memref<?x8xf32>, %[[Y:[^ ]*]]: memref<4x8xf32, strided<[16, 1]>>) attributes {llvm.emit_c_interface}
// PREPARE:         %[[T:.*]] = memref.alloc
// PREPARE:         linalg.generic {{.*}} ins(%[[T]] : {{.*}}) outs(%[[Y]] :
// PREPARE:         memref.dealloc %[[T]]
// PREPARE-NEXT:    return{{$}}

// The entry by its name, from an array of pointers to descriptors; all else is
// internal, and nothing is declared.

// CHECK-NOT:     llvm.func @
// CHECK:         llvm.func internal @_mlir_memref_to_llvm_alloc(
// CHECK:         llvm.func internal @_mlir_memref_to_llvm_free(
// CHECK:         llvm.func internal @entry(
// CHECK:         llvm.func internal @_mlir_ciface_entry(
// CHECK-NOT:     llvm.func @
// CHECK:         llvm.func @oracle_entry(%[[A:.*]]: !llvm.ptr) {
// CHECK-NEXT:      %[[P0:.*]] = llvm.getelementptr %[[A]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:      %[[D0:.*]] = llvm.load %[[P0]]
// CHECK-NEXT:      %[[P1:.*]] = llvm.getelementptr %[[A]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:      %[[D1:.*]] = llvm.load %[[P1]]
// CHECK-NEXT:      llvm.call @_mlir_ciface_entry(%[[D0]], %[[D1]])
// CHECK-NEXT:      llvm.return
func.func @entry(%x: memref<?x8xf32> {rmsnorm.name = "x"},
                 %y: memref<4x8xf32, strided<[16, 1]>>)
    -> memref<?x8xf32, strided<[?, 1]>> {
  %t = memref.alloc() : memref<4x8xf32>
  %s = memref.subview %x[0, 0] [4, 8] [1, 1]
      : memref<?x8xf32> to memref<4x8xf32, strided<[8, 1]>>
  linalg.map ins(%s : memref<4x8xf32, strided<[8, 1]>>) outs(%t : memref<4x8xf32>)
    (%in: f32, %out: f32) {
      %e = math.exp %in : f32
      linalg.yield %e : f32
    }
  memref.copy %t, %y : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>
  %c = memref.cast %y : memref<4x8xf32, strided<[16, 1]>>
      to memref<?x8xf32, strided<[?, 1]>>
  return %c : memref<?x8xf32, strided<[?, 1]>>
}

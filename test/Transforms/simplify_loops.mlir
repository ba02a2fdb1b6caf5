// RUN: norm-opt %s --rmsnorm-simplify-loops | FileCheck %s

// The row and the copy of a slice to itself are seen through; what is equal in
// and outside of the loop stays so.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x64xf32>
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0
// CHECK-NEXT:    memref.dim
// CHECK-NEXT:    memref.dim
// CHECK-NEXT:    %[[U:.*]] = memref.cast
// CHECK-NEXT:    call @use(%[[U]])
// CHECK-NEXT:    scf.forall (%[[ROW:.*]]) in
// CHECK-NEXT:      %[[V:.*]] = rmsnorm.tile_load tile %[[X]][%[[ROW]]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT:      rmsnorm.tile_store tile %[[S]], %[[X]][%[[ROW]]]
// CHECK-NEXT:    } {rmsnorm.rows = 1 : i64}
func.func @loop(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32>
  %k = memref.dim %x, %c0 : memref<?x64xf32>
  %u = memref.cast %x : memref<?x64xf32> to memref<?x?xf32>
  func.call @use(%u) : (memref<?x?xf32>) -> ()
  scf.forall (%row) in (%m) {
    %s = memref.subview %x[%row, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %v = rmsnorm.tile_load tile %s[%c0] : memref<1x64xf32, strided<[64, 1], offset: ?>> -> vector<1x64xf32>
    %w = rmsnorm.tile_load tile %s[%c0] : memref<1x64xf32, strided<[64, 1], offset: ?>> -> vector<1x64xf32>
    %t = memref.subview %x[%row, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %a = arith.addf %v, %w : vector<1x64xf32>
    rmsnorm.tile_store tile %a, %s[%c0] : vector<1x64xf32>, memref<1x64xf32, strided<[64, 1], offset: ?>>
    memref.copy %s, %t : memref<1x64xf32, strided<[64, 1], offset: ?>> to memref<1x64xf32, strided<[64, 1], offset: ?>>
  } {rmsnorm.rows = 1 : i64}
  return
}
func.func private @use(memref<?x?xf32>)

// A row of somebody else's, in a loop over it alone, is no row of the loop.
// CHECK-LABEL: func.func @one(
// CHECK:         %[[S:.*]] = memref.subview
// CHECK:         rmsnorm.tile_load tile %[[S]][%c0]
func.func @one(%x: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[3, 0] [1, 64] [1, 1] : memref<8x64xf32> to memref<1x64xf32, strided<[64, 1], offset: 192>>
  scf.forall (%row) in (1) {
    %v = rmsnorm.tile_load tile %s[%c0] : memref<1x64xf32, strided<[64, 1], offset: 192>> -> vector<1x64xf32>
    rmsnorm.tile_store tile %v, %s[%c0] : vector<1x64xf32>, memref<1x64xf32, strided<[64, 1], offset: 192>>
  } {rmsnorm.rows = 1 : i64}
  return
}

// Somebody else's.
// CHECK-LABEL: func.func @other(
// CHECK:         memref.subview
// CHECK:         memref.copy
func.func @other(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32>
  scf.forall (%row) in (%m) {
    %s = memref.subview %x[%row, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    memref.copy %s, %s : memref<1x64xf32, strided<[64, 1], offset: ?>> to memref<1x64xf32, strided<[64, 1], offset: ?>>
  }
  return
}

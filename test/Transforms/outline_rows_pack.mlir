// RUN: norm-opt %s --rmsnorm-outline-rows=pack | FileCheck %s

// The layout of one-shot bufferization's default function boundaries: each
// buffer is copied to a packed one, and back what is written.
// CHECK-LABEL: func.func @dynamic_strides(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>, %[[Y:[^:]*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>
// CHECK:         %[[PX:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK:         memref.copy %[[X]], %[[PX]]
// CHECK:         %[[PY:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK:         memref.copy %[[Y]], %[[PY]]
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %[[PX]] : memref<?x64xf32>, write %[[PY]] : memref<?x64xf32>)
// CHECK:         memref.copy %[[PY]], %[[Y]]
// CHECK-NEXT:    memref.dealloc %[[PY]]
// CHECK-NEXT:    memref.dealloc %[[PX]]
func.func @dynamic_strides(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>, %y: memref<?x64xf32, strided<[?, ?], offset: ?>>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32, strided<[?, ?], offset: ?>> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %y[%row] : vector<1x64xf32>, memref<?x64xf32, strided<[?, ?], offset: ?>>
  } {rmsnorm.rows = 1 : i64}
  return
}

// One value a row may lie anywhere.
// CHECK-LABEL: func.func @rows_apart(
// CHECK-NOT:     memref.alloc
// CHECK:         rmsnorm.rows
func.func @rows_apart(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>, %r: memref<?xf32, strided<[?], offset: ?>>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32, strided<[?, 1], offset: ?>> -> vector<1x64xf32>
    %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
    rmsnorm.tile_store row %1, %r[%row] : vector<1x1xf32>, memref<?xf32, strided<[?], offset: ?>>
  } {rmsnorm.rows = 1 : i64}
  return
}

// RUN: norm-opt %s --rmsnorm-strided-buffers=pack | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-strided-buffers 2>&1 | FileCheck %s --check-prefix=ERROR

// A buffer whose columns need not lie side by side is copied, and back if it is
// written; one that is read for a value a row is not.
// ERROR: error: 'rmsnorm.rows' op expected buffers with columns side by side in the innermost dimensions, got 'memref<?x64xf32, strided<[?, ?], offset: ?>>'
// ERROR: note: one-shot-bufferize{function-boundary-type-conversion=identity-layout-map} or bufferization.buffer_layout gives arguments such; rmsnorm-strided-buffers{pack} copies
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>, %[[Y:[^:]*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>, %[[R:[^:]*]]: memref<?xf32, strided<[?], offset: ?>>
// CHECK:         %[[XP:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[XP]]
// CHECK:         %[[YP:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK-NEXT:    memref.copy %[[Y]], %[[YP]]
// CHECK-NEXT:    rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %[[XP]] : memref<?x64xf32>, read %[[R]] : memref<?xf32, strided<[?], offset: ?>>, write %[[YP]] : memref<?x64xf32>)
// CHECK-NOT:     memref.copy %[[XP]]
// CHECK:         memref.copy %[[YP]], %[[Y]]
// CHECK-NOT:     memref.copy
func.func @f(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>, %y: memref<?x64xf32, strided<[?, ?], offset: ?>>, %r: memref<?xf32, strided<[?], offset: ?>>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32, strided<[?, ?], offset: ?>>, read %r : memref<?xf32, strided<[?], offset: ?>>, write %y : memref<?x64xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%M: index, %X: memref<?x64xf32, strided<[?, ?], offset: ?>>, %R: memref<?xf32, strided<[?], offset: ?>>, %Y: memref<?x64xf32, strided<[?, ?], offset: ?>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32, strided<[?, ?], offset: ?>> -> vector<1x64xf32>
      %1 = rmsnorm.tile_load row %R[%t] : memref<?xf32, strided<[?], offset: ?>> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      rmsnorm.tile_store tile %3, %Y[%t] : vector<1x64xf32>, memref<?x64xf32, strided<[?, ?], offset: ?>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Columns of two dimensions, every other head: those of each lie side by side.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     memref.alloc
// CHECK:         rmsnorm.tile_load tile %{{.*}} map(r, c) -> (r, c floordiv 4, c mod 4) : memref<?x2x4xf32, strided<[16, 8, 1]>>
func.func @heads(%x: memref<?x2x4xf32, strided<[16, 8, 1]>>, %y: memref<?x8xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(8) buffers(read %x : memref<?x2x4xf32, strided<[16, 8, 1]>>, write %y : memref<?x8xf32>) {
  ^bb0(%M: index, %X: memref<?x2x4xf32, strided<[16, 8, 1]>>, %Y: memref<?x8xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] map(r, c) -> (r, c floordiv 4, c mod 4) : memref<?x2x4xf32, strided<[16, 8, 1]>> -> vector<1x8xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x8xf32>, memref<?x8xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

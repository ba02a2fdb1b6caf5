// RUN: norm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s --implicit-check-not="{{memref.alloc|memref.copy}}"

// In place: an element is read where it is written.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x128xf32>
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(128) buffers(read %[[X]] : memref<?x128xf32>, write %[[X]] : memref<?x128xf32>) {
func.func @in_place(%x: tensor<?x128xf32> {bufferization.writable = true}, %n: index) -> tensor<?x128xf32> {
  %r = rmsnorm.rows sizes [%n] columns(128) buffers(read %x : tensor<?x128xf32>, write %x : tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%N: index, %X: memref<?x128xf32>, %Y: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x128xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<?x128xf32>
}

// -----

// Other columns of the row may be those of another block: a buffer of its own.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x128xf32>
// CHECK:         %[[Y:.*]] = memref.alloc
// CHECK:         memref.copy %[[X]], %[[Y]]
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns [2, 64] buffers(read %[[X]] : memref<?x128xf32>, write %[[Y]] : memref<?x128xf32>) {
func.func @halves(%x: tensor<?x128xf32> {bufferization.writable = true}, %n: index) -> tensor<?x128xf32> {
  %r = rmsnorm.rows sizes [%n] columns [2, 64] buffers(read %x : tensor<?x128xf32>, write %x : tensor<?x128xf32>) -> tensor<?x128xf32> {
  ^bb0(%N: index, %X: memref<?x128xf32>, %Y: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x2x64xf32>
      %a = rmsnorm.take %0 at [0, 0] : vector<1x2x64xf32> -> vector<1x1x64xf32>
      %b = rmsnorm.take %0 at [1, 0] : vector<1x2x64xf32> -> vector<1x1x64xf32>
      rmsnorm.tile_store tile %b, %Y[%t] map(r, c) -> (r, c) : vector<1x1x64xf32>, memref<?x128xf32>
      rmsnorm.tile_store tile %a, %Y[%t] map(r, c) -> (r, c + 64) : vector<1x1x64xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<?x128xf32>
}

// -----

// Another row's elements: a buffer of its own.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4x4x64xf32>
// CHECK:         %[[Y:.*]] = memref.alloc
// CHECK:         rmsnorm.rows sizes [4, 4] columns(64) buffers(read %[[X]] : memref<4x4x64xf32>, write %[[Y]] : memref<4x4x64xf32>) {
func.func @transposed(%x: tensor<4x4x64xf32> {bufferization.writable = true}) -> tensor<4x4x64xf32> {
  %r = rmsnorm.rows sizes [4, 4] columns(64) buffers(read %x : tensor<4x4x64xf32>, write %x : tensor<4x4x64xf32>) -> tensor<4x4x64xf32> {
  ^bb0(%X: memref<4x4x64xf32>, %Y: memref<4x4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<4x4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %Y[%t] map(r0, r1, c) -> (r1, r0, c) : vector<1x64xf32>, memref<4x4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<4x4x64xf32>
}

// -----

// A value of the row, which all threads read and one writes: in place where a
// reduction can stand between, a buffer of its own where none does.
// CHECK-LABEL: func.func @row_value(
// CHECK-SAME:    %{{[^:]*}}: memref<?x128xf32>, %[[D:[^:]*]]: memref<?xf32>
// CHECK:         read %[[D]] : memref<?xf32>, write %[[D]] : memref<?xf32>
func.func @row_value(%x: tensor<?x128xf32>, %d: tensor<?xf32> {bufferization.writable = true}, %n: index) -> tensor<?xf32> {
  %r = rmsnorm.rows sizes [%n] columns(128) buffers(read %x : tensor<?x128xf32>, read %d : tensor<?xf32>, write %d : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%N: index, %X: memref<?x128xf32>, %D: memref<?xf32>, %E: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      %s = rmsnorm.row_reduce maximumf(%0) : vector<1x128xf32> -> vector<1x1xf32>
      %1 = rmsnorm.tile_load row %D[%t] : memref<?xf32> -> vector<1x1xf32>
      %2 = arith.addf %s, %1 : vector<1x1xf32>
      rmsnorm.tile_store row %2, %E[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @row_value_without_reduction(
// CHECK-SAME:    %{{[^:]*}}: memref<?x128xf32>, %[[D:[^:]*]]: memref<?xf32>
// CHECK:         %[[E:.*]] = memref.alloc
// CHECK:         memref.copy %[[D]], %[[E]]
// CHECK:         read %[[D]] : memref<?xf32>, write %[[E]] : memref<?xf32>
func.func @row_value_without_reduction(%x: tensor<?x128xf32>, %d: tensor<?xf32> {bufferization.writable = true}, %n: index) -> tensor<?xf32> {
  %r = rmsnorm.rows sizes [%n] columns(128) buffers(read %x : tensor<?x128xf32>, read %d : tensor<?xf32>, write %d : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%N: index, %X: memref<?x128xf32>, %D: memref<?xf32>, %E: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      %1 = rmsnorm.tile_load row %D[%t] : memref<?xf32> -> vector<1x1xf32>
      %2 = arith.addf %1, %1 : vector<1x1xf32>
      rmsnorm.tile_store row %2, %E[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<?xf32>
}

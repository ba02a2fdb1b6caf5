// RUN: norm-opt %s --rmsnorm-pack-rows --split-input-file | FileCheck %s

// Four rows a tile, for any number of rows: the last tile has fewer live rows.
// What does not depend on the row stays 1xN and is broadcast where it is used.
// CHECK-LABEL: func.func @pack
// CHECK-SAME: (%[[X:.*]]: memref<?x128xbf16>, %[[W:.*]]: memref<128xf32>, %[[R:.*]]: memref<?xf32>, %[[M:.*]]: index)
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %[[FOUR]]
// CHECK: scf.forall (%[[T:.*]]) in (%[[TILES]]) {
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %[[FOUR]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[M]], %[[FIRST]]
// CHECK: %[[LIVE:.*]] = arith.minui %[[LEFT]], %[[FOUR]]
// CHECK: %[[TILE:.*]] = rmsnorm.tile_load tile %[[X]][%[[FIRST]]] rows(%[[LIVE]]) : memref<?x128xbf16> -> vector<4x128xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[TILE]] : vector<4x128xbf16> to vector<4x128xf32>
// CHECK: %[[COLUMN:.*]] = rmsnorm.tile_load column %[[W]] : memref<128xf32> -> vector<1x128xf32>
// CHECK: %[[SUM:.*]] = rmsnorm.row_reduce add(%[[WIDE]]) : vector<4x128xf32> -> vector<4x1xf32>
// CHECK: %[[C:.*]] = arith.constant dense<5.000000e-01> : vector<4x1xf32>
// CHECK: %[[HALF:.*]] = arith.mulf %[[SUM]], %[[C]] : vector<4x1xf32>
// CHECK: %[[ROWS:.*]] = vector.broadcast %[[HALF]] : vector<4x1xf32> to vector<4x128xf32>
// CHECK: %[[COLUMNS:.*]] = vector.broadcast %[[COLUMN]] : vector<1x128xf32> to vector<4x128xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[ROWS]], %[[COLUMNS]] : vector<4x128xf32>
// CHECK: %[[NARROW:.*]] = arith.truncf %[[Y]] : vector<4x128xf32> to vector<4x128xbf16>
// CHECK: rmsnorm.tile_store tile %[[NARROW]], %[[X]][%[[FIRST]]] rows(%[[LIVE]])
// CHECK: rmsnorm.tile_store row %[[HALF]], %[[R]][%[[FIRST]]] rows(%[[LIVE]]) : vector<4x1xf32>, memref<?xf32>
func.func @pack(%x: memref<?x128xbf16>, %w: memref<128xf32>, %r: memref<?xf32>, %m: index) {
  %c = arith.constant dense<0.5> : vector<1x1xf32>
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xbf16> -> vector<1x128xbf16>
    %1 = arith.extf %0 : vector<1x128xbf16> to vector<1x128xf32>
    %2 = rmsnorm.tile_load column %w : memref<128xf32> -> vector<1x128xf32>
    %3 = rmsnorm.row_reduce add(%1) : vector<1x128xf32> -> vector<1x1xf32>
    %4 = arith.mulf %3, %c : vector<1x1xf32>
    %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x128xf32>
    %6 = arith.mulf %5, %2 : vector<1x128xf32>
    %7 = arith.truncf %6 : vector<1x128xf32> to vector<1x128xbf16>
    rmsnorm.tile_store tile %7, %x[%row] : vector<1x128xbf16>, memref<?x128xbf16>
    rmsnorm.tile_store row %4, %r[%row] : vector<1x1xf32>, memref<?xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 8>}
  return
}

// -----

// One row a tile: nothing to do.
// CHECK-LABEL: func.func @single
// CHECK-NOT: ceildivui
// CHECK: rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x4096xf32> -> vector<1x4096xf32>
func.func @single(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4>}
  return
}

// -----

// A row that does not exist must not count twice in a sum over rows.
// CHECK-LABEL: func.func @sum
// CHECK: %[[LIVE:.*]] = arith.minui
// CHECK: %[[X:.*]] = rmsnorm.tile_load tile %{{.*}} rows(%[[LIVE]])
// CHECK: rmsnorm.accumulate %[[X]] into %{{.*}} rows(%[[LIVE]]) : vector<4x128xf32> into memref<128xf32>
func.func @sum(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
    rmsnorm.accumulate %0 into %dw : vector<1x128xf32> into memref<128xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>}
  return
}

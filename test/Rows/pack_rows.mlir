// RUN: norm-opt %s --rmsnorm-pack-rows --split-input-file | FileCheck %s
// RUN: norm-opt %s --rmsnorm-pack-rows --rmsnorm-pack-rows --split-input-file | FileCheck %s

// Four rows a tile. What does not depend on the row stays 1xN and is broadcast
// where it is used. Nothing but types changes: the tile's number is now that of
// four rows.
// CHECK-LABEL: func.func @pack
// CHECK-NOT: arith.{{.*}} : index
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(128) buffers(update %{{.*}} : memref<?x128xbf16>, read %{{.*}} : memref<128xf32>, write %{{.*}} : memref<?xf32>)
// CHECK: ^bb0(%{{.*}}: index, %[[X:.*]]: memref<?x128xbf16>, %[[W:.*]]: memref<128xf32>, %[[R:.*]]: memref<?xf32>):
// CHECK: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: %[[TILE:.*]] = rmsnorm.tile_load tile %[[X]][%[[T]]] : memref<?x128xbf16> -> vector<4x128xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[TILE]] : vector<4x128xbf16> to vector<4x128xf32>
// CHECK-NEXT: %[[COLUMN:.*]] = rmsnorm.tile_load column %[[W]] : memref<128xf32> -> vector<1x128xf32>
// CHECK-NEXT: %[[SUM:.*]] = rmsnorm.row_reduce add(%[[WIDE]]) : vector<4x128xf32> -> vector<4x1xf32>
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<5.000000e-01> : vector<4x1xf32>
// CHECK-NEXT: %[[HALF:.*]] = arith.mulf %[[SUM]], %[[C]] : vector<4x1xf32>
// CHECK-NEXT: %[[ROWS:.*]] = vector.broadcast %[[HALF]] : vector<4x1xf32> to vector<4x128xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = vector.broadcast %[[COLUMN]] : vector<1x128xf32> to vector<4x128xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[ROWS]], %[[COLUMNS]] : vector<4x128xf32>
// CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[Y]] : vector<4x128xf32> to vector<4x128xbf16>
// CHECK-NEXT: rmsnorm.tile_store tile %[[NARROW]], %[[X]][%[[T]]] : vector<4x128xbf16>, memref<?x128xbf16>
// CHECK-NEXT: rmsnorm.tile_store row %[[HALF]], %[[R]][%[[T]]] : vector<4x1xf32>, memref<?xf32>
// CHECK-NEXT: rmsnorm.yield
func.func @pack(%x: memref<?x128xbf16>, %w: memref<128xf32>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xbf16>, read %w : memref<128xf32>, write %r : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x128xbf16>, %W: memref<128xf32>, %R: memref<?xf32>):
    %c = arith.constant dense<0.5> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<1x128xbf16>
      %1 = arith.extf %0 : vector<1x128xbf16> to vector<1x128xf32>
      %2 = rmsnorm.tile_load column %W : memref<128xf32> -> vector<1x128xf32>
      %3 = rmsnorm.row_reduce add(%1) : vector<1x128xf32> -> vector<1x1xf32>
      %4 = arith.mulf %3, %c : vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x128xf32>
      %6 = arith.mulf %5, %2 : vector<1x128xf32>
      %7 = arith.truncf %6 : vector<1x128xf32> to vector<1x128xbf16>
      rmsnorm.tile_store tile %7, %X[%t] : vector<1x128xbf16>, memref<?x128xbf16>
      rmsnorm.tile_store row %4, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// One row a tile: nothing to do.
// CHECK-LABEL: func.func @single
// CHECK: %[[X:.*]] = rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x4096xf32> -> vector<1x4096xf32>
// CHECK-NEXT: rmsnorm.tile_store tile %[[X]], %{{.*}} : vector<1x4096xf32>, memref<?x4096xf32>
func.func @single(%x: memref<?x4096xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(update %x : memref<?x4096xf32>) schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x4096xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xf32> -> vector<1x4096xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x4096xf32>, memref<?x4096xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A sum over rows takes four rows of a tile at a time; so does one of what all
// rows have in common, of which rows that do not exist must be left out.
// CHECK-LABEL: func.func @sum
// CHECK: %[[X:.*]] = rmsnorm.tile_load tile
// CHECK: %[[W:.*]] = rmsnorm.tile_load column
// CHECK: rmsnorm.accumulate %[[X]] into %{{.*}} : vector<4x128xf32> into memref<128xf32>
// CHECK: %[[WS:.*]] = vector.broadcast %[[W]] : vector<1x128xf32> to vector<4x128xf32>
// CHECK: rmsnorm.accumulate %[[WS]] into %{{.*}} : vector<4x128xf32> into memref<128xf32>
func.func @sum(%x: memref<?x128xf32>, %w: memref<128xf32>, %dw: memref<128xf32>, %dv: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, read %w : memref<128xf32>, write %dw : memref<128xf32>, write %dv : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %W: memref<128xf32>, %DW: memref<128xf32>, %DV: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      %1 = rmsnorm.tile_load column %W : memref<128xf32> -> vector<1x128xf32>
      rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
      rmsnorm.accumulate %1 into %DV : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

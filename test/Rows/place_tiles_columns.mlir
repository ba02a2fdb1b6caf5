// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// Per-column operands with the row, once a block, or where they are used: only
// what is loaded ahead is held, that of a block in front of the tiles.
// CHECK-LABEL: func.func @columns_with_tile
// CHECK: rmsnorm.tiles body {
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile
// CHECK-NEXT: %[[W:.*]] = rmsnorm.tile_load column
// CHECK: rmsnorm.yield %{{.*}}, %{{.*}}, %[[W]]
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NOT: rmsnorm.tile_load
// CHECK: rmsnorm.tile_store
// CHECK-LABEL: func.func @columns_once_a_block
// CHECK: %[[W:.*]] = rmsnorm.tile_load column
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.traverse unrolled {
// CHECK: arith.extf %[[W]]
// CHECK: rmsnorm.tile_store
// CHECK-LABEL: func.func @columns_where_used
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.traverse unrolled {
// CHECK: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_store
func.func @columns_with_tile(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @columns_once_a_block(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @columns_where_used(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = use>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Nothing that the tiles write is loaded ahead of them.
// CHECK-LABEL: func.func @columns_written
// CHECK: ^bb0(%[[X:[^:]*]]: memref<64xf32>, %[[W:[^:]*]]: memref<64xf32>):
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK: rmsnorm.tile_load column %[[X]]
// CHECK: rmsnorm.tile_store
func.func @columns_written(%x: memref<64xf32>, %w: memref<64xf32>) {
  rmsnorm.rows sizes [1] columns(64) buffers(update %x : memref<64xf32>, read %w : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 2, blocks_per_sm = 1>) {
  ^bb0(%X: memref<64xf32>, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X : memref<64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.tile_load column %X : memref<64xf32> -> vector<1x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      %3 = arith.mulf %0, %1 : vector<1x64xf32>
      %4 = arith.mulf %3, %2 : vector<1x64xf32>
      rmsnorm.tile_store tile %4, %X : vector<1x64xf32>, memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Read again, the weight serves every row.
// CHECK-LABEL: func.func @columns_reloaded
// CHECK: rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK: rmsnorm.tile_load column %{{.*}} policy(evict_last)
// CHECK: rmsnorm.tile_store
func.func @columns_reloaded(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Or it is held beside the row that is read again: narrow, by a keep.
// CHECK-LABEL: func.func @columns_held_beside_reloaded
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} policy(evict_last)
// CHECK-NEXT: %[[W:.*]] = rmsnorm.tile_load column %{{.*}} policy(evict_last)
// CHECK: rmsnorm.yield %{{.*}}, %[[W]] :
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_load tile %{{.*}} again(1) policy(evict_first)
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.keep %[[S]]#1
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_store
func.func @columns_held_beside_reloaded(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A constant weight is loaded before the tiles and before the wait for the
// kernels ahead, as it waits for none; in the tiles it is kept narrow. What may
// be written is not, nor is the constant one without dependent launches.
// CHECK-LABEL: func.func @constant_weight
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %[[V:[^:]*]]: memref<64xbf16>,
// CHECK-NEXT: %[[EARLY:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile %[[X]]
// CHECK-NEXT: %[[V0:.*]] = rmsnorm.tile_load column %[[V]]
// CHECK: rmsnorm.yield %{{.*}}, %[[V0]] :
// CHECK: rmsnorm.traverse unrolled {
// CHECK: %[[KEPT:.*]] = rmsnorm.keep %[[EARLY]] after %[[S]]#0 : vector<1x64xbf16>, vector<1x1xf32>
// CHECK: arith.extf %[[KEPT]]
// CHECK-LABEL: func.func @constant_as_columns
// CHECK-NOT: rmsnorm.tile_load
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK: rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.tile_load column
// CHECK-LABEL: func.func @constant_without_dependent_launch
// CHECK-NOT: rmsnorm.grid_wait
// CHECK-NOT: rmsnorm.tile_load
// CHECK: rmsnorm.tiles body {
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NEXT: rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.tile_load column
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @constant_weight(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %v: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read constant %w : memref<64xbf16>, read %v : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %V: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = rmsnorm.tile_load column %V : memref<64xbf16> -> vector<1x64xbf16>
      %5 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %6 = arith.extf %4 : vector<1x64xbf16> to vector<1x64xf32>
      %7 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %8 = arith.mulf %5, %7 : vector<1x64xf32>
      %9 = arith.mulf %6, %8 : vector<1x64xf32>
      rmsnorm.tile_store tile %9, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @constant_as_columns(%x: memref<?x64xf32>, %w: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, read constant %w : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, constants = as_columns>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      %2 = arith.mulf %0, %1 : vector<1x64xf32>
      rmsnorm.tile_store tile %2, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

func.func @constant_without_dependent_launch(%x: memref<?x64xf32>, %w: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, read constant %w : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      %2 = arith.mulf %0, %1 : vector<1x64xf32>
      rmsnorm.tile_store tile %2, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

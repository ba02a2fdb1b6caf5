// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// Workgroup memory without a ring: the tile that is read twice is copied and
// waited for, the weight travels meanwhile and is held, and what is read once is
// not copied.
// CHECK-LABEL: func.func @shared
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[Z:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %{{[^:]*}}: memref<?x64xf32>):
// CHECK-NEXT: rmsnorm.tiles copies(%[[X]] : memref<?x64xbf16>) stages 1 body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index, %[[SLOT:.*]]: !rmsnorm.slot<1x64xbf16>):
// CHECK-NEXT: rmsnorm.fetch %[[SLOT]] :
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]] :
// CHECK-NEXT: rmsnorm.arrive %[[SLOT]] :
// CHECK-NEXT: %[[S:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.slot_load %[[SLOT]] :
// CHECK-NEXT: arith.extf %[[X0]]
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK-DAG: rmsnorm.slot_load %[[SLOT]] again(1) :
// CHECK-DAG: rmsnorm.keep %[[W0]] after %[[S]]
// CHECK-DAG: rmsnorm.tile_load tile %[[Z]][%[[T]]] :
// CHECK: rmsnorm.tile_store
// CHECK-LABEL: func.func @shared_columns_where_used
// CHECK: rmsnorm.arrive
// CHECK: rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK: rmsnorm.tile_load column %{{.*}} again(1) :
// CHECK-NOT: rmsnorm.keep
// CHECK: rmsnorm.tile_store
func.func @shared(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %3 : vector<1x64xf32>
      %8 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %9 = arith.extf %8 : vector<1x64xbf16> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @shared_columns_where_used(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared, column_operands = use>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %3 : vector<1x64xf32>
      %8 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %9 = arith.extf %8 : vector<1x64xbf16> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Nothing is read twice: nothing is copied, and nothing waited for.
// CHECK-LABEL: func.func @shared_for_nothing
// CHECK: rmsnorm.tiles body {
// CHECK-NOT: rmsnorm.fetch
// CHECK-NOT: rmsnorm.arrive
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK-NEXT: rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.tile_store
func.func @shared_for_nothing(%x: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A ring of three: all tiles go through it, also z, which is read once. What is
// loaded of a row stands ahead of the copies. The weight is loaded once for all
// tiles and hidden in each. In place: x is stored where it was read.
// CHECK-LABEL: func.func @ring
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[Z:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %[[R:[^:]*]]: memref<?xf32>):
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: rmsnorm.tiles copies(%[[X]], %[[Z]] : memref<?x64xbf16>, memref<?x64xbf16>) stages 3 body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index, %[[XS:.*]]: !rmsnorm.slot<2x64xbf16>, %[[ZS:.*]]: !rmsnorm.slot<2x64xbf16>):
// CHECK-NEXT: %[[R0:.*]] = rmsnorm.tile_load row %[[R]][%[[T]]]
// CHECK-NEXT: rmsnorm.fetch %[[XS]], %[[ZS]] :
// CHECK-NEXT: rmsnorm.arrive %[[XS]], %[[ZS]] :
// CHECK-NEXT: %[[S:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: rmsnorm.slot_load %[[XS]] :
// CHECK: %[[KEPT:.*]] = rmsnorm.keep %[[W0]] after %[[T]] : vector<1x64xbf16>, index
// CHECK-NEXT: arith.extf %[[KEPT]]
// CHECK: } -> vector<2x1xf32>
// CHECK-NEXT: arith.mulf %[[S]], %[[R0]] : vector<2x1xf32>
// CHECK-NEXT: rmsnorm.traverse chunks in_flight(2) {
// CHECK-DAG: rmsnorm.slot_load %[[XS]] again(1) :
// CHECK-DAG: rmsnorm.slot_load %[[ZS]] :
// CHECK-NOT: rmsnorm.slot_load
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[X]][%[[T]]]
// CHECK-LABEL: func.func @ring_columns_with_tile
// CHECK-NOT: rmsnorm.tile_load column
// CHECK: rmsnorm.fetch
// CHECK-NEXT: rmsnorm.tile_load column
// CHECK-NEXT: rmsnorm.arrive
// CHECK-LABEL: func.func @ring_constant
// CHECK: %[[W0:.*]] = rmsnorm.tile_load column
// CHECK-NEXT: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.tiles
// CHECK: rmsnorm.keep %[[W0]] after %{{.*}} : vector<1x64xbf16>, index
// CHECK-LABEL: func.func @ring_not_constant
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.tile_load column
// CHECK-NEXT: rmsnorm.tiles
func.func @ring(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, read %r : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %1 = arith.extf %0 : vector<2x64xbf16> to vector<2x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = vector.broadcast %3 : vector<1x64xf32> to vector<2x64xf32>
      %5 = arith.mulf %1, %4 : vector<2x64xf32>
      %6 = rmsnorm.row_reduce add(%5) : vector<2x64xf32> -> vector<2x1xf32>
      %7 = rmsnorm.tile_load row %R[%t] : memref<?xf32> -> vector<2x1xf32>
      %8 = arith.mulf %6, %7 : vector<2x1xf32>
      %9 = vector.broadcast %8 : vector<2x1xf32> to vector<2x64xf32>
      %10 = arith.mulf %1, %9 : vector<2x64xf32>
      %11 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %12 = arith.extf %11 : vector<2x64xbf16> to vector<2x64xf32>
      %13 = arith.mulf %10, %12 : vector<2x64xf32>
      %14 = arith.truncf %13 : vector<2x64xf32> to vector<2x64xbf16>
      rmsnorm.tile_store tile %14, %X[%t] : vector<2x64xbf16>, memref<?x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @ring_columns_with_tile(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, read %r : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %1 = arith.extf %0 : vector<2x64xbf16> to vector<2x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = vector.broadcast %3 : vector<1x64xf32> to vector<2x64xf32>
      %5 = arith.mulf %1, %4 : vector<2x64xf32>
      %6 = rmsnorm.row_reduce add(%5) : vector<2x64xf32> -> vector<2x1xf32>
      %7 = rmsnorm.tile_load row %R[%t] : memref<?xf32> -> vector<2x1xf32>
      %8 = arith.mulf %6, %7 : vector<2x1xf32>
      %9 = vector.broadcast %8 : vector<2x1xf32> to vector<2x64xf32>
      %10 = arith.mulf %1, %9 : vector<2x64xf32>
      %11 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %12 = arith.extf %11 : vector<2x64xbf16> to vector<2x64xf32>
      %13 = arith.mulf %10, %12 : vector<2x64xf32>
      %14 = arith.truncf %13 : vector<2x64xf32> to vector<2x64xbf16>
      rmsnorm.tile_store tile %14, %X[%t] : vector<2x64xbf16>, memref<?x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @ring_constant(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read constant %w : memref<64xbf16>, read %r : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %1 = arith.extf %0 : vector<2x64xbf16> to vector<2x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = vector.broadcast %3 : vector<1x64xf32> to vector<2x64xf32>
      %5 = arith.mulf %1, %4 : vector<2x64xf32>
      %6 = rmsnorm.row_reduce add(%5) : vector<2x64xf32> -> vector<2x1xf32>
      %7 = rmsnorm.tile_load row %R[%t] : memref<?xf32> -> vector<2x1xf32>
      %8 = arith.mulf %6, %7 : vector<2x1xf32>
      %9 = vector.broadcast %8 : vector<2x1xf32> to vector<2x64xf32>
      %10 = arith.mulf %1, %9 : vector<2x64xf32>
      %11 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %12 = arith.extf %11 : vector<2x64xbf16> to vector<2x64xf32>
      %13 = arith.mulf %10, %12 : vector<2x64xf32>
      %14 = arith.truncf %13 : vector<2x64xf32> to vector<2x64xbf16>
      rmsnorm.tile_store tile %14, %X[%t] : vector<2x64xbf16>, memref<?x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @ring_not_constant(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, read %r : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %1 = arith.extf %0 : vector<2x64xbf16> to vector<2x64xf32>
      %2 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = vector.broadcast %3 : vector<1x64xf32> to vector<2x64xf32>
      %5 = arith.mulf %1, %4 : vector<2x64xf32>
      %6 = rmsnorm.row_reduce add(%5) : vector<2x64xf32> -> vector<2x1xf32>
      %7 = rmsnorm.tile_load row %R[%t] : memref<?xf32> -> vector<2x1xf32>
      %8 = arith.mulf %6, %7 : vector<2x1xf32>
      %9 = vector.broadcast %8 : vector<2x1xf32> to vector<2x64xf32>
      %10 = arith.mulf %1, %9 : vector<2x64xf32>
      %11 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<2x64xbf16>
      %12 = arith.extf %11 : vector<2x64xbf16> to vector<2x64xf32>
      %13 = arith.mulf %10, %12 : vector<2x64xf32>
      %14 = arith.truncf %13 : vector<2x64xf32> to vector<2x64xbf16>
      rmsnorm.tile_store tile %14, %X[%t] : vector<2x64xbf16>, memref<?x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

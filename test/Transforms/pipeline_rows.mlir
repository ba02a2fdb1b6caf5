// RUN: norm-opt %s --rmsnorm-place-tiles --rmsnorm-pipeline-rows --split-input-file | FileCheck %s

// Without a ring: the tile that is read twice is copied and waited for, the
// weight travels meanwhile, and what is read once is not copied.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x64xbf16>, %[[Z:[a-z0-9]*]]: memref<?x64xbf16>, %[[W:[a-z0-9]*]]: memref<64xbf16>, %[[Y:[a-z0-9]*]]:
// CHECK: %[[RING:.*]] = rmsnorm.tile_ring : memref<1x1x64xbf16
// CHECK-NOT: rmsnorm.tile_ring
// CHECK: scf.for
// CHECK: rmsnorm.ring_copy %[[X]][%{{.*}}] to %[[RING]][%[[C0:.*]]]
// CHECK-NEXT: rmsnorm.copy_commit
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: rmsnorm.copy_wait 0
// CHECK-NEXT: rmsnorm.ring_load %[[RING]][%[[C0]]] :
// CHECK: %[[SUM:.*]] = rmsnorm.row_reduce
// CHECK-DAG: rmsnorm.ring_load %[[RING]][%[[C0]]] segment(1)
// CHECK-DAG: rmsnorm.keep %[[W0]] after %[[SUM]]
// CHECK-DAG: rmsnorm.tile_load tile %[[Z]]
// CHECK: rmsnorm.tile_store
func.func @shared(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.tile_load column %w : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %3 : vector<1x64xf32>
      %8 = rmsnorm.tile_load tile %z[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %9 = arith.extf %8 : vector<1x64xbf16> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared>}
  return
}

// -----

// A ring of three: all tiles go through it, also z, which is read once. Two
// tiles are copied before the loop; in it the copies of the tile after next
// come first. The weight is loaded once for all tiles, and hidden in each. In
// place: y is x, and each tile is stored where it was read.
// CHECK-LABEL: func.func @ring
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x64xbf16>, %[[Z:[a-z0-9]*]]: memref<?x64xbf16>, %[[W:[a-z0-9]*]]: memref<64xbf16>, %[[S:[a-z0-9]*]]: memref<?xf32>, %[[M:[a-z0-9]*]]: index, %[[GRID:[a-z0-9]*]]: index
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]])
// CHECK: %[[RX:.*]] = rmsnorm.tile_ring : memref<3x2x64xbf16
// CHECK: %[[RZ:.*]] = rmsnorm.tile_ring : memref<3x2x64xbf16
// CHECK: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK: %[[OK0:.*]] = arith.cmpi ult, %[[BLOCK]], %[[M]]
// CHECK: scf.if %[[OK0]] {
// CHECK: %[[ROW0:.*]] = arith.muli %[[BLOCK]], %{{.*}}
// CHECK: %[[LIVE0:.*]] = arith.subi %{{.*}}, %[[ROW0]]
// CHECK: rmsnorm.ring_copy %[[X]][%[[ROW0]]] rows(%[[LIVE0]]) to %[[RX]][%[[ZERO:.*]]] :
// CHECK: rmsnorm.ring_copy %[[Z]][%[[ROW0]]] rows(%[[LIVE0]]) to %[[RZ]][%[[ZERO]]] :
// CHECK: }
// CHECK-NEXT: rmsnorm.copy_commit
// CHECK: %[[TILE1:.*]] = arith.addi %[[BLOCK]], %{{.*}}
// CHECK: %[[OK1:.*]] = arith.cmpi ult, %[[TILE1]], %[[M]]
// CHECK: scf.if %[[OK1]] {
// CHECK-COUNT-2: rmsnorm.ring_copy
// CHECK: }
// CHECK-NEXT: rmsnorm.copy_commit
// CHECK-NOT: rmsnorm.ring_copy
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[M]] step %[[GRID]] iter_args(%[[SLOT:.*]] = %{{.*}}) -> (index)
// CHECK: rmsnorm.tile_load row %[[S]]
// CHECK: %[[TWO:.*]] = arith.muli %[[GRID]], %c2
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[TWO]]
// CHECK: %[[OK:.*]] = arith.cmpi ult, %[[NEXT]], %[[M]]
// CHECK: scf.if %[[OK]] {
// CHECK: %[[ROWN:.*]] = arith.muli %[[NEXT]], %{{.*}}
// CHECK: rmsnorm.ring_copy %[[X]][%[[ROWN]]]
// CHECK: rmsnorm.ring_copy %[[Z]][%[[ROWN]]]
// CHECK: }
// CHECK-NEXT: rmsnorm.copy_commit
// CHECK-NEXT: rmsnorm.copy_wait 2
// CHECK-NOT: rmsnorm.ring_copy
// CHECK: rmsnorm.ring_load %[[RX]][%[[SLOT]]] :
// CHECK: rmsnorm.keep %[[W0]] after %[[SLOT]]
// CHECK: rmsnorm.row_reduce
// CHECK-DAG: rmsnorm.ring_load %[[RX]][%[[SLOT]]] segment(1)
// CHECK-DAG: rmsnorm.ring_load %[[RZ]][%[[SLOT]]]
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[X]]
// CHECK: scf.yield %{{.*}} : index
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @ring(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %s: memref<?xf32>, %m: index, %grid: index, %rows: index) {
  %c2 = arith.constant 2 : index
  scf.forall (%block) in (%grid) {
    scf.for %tile = %block to %m step %grid {
      %row = arith.muli %tile, %c2 : index
      %live = arith.subi %rows, %row : index
      %0 = rmsnorm.tile_load tile %x[%row] rows(%live) : memref<?x64xbf16> -> vector<2x64xbf16>
      %1 = arith.extf %0 : vector<2x64xbf16> to vector<2x64xf32>
      %2 = rmsnorm.tile_load column %w : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = vector.broadcast %3 : vector<1x64xf32> to vector<2x64xf32>
      %5 = arith.mulf %1, %4 : vector<2x64xf32>
      %6 = rmsnorm.row_reduce add(%5) : vector<2x64xf32> -> vector<2x1xf32>
      %7 = rmsnorm.tile_load row %s[%row] rows(%live) : memref<?xf32> -> vector<2x1xf32>
      %8 = arith.mulf %6, %7 : vector<2x1xf32>
      %9 = vector.broadcast %8 : vector<2x1xf32> to vector<2x64xf32>
      %10 = arith.mulf %1, %9 : vector<2x64xf32>
      %11 = rmsnorm.tile_load tile %z[%row] rows(%live) : memref<?x64xbf16> -> vector<2x64xbf16>
      %12 = arith.extf %11 : vector<2x64xbf16> to vector<2x64xf32>
      %13 = arith.mulf %10, %12 : vector<2x64xf32>
      %14 = arith.truncf %13 : vector<2x64xf32> to vector<2x64xbf16>
      rmsnorm.tile_store tile %14, %x[%row] rows(%live) : vector<2x64xbf16>, memref<?x64xbf16>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>}
  return
}
}

// -----

// Split phase, three stages and rows that a cluster shares: the first tile is
// published before the loop; in tile k's iteration tile k + 1 is, from its own
// slot, before tile k is awaited, and its copies are waited for. What only the
// first half needs is gone from the second.
// CHECK-LABEL: func.func @split
// CHECK: %[[RING:.*]] = rmsnorm.tile_ring : memref<3x1x512xf32
// CHECK-COUNT-2: rmsnorm.copy_commit
// CHECK: rmsnorm.copy_wait 1
// CHECK: scf.if
// CHECK: %[[X0:.*]] = rmsnorm.ring_load %[[RING]][%[[C0:.*]]] :
// CHECK: rmsnorm.row_reduce_begin add(%{{.*}}) number(%[[C0_0:.*]]) : vector<1x512xf32>
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK:.*]] to %[[M:.*]] step %[[GRID:.*]] iter_args(%[[SLOT:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (index, index)
// CHECK: rmsnorm.ring_copy
// CHECK: rmsnorm.copy_commit
// CHECK-NEXT: rmsnorm.copy_wait 1
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]],
// CHECK: %[[SLOT1:.*]] = arith.select
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[M]]
// CHECK: scf.if %[[MORE]] {
// CHECK: %[[X1:.*]] = rmsnorm.ring_load %[[RING]][%[[SLOT1]]] :
// CHECK: %[[SQ:.*]] = arith.mulf %[[X1]], %[[X1]]
// CHECK: rmsnorm.row_reduce_begin add(%[[SQ]]) number(%[[K1]])
// CHECK: }
// CHECK-NOT: rmsnorm.ring_load
// CHECK: rmsnorm.row_reduce_end [add] number(%[[K]]) : vector<1x1xf32>
// CHECK: rmsnorm.ring_load %[[RING]][%[[SLOT]]] segment(1)
// CHECK-NOT: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @split(%x: memref<?x512xf32>, %y: memref<?x512xf32>, %m: index, %grid: index) {
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x512xf32> -> vector<1x512xf32>
      %1 = arith.mulf %0, %0 : vector<1x512xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x512xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x512xf32>
      %4 = arith.mulf %0, %3 : vector<1x512xf32>
      rmsnorm.tile_store tile %4, %y[%row] : vector<1x512xf32>, memref<?x512xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>}
  return
}
}

// -----

// What stays whole, and carries no number: a row of several subgroups of one
// block, two reductions of which one depends on the other, and rows that are
// copied one ahead.
// CHECK-LABEL: func.func @one_block
// CHECK-NOT: row_reduce_begin
// CHECK: iter_args(%{{[^,]*}}) -> (index)
// CHECK: rmsnorm.copy_wait 2
// CHECK: rmsnorm.row_reduce add
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: row_reduce_begin
// CHECK: iter_args(%{{[^,]*}}) -> (index)
// CHECK: rmsnorm.copy_wait 2
// CHECK: rmsnorm.row_reduce add
// CHECK: rmsnorm.row_reduce maximumf
// CHECK-LABEL: func.func @one_ahead
// CHECK-NOT: row_reduce_begin
// CHECK: iter_args(%{{[^,]*}}) -> (index)
// CHECK: rmsnorm.copy_wait 1
// CHECK: rmsnorm.row_reduce add
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @one_block(%x: memref<?x512xf32>, %y: memref<?x512xf32>, %m: index, %grid: index) {
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x512xf32> -> vector<1x512xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x512xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x512xf32>
      %3 = arith.mulf %0, %2 : vector<1x512xf32>
      rmsnorm.tile_store tile %3, %y[%row] : vector<1x512xf32>, memref<?x512xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 128, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 3>}
  return
}

func.func @dependent(%x: memref<?x512xf32>, %y: memref<?x512xf32>, %m: index, %grid: index) {
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x512xf32> -> vector<1x512xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x512xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x512xf32>
      %3 = arith.mulf %0, %2 : vector<1x512xf32>
      %4 = rmsnorm.row_reduce maximumf(%3) : vector<1x512xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x512xf32>
      %6 = arith.divf %3, %5 : vector<1x512xf32>
      rmsnorm.tile_store tile %6, %y[%row] : vector<1x512xf32>, memref<?x512xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3, split = false>}
  return
}

func.func @one_ahead(%x: memref<?x512xf32>, %y: memref<?x512xf32>, %m: index, %grid: index) {
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x512xf32> -> vector<1x512xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x512xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x512xf32>
      %3 = arith.mulf %0, %2 : vector<1x512xf32>
      rmsnorm.tile_store tile %3, %y[%row] : vector<1x512xf32>, memref<?x512xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 2>}
  return
}
}

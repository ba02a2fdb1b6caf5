// RUN: norm-opt %s --rmsnorm-walk-rows --split-input-file --verify-diagnostics | FileCheck %s

// Multi-wave: a block for each tile, up to the grid that HIP launches:
// (2^32 - 1) / 256 blocks of 256 threads.
// CHECK-LABEL: func.func @multi_wave
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index)
// CHECK: %[[MAX:.*]] = arith.constant 16777215 : index
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MAX]]
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]]) {
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[TILES]] step %[[GRID]] {
// CHECK: rmsnorm.tile_load tile %{{.*}}[%[[TILE]]]
// CHECK: {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4>}
func.func @multi_wave(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4>}
  return
}

// -----

// Persistent: the runtime knows the device's own number of multiprocessors.
// CHECK-LABEL: func.func @persistent
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index)
// CHECK: %[[COUNT:.*]] = rmsnorm.multiprocessor_count
// CHECK: %[[PER:.*]] = arith.constant 2 : index
// CHECK: %[[MAX:.*]] = arith.muli %[[COUNT]], %[[PER]]
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MAX]]
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]])
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[TILES]] step %[[GRID]]
func.func @persistent(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4, blocks_per_sm = 2>}
  return
}

// -----

// Clusters walk: blocks / 4 of them, one at least, and no more than are resident
// together.
// CHECK-LABEL: func.func @persistent_clusters
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index)
// CHECK: %[[BLOCKS:.*]] = arith.muli
// CHECK: %[[WHOLE:.*]] = arith.divui %[[BLOCKS]], %c4
// CHECK: %[[RESIDENT:.*]] = rmsnorm.resident_clusters
// CHECK: %[[CLUSTERS:.*]] = arith.minui %[[WHOLE]], %[[RESIDENT]]
// CHECK: %[[MOST:.*]] = arith.maxui %[[CLUSTERS]], %c1
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MOST]]
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]])
func.func @persistent_clusters(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4, cluster = 4, blocks_per_sm = 2>}
  return
}

// -----

// CHECK-LABEL: func.func @clusters
// CHECK: arith.constant 1048575 : index
func.func @clusters(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4, cluster = 16>}
  return
}

// -----

func.func @walked(%x: memref<?x4096xf32>, %m: index) {
  // expected-error @below {{expected tiles that are not walked yet}}
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4>}
  return
}

// -----

// A sum over rows: an accumulator for each row group, carried by the loop, a
// row of partial sums for each block, and their sum.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x128xf32>, %[[DW:[a-z0-9]*]]: memref<128xbf16>, %[[TILES:[a-z0-9]*]]: index, %[[LIVE:[a-z0-9]*]]: index)
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]],
// CHECK: %[[WS:.*]] = rmsnorm.workspace(%[[GRID]]) : memref<?x128xf32>
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]])
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<2x128xf32>
// CHECK: %[[SUM:.*]] = scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[TILES]] step %[[GRID]] iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<2x128xf32>)
// CHECK: %[[V:.*]] = rmsnorm.tile_load tile %[[X]][%[[TILE]]]
// CHECK: %[[NEXT:.*]] = rmsnorm.accumulate %[[V]] into %[[ACC]] rows(%[[LIVE]]) : vector<4x128xf32> into vector<2x128xf32> -> vector<2x128xf32>
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[TOTAL:.*]] = rmsnorm.column_reduce %[[SUM]] : vector<2x128xf32> -> vector<1x128xf32>
// CHECK: rmsnorm.tile_store tile %[[TOTAL]], %[[WS]][%[[BLOCK]]] : vector<1x128xf32>, memref<?x128xf32>
// CHECK: rmsnorm.sum_rows %[[WS]] into %[[DW]] : memref<?x128xf32> into memref<128xbf16>
func.func @sums(%x: memref<?x128xf32>, %dw: memref<128xbf16>, %tiles: index, %live: index) {
  scf.forall (%tile) in (%tiles) {
    %0 = rmsnorm.tile_load tile %x[%tile] rows(%live) : memref<?x128xf32> -> vector<4x128xf32>
    rmsnorm.accumulate %0 into %dw rows(%live) : vector<4x128xf32> into memref<128xbf16>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>}
  return
}

// -----

// Strips of 256 columns: as many fewer runs of rows as there are strips. One
// row group has nothing to add up.
// CHECK-LABEL: func.func @strips
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x?xf32>, %[[DW:[a-z0-9]*]]: memref<?xf32>, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[MAX:.*]] = arith.muli
// CHECK: %[[STRIP:.*]] = arith.constant 256 : index
// CHECK: %[[STRIPS:.*]] = arith.ceildivui %[[N]], %[[STRIP]]
// CHECK: %[[FIT:.*]] = arith.divui %[[MAX]], %[[STRIPS]]
// CHECK: %[[RUNS:.*]] = arith.maxui %[[FIT]], %
// CHECK: %[[GRID:.*]] = arith.minui %[[M]], %[[RUNS]]
// CHECK: %[[WS:.*]] = rmsnorm.workspace(%[[GRID]], %[[N]]) : memref<?x?xf32>
// CHECK: scf.forall (%[[BLOCK:.*]]) in (%[[GRID]])
// CHECK: %[[SUM:.*]] = scf.for
// CHECK-NOT: column_reduce
// CHECK: rmsnorm.tile_store tile %[[SUM]], %[[WS]][%[[BLOCK]]] columns(%[[N]])
// CHECK: rmsnorm.sum_rows %[[WS]] into %[[DW]]
func.func @strips(%x: memref<?x?xf32>, %dw: memref<?xf32>, %m: index, %n: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xf32> -> vector<1x1073741824xf32>
    rmsnorm.accumulate %0 into %dw columns(%n) : vector<1x1073741824xf32> into memref<?xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 2, column_sums = strips>}
  return
}

// -----

func.func @not_persistent(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
    // expected-error @+1 {{expected a schedule with blocks_per_sm >= 1, as a persistent block adds up its rows}}
    rmsnorm.accumulate %0 into %dw : vector<1x128xf32> into memref<128xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
  return
}

// -----

func.func @dest_inside(%x: memref<?x128xf32>, %dws: memref<2x128xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
    %dw = memref.subview %dws[0, 0] [1, 128] [1, 1] : memref<2x128xf32> to memref<128xf32, strided<[1]>>
    // expected-error @+1 {{expected dest and columns from outside of the loop over tiles}}
    rmsnorm.accumulate %0 into %dw : vector<1x128xf32> into memref<128xf32, strided<[1]>>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>}
  return
}

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

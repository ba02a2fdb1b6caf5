// sm_margin leaves multiprocessors to others: fewer blocks of a persistent grid, and
// a multi-wave one that is no larger than what fits the rest.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-walk-rows | FileCheck %s

// 2048 threads of a multiprocessor are eight blocks of 256.
// CHECK-LABEL: func.func @multi_wave
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index)
// CHECK-DAG: %[[COUNT:.*]] = rmsnorm.multiprocessor_count
// CHECK-DAG: %[[MARGIN:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[COUNT]], %[[MARGIN]]
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %[[ONE]]
// CHECK: %[[PER:.*]] = arith.constant 8 : index
// CHECK: %[[MAX:.*]] = arith.muli %[[SOME]], %[[PER]]
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MAX]]
// CHECK: scf.forall (%{{.*}}) in (%[[GRID]])
func.func @multi_wave(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4, sm_margin = 4>}
  return
}

// CHECK-LABEL: func.func @persistent
// CHECK: %[[SOME:.*]] = arith.maxsi
// CHECK: %[[PER:.*]] = arith.constant 2 : index
// CHECK: arith.muli %[[SOME]], %[[PER]]
func.func @persistent(%x: memref<?x4096xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xf32> -> vector<1x4096xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x4096xf32>, memref<?x4096xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 4, blocks_per_sm = 2, sm_margin = 4>}
  return
}

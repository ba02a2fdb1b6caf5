// RUN: norm-opt %s --rmsnorm-place-tiles --split-input-file | FileCheck %s

// Registers: the weight is loaded right behind the row. What is carried over the
// reduction is the narrow tile and the narrow weight, extended again behind it,
// offset and all; a weight that is narrow still is carried as it is.
// CHECK-LABEL: func.func @registers
// CHECK: %[[X:.*]] = rmsnorm.tile_load tile
// CHECK: %[[W:.*]] = rmsnorm.tile_load column
// CHECK: %[[XF:.*]] = arith.extf %[[X]]
// CHECK: %[[SUM:.*]] = rmsnorm.row_reduce add(%[[XF]])
// CHECK-DAG: %[[KX:.*]] = rmsnorm.keep %[[X]] after %[[SUM]] : vector<1x64xbf16>, vector<1x1xf32>
// CHECK-DAG: %[[XF2:.*]] = arith.extf %[[KX]]
// CHECK-DAG: %[[WF2:.*]] = arith.extf %[[W]]
// CHECK-DAG: %[[W1:.*]] = arith.addf %[[WF2]], %{{.*}} : vector<1x64xf32>
// CHECK: arith.mulf %[[XF2]], %[[W1]]
func.func @registers(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  %one = arith.constant dense<1.0> : vector<1x64xf32>
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %2 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = rmsnorm.row_reduce add(%2) : vector<1x64xf32> -> vector<1x1xf32>
      %1 = rmsnorm.tile_load column %w : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %1 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = arith.addf %3, %one : vector<1x64xf32>
      %6 = arith.mulf %2, %4 : vector<1x64xf32>
      %7 = vector.broadcast %5 : vector<1x1xf32> to vector<1x64xf32>
      %8 = arith.mulf %6, %7 : vector<1x64xf32>
      rmsnorm.tile_store tile %8, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 8>}
  return
}

// -----

// Reload, with the residual updated in place: both rows are read again, the sum
// is computed again, and both stores stand behind the last read. The first
// reads want their lines kept, the second ones do not.
// CHECK-LABEL: func.func @reload
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x64xbf16>, %[[R:[a-z0-9]*]]: memref<?x64xbf16>, %[[Y:[a-z0-9]*]]:
// CHECK: rmsnorm.tile_load tile %[[X]][%{{.*}}] policy(evict_last)
// CHECK: rmsnorm.tile_load tile %[[R]][%{{.*}}] policy(evict_last)
// CHECK: %[[SUM1:.*]] = arith.addf
// CHECK-NOT: rmsnorm.tile_store
// CHECK: %[[S:.*]] = rmsnorm.row_reduce
// CHECK-DAG: %[[X2:.*]] = rmsnorm.tile_load tile %[[X]][%{{.*}}] segment(1) policy(evict_first)
// CHECK-DAG: %[[R2:.*]] = rmsnorm.tile_load tile %[[R]][%{{.*}}] segment(1) policy(evict_first)
// CHECK: %[[SUM2:.*]] = arith.addf %[[X2]], %[[R2]]
// CHECK-NOT: rmsnorm.tile_load
// CHECK: rmsnorm.tile_store tile %[[SUM2]], %[[R]]
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[Y]]
func.func @reload(%x: memref<?x64xbf16>, %r: memref<?x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = rmsnorm.tile_load tile %r[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %2 = arith.addf %0, %1 : vector<1x64xbf16>
      rmsnorm.tile_store tile %2, %r[%row] : vector<1x64xbf16>, memref<?x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%3) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %3, %5 : vector<1x64xf32>
      rmsnorm.tile_store tile %6, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload>}
  return
}

// -----

// Two reductions that depend on each other: three segments, three reads.
// CHECK-LABEL: func.func @three_segments
// CHECK: rmsnorm.tile_load tile %{{.*}} policy(evict_last)
// CHECK: rmsnorm.row_reduce add
// CHECK: rmsnorm.tile_load tile %{{.*}} segment(1) policy(evict_last)
// CHECK: rmsnorm.row_reduce maximumf
// CHECK: rmsnorm.tile_load tile %{{.*}} segment(2) policy(evict_first)
// CHECK: rmsnorm.tile_store
func.func @three_segments(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      %4 = rmsnorm.row_reduce maximumf(%3) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.divf %3, %5 : vector<1x64xf32>
      rmsnorm.tile_store tile %6, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 4, cache = reload>}
  return
}

// -----

// A constant weight is loaded before the loop over tiles, where it waits for no
// other kernel; in the loop it is kept narrow. What may be written is not, nor
// is the constant one without dependent launches.
// CHECK-LABEL: func.func @constant_weight
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x64xbf16>, %[[W:[a-z0-9]*]]: memref<64xbf16> {rmsnorm.constant}, %[[V:[a-z0-9]*]]: memref<64xbf16>,
// CHECK: scf.forall
// CHECK: %[[EARLY:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK: scf.for
// CHECK: rmsnorm.tile_load tile %[[X]]
// CHECK: rmsnorm.tile_load column %[[V]]
// CHECK: %[[SUM:.*]] = rmsnorm.row_reduce
// CHECK: %[[KEPT:.*]] = rmsnorm.keep %[[EARLY]] after %[[SUM]] : vector<1x64xbf16>, vector<1x1xf32>
// CHECK: arith.extf %[[KEPT]]
func.func @constant_weight(%x: memref<?x64xbf16>, %w: memref<64xbf16> {rmsnorm.constant}, %v: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %w : memref<64xbf16> -> vector<1x64xbf16>
      %4 = rmsnorm.tile_load column %v : memref<64xbf16> -> vector<1x64xbf16>
      %5 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %6 = arith.extf %4 : vector<1x64xbf16> to vector<1x64xf32>
      %7 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %8 = arith.mulf %5, %7 : vector<1x64xf32>
      %9 = arith.mulf %6, %8 : vector<1x64xf32>
      rmsnorm.tile_store tile %9, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 8, pdl = true>}
  return
}

// -----

// CHECK-LABEL: func.func @constant_without_dependent_launch
// CHECK: scf.for
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load column
func.func @constant_without_dependent_launch(%x: memref<?x64xf32>, %w: memref<64xf32> {rmsnorm.constant}, %m: index) {
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.tile_load column %w : memref<64xf32> -> vector<1x64xf32>
      %2 = arith.mulf %0, %1 : vector<1x64xf32>
      rmsnorm.tile_store tile %2, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 8, vector_width = 8>}
  return
}

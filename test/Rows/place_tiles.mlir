// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// Registers: the weight is loaded right after the row. What is held over the
// reduction is the narrow tile and the narrow weight, extended again after it,
// offset and all; a weight that is narrow still is held as it is. Per-row work
// stands between the traverses.
// CHECK-LABEL: func.func @registers
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %[[Y:[^:]*]]: memref<?x64xf32>):
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<1x64xf32>
// CHECK: rmsnorm.tiles body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: %[[S:.*]]:3 = rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.tile_load tile %[[X]][%[[T]]] :
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]] :
// CHECK-NEXT: %[[XF:.*]] = arith.extf %[[X0]]
// CHECK-NEXT: rmsnorm.yield %[[XF]], %[[X0]], %[[W0]] : vector<1x64xf32>, vector<1x64xbf16>, vector<1x64xbf16>
// CHECK-NEXT: } -> vector<1x1xf32>, vector<1x64xbf16>, vector<1x64xbf16>
// CHECK-NEXT: %[[RSTD:.*]] = math.rsqrt %[[S]]#0 : vector<1x1xf32>
// CHECK-NEXT: rmsnorm.traverse unrolled {
// CHECK: %[[KX:.*]] = rmsnorm.keep %[[S]]#1 after %[[S]]#0 : vector<1x64xbf16>, vector<1x1xf32>
// CHECK-DAG: %[[XF2:.*]] = arith.extf %[[KX]]
// CHECK-DAG: %[[WF2:.*]] = arith.extf %[[S]]#2
// CHECK-DAG: %[[W1:.*]] = arith.addf %[[WF2]], %[[ONE]] : vector<1x64xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[XF2]], %[[W1]]
// CHECK: %[[B:.*]] = vector.broadcast %[[RSTD]]
// CHECK: %[[Q:.*]] = arith.mulf %[[P]], %[[B]]
// CHECK-NEXT: rmsnorm.tile_store tile %[[Q]], %[[Y]][%[[T]]]
// CHECK-NEXT: rmsnorm.yield
func.func @registers(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    %one = arith.constant dense<1.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %2 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = rmsnorm.row_reduce add(%2) : vector<1x64xf32> -> vector<1x1xf32>
      %rstd = math.rsqrt %5 : vector<1x1xf32>
      %1 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %3 = arith.extf %1 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = arith.addf %3, %one : vector<1x64xf32>
      %6 = arith.mulf %2, %4 : vector<1x64xf32>
      %7 = vector.broadcast %rstd : vector<1x1xf32> to vector<1x64xf32>
      %8 = arith.mulf %6, %7 : vector<1x64xf32>
      rmsnorm.tile_store tile %8, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// The product of a row and a weight is as narrow as both: it is held, if nothing
// but it needs them; else they are there anyway.
// CHECK-LABEL: func.func @held_product
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse unrolled reduce(maximumf) {
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: rmsnorm.yield %{{.*}}, %[[P]] : vector<1x64xf32>, vector<1x64xf32>
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NOT: arith.extf
// CHECK: rmsnorm.tile_store
// CHECK-LABEL: func.func @needed_beside
// CHECK: rmsnorm.traverse unrolled reduce(maximumf) {
// CHECK: rmsnorm.yield %{{.*}}, %{{.*}}, %{{.*}} : vector<1x64xf32>, vector<1x64xbf16>, vector<1x64xbf16>
// CHECK: rmsnorm.traverse unrolled {
// CHECK-COUNT-2: arith.extf
// CHECK: arith.mulf
func.func @held_product(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %2 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %3 = arith.extf %1 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = arith.mulf %2, %3 : vector<1x64xf32>
      %5 = rmsnorm.row_reduce maximumf(%4) : vector<1x64xf32> -> vector<1x1xf32>
      %6 = vector.broadcast %5 : vector<1x1xf32> to vector<1x64xf32>
      %7 = arith.mulf %4, %6 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
func.func @needed_beside(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %2 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %3 = arith.extf %1 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = arith.mulf %2, %3 : vector<1x64xf32>
      %5 = rmsnorm.row_reduce maximumf(%4) : vector<1x64xf32> -> vector<1x1xf32>
      %6 = vector.broadcast %5 : vector<1x1xf32> to vector<1x64xf32>
      %7 = arith.mulf %4, %6 : vector<1x64xf32>
      %8 = arith.addf %7, %2 : vector<1x64xf32>
      rmsnorm.tile_store tile %8, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A value that takes two tiles is held as it is: computing it again would hold
// both. So is one that is not narrower anywhere.
// CHECK-LABEL: func.func @held_wide
// CHECK: %[[S:.*]]:3 = rmsnorm.traverse unrolled reduce(add) {
// CHECK: %[[Z:.*]] = rmsnorm.tile_load tile %{{.*}} : memref<?x64xf32> -> vector<1x64xf32>
// CHECK: %[[A:.*]] = arith.addf
// CHECK: rmsnorm.yield %[[A]], %{{.*}}, %{{.*}} : vector<1x64xf32>, vector<1x64xf32>, vector<1x64xf32>
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NOT: rmsnorm.keep
// CHECK-NOT: arith.addf
// CHECK: rmsnorm.tile_store
// CHECK-NEXT: rmsnorm.yield
func.func @held_wide(%x: memref<?x64xbf16>, %z: memref<?x64xf32>, %v: memref<?x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %z : memref<?x64xf32>, read %v : memref<?x64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xf32>, %V: memref<?x64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %v0 = rmsnorm.tile_load tile %V[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %z0 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = arith.extf %v0 : vector<1x64xbf16> to vector<1x64xf32>
      %3 = arith.addf %1, %2 : vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%3) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %3, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %z0 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Reload, with the residual updated in place: both rows are read again, the sum
// is computed again, and both stores stand after the last read. The first
// reads want their lines kept, the second ones do not. Nothing is held, and a
// thread walks a few vectors at a time.
// CHECK-LABEL: func.func @reload
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[R:[^:]*]]: memref<?x64xbf16>, %[[Y:[^:]*]]: memref<?x64xf32>):
// CHECK: %[[S:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: %[[X1:.*]] = rmsnorm.tile_load tile %[[X]][%{{.*}}] policy(evict_last) :
// CHECK-NEXT: %[[R1:.*]] = rmsnorm.tile_load tile %[[R]][%{{.*}}] policy(evict_last) :
// CHECK-NEXT: %[[SUM1:.*]] = arith.addf %[[X1]], %[[R1]]
// CHECK-NEXT: %[[SF:.*]] = arith.extf %[[SUM1]]
// CHECK-NEXT: rmsnorm.yield %[[SF]] : vector<1x64xf32>
// CHECK-NEXT: } -> vector<1x1xf32>
// CHECK-NEXT: rmsnorm.traverse chunks in_flight(2) {
// CHECK-DAG: %[[X2:.*]] = rmsnorm.tile_load tile %[[X]][%{{.*}}] again(1) policy(evict_first) :
// CHECK-DAG: %[[R2:.*]] = rmsnorm.tile_load tile %[[R]][%{{.*}}] again(1) policy(evict_first) :
// CHECK: %[[SUM2:.*]] = arith.addf %[[X2]], %[[R2]]
// CHECK-NOT: rmsnorm.tile_load
// CHECK: rmsnorm.tile_store tile %[[SUM2]], %[[R]]
// CHECK-NEXT: rmsnorm.tile_store tile %{{.*}}, %[[Y]]
// CHECK-NEXT: rmsnorm.yield
func.func @reload(%x: memref<?x64xbf16>, %r: memref<?x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, update %r : memref<?x64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %R: memref<?x64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = rmsnorm.tile_load tile %R[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %2 = arith.addf %0, %1 : vector<1x64xbf16>
      rmsnorm.tile_store tile %2, %R[%t] : vector<1x64xbf16>, memref<?x64xbf16>
      %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
      %4 = rmsnorm.row_reduce add(%3) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %3, %5 : vector<1x64xf32>
      rmsnorm.tile_store tile %6, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Two reductions that depend on each other: three traverses, three reads.
// CHECK-LABEL: func.func @three_traverses
// CHECK: %[[S:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} policy(evict_last)
// CHECK: %[[MAX:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(maximumf) {
// CHECK: rmsnorm.tile_load tile %{{.*}} again(1) policy(evict_last)
// CHECK: vector.broadcast %[[S]]
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK: rmsnorm.tile_load tile %{{.*}} again(2) policy(evict_first)
// CHECK: vector.broadcast %[[S]]
// CHECK: vector.broadcast %[[MAX]]
// CHECK: rmsnorm.tile_store
func.func @three_traverses(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 4, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      %4 = rmsnorm.row_reduce maximumf(%3) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %4 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.divf %3, %5 : vector<1x64xf32>
      rmsnorm.tile_store tile %6, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// One traverse makes both reductions; where nothing per column comes after, there
// is no other.
// CHECK-LABEL: func.func @two_reductions
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse chunks in_flight(2) reduce(add, maximumf) {
// CHECK: rmsnorm.yield %[[A:.*]], %[[A]] : vector<1x64xf32>, vector<1x64xf32>
// CHECK-NEXT: } -> vector<1x1xf32>, vector<1x1xf32>
// CHECK-NEXT: rmsnorm.tile_store row %[[S]]#0
// CHECK-NEXT: rmsnorm.tile_store row %[[S]]#1
// CHECK-NOT: rmsnorm.traverse
func.func @two_reductions(%x: memref<?x64xf32>, %r: memref<?xf32>, %s: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %r : memref<?xf32>, write %s : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 4, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %R: memref<?xf32>, %S: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1:2 = rmsnorm.row_reduce add(%0), maximumf(%0) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
      rmsnorm.tile_store row %1#0, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.tile_store row %1#1, %S[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Of rows of one column what is reduced is the result: nothing to walk over.
// CHECK-LABEL: func.func @one_column
// CHECK: %[[V:.*]] = rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.tile_store row %[[V]]
// CHECK-NOT: rmsnorm.traverse
func.func @one_column(%x: memref<?x1xf32>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(1) buffers(read %x : memref<?x1xf32>, write %r : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 4, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x1xf32>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x1xf32> -> vector<1x1xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x1xf32> -> vector<1x1xf32>
      rmsnorm.tile_store row %1, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A function takes more than the registers its value is held in.
// CHECK-LABEL: func.func @held_function
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse unrolled reduce(add) {
// CHECK: %[[E:.*]] = math.exp
// CHECK: rmsnorm.yield %[[E]], %[[E]] : vector<1x64xf32>, vector<1x64xf32>
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NOT: math.exp
// CHECK: arith.mulf %[[S]]#1,
func.func @held_function(%x: memref<?x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = math.exp %1 : vector<1x64xf32>
      %3 = rmsnorm.row_reduce add(%2) : vector<1x64xf32> -> vector<1x1xf32>
      %4 = vector.broadcast %3 : vector<1x1xf32> to vector<1x64xf32>
      %5 = arith.mulf %2, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A reduction that no column waits for: what is stored is stored in its pass over
// the columns, which reads nothing again.
// CHECK-LABEL: func.func @last_reduction
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK: %[[MAX:.*]] = rmsnorm.traverse unrolled reduce(maximumf) {
// CHECK: %[[V:.*]] = arith.mulf
// CHECK-NEXT: rmsnorm.tile_store tile %[[V]], %{{.*}}
// CHECK-NEXT: rmsnorm.yield %[[V]] : vector<1x64xf32>
// CHECK-NEXT: } -> vector<1x1xf32>
// CHECK-NEXT: rmsnorm.tile_store row %[[MAX]]
// CHECK-NEXT: rmsnorm.yield
func.func @last_reduction(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>, write %r : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      rmsnorm.tile_store tile %3, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      %4 = rmsnorm.row_reduce maximumf(%3) : vector<1x64xf32> -> vector<1x1xf32>
      rmsnorm.tile_store row %4, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// All threads have loaded a value of the row before one of them writes it: the
// reduction stands between.
// CHECK-LABEL: func.func @row_value_updated
// CHECK:         %[[OLD:.*]] = rmsnorm.tile_load row %[[D:.*]][%{{.*}}] : memref<?xf32>
// CHECK:         rmsnorm.traverse chunks in_flight(2) reduce(maximumf)
// CHECK:         rmsnorm.tile_store row %{{.*}}, %[[D]][
// CHECK:         vector.broadcast %[[OLD]]
func.func @row_value_updated(%x: memref<?x64xf32>, %d: memref<?xf32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, update %d : memref<?xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 4, cache = reload, vectors_in_flight = 2>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %D: memref<?xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce maximumf(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %old = rmsnorm.tile_load row %D[%t] : memref<?xf32> -> vector<1x1xf32>
      rmsnorm.tile_store row %s, %D[%t] : vector<1x1xf32>, memref<?xf32>
      %b = vector.broadcast %old : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %0, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

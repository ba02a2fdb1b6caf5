// RUN: norm-opt %s --rmsnorm-split-reductions --split-input-file | FileCheck %s

// Split phase, of rows that a cluster shares, from three stages on: the traverse
// that reduces becomes the first half, from the slot of the next tile; tile k's
// sum is awaited where it stood. What of a row only the first half needs, loads
// included, is gone from the second; what both need is in both.
// CHECK-LABEL: func.func @split
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x512xf32>, %[[Y:[^:]*]]: memref<?x512xf32>, %[[R:[^:]*]]: memref<?xf32>, %[[Q:[^:]*]]: memref<?xf32>):
// CHECK-NEXT: rmsnorm.tiles copies(%[[X]] : memref<?x512xf32>) stages 3 begin {
// CHECK-NEXT: ^bb0(%[[T1:.*]]: index, %[[X1:.*]]: !rmsnorm.slot<1x512xf32>):
// CHECK-NEXT: %[[R1:.*]] = rmsnorm.tile_load row %[[R]][%[[T1]]]
// CHECK-NEXT: %[[Q1:.*]] = rmsnorm.tile_load row %[[Q]][%[[T1]]]
// CHECK-NEXT: %[[D1:.*]] = arith.mulf %[[R1]], %[[R1]]
// CHECK-NEXT: %[[H1:.*]] = arith.addf %[[R1]], %[[Q1]]
// CHECK-NEXT: %[[P:.*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: %[[V:.*]] = rmsnorm.slot_load %[[X1]] :
// CHECK-NEXT: %[[HB:.*]] = vector.broadcast %[[H1]]
// CHECK-NEXT: %[[VH:.*]] = arith.mulf %[[V]], %[[HB]]
// CHECK-NEXT: %[[DB:.*]] = vector.broadcast %[[D1]]
// CHECK-NEXT: %[[VD:.*]] = arith.mulf %[[VH]], %[[DB]]
// CHECK-NEXT: rmsnorm.yield %[[VD]]
// CHECK-NEXT: } -> vector<1x1xf32>
// CHECK-NEXT: rmsnorm.yield %[[P]] : vector<1x1xf32>
// CHECK-NEXT: } body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index, %[[XS:.*]]: !rmsnorm.slot<1x512xf32>, %[[S:.*]]: vector<1x1xf32>):
// CHECK-NEXT: %[[R0:.*]] = rmsnorm.tile_load row %[[R]][%[[T]]]
// CHECK-NEXT: rmsnorm.fetch %[[XS]] :
// CHECK-NEXT: rmsnorm.arrive %[[XS]] :
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[R0]], %[[R0]]
// CHECK-NEXT: rmsnorm.await %[[S]] : vector<1x1xf32>
// CHECK-NEXT: %[[SD:.*]] = arith.mulf %[[S]], %[[D]]
// CHECK-NEXT: rmsnorm.traverse chunks in_flight(2) {
// CHECK-NEXT: rmsnorm.slot_load %[[XS]] again(1) :
// CHECK-NEXT: vector.broadcast %[[SD]]
func.func @split(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %rs: memref<?xf32>, %qs: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>, read %rs : memref<?xf32>, read %qs : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>, %R: memref<?xf32>, %Q: memref<?xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      %r = rmsnorm.tile_load row %R[%t] : memref<?xf32> -> vector<1x1xf32>
      %q = rmsnorm.tile_load row %Q[%t] : memref<?xf32> -> vector<1x1xf32>
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      %double = arith.mulf %r, %r : vector<1x1xf32>
      %half = arith.addf %r, %q : vector<1x1xf32>
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %half : vector<1x1xf32> to vector<1x512xf32>
        %2 = vector.broadcast %double : vector<1x1xf32> to vector<1x512xf32>
        %3 = arith.mulf %0, %1 : vector<1x512xf32>
        %4 = arith.mulf %3, %2 : vector<1x512xf32>
        rmsnorm.yield %4 : vector<1x512xf32>
      } -> vector<1x1xf32>
      %scaled = arith.mulf %sum, %double : vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %scaled : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.tile_store tile %2, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What stays whole: rows of one block, two reductions of which one depends on
// the other, rows that are copied one ahead, a schedule that does not want it,
// and rows that nothing is reduced along.
// CHECK-LABEL: func.func @one_block
// CHECK: stages 3 body {
// CHECK: reduce(add)
// CHECK-LABEL: func.func @dependent
// CHECK: stages 3 body {
// CHECK: reduce(add)
// CHECK: reduce(maximumf)
// CHECK-LABEL: func.func @one_ahead
// CHECK: stages 2 body {
// CHECK: reduce(add)
// CHECK-LABEL: func.func @not_wanted
// CHECK: stages 3 body {
// CHECK: reduce(add)
// CHECK-LABEL: func.func @nothing_reduced
// CHECK: stages 3 body {
// CHECK: rmsnorm.traverse
func.func @one_block(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 128, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1 : vector<1x512xf32>
      } -> vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %sum : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.tile_store tile %2, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @dependent(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3, split = false>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1 : vector<1x512xf32>
      } -> vector<1x1xf32>
      %max = rmsnorm.traverse chunks in_flight(2) reduce(maximumf) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %sum : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.yield %2 : vector<1x512xf32>
      } -> vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(2) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %max : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.tile_store tile %2, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @one_ahead(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 2>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 2 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1 : vector<1x512xf32>
      } -> vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %sum : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.tile_store tile %2, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @not_wanted(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3, split = false>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1 : vector<1x512xf32>
      } -> vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %sum : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %0, %1 : vector<1x512xf32>
        rmsnorm.tile_store tile %2, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @nothing_reduced(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<1x512xf32>, memref<?x512xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-split-reductions --split-input-file --verify-diagnostics

func.func @no_schedule(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  // expected-error @below {{expected a schedule}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) {
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

// -----

// What blocks exchange is numbered in one order.
func.func @two_reductions(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
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
      // expected-error @below {{expected one reduction to split, which holds nothing, got 2}}
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

// -----

// What is held would have to cross from one tile to the next.
func.func @holds(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      // expected-error @below {{expected one reduction to split, which holds nothing, got 1}}
      %sum, %kept = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1, %0 : vector<1x512xf32>, vector<1x512xf32>
      } -> vector<1x1xf32>, vector<1x512xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %0 = rmsnorm.slot_load %x again(1) : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = vector.broadcast %sum : vector<1x1xf32> to vector<1x512xf32>
        %2 = arith.mulf %kept, %1 : vector<1x512xf32>
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

// Fewer stages than the schedule says.
func.func @stages(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    // expected-error @below {{expected 3 stages at least, and reductions that are not split yet, to split them}}
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

// -----

// Run twice, on a program that reduces once more: the first half is taken.
func.func @split_already(%xs: memref<?x512xf32>, %ys: memref<?x512xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %xs : memref<?x512xf32>, write %ys : memref<?x512xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x512xf32>, %Y: memref<?x512xf32>):
    // expected-error @below {{expected 3 stages at least, and reductions that are not split yet, to split them}}
    rmsnorm.tiles copies(%X : memref<?x512xf32>) stages 3 begin {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>):
      %sum = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %x : !rmsnorm.slot<1x512xf32> -> vector<1x512xf32>
        %1 = arith.mulf %0, %0 : vector<1x512xf32>
        rmsnorm.yield %1 : vector<1x512xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %sum : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x512xf32>, %published: vector<1x1xf32>):
      rmsnorm.fetch %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.arrive %x : !rmsnorm.slot<1x512xf32>
      rmsnorm.await %published : vector<1x1xf32>
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

// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file --verify-diagnostics
// RUN: not norm-opt %s --split-input-file --rmsnorm-place-tiles 2>&1 | FileCheck %s --check-prefix=NO-TARGET
// NO-TARGET: error: 'rmsnorm.rows' op expected a module with a 'rmsnorm.target' attribute

func.func @no_schedule(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a schedule}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) {
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

// Run twice: what is a traverse cannot be cut again.
func.func @twice(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @below {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.tile_store tile %0, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: the reductions are split already.
func.func @split(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @below {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 1, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %slot: !rmsnorm.slot<1x64xf32>):
      %s = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %slot : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %s : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %slot: !rmsnorm.slot<1x64xf32>, %s: vector<1x1xf32>):
      rmsnorm.fetch %slot : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %slot : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %s : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What is stored goes to the end, after a load that wants it.
func.func @load_behind_store(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, update %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %Y[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      // expected-error @below {{expected to stand in front of what writes its buffer}}
      %1 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %1, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @load_behind_store_of_view(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  %view = memref.cast %x : memref<?x64xf32> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %view : memref<?x64xf32, strided<[?, 1], offset: ?>>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %VIEW: memref<?x64xf32, strided<[?, 1], offset: ?>>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %c = arith.constant dense<0.0> : vector<1x64xf32>
      rmsnorm.tile_store tile %c, %VIEW[%t] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>
      // expected-error @below {{expected to stand in front of what writes its buffer}}
      %1 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %1, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// The next tile is copied before this one is stored over it.
func.func @other_view(%x: memref<?x64xf32>, %m: index) {
  %view = memref.cast %x : memref<?x64xf32> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %view : memref<?x64xf32, strided<[?, 1], offset: ?>>) schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %VIEW: memref<?x64xf32, strided<[?, 1], offset: ?>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @below {{expected stages < 2 where a buffer that is copied ahead is written through another}}
      rmsnorm.tile_store tile %0, %VIEW[%t] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: no accumulator, as rmsnorm-carry-sums comes before.
func.func @sum_not_carried(%x: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      // expected-error @below {{expected to be carried by rmsnorm.tiles}}
      // expected-note @below {{rmsnorm-carry-sums makes it so}}
      rmsnorm.accumulate %3 into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @strips(%x: memref<?x64xf32>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %r : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 2, column_sums = strips>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @below {{expected no reduction along a row whose columns are divided into strips}}
      // expected-note @below {{rmsnorm-split-strips removes it}}
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      rmsnorm.tile_store row %1, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What is stored does not wait for all threads to have loaded.
func.func @row_value_without_reduction(%x: memref<?x64xf32>, %d: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, update %d : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %D: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @below {{expected a reduction of the row that does not need what is loaded, and which the store to the same buffer waits for, got none}}
      %old = rmsnorm.tile_load row %D[%t] : memref<?xf32> -> vector<1x1xf32>
      %new = arith.addf %old, %old : vector<1x1xf32>
      rmsnorm.tile_store row %new, %D[%t] : vector<1x1xf32>, memref<?xf32>
      %b = vector.broadcast %old : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %0, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

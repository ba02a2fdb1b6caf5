// RUN: norm-opt %s --rmsnorm-carry-sums --split-input-file --verify-diagnostics

func.func @not_persistent(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      // expected-error @below {{expected a schedule with blocks_per_sm >= 1, as a persistent block adds up its rows}}
      rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @no_schedule(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  // expected-error @below {{expected a schedule}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: tiles are copied already.
func.func @placed(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  // expected-error @below {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @below {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = shared, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>):
    rmsnorm.tiles copies(%X : memref<?x128xf32>) stages 1 body {
    ^bb0(%t: index, %slot: !rmsnorm.slot<1x128xf32>):
      rmsnorm.fetch %slot : !rmsnorm.slot<1x128xf32>
      rmsnorm.arrive %slot : !rmsnorm.slot<1x128xf32>
      %0 = rmsnorm.slot_load %slot : !rmsnorm.slot<1x128xf32> -> vector<1x128xf32>
      rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: rmsnorm-pack-rows comes before.
func.func @not_packed(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      // expected-error @below {{expected a vector dest with as many columns as source, a divisor of its rows}}
      rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

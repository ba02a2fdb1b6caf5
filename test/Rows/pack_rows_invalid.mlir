// RUN: norm-opt %s --rmsnorm-pack-rows --split-input-file --verify-diagnostics

func.func @no_schedule(%x: memref<?x128xf32>, %m: index) {
  // expected-error @below {{expected a schedule}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>) {
  ^bb0(%M: index, %X: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// The row is the tile's number, so nothing can be computed from it.
func.func @row_arithmetic(%x: memref<?x128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x128xf32>):
    %c1 = arith.constant 1 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %next = arith.addi %t, %c1 : index
      // expected-error @below {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
      %0 = rmsnorm.tile_load tile %X[%next] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @no_rows(%x: memref<128xf32>) {
  rmsnorm.rows sizes [1] columns(128) buffers(update %x : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>) {
  ^bb0(%X: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X : memref<128xf32> -> vector<1x128xf32>
      // expected-error @below {{expected a row, as 2 rows are packed}}
      rmsnorm.tile_store tile %0, %X : vector<1x128xf32>, memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: rmsnorm-place-tiles has cut the program already.
func.func @placed(%x: memref<?x128xf32>, %m: index) {
  // expected-error @below {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @below {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<2x128xf32>
        rmsnorm.tile_store tile %0, %X[%t] : vector<2x128xf32>, memref<?x128xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-split-strips --split-input-file --verify-diagnostics

func.func @no_sums(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  // expected-error @below {{expected a schedule with sums, the schedule of the loop to split off}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %dys : memref<?x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %DYS[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @no_schedule(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  // expected-error @below {{expected a schedule}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %dys : memref<?x64xf32>, write %dw : memref<64xf32>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %DYS[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In the wrong order: rmsnorm-place-tiles has cut the program already.
func.func @placed(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @below {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
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

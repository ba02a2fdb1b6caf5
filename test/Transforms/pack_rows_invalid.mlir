// RUN: norm-opt %s --rmsnorm-pack-rows --split-input-file --verify-diagnostics

func.func @no_schedule(%x: memref<?x128xf32>, %m: index) {
  // expected-error @below {{expected a 'rmsnorm.schedule' attribute}}
  // expected-note @below {{rmsnorm-select-schedule sets it}}
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
  }
  return
}

// -----

func.func @row_arithmetic(%x: memref<?x128xf32>, %m: index) {
  %c1 = arith.constant 1 : index
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected the row to be used by tile_load and tile_store only}}
    %next = arith.addi %row, %c1 : index
    %0 = rmsnorm.tile_load tile %x[%next] : memref<?x128xf32> -> vector<1x128xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>}
  return
}

// -----

func.func @no_rows(%x: memref<128xf32>) {
  scf.forall (%row) in (1) {
    %0 = rmsnorm.tile_load tile %x : memref<128xf32> -> vector<1x128xf32>
    // expected-error @below {{expected a row, as 2 rows are packed}}
    rmsnorm.tile_store tile %0, %x : vector<1x128xf32>, memref<128xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>}
  return
}

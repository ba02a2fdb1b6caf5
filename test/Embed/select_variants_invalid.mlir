// RUN: not norm-opt %s --rmsnorm-select-variants --split-input-file 2>&1 | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-select-variants=tuning=/nowhere.json --split-input-file 2>&1 | FileCheck %s --check-prefix=TUNING
// TUNING: /nowhere.json: cannot read the tuning file

func.func @f(%x: memref<8x64xf32>) {
  // CHECK: error: 'rmsnorm.rows' op expected a module with a 'rmsnorm.target' attribute
  // CHECK: note: rmsnorm-attach-target sets it
  rmsnorm.rows sizes [8] columns(64) buffers(update %x : memref<8x64xf32>) {
  ^bb0(%X: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @f(%x: memref<8x64xf32>) {
  // CHECK: error: 'rmsnorm.rows' op schedule: expected at most 1024 threads a block on sm_90, got 2048
  rmsnorm.rows sizes [8] columns(64) buffers(update %x : memref<8x64xf32>) schedule(#rmsnorm.schedule<row_groups = 64, threads_per_row = 32, vector_width = 2>) {
  ^bb0(%X: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

// Row groups follow the threads of a row unless they are given too: a block is at
// least one subgroup, and at most four.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule="schedule=threads_per_row=8,multi_wave_reload" | FileCheck %s --check-prefix=THREADS8
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule="schedule=threads_per_row=64,multi_wave_reload" | FileCheck %s --check-prefix=THREADS64
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule="schedule=threads_per_row=64,row_groups=3,multi_wave_reload" | FileCheck %s --check-prefix=GIVEN

// THREADS8-LABEL: func.func @n128
// THREADS8: #rmsnorm.schedule<row_groups = 16, threads_per_row = 8, vector_width = 8, cache = reload>
// THREADS8-LABEL: func.func @n4096
// THREADS8: #rmsnorm.schedule<row_groups = 16, threads_per_row = 8, vector_width = 8, cache = reload>
// THREADS64-LABEL: func.func @n128
// THREADS64: #rmsnorm.schedule<row_groups = 2, threads_per_row = 64, vector_width = 8, cache = reload>
// THREADS64-LABEL: func.func @n4096
// THREADS64: #rmsnorm.schedule<{{(row_groups = 2, )?}}threads_per_row = 64, vector_width = 8, cache = reload>
// GIVEN-LABEL: func.func @n128
// GIVEN: #rmsnorm.schedule<row_groups = 3, threads_per_row = 64, vector_width = 8, cache = reload>
func.func @n128(%x: memref<?x128xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xbf16>) {
  ^bb0(%M: index, %X: memref<?x128xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<1x128xbf16>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xbf16>, memref<?x128xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @n4096(%x: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(update %x : memref<?x4096xbf16>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Rows that are taken apart: halves of 64 columns are vectors of one thread, in
// registers.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=threads_per_row=16,row_groups=8,vector_width=8" 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cache=reload" 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=vector_width=1" 2>&1 | FileCheck %s --check-prefix=PAIRS
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=threads_per_row=2,row_groups=16,vector_width=16" 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: expected vector_width to divide the 40 columns that rows are taken apart in{{.*}}, got 16
// PAIRS: expected vector_width >= 2 for pairs of columns in one vector, got 1
// CHECK-LABEL: func.func @halves
// CHECK: schedule(#rmsnorm.schedule<row_groups = {{[0-9]+}}, {{(rows_per_group = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[248]}}
// THREADS: expected at least half of the threads of a row to have some of the 64 columns that rows are taken apart in{{.*}}, got 16 threads with 8 columns each
// CACHE: expected cache = registers for rows that are taken apart{{.*}}, got reload
func.func @halves(%x: memref<?x128xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 64] buffers(update %x : memref<?x128xbf16>) {
  ^bb0(%M: index, %X: memref<?x128xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<1x2x64xbf16>
      %1 = arith.extf %0 : vector<1x2x64xbf16> to vector<1x2x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x2x64xf32> -> vector<1x1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1x1xf32> to vector<1x2x64xf32>
      %4 = arith.mulf %1, %3 : vector<1x2x64xf32>
      %5 = arith.truncf %4 : vector<1x2x64xf32> to vector<1x2x64xbf16>
      %6 = rmsnorm.take %5 at [1, 0] : vector<1x2x64xbf16> -> vector<1x1x64xbf16>
      %7 = rmsnorm.put %6, %5 at [0, 0] : vector<1x1x64xbf16>, vector<1x2x64xbf16>
      rmsnorm.tile_store tile %7, %X[%t] : vector<1x2x64xbf16>, memref<?x128xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Halves of 40 columns, whose vectors no power of two of threads shares out: some
// threads have none, or all have narrower ones.
// CHECK-LABEL: func.func @heads
// CHECK: schedule(#rmsnorm.schedule<row_groups = {{[0-9]+}}, {{(rows_per_group = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[1248]}}
func.func @heads(%x: memref<?x80xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 40] buffers(update %x : memref<?x80xbf16>) {
  ^bb0(%M: index, %X: memref<?x80xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x80xbf16> -> vector<1x2x40xbf16>
      %1 = arith.extf %0 : vector<1x2x40xbf16> to vector<1x2x40xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x2x40xf32> -> vector<1x1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1x1xf32> to vector<1x2x40xf32>
      %4 = arith.mulf %1, %3 : vector<1x2x40xf32>
      %5 = arith.truncf %4 : vector<1x2x40xf32> to vector<1x2x40xbf16>
      %6 = rmsnorm.take %5 at [1, 0] : vector<1x2x40xbf16> -> vector<1x1x40xbf16>
      %7 = rmsnorm.put %6, %5 at [0, 0] : vector<1x1x40xbf16>, vector<1x2x40xbf16>
      rmsnorm.tile_store tile %7, %X[%t] : vector<1x2x40xbf16>, memref<?x80xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @pairs
// CHECK: schedule(#rmsnorm.schedule<{{.*}}vector_width = {{[248]}}
func.func @pairs(%x: memref<?x96xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns [48, 2] buffers(update %x : memref<?x96xbf16>) {
  ^bb0(%M: index, %X: memref<?x96xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x96xbf16> -> vector<1x48x2xbf16>
      %1 = rmsnorm.take %0 at [0, 0] : vector<1x48x2xbf16> -> vector<1x48x1xbf16>
      %2 = rmsnorm.take %0 at [0, 1] : vector<1x48x2xbf16> -> vector<1x48x1xbf16>
      %a = rmsnorm.put %2, %0 at [0, 0] : vector<1x48x1xbf16>, vector<1x48x2xbf16>
      %3 = rmsnorm.put %1, %a at [0, 1] : vector<1x48x1xbf16>, vector<1x48x2xbf16>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x48x2xbf16>, memref<?x96xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

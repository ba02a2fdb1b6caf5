// What cannot run is refused, and the message says which limit it exceeds.
// RUN: not norm-opt %s --split-input-file --rmsnorm-select-schedule 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=threads_per_row=2048 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=threads_per_row=48 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=gfx942 --rmsnorm-select-schedule="schedule=threads_per_row=32,row_groups=1" 2>&1 | FileCheck %s --check-prefix=WAVE
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=multi_wave_cached,cluster=1,threads_per_row=64" 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=cache=disk 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=thread=3 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=row_groups=two 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=vector_width=3 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=row_groups=0 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=pdl=true 2>&1 | FileCheck %s --check-prefix=PDL
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=split=1 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=column_sums=columns 2>&1 | FileCheck %s --check-prefix=SUMS_NAME
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cache=shared,cluster=1,threads_per_row=64" 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cache=shared,cluster=1,threads_per_row=1024,static_persistent,stages=2" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cache=shared,cluster=1,threads_per_row=1024,blocks_per_sm=2" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=static_persistent,cache=reload,stages=3" 2>&1 | FileCheck %s --check-prefix=STAGES

// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=," 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=row_groups=1,cache=reload,row_groups=1" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=multi_wave_reload,multi_wave_reload" 2>&1 | FileCheck %s --check-prefix=TWICE-MODE

// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=multi_wave_reload,static_persistent" 2>&1 | FileCheck %s --check-prefix=MODES
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=row_groups=36028797018963968,threads_per_row=512" 2>&1 | FileCheck %s --check-prefix=MANY-GROUPS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=multi_wave_reload,rows_per_group=17" 2>&1 | FileCheck %s --check-prefix=MANY-ROWS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=threads_per_row=65537" 2>&1 | FileCheck %s --check-prefix=MANY-THREADS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=multi_wave_reload,vectors_in_flight=100000000" 2>&1 | FileCheck %s --check-prefix=MANY-VECTORS
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=blocks_per_sm=65" 2>&1 | FileCheck %s --check-prefix=MANY-BLOCKS

// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=sm-margin=-1 2>&1 | FileCheck %s --check-prefix=MARGIN

// MARGIN: error: {{.*}}expected sm-margin >= 0, got -1
// MODES: error: {{.*}}expected one mode, got 'multi_wave_reload' and 'static_persistent'
// MANY-GROUPS: error: {{.*}}expected row_groups <= 1024, got 36028797018963968
// MANY-ROWS: error: {{.*}}expected rows_per_group <= 16, got 17
// MANY-THREADS: error: {{.*}}expected threads_per_row <= 65536, got 65537
// MANY-VECTORS: error: {{.*}}expected vectors_in_flight <= 16, got 100000000
// MANY-BLOCKS: error: {{.*}}expected blocks_per_sm <= 64, got 65
// EMPTY: error: {{.*}}expected a mode ({{.*}}) and its value, got ''
// TWICE: error: {{.*}}expected each field of the schedule once, got 'row_groups' twice
// TWICE-MODE: error: {{.*}}expected each field of the schedule once, got 'multi_wave_reload' twice
// PDL: error: {{.*}}a field of the schedule ({{.*}}) and its value, got 'pdl=true'
// FLAG: error: {{.*}}expected split to be true or false, got '1'
// TARGET: error: 'rmsnorm.rows' op expected a module with a 'rmsnorm.target' attribute
// TARGET: note: rmsnorm-attach-target sets it
// THREADS: error: {{.*}}expected at most 1024 threads a block on sm_90, got 2048
// SPLIT: error: {{.*}}expected threads_per_row to be a power of two below the subgroup size 32 of sm_90 or a multiple of it, got 48
// WAVE: error: {{.*}}expected a block of whole subgroups of 64 threads on gfx942, got 32 threads
// REGISTERS: error: {{.*}}expected rows in registers to take at most half of a thread's 256 registers on sm_90, got 512{{$}}
// CACHE: error: {{.*}}expected cache to be registers, reload or shared, got 'disk'
// FIELD: error: {{.*}}expected a mode (multi_wave_cached, multi_wave_reload, static_persistent) or a field of the schedule ({{.*}}) and its value, got 'thread=3'
// INTEGER: error: {{.*}}expected row_groups to be an integer, got 'two'
// WIDTH: error: {{.*}}expected vector_width to be a power of two up to 16, got 3
// SUMS_NAME: error: {{.*}}expected column_sums to be registers, strips or all_rows, got 'columns'
// VECTORS: error: {{.*}}expected at most 64 vectors of rows in workgroup memory a thread, got 128
// MEMORY: error: {{.*}}expected tiles in workgroup memory to take at most 230400 bytes of each of 1 blocks a multiprocessor on sm_90, got 262144 (2 slots of 131072 bytes)
// BLOCKS: error: {{.*}}expected tiles in workgroup memory to take at most 114176 bytes of each of 2 blocks a multiprocessor on sm_90, got 131072 (1 slots of 131072 bytes)
// STAGES: error: {{.*}}expected cache = shared and blocks_per_sm >= 1 where stages >= 2, got cache = reload, blocks_per_sm = 1 and stages = 3
// GROUPS: error: {{.*}}expected row_groups >= 1, got 0
func.func @wide(%x: memref<?x65536xbf16>, %y: memref<?x65536xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(65536) buffers(read %x : memref<?x65536xbf16>, write %y : memref<?x65536xbf16>) {
  ^bb0(%M: index, %X: memref<?x65536xbf16>, %Y: memref<?x65536xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x65536xbf16> -> vector<1x65536xbf16>
      %1 = arith.extf %0 : vector<1x65536xbf16> to vector<1x65536xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x65536xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x65536xf32>
      %4 = arith.mulf %1, %3 : vector<1x65536xf32>
      %5 = arith.truncf %4 : vector<1x65536xf32> to vector<1x65536xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x65536xbf16>, memref<?x65536xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A schedule in the IR is checked as well.
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule 2>&1 | FileCheck %s --check-prefixes=SINGLE,DYNAMIC
// SINGLE: error: {{.*}}expected row_groups = rows_per_group = 1 for a single row, got 2 rows
func.func @single(%x: memref<128xf32>) {
  rmsnorm.rows sizes [1] columns(128) buffers(update %x : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%X: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X : memref<128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %X : vector<1x128xf32>, memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// DYNAMIC: error: {{.*}}expected cache = reload for rows of unbounded size, got registers
func.func @dynamic(%x: memref<?x?xf32>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(update %x : memref<?x?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x1073741824xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x1073741824xf32>, memref<?x?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A program that sums over rows.
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: error: {{.*}}expected blocks_per_sm >= 1, as a persistent block adds up its rows, got 0
// SUMS: error: {{.*}}expected rows and sums over rows in registers to take at most half of a thread's 64 registers on sm_90, got 48
// SUMS: error: {{.*}}expected sums over rows in registers to take at most a quarter of a thread's 64 registers on sm_90, got 32
// SUMS: error: {{.*}}expected column_sums = strips for rows of unbounded size, got registers
// SUMS: error: {{.*}}expected column_sums = registers where nothing is summed over rows, got strips
func.func @multi_wave(%x: memref<?x128xf32>, %s: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %s : memref<128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %S: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.accumulate %0 into %S : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @too_wide(%x: memref<?x16384xf32>, %s: memref<16384xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(16384) buffers(read %x : memref<?x16384xf32>, write %s : memref<16384xf32>) schedule(#rmsnorm.schedule<rows_per_group = 2, threads_per_row = 1024, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x16384xf32>, %S: memref<16384xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x16384xf32> -> vector<1x16384xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x16384xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x16384xf32>
      %3 = arith.mulf %0, %2 : vector<1x16384xf32>
      rmsnorm.accumulate %3 into %S : vector<1x16384xf32> into memref<16384xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=gfx942 --rmsnorm-select-schedule 2>&1 | FileCheck %s --check-prefix=GROUPSUMS
// GROUPSUMS: error: {{.*}}expected the sums of 16 row groups to take at most 65536 bytes of workgroup memory on gfx942, got 131072
func.func @too_many_groups(%x: memref<?x2048xf32>, %s: memref<2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(read %x : memref<?x2048xf32>, write %s : memref<2048xf32>) schedule(#rmsnorm.schedule<row_groups = 16, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x2048xf32>, %S: memref<2048xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      rmsnorm.accumulate %0 into %S : vector<1x2048xf32> into memref<2048xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @dynamic_sums(%x: memref<?x?xf32>, %s: memref<?xf32>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(read %x : memref<?x?xf32>, write %s : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 1>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>, %S: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x1073741824xf32>
      rmsnorm.accumulate %0 into %S : vector<1x1073741824xf32> into memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @no_sums(%x: memref<?x128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, column_sums = strips>) {
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

// Rows in workgroup memory: not beside strips, which read rows again from where
// they were, and not of one column.
// RUN: not norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: {{.*}}expected cache = registers or reload for column_sums = strips, got shared
// SHARED: error: {{.*}}expected cache = registers or reload for rows of one column, got shared
func.func @shared_strips(%x: memref<?x128xf32>, %s: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>, write %s : memref<128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = shared, blocks_per_sm = 1, column_sums = strips>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %S: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x128xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x128xf32>
      %3 = arith.mulf %0, %2 : vector<1x128xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
      rmsnorm.accumulate %3 into %S : vector<1x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @shared_column(%x: memref<?x1xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(1) buffers(update %x : memref<?x1xf32>) schedule(#rmsnorm.schedule<row_groups = 32, threads_per_row = 1, vector_width = 1, cache = shared>) {
  ^bb0(%M: index, %X: memref<?x1xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x1xf32> -> vector<1x1xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x1xf32> -> vector<1x1xf32>
      %2 = arith.mulf %0, %1 : vector<1x1xf32>
      rmsnorm.tile_store tile %2, %X[%t] : vector<1x1xf32>, memref<?x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

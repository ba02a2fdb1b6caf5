// Clusters that cannot run.
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule=schedule=cluster=2 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sim:gfx942 --rmsnorm-select-schedule=schedule=cluster=2 2>&1 | FileCheck %s --check-prefix=AMD
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=cluster=3 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=schedule=cluster=32 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cluster=2,row_groups=2,threads_per_row=128" 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cluster=2,row_groups=1,threads_per_row=16" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cluster=2,threads_per_row=64,cache=registers" 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="schedule=cluster=2,threads_per_row=64,cache=registers,blocks_per_sm=1" 2>&1 | FileCheck %s --check-prefix=REGISTERS

// SM80: error: {{.*}}expected a cluster of at most 1 blocks on sm_80, got 2
// AMD: error: {{.*}}expected a cluster of at most 1 blocks on gfx942, got 2
// POWER: error: {{.*}}expected cluster to be a power of two up to 16, got 3
// MOST: error: {{.*}}expected cluster to be a power of two up to 16, got 32
// PACKED: error: {{.*}}expected row_groups = rows_per_group = 1 in a cluster, got 2 rows
// WHOLE: error: {{.*}}expected a block of whole subgroups of 32 threads on sm_90, got 16 threads
// REGISTERS: error: {{.*}}expected rows in registers to take at most half of a thread's 256 registers on sm_90, got 256
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

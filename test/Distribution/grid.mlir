// How many blocks there are, which the host computes: one schedule after
// another for the same rows.
// RUN: sed 's/VARIANT/alignment = 16/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WAVES
// RUN: sed 's/VARIANT/blocks_per_sm = 2/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PERSISTENT
// RUN: sed 's/VARIANT/cluster = 4, blocks_per_sm = 2/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,CLUSTERS
// RUN: sed 's/VARIANT/cluster = 16/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WAVES16
// RUN: sed 's/VARIANT/sm_margin = 4/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,MARGIN,MARGIN8
// RUN: sed 's/VARIANT/blocks_per_sm = 2, sm_margin = 4/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,MARGIN,MARGIN2

// A block, or cluster, walks over the tiles in steps of the grid.
// CHECK: gpu.func @rows_{{[a-z0-9_]*}}(%[[COUNT:[a-z0-9]*]]: index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[GRID:.*]] = gpu.grid_dim
// CLUSTERS: %[[FIRST:.*]] = arith.divui %[[BLOCK]], %c4 : index
// CLUSTERS: %[[STEP:.*]] = arith.divui %[[GRID]], %c4 : index
// WAVES16: %[[FIRST:.*]] = arith.divui %[[BLOCK]], %c16 : index
// WAVES16: %[[STEP:.*]] = arith.divui %[[GRID]], %c16 : index
// WAVES: scf.for %{{.*}} = %[[BLOCK]] to %[[COUNT]] step %[[GRID]] {
// PERSISTENT: scf.for %{{.*}} = %[[BLOCK]] to %[[COUNT]] step %[[GRID]] {
// MARGIN: scf.for %{{.*}} = %[[BLOCK]] to %[[COUNT]] step %[[GRID]] {
// CLUSTERS: scf.for %{{.*}} = %[[FIRST]] to %[[COUNT]] step %[[STEP]] {
// WAVES16: scf.for %{{.*}} = %[[FIRST]] to %[[COUNT]] step %[[STEP]] {
// CHECK: gpu.return

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index)

// Multi-wave: a block for each tile, up to the grid that HIP launches:
// (2^32 - 1) / 256 blocks of 256 threads, and a 16th of it in clusters of 16.
// WAVES: %[[GRID:.*]] = arith.minui %[[TILES]], %c16777215 : index
// WAVES16: %[[GRID:.*]] = arith.minui %[[TILES]], %c1048575 : index

// Persistent: the runtime knows the device's own number of multiprocessors.
// PERSISTENT: %[[COUNT:.*]] = rmsnorm.multiprocessor_count
// PERSISTENT: %[[MAX:.*]] = arith.muli %[[COUNT]], %c2 : index
// PERSISTENT: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MAX]]

// Clusters walk: blocks / 4 of them, one at least, and no more than are resident
// together.
// CLUSTERS: %[[BLOCKS:.*]] = arith.muli %{{.*}}, %c2 : index
// CLUSTERS: %[[WHOLE:.*]] = arith.divui %[[BLOCKS]], %c4
// CLUSTERS: %[[RESIDENT:.*]] = rmsnorm.resident_clusters
// CLUSTERS: %[[SOME:.*]] = arith.minui %[[WHOLE]], %[[RESIDENT]]
// CLUSTERS: %[[MOST:.*]] = arith.maxui %[[SOME]], %c1
// CLUSTERS: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MOST]]

// sm_margin leaves multiprocessors to others: fewer blocks of a persistent
// grid, and a multi-wave one that is no larger than what fits the rest: 2048
// threads of a multiprocessor are eight blocks of 256.
// MARGIN: %[[COUNT:.*]] = rmsnorm.multiprocessor_count
// MARGIN: %[[LEFT:.*]] = arith.subi %[[COUNT]], %c4 : index
// MARGIN: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c1 : index
// MARGIN8: %[[MAX:.*]] = arith.muli %[[SOME]], %c8 : index
// MARGIN2: %[[MAX:.*]] = arith.muli %[[SOME]], %c2 : index
// MARGIN: %[[GRID:.*]] = arith.minui %[[TILES]], %[[MAX]]

// CLUSTERS: %[[THREADBLOCKS:.*]] = arith.muli %[[GRID]], %c4
// WAVES16: %[[THREADBLOCKS:.*]] = arith.muli %[[GRID]], %c16
// WAVES: gpu.launch_func {{.*}} blocks in (%[[GRID]],
// PERSISTENT: gpu.launch_func {{.*}} blocks in (%[[GRID]],
// MARGIN: gpu.launch_func {{.*}} blocks in (%[[GRID]],
// CLUSTERS: gpu.launch_func {{.*}} blocks in (%[[THREADBLOCKS]],
// WAVES16: gpu.launch_func {{.*}} blocks in (%[[THREADBLOCKS]],
// CHECK-SAME: args(%[[TILES]] : index,
func.func @rows(%x: memref<?x4096xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(update %x : memref<?x4096xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 4, VARIANT>) {
  ^bb0(%M: index, %X: memref<?x4096xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xf32> -> vector<1x4096xf32>
        rmsnorm.tile_store tile %0, %X[%t] : vector<1x4096xf32>, memref<?x4096xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --split-input-file --rmsnorm-attach-target=target=gfx942 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// The first of two leading sizes: the blocks of a segment walk over its rows,
// which lie together, and leave theirs together.
// CHECK-LABEL: gpu.func @first_static_persistent_g1u2t64v4f2a16(
// CHECK-SAME: %[[W:[a-z0-9]*]]: index, %[[TILES:[a-z0-9]*]]: index, %[[T:[a-z0-9]*]]: index, %{{.*}}: index, %{{.*}}: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[P:[a-z0-9]*]]: !llvm.ptr<1>)
// CHECK: %[[BLOCK:.*]] = gpu.block_id
// CHECK: %[[OWN:.*]] = arith.remui %[[BLOCK]], %[[W]] : index
// CHECK: %[[SEGMENT:.*]] = arith.divui %[[BLOCK]], %[[W]] : index
// CHECK: scf.for %[[TILE:.*]] = %[[OWN]] to %[[TILES]] step %[[W]]
// CHECK: %[[ROW:.*]] = arith.muli %[[TILE]], %c2 : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[T]], %[[ROW]] : index
// CHECK: %[[LIVE:.*]] = arith.minui %[[LEFT]], %c2 : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[SEGMENT]], %[[T]] : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEGIN]], %[[ROW]] : index
// CHECK: %[[FIRST64:.*]] = arith.index_castui %[[FIRST]] : index to i64
// CHECK: %[[TWICE:.*]] = arith.addi %[[FIRST64]], %[[FIRST64]] : i64
// CHECK: arith.mului_extended %[[TWICE]],
// CHECK: %[[MINE:.*]] = arith.muli %[[BLOCK]], %c256 : index
// CHECK: %[[MINE64:.*]] = arith.index_cast %[[MINE]]
// CHECK: rmsnorm.global_store %{{.*}}, %[[P]][%[[MINE64]], %{{.*}}] alignment(16)
// CHECK-LABEL: func.func @first(
// CHECK: %[[B:.*]] = memref.dim %{{.*}}, %c0
// CHECK: %[[T:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[T]], %c2 : index
// CHECK: %[[LIMIT:.*]] = rmsnorm.multiprocessor_count
// CHECK: %[[SOME:.*]] = arith.maxui %[[B]], %c1 : index
// CHECK: %[[EACH:.*]] = arith.divui %[[LIMIT]], %[[SOME]] : index
// CHECK: %[[ONE:.*]] = arith.maxui %[[EACH]], %c1 : index
// CHECK: %[[WALKERS:.*]] = arith.minui %[[TILES]], %[[ONE]] : index
// CHECK: %[[GRID:.*]] = arith.muli %[[WALKERS]], %[[B]] : index
// CHECK: rmsnorm.workspace(%[[GRID]]) : memref<?x256xf32>
// CHECK: gpu.launch_func {{.*}} blocks in (%[[GRID]],
func.func @first(%x: memref<?x?x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x256xf32>
  %t = memref.dim %x, %c1 : memref<?x?x256xf32>
  %0 = rmsnorm.rows sizes [%b, %t] segments [0] columns(256) buffers(read %x : memref<?x?x256xf32>)
      schedule(#rmsnorm.schedule<row_groups = 1, rows_per_group = 2, threads_per_row = 64, vector_width = 4, blocks_per_sm = 1>) -> memref<?x256xf32> {
  ^bb0(%B: index, %T: index, %X: memref<?x?x256xf32>):
    %cst = arith.constant dense<0.000000e+00> : vector<1x256xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<1x256xf32>) body {
    ^bb0(%k: index, %acc: vector<1x256xf32>):
      %2 = rmsnorm.traverse unrolled order(vectors) {
        %3 = rmsnorm.tile_load tile %X[%k] : memref<?x?x256xf32> -> vector<2x256xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<2x256xf32> into vector<1x256xf32> -> vector<1x256xf32>
        rmsnorm.yield %4 : vector<1x256xf32>
      } -> vector<1x256xf32>
      rmsnorm.yield %2 : vector<1x256xf32>
    } -> vector<1x256xf32>
    rmsnorm.yield %1 : vector<1x256xf32>
  }
  return
}

// -----

// The last: rows are as far apart as there are segments, and the sums, here
// maxima, and what is there already are rows of the destination.
// CHECK-LABEL: gpu.func @last_sum_rows_g1u1t64v4f2a16(
// CHECK-SAME: %[[T:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[H:[a-z0-9]*]]: !llvm.ptr<1>)
// CHECK: %[[SEGMENT:.*]] = gpu.block_id
// CHECK: %[[MAX:.*]] = scf.for %[[TILE:.*]] = %c0 to %[[T]] step %c1 iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[STEP:.*]] = arith.muli %[[TILE]], %c4 : index
// CHECK: %[[ROW:.*]] = arith.addi %[[SEGMENT]], %[[STEP]] : index
// CHECK: arith.remui %[[ROW]], %c4 : index
// CHECK: %[[V:.*]] = rmsnorm.global_load %[[X]]
// CHECK: arith.maximumf %[[ACC]], %[[V]] : vector<4xf32>
// CHECK: %[[MINE:.*]] = arith.muli %[[SEGMENT]], %c256 : index
// CHECK: %[[MINE64:.*]] = arith.index_cast %[[MINE]]
// CHECK: rmsnorm.global_load %[[H]][%[[MINE64]], %{{.*}}]
// CHECK: arith.maximumf %{{.*}}, %[[MAX]] : vector<4xf32>
// CHECK: rmsnorm.global_store %{{.*}}, %[[H]][%[[MINE64]], %{{.*}}]
// CHECK-LABEL: func.func @last(
// CHECK: gpu.launch_func {{.*}} blocks in (%c4,
func.func @last(%x: memref<?x4x256xf32>, %h: memref<4x256xbf16>) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %x, %c0 : memref<?x4x256xf32>
  rmsnorm.rows sizes [%t, 4] segments [1] columns(256) buffers(read %x : memref<?x4x256xf32>, update %h : memref<4x256xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, column_sums = all_rows>) {
  ^bb0(%T: index, %X: memref<?x4x256xf32>, %H: memref<4x256xbf16>):
    %cst = arith.constant dense<0xFF800000> : vector<1x256xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<1x256xf32>) body {
    ^bb0(%k: index, %acc: vector<1x256xf32>):
      %2 = rmsnorm.traverse strip order(vectors) {
        %3 = rmsnorm.tile_load tile %X[%k] : memref<?x4x256xf32> -> vector<1x256xf32>
        %4 = rmsnorm.accumulate %3 into %acc kind(maximumf) : vector<1x256xf32> into vector<1x256xf32> -> vector<1x256xf32>
        rmsnorm.yield %4 : vector<1x256xf32>
      } -> vector<1x256xf32>
      rmsnorm.yield %2 : vector<1x256xf32>
    } -> vector<1x256xf32>
    rmsnorm.sum_store %1, %H init(%H : memref<4x256xbf16>) map(r0, r1, c) -> (r1, c) : vector<1x256xf32>, memref<4x256xbf16>
    rmsnorm.yield
  }
  return
}

// -----

// One value a row, of a block that does one tile: it begins with what tiles does,
// row groups that have no row leave it, and one thread stores what they have
// come to.
// CHECK-LABEL: gpu.func @value_multi_wave_cached_g8u1t64v4f2a16(
// CHECK: %[[START:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[MAX:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[START]]) -> (f32)
// CHECK: %[[ROW:.*]] = rmsnorm.subgroup_reduce maximumf
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[ACC]], %[[ROW]] : f32
// CHECK: arith.select %{{.*}}, %[[NEXT]], %[[ACC]] : f32
// CHECK: rmsnorm.workgroup_store %[[MAX]]
// CHECK: rmsnorm.barrier
// CHECK-COUNT-4: arith.maximumf %{{.*}}, %{{.*}} : vector<1xf32>
// CHECK: rmsnorm.global_store %{{.*}} valid(%{{.*}}) alignment(4) : vector<1xf32>
// CHECK-NOT: rmsnorm.global_store
// CHECK-LABEL: func.func @value(
// CHECK: %[[TILES:.*]] = arith.ceildivui %{{.*}}, %c8 : index
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]],
// CHECK: rmsnorm.workspace(%[[GRID]]) : memref<?x1xf32>
func.func @value(%x: memref<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x256xf32>
  %0 = rmsnorm.rows sizes [%m] columns(256) buffers(read %x : memref<?x256xf32>)
      schedule(#rmsnorm.schedule<row_groups = 8, threads_per_row = 64, vector_width = 4>) -> memref<?x1xf32> {
  ^bb0(%M: index, %X: memref<?x256xf32>):
    %cst = arith.constant dense<5.000000e-01> : vector<8x1xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<8x1xf32>) body {
    ^bb0(%k: index, %acc: vector<8x1xf32>):
      %2 = rmsnorm.traverse unrolled reduce(maximumf) {
        %3 = rmsnorm.tile_load tile %X[%k] : memref<?x256xf32> -> vector<8x256xf32>
        rmsnorm.yield %3 : vector<8x256xf32>
      } -> vector<8x1xf32>
      %4 = rmsnorm.accumulate %2 into %acc kind(maximumf) : vector<8x1xf32> into vector<8x1xf32> -> vector<8x1xf32>
      rmsnorm.yield %4 : vector<8x1xf32>
    } -> vector<8x1xf32>
    rmsnorm.yield %1 : vector<8x1xf32>
  }
  return
}

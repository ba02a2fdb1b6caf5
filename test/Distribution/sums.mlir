// RUN: norm-opt %s --split-input-file --rmsnorm-attach-target=target=gfx942 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Two row groups of two rows: a thread carries a fragment for its vector, adds
// its rows in turn, leaves out those that do not exist; the groups meet in
// workgroup memory after the loop, and a row of partials leaves.
// CHECK-LABEL: gpu.func @sums_static_persistent_g2u2t64v4f2a16(
// CHECK: %[[BLOCK:.*]] = gpu.block_id
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK-COUNT-2: rmsnorm.global_load
// CHECK: %[[A0:.*]] = arith.addf %[[ACC]], %{{.*}} : vector<4xf32>
// CHECK: %[[S0:.*]] = arith.select %{{.*}}, %[[A0]], %[[ACC]] : vector<4xf32>
// CHECK: %[[A1:.*]] = arith.addf %[[S0]], %{{.*}} : vector<4xf32>
// CHECK: %[[S1:.*]] = arith.select %{{.*}}, %[[A1]], %[[S0]] : vector<4xf32>
// CHECK: scf.yield %[[S1]]
// CHECK: %[[OWN:.*]] = arith.muli %[[BLOCK]], %c256 : index
// CHECK: %[[ROW:.*]] = arith.index_cast %[[OWN]] : index to i64
// CHECK: rmsnorm.workgroup_store %[[SUM]], %{{.*}} : vector<4xf32>
// CHECK: rmsnorm.barrier
// 256 columns over 128 threads: half of them add up four of both groups each.
// CHECK: %[[MINE:.*]] = arith.cmpi ult, %{{.*}}, %c256_i32
// CHECK: %[[G0:.*]] = rmsnorm.workgroup_load %{{.*}} : vector<4xf32>
// CHECK: %[[G1:.*]] = rmsnorm.workgroup_load %{{.*}} : vector<4xf32>
// CHECK: %[[T:.*]] = arith.addf %[[G0]], %[[G1]] : vector<4xf32>
// CHECK: %[[LEFT:.*]] = arith.select %[[MINE]], %{{.*}}, %c0_i32
// CHECK: rmsnorm.global_store %[[T]], %{{.*}}[%[[ROW]], %{{.*}}] valid(%[[LEFT]]) alignment(16)
// CHECK-NOT: rmsnorm.global_store
// CHECK-LABEL: func.func @sums
// CHECK: %[[M:.*]] = memref.dim
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %c4 : index
// CHECK: %[[GRID:.*]] = arith.minui %[[TILES]],
// CHECK: %[[WS:.*]] = rmsnorm.workspace(%[[GRID]]) : memref<?x256xf32>
// The blocks stay and share a multiprocessor as the schedule says.
// CHECK: gpu.launch_func @rmsnorm_kernels::@sums_static_persistent_g2u2t64v4f2a16 blocks in (%[[GRID]],
// CHECK-SAME: {rmsnorm.blocks_per_multiprocessor = 1 : i32
// CHECK: return
func.func @sums(%x: memref<?x256xf32>, %dw: memref<256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x256xf32>
  %0 = rmsnorm.rows sizes [%m] columns(256)
      buffers(read %x : memref<?x256xf32>)
      schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 64, vector_width = 4, blocks_per_sm = 1>) -> memref<?x256xf32> {
  ^bb0(%M: index, %X: memref<?x256xf32>):
    %cst = arith.constant dense<0.000000e+00> : vector<2x256xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<2x256xf32>) body {
    ^bb0(%t: index, %acc: vector<2x256xf32>):
      %2 = rmsnorm.traverse unrolled order(vectors) {
        %3 = rmsnorm.tile_load tile %X[%t] : memref<?x256xf32> -> vector<4x256xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<4x256xf32> into vector<2x256xf32> -> vector<2x256xf32>
        rmsnorm.yield %4 : vector<2x256xf32>
      } -> vector<2x256xf32>
      rmsnorm.yield %2 : vector<2x256xf32>
    } -> vector<2x256xf32>
    rmsnorm.yield %1 : vector<2x256xf32>
  }
  return
}

// -----

// Two rings of two slots, 4096 bytes each. After the loop the sums meet in the
// bytes of the rings, from the first on: only when all threads have read their
// tiles. That takes no more memory than the rings.
// CHECK-LABEL: gpu.func @rings_static_persistent_g2u1t64v4f2a16_s2(
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[ROW:.*]] = arith.constant 256 : i32
// CHECK: %[[THREAD:.*]] = arith.remui %{{.*}}, %c64_i32 : i32
// CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %c64_i32 : i32
// CHECK: %[[INDEX:.*]] = arith.muli %[[THREAD]], %[[FOUR]] : i32
// CHECK: %[[SUM:.*]]:2 = scf.for
// CHECK-NOT: rmsnorm.barrier
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NOT: rmsnorm.workgroup_
// CHECK: rmsnorm.barrier
// CHECK-NOT: rmsnorm.workgroup_
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %[[ROW]] : i32
// CHECK: %[[PLACE:.*]] = arith.addi %[[BEFORE]], %[[INDEX]] : i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[PLACE]], %[[FOUR]] : i32
// CHECK-NEXT: rmsnorm.workgroup_store %[[SUM]]#0, %[[BYTES]] : vector<4xf32>
// CHECK: rmsnorm.barrier
// CHECK: rmsnorm.workgroup_load
// CHECK: gpu.return
// CHECK-LABEL: func.func @rings
// CHECK: gpu.launch_func @rmsnorm_kernels::@rings_static_persistent_g2u1t64v4f2a16_s2 {{.*}} dynamic_shared_memory_size %c8192_i32
func.func @rings(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %dw: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x256xf32>
  %0 = rmsnorm.rows sizes [%m] columns(256)
      buffers(read %x : memref<?x256xf32>, read %y : memref<?x256xf32>)
      schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 64, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>) -> memref<?x256xf32> {
  ^bb0(%M: index, %X: memref<?x256xf32>, %Y: memref<?x256xf32>):
    %cst = arith.constant dense<0.000000e+00> : vector<2x256xf32>
    %1 = rmsnorm.tiles copies(%X, %Y : memref<?x256xf32>, memref<?x256xf32>) stages 2 inits(%cst : vector<2x256xf32>) body {
    ^bb0(%t: index, %xs: !rmsnorm.slot<2x256xf32>, %ys: !rmsnorm.slot<2x256xf32>, %acc: vector<2x256xf32>):
      rmsnorm.fetch %xs, %ys : !rmsnorm.slot<2x256xf32>, !rmsnorm.slot<2x256xf32>
      rmsnorm.arrive %xs, %ys : !rmsnorm.slot<2x256xf32>, !rmsnorm.slot<2x256xf32>
      %2 = rmsnorm.traverse chunks in_flight(2) order(vectors) {
        %3 = rmsnorm.slot_load %xs : <2x256xf32> -> vector<2x256xf32>
        %4 = rmsnorm.slot_load %ys : <2x256xf32> -> vector<2x256xf32>
        %5 = arith.addf %3, %4 : vector<2x256xf32>
        %6 = rmsnorm.accumulate %5 into %acc : vector<2x256xf32> into vector<2x256xf32> -> vector<2x256xf32>
        rmsnorm.yield %6 : vector<2x256xf32>
      } -> vector<2x256xf32>
      rmsnorm.yield %2 : vector<2x256xf32>
    } -> vector<2x256xf32>
    rmsnorm.yield %1 : vector<2x256xf32>
  }
  return
}

// -----

// A product is summed by fused multiply-adds; one row group needs no workgroup
// memory and stores what it carries.
// CHECK-LABEL: gpu.func @product_static_persistent_g1u1t64v4f2a16(
// CHECK: %[[SUM:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC0:.*]] = %{{.*}}, %[[ACC1:.*]] = %{{.*}}) -> (vector<4xf32>, vector<4xf32>)
// CHECK: %[[X0:.*]] = rmsnorm.global_load
// CHECK: %[[X1:.*]] = rmsnorm.global_load
// CHECK: %[[S0:.*]] = math.fma %[[X0]], %[[X0]], %[[ACC0]]
// CHECK: %[[S1:.*]] = math.fma %[[X1]], %[[X1]], %[[ACC1]]
// CHECK: scf.yield %[[S0]], %[[S1]]
// CHECK-NOT: rmsnorm.barrier
// CHECK: rmsnorm.global_store %[[SUM]]#0,
// CHECK: rmsnorm.global_store %[[SUM]]#1,
// CHECK: gpu.return
func.func @product(%x: memref<?x512xf32>, %dw: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x512xf32>
  %0 = rmsnorm.rows sizes [%m] columns(512)
      buffers(read %x : memref<?x512xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, blocks_per_sm = 1>) -> memref<?x512xf32> {
  ^bb0(%M: index, %X: memref<?x512xf32>):
    %cst = arith.constant dense<0.000000e+00> : vector<1x512xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<1x512xf32>) body {
    ^bb0(%t: index, %acc: vector<1x512xf32>):
      %2 = rmsnorm.traverse unrolled order(vectors) {
        %3 = rmsnorm.tile_load tile %X[%t] : memref<?x512xf32> -> vector<1x512xf32>
        %4 = arith.mulf %3, %3 : vector<1x512xf32>
        %5 = rmsnorm.accumulate %4 into %acc : vector<1x512xf32> into vector<1x512xf32> -> vector<1x512xf32>
        rmsnorm.yield %5 : vector<1x512xf32>
      } -> vector<1x512xf32>
      rmsnorm.yield %2 : vector<1x512xf32>
    } -> vector<1x512xf32>
    rmsnorm.yield %1 : vector<1x512xf32>
  }
  return
}

// -----

// Strips of 256 columns: as many blocks for each run of rows, and as many fewer
// runs as there are strips; a block knows which one it has. One row group has
// nothing to add up.
// CHECK-LABEL: gpu.func @strips_column_strips_g1u1t64v4f2a16(
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[STRIP:.*]] = arith.remui %[[BLOCK]], %[[COUNT:.*]] : index
// CHECK: %[[WALK:.*]] = arith.divui %[[BLOCK]], %[[COUNT]] : index
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[WALK]] to
// CHECK: rmsnorm.global_load {{.*}} valid(
// CHECK-NOT: rmsnorm.barrier
// CHECK: arith.muli %[[WALK]],
// CHECK: rmsnorm.global_store %[[SUM]],
// CHECK-LABEL: func.func @strips
// CHECK-DAG: %[[M:.*]] = memref.dim %{{.*}}, %c0
// CHECK-DAG: %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[MAX:.*]] = arith.muli
// CHECK: %[[STRIPS:.*]] = arith.ceildivui %[[N]], %c256
// CHECK: %[[FIT:.*]] = arith.divui %[[MAX]], %[[STRIPS]]
// CHECK: %[[RUNS:.*]] = arith.maxui %[[FIT]], %c1
// CHECK: %[[WALKS:.*]] = arith.minui %[[M]], %[[RUNS]]
// CHECK: %[[GRID:.*]] = arith.muli %[[WALKS]], %[[STRIPS]]
// CHECK: rmsnorm.workspace(%[[WALKS]], %[[N]]) : memref<?x?xf32>
// CHECK: gpu.launch_func @rmsnorm_kernels::@strips_column_strips_g1u1t64v4f2a16 blocks in (%[[GRID]],
func.func @strips(%x: memref<?x?xf32>, %dw: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %0 = rmsnorm.rows sizes [%m] columns(1073741824, %n)
      buffers(read %x : memref<?x?xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 2, column_sums = strips>) -> memref<?x?xf32> {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>):
    %cst = arith.constant dense<0.000000e+00> : vector<1x1073741824xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<1x1073741824xf32>) body {
    ^bb0(%t: index, %acc: vector<1x1073741824xf32>):
      %2 = rmsnorm.traverse strip order(vectors) {
        %3 = rmsnorm.tile_load tile %X[%t] policy(evict_first) : memref<?x?xf32> -> vector<1x1073741824xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<1x1073741824xf32> into vector<1x1073741824xf32> -> vector<1x1073741824xf32>
        rmsnorm.yield %4 : vector<1x1073741824xf32>
      } -> vector<1x1073741824xf32>
      rmsnorm.yield %2 : vector<1x1073741824xf32>
    } -> vector<1x1073741824xf32>
    rmsnorm.yield %1 : vector<1x1073741824xf32>
  }
  return
}

// -----

// A block does all rows of a strip of 32 columns: two groups of four rows each
// at a time, those that do not exist left out. What the groups have come to is
// the sum, rounded where it is stored, element by element, as nobody knows how
// the buffer is aligned. Blocks come and go, one for each strip, also without
// rows.
// CHECK-LABEL: gpu.func @all_rows_sum_rows_g2u4t8v4f2a16(
// CHECK-SAME: rmsnorm.min_blocks = 1
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK-COUNT-4: rmsnorm.global_load
// CHECK-COUNT-4: arith.addf
// CHECK: rmsnorm.barrier
// CHECK: %[[T:.*]] = arith.addf
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[T]] : vector<4xf32> to vector<4xbf16>
// CHECK: rmsnorm.global_store %[[ROUNDED]], {{.*}} alignment(2)
// CHECK-LABEL: func.func @all_rows
// CHECK: gpu.launch_func @rmsnorm_kernels::@all_rows_sum_rows_g2u4t8v4f2a16 blocks in (%c8, %c1, %c1)
// CHECK-NOT: rmsnorm.blocks_per_multiprocessor
// CHECK: return
func.func @all_rows(%p: memref<?x256xf32>, %dw: memref<256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %p, %c0 : memref<?x256xf32>
  rmsnorm.rows sizes [%m] columns(256)
      buffers(read %p : memref<?x256xf32>, write %dw : memref<256xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 4, threads_per_row = 8, vector_width = 4, cache = reload, column_sums = all_rows>) {
  ^bb0(%M: index, %P: memref<?x256xf32>, %DW: memref<256xbf16>):
    %cst = arith.constant dense<0.000000e+00> : vector<2x256xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<2x256xf32>) body {
    ^bb0(%t: index, %acc: vector<2x256xf32>):
      %2 = rmsnorm.traverse strip order(vectors) {
        %3 = rmsnorm.tile_load tile %P[%t] : memref<?x256xf32> -> vector<8x256xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<8x256xf32> into vector<2x256xf32> -> vector<2x256xf32>
        rmsnorm.yield %4 : vector<2x256xf32>
      } -> vector<2x256xf32>
      rmsnorm.yield %2 : vector<2x256xf32>
    } -> vector<2x256xf32>
    rmsnorm.sum_store %1, %DW : vector<2x256xf32>, memref<256xbf16>
    rmsnorm.yield
  }
  return
}

// -----

// What is added to the sum is read where that is written, before it is rounded.
// CHECK-LABEL: gpu.func @in_place_sum_rows_
// CHECK-SAME: (%{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: !llvm.ptr<1>, %[[DW:[^:]*]]: !llvm.ptr<1>)
// CHECK: rmsnorm.barrier
// CHECK: %[[T:.*]] = arith.addf
// CHECK: %[[I:.*]] = rmsnorm.global_load %[[DW]][%[[ROW:[^,]*]], %[[COLUMN:.*]]] valid(%[[VALID:.*]]) alignment(2) : vector<4xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[I]] : vector<4xbf16> to vector<4xf32>
// CHECK: %[[S:.*]] = arith.addf %[[W]], %[[T]] : vector<4xf32>
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : vector<4xf32> to vector<4xbf16>
// CHECK: rmsnorm.global_store %[[R]], %[[DW]][%[[ROW]], %[[COLUMN]]] valid(%[[VALID]]) alignment(2)
func.func @in_place(%p: memref<?x256xf32>, %dw: memref<256xbf16>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %p, %c0 : memref<?x256xf32>
  rmsnorm.rows sizes [%m] columns(256)
      buffers(read %p : memref<?x256xf32>, update %dw : memref<256xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 4, threads_per_row = 8, vector_width = 4, cache = reload, column_sums = all_rows>) {
  ^bb0(%M: index, %P: memref<?x256xf32>, %DW: memref<256xbf16>):
    %cst = arith.constant dense<0.000000e+00> : vector<2x256xf32>
    %1 = rmsnorm.tiles inits(%cst : vector<2x256xf32>) body {
    ^bb0(%t: index, %acc: vector<2x256xf32>):
      %2 = rmsnorm.traverse strip order(vectors) {
        %3 = rmsnorm.tile_load tile %P[%t] : memref<?x256xf32> -> vector<8x256xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<8x256xf32> into vector<2x256xf32> -> vector<2x256xf32>
        rmsnorm.yield %4 : vector<2x256xf32>
      } -> vector<2x256xf32>
      rmsnorm.yield %2 : vector<2x256xf32>
    } -> vector<2x256xf32>
    rmsnorm.sum_store %1, %DW init(%DW : memref<256xbf16>) : vector<2x256xf32>, memref<256xbf16>
    rmsnorm.yield
  }
  return
}

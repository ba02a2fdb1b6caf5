// One input, two chips: what differs is the subgroup size.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,NV
// RUN: norm-opt %s --rmsnorm-attach-target=target=gfx942 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: sed 's/vector_width = 8/vector_width = 8, alignment = 1/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefix=ELEMENT

// A row of 16 threads, 16 rows a block: all sums stay in a subgroup, there is
// no barrier and no workgroup memory. Rows that do not exist read one that does
// and write nothing.
// CHECK: gpu.func @packed_multi_wave_cached_g8u2t16v8f2a16(
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index, %[[M:[a-z0-9]*]]: index, %[[XS:[a-z0-9]*]]: index, %[[YS:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[Y:[a-z0-9]*]]: !llvm.ptr<1>) kernel
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[GRID:.*]] = gpu.grid_dim
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[TILES]] step %[[GRID]] {
// CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %{{.*}} : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[M]], %[[FIRST]]
// CHECK: %[[LIVE:.*]] = arith.minui %[[LEFT]], %{{.*}}
// CHECK: %[[LIVE32:.*]] = arith.index_castui %[[LIVE]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %[[LIVE32]]
// CHECK: %[[LAST:.*]] = arith.subi %[[LIVE]], %[[ONE]]
// CHECK: %[[CLAMPED:.*]] = arith.minui %{{.*}}, %[[LAST]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[CLAMPED]]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[ROW]], %[[XS]]
// CHECK: %[[OFFSET64:.*]] = arith.index_cast %[[OFFSET]] : index to i64
// CHECK: rmsnorm.global_load %[[X]][%[[OFFSET64]], %[[COLUMN:.*]]] alignment(16) : vector<8xbf16>
// CHECK: rmsnorm.global_load %[[X]]
// CHECK-NOT: rmsnorm.barrier
// CHECK-COUNT-2: rmsnorm.subgroup_reduce add %{{.*}} width(16) : f32
// CHECK-NOT: rmsnorm.subgroup_reduce
// CHECK: %[[VALID:.*]] = arith.select %[[EXISTS]], %[[EIGHT]], %[[ZERO]] : i32
// CHECK: rmsnorm.global_store %{{.*}}, %[[Y]][%{{.*}}, %[[COLUMN]]] valid(%[[VALID]]) alignment(16)
// ELEMENT: gpu.func @packed_multi_wave_cached_g8u2t16v8f2a1(
// ELEMENT: rmsnorm.global_load %{{.*}} alignment(2) : vector<8xbf16>
// ELEMENT: rmsnorm.global_store %{{.*}} alignment(2) : vector<8xbf16>

// Rows of several subgroups: a butterfly, one exchange through workgroup
// memory, a butterfly; consecutive tiles use it in turns, so one barrier does.
// Squares are summed by fused multiply-adds. The weight's pointer has no
// stride, static strides are no arguments.
// CHECK: gpu.func @wide_multi_wave_cached_g1u1t256v8f2a16(
// CHECK-SAME: %[[M2:[a-z0-9]*]]: index, %[[X2:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// CHECK: scf.for %{{.*}} iter_args(%[[TOGGLE:.*]] = %{{.*}}) -> (i32)
// CHECK: rmsnorm.global_load %[[X2]][%{{.*}}] alignment(16) : vector<8xbf16>
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: math.fma %{{.*}} : vector<8xf32>
// NV: %[[PART:.*]] = rmsnorm.subgroup_reduce add %{{.*}} width(32)
// AMD: %[[PART:.*]] = rmsnorm.subgroup_reduce add %{{.*}} width(64)
// NV: %[[PLACE:.*]] = arith.muli %[[TOGGLE]], %c32_i32
// AMD: %[[PLACE:.*]] = arith.muli %[[TOGGLE]], %c16_i32
// CHECK: scf.if
// CHECK: rmsnorm.workgroup_store %[[PART]]
// CHECK: rmsnorm.barrier
// CHECK: %[[TOTAL:.*]] = rmsnorm.workgroup_load
// NV: rmsnorm.subgroup_reduce add %[[TOTAL]] width(8)
// AMD: rmsnorm.subgroup_reduce add %[[TOTAL]] width(4)
// CHECK-NOT: rmsnorm.barrier
// CHECK: rmsnorm.keep %{{.*}} after %{{.*}} : vector<8xbf16>, f32
// CHECK: rmsnorm.global_store
// CHECK: arith.xori %[[TOGGLE]]
// CHECK: gpu.return

// What is read again says so, with the policy of either read.
// CHECK: gpu.func @reload_multi_wave_reload_g1u1t256v8f2a16(
// CHECK-SAME: %{{[a-z0-9]*}}: index, %[[X3:[a-z0-9]*]]: !llvm.ptr<1>,
// CHECK: rmsnorm.global_load %[[X3]][%{{.*}}] alignment(16) policy(evict_last) : vector<8xbf16>
// CHECK: rmsnorm.barrier
// CHECK: rmsnorm.global_load %[[X3]][%{{.*}}] alignment(16) segment(1) policy(evict_first) : vector<8xbf16>
// CHECK: gpu.return

// 35 columns of f32 on 16 threads of 4, as somebody wants it: the last thread's
// vector exists in part.
// The sum of x + 1 needs a mask there, as padding plus one is not zero.
// CHECK: gpu.func @partial_
// CHECK-DAG: %[[N:.*]] = arith.constant 35 : i32
// CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3]>
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[COLUMN3:.*]] : i32
// CHECK: rmsnorm.global_load %{{.*}}[%{{.*}}, %[[COLUMN3]]] valid(%[[REST]]) alignment(4) : vector<4xf32>
// CHECK: %[[ALL:.*]] = vector.broadcast %[[REST]] : i32 to vector<4xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %[[ALL]], %[[LANES]]
// CHECK: arith.select %[[MASK]]
// CHECK: rmsnorm.subgroup_reduce

// A flattened row becomes indices of the leading dimensions.
// CHECK: gpu.func @rank3_
// CHECK-SAME: %[[XS1:[a-z0-9]*]]: index, %[[XS0:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// CHECK-DAG: %[[HEADS:.*]] = arith.constant 6 : index
// CHECK: %[[HEAD:.*]] = arith.remui %[[ROW3:.*]], %[[HEADS]] : index
// CHECK: %[[TOKEN:.*]] = arith.divui %[[ROW3]], %[[HEADS]] : index
// CHECK: arith.muli %[[HEAD]], %[[XS1]]
// CHECK: arith.muli %[[TOKEN]], %[[XS0]]

// The host launches with bare pointers; what is left of a schedule is the grid.
// CHECK: func.func @packed(%[[XM:[a-z0-9]*]]: memref<?x128xbf16, strided<[?, 1]>>
// CHECK: %[[SIZE:.*]] = memref.dim %[[XM]]
// CHECK: %[[PTR:.*]] = rmsnorm.buffer_pointer %[[XM]]
// CHECK: gpu.launch_func @rmsnorm_kernels::@packed_multi_wave_cached_
// CHECK-SAME: args(%{{.*}} : index, %[[SIZE]] : index, %{{.*}} : index, %{{.*}} : index, %[[PTR]] : !llvm.ptr<1>, %{{.*}} : !llvm.ptr<1>){{$}}
func.func @packed(%x: memref<?x128xbf16, strided<[?, 1]>>, %y: memref<?x128xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x128xbf16, strided<[?, 1]>>
  rmsnorm.rows sizes [%m] columns(128)
      buffers(read %x : memref<?x128xbf16, strided<[?, 1]>>, write %y : memref<?x128xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 8, rows_per_group = 2, threads_per_row = 16, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x128xbf16, strided<[?, 1]>>, %Y: memref<?x128xbf16, strided<[?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0:2 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16, strided<[?, 1]>> -> vector<16x128xbf16>
        %2 = arith.extf %1 : vector<16x128xbf16> to vector<16x128xf32>
        rmsnorm.yield %2, %1 : vector<16x128xf32>, vector<16x128xbf16>
      } -> vector<16x1xf32>, vector<16x128xbf16>
      rmsnorm.traverse unrolled {
        %1 = rmsnorm.keep %0#1 after %0#0 : vector<16x128xbf16>, vector<16x1xf32>
        %2 = arith.extf %1 : vector<16x128xbf16> to vector<16x128xf32>
        %3 = vector.broadcast %0#0 : vector<16x1xf32> to vector<16x128xf32>
        %4 = arith.mulf %2, %3 : vector<16x128xf32>
        %5 = arith.truncf %4 : vector<16x128xf32> to vector<16x128xbf16>
        rmsnorm.tile_store tile %5, %Y[%t] : vector<16x128xbf16>, memref<?x128xbf16, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @wide(%x: memref<?x4096xbf16>, %w: memref<4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096)
      buffers(read %x : memref<?x4096xbf16>, read %w : memref<4096xbf16>, write %y : memref<?x4096xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %W: memref<4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0:3 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
        %2 = rmsnorm.tile_load column %W : memref<4096xbf16> -> vector<1x4096xbf16>
        %3 = arith.extf %1 : vector<1x4096xbf16> to vector<1x4096xf32>
        %4 = arith.mulf %3, %3 : vector<1x4096xf32>
        rmsnorm.yield %4, %1, %2 : vector<1x4096xf32>, vector<1x4096xbf16>, vector<1x4096xbf16>
      } -> vector<1x1xf32>, vector<1x4096xbf16>, vector<1x4096xbf16>
      rmsnorm.traverse unrolled {
        %1 = rmsnorm.keep %0#2 after %0#0 : vector<1x4096xbf16>, vector<1x1xf32>
        %2 = arith.extf %1 : vector<1x4096xbf16> to vector<1x4096xf32>
        %3 = rmsnorm.keep %0#1 after %0#0 : vector<1x4096xbf16>, vector<1x1xf32>
        %4 = arith.extf %3 : vector<1x4096xbf16> to vector<1x4096xf32>
        %5 = vector.broadcast %0#0 : vector<1x1xf32> to vector<1x4096xf32>
        %6 = arith.mulf %4, %5 : vector<1x4096xf32>
        %7 = arith.mulf %6, %2 : vector<1x4096xf32>
        %8 = arith.truncf %7 : vector<1x4096xf32> to vector<1x4096xbf16>
        rmsnorm.tile_store tile %8, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @reload(%x: memref<?x4096xbf16>, %w: memref<4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096)
      buffers(read %x : memref<?x4096xbf16>, read %w : memref<4096xbf16>, write %y : memref<?x4096xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %W: memref<4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] policy(evict_last) : memref<?x4096xbf16> -> vector<1x4096xbf16>
        %2 = arith.extf %1 : vector<1x4096xbf16> to vector<1x4096xf32>
        %3 = arith.mulf %2, %2 : vector<1x4096xf32>
        rmsnorm.yield %3 : vector<1x4096xf32>
      } -> vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %1 = rmsnorm.tile_load column %W again(1) policy(evict_last) : memref<4096xbf16> -> vector<1x4096xbf16>
        %2 = arith.extf %1 : vector<1x4096xbf16> to vector<1x4096xf32>
        %3 = rmsnorm.tile_load tile %X[%t] again(1) policy(evict_first) : memref<?x4096xbf16> -> vector<1x4096xbf16>
        %4 = arith.extf %3 : vector<1x4096xbf16> to vector<1x4096xf32>
        %5 = vector.broadcast %0 : vector<1x1xf32> to vector<1x4096xf32>
        %6 = arith.mulf %4, %5 : vector<1x4096xf32>
        %7 = arith.mulf %6, %2 : vector<1x4096xf32>
        %8 = arith.truncf %7 : vector<1x4096xf32> to vector<1x4096xbf16>
        rmsnorm.tile_store tile %8, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @partial(%x: memref<?x35xf32>, %r: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(35)
      buffers(read %x : memref<?x35xf32>, write %r : memref<?xf32>)
      schedule(#rmsnorm.schedule<row_groups = 8, threads_per_row = 16, vector_width = 4, alignment = 1>) {
  ^bb0(%M: index, %X: memref<?x35xf32>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %cst = arith.constant dense<1.000000e+00> : vector<8x35xf32>
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x35xf32> -> vector<8x35xf32>
        %2 = arith.addf %1, %cst : vector<8x35xf32>
        rmsnorm.yield %2 : vector<8x35xf32>
      } -> vector<8x1xf32>
      rmsnorm.tile_store row %0, %R[%t] : vector<8x1xf32>, memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @rank3(%x: memref<?x6x4096xf32, strided<[?, ?, 1]>>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x6x4096xf32, strided<[?, ?, 1]>>
  rmsnorm.rows sizes [%b, 6] columns(4096)
      buffers(update %x : memref<?x6x4096xf32, strided<[?, ?, 1]>>)
      schedule(#rmsnorm.schedule<threads_per_row = 512, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x6x4096xf32, strided<[?, ?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x6x4096xf32, strided<[?, ?, 1]>> -> vector<1x4096xf32>
        %1 = arith.negf %0 : vector<1x4096xf32>
        rmsnorm.tile_store tile %1, %X[%t] : vector<1x4096xf32>, memref<?x6x4096xf32, strided<[?, ?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

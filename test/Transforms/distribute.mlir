// One input, two chips: what differs is the subgroup size.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sm_90 | FileCheck %s --check-prefixes=CHECK,NV
// RUN: norm-opt %s --rmsnorm-memref-half=target=gfx942 | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 alignment=1" | FileCheck %s --check-prefix=ELEMENT

// A row of 16 threads, 16 rows a block (32 with subgroups of 64): all sums
// stay in a subgroup, there is no barrier and no workgroup memory. Rows that
// do not exist read one that does and write nothing.
// NV: gpu.func @packed_multi_wave_cached_g8u2t16v8f2a16p(
// AMD: gpu.func @packed_multi_wave_cached_g16u2t16v8f2a16(
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index, %[[M:[a-z0-9]*]]: index, %[[XS:[a-z0-9]*]]: index, %[[YS:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[Y:[a-z0-9]*]]: !llvm.ptr<1>) kernel
// NV-SAME: known_block_size = array<i32: 128, 1, 1>
// AMD-SAME: known_block_size = array<i32: 256, 1, 1>
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
// ELEMENT: gpu.func @packed_multi_wave_cached_g8u2t16v8f2a1p(
// ELEMENT: rmsnorm.global_load %{{.*}} alignment(2) : vector<8xbf16>
// ELEMENT: rmsnorm.global_store %{{.*}} alignment(2) : vector<8xbf16>

// Rows of several subgroups: a butterfly, one exchange through workgroup
// memory, a butterfly; consecutive tiles use it in turns, so one barrier does.
// Squares are summed by fused multiply-adds. The weight's pointer has no
// stride, static strides are no arguments.
// CHECK: gpu.func @wide_multi_wave_{{reload|cached}}_g1u1t256v8f2a16{{p?}}(
// CHECK-SAME: %[[M2:[a-z0-9]*]]: index, %[[X2:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// CHECK: scf.for %{{.*}} iter_args(%[[TOGGLE:.*]] = %{{.*}}) -> (i32)
// NV: rmsnorm.global_load %[[X2]][%{{.*}}] alignment(16) policy(evict_last) : vector<8xbf16>
// AMD: rmsnorm.global_load %[[X2]][%{{.*}}] alignment(16) : vector<8xbf16>
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
// NV: rmsnorm.global_load %[[X2]][%{{.*}}] alignment(16) segment(1) policy(evict_first)
// AMD: rmsnorm.keep %{{.*}} after %{{.*}} : vector<8xbf16>, f32
// CHECK: rmsnorm.global_store
// CHECK: arith.xori %[[TOGGLE]]
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

// The host launches with bare pointers.
// CHECK: func.func @packed(%[[XM:[a-z0-9]*]]: memref<?x128xbf16, strided<[?, 1]>>
// CHECK: %[[SIZE:.*]] = memref.dim %[[XM]]
// CHECK: %[[PTR:.*]] = rmsnorm.buffer_pointer %[[XM]]
// CHECK: gpu.launch_func @rmsnorm_kernels::@packed_multi_wave_cached_
// CHECK-SAME: args(%{{.*}} : index, %[[SIZE]] : index, %{{.*}} : index, %{{.*}} : index, %[[PTR]] : !llvm.ptr<1>, %{{.*}} : !llvm.ptr<1>)
// CHECK-SAME: rmsnorm.schedule = #rmsnorm.schedule<
func.func @packed(%x: memref<?x128xbf16, strided<[?, 1]>>, %y: memref<?x128xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x128xbf16, strided<[?, 1]>>
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xbf16, strided<[?, 1]>> -> vector<1x128xbf16>
    %1 = arith.extf %0 : vector<1x128xbf16> to vector<1x128xf32>
    %2 = rmsnorm.row_reduce add(%1) : vector<1x128xf32> -> vector<1x1xf32>
    %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x128xf32>
    %4 = arith.mulf %1, %3 : vector<1x128xf32>
    %5 = arith.truncf %4 : vector<1x128xf32> to vector<1x128xbf16>
    rmsnorm.tile_store tile %5, %y[%row] : vector<1x128xbf16>, memref<?x128xbf16, strided<[?, 1]>>
  }
  return
}

func.func @wide(%x: memref<?x4096xbf16>, %w: memref<4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4096xbf16> -> vector<1x4096xbf16>
    %w0 = rmsnorm.tile_load column %w : memref<4096xbf16> -> vector<1x4096xbf16>
    %w1 = arith.extf %w0 : vector<1x4096xbf16> to vector<1x4096xf32>
    %1 = arith.extf %0 : vector<1x4096xbf16> to vector<1x4096xf32>
    %sq = arith.mulf %1, %1 : vector<1x4096xf32>
    %2 = rmsnorm.row_reduce add(%sq) : vector<1x4096xf32> -> vector<1x1xf32>
    %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x4096xf32>
    %4 = arith.mulf %1, %3 : vector<1x4096xf32>
    %5 = arith.mulf %4, %w1 : vector<1x4096xf32>
    %6 = arith.truncf %5 : vector<1x4096xf32> to vector<1x4096xbf16>
    rmsnorm.tile_store tile %6, %y[%row] : vector<1x4096xbf16>, memref<?x4096xbf16>
  }
  return
}

func.func @partial(%x: memref<?x35xf32>, %r: memref<?xf32>, %m: index) {
  %one = arith.constant dense<1.0> : vector<1x35xf32>
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x35xf32> -> vector<1x35xf32>
    %1 = arith.addf %0, %one : vector<1x35xf32>
    %2 = rmsnorm.row_reduce add(%1) : vector<1x35xf32> -> vector<1x1xf32>
    rmsnorm.tile_store row %2, %r[%row] : vector<1x1xf32>, memref<?xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 8, threads_per_row = 16, vector_width = 4, alignment = 1>}
  return
}

func.func @rank3(%x: memref<?x6x4096xf32, strided<[?, ?, 1]>>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x6x4096xf32, strided<[?, ?, 1]>> -> vector<1x4096xf32>
    %1 = arith.negf %0 : vector<1x4096xf32>
    rmsnorm.tile_store tile %1, %x[%row] : vector<1x4096xf32>, memref<?x6x4096xf32, strided<[?, ?, 1]>>
  }
  return
}

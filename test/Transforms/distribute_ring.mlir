// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent,cache=shared,stages=3,copy=cg,threads_per_row=64,rows_per_group=2,pdl=false" | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent,cache=shared,stages=2,copy=cg,threads_per_row=64,rows_per_group=2,pdl=false" | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent,cache=shared,stages=3,copy=cg,threads_per_row=64,rows_per_group=1,row_groups=1,cluster=2,pdl=false" | FileCheck %s --check-prefix=SPLIT
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 alignment=1 schedule=static_persistent,cache=shared,stages=3,threads_per_row=64" | FileCheck %s --check-prefix=ELEMENT

// 1000 columns of bf16 on 64 threads of 8: a whole vector and part of one, two
// rows, so four copies a tile. A slot is 64 threads x 16 bytes x 4 = 4096 bytes;
// a thread's vectors lie 1024 bytes apart.
// THREE: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s3cg(
// TWO: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s2cg(
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[C4096:.*]] = arith.constant 4096 : i32
// The weight, once for all tiles.
// CHECK: %[[W:.*]] = rmsnorm.global_load %{{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK-COUNT-4: rmsnorm.async_copy {{.*}} cache(cg) : vector<8xbf16>
// CHECK-NOT: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// THREE: scf.if
// THREE-COUNT-4: rmsnorm.async_copy
// THREE: rmsnorm.copy_commit
// CHECK-NOT: rmsnorm.copy_wait
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (i32, index)
// CHECK: scf.if
// CHECK-COUNT-4: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// THREE: rmsnorm.copy_wait 2
// TWO: rmsnorm.copy_wait 1
// CHECK-COUNT-4: rmsnorm.workgroup_load %{{.*}} : vector<8xbf16>
// The subgroups of a block wait for one another.
// CHECK-NOT: rmsnorm.exchange
// CHECK: rmsnorm.barrier
// CHECK-COUNT-4: rmsnorm.workgroup_load %{{.*}} segment(1) : vector<8xbf16>
// CHECK: rmsnorm.keep %[[W]] after
// CHECK: gpu.return
// The slots, then places for the totals of two subgroups and two rows, twice.
// THREE: dynamic_shared_memory_size %c12320_i32
// TWO: dynamic_shared_memory_size %c8224_i32

// Two blocks share a row, 504 columns and the other 496: part of one vector a
// thread. Two rows are on their way when the exchange is made ready; the first
// is published before the loop, the next one in each iteration, before the
// iteration's own is awaited. The loop carries a slot and a number, no turn.
// SPLIT: gpu.func @ring_static_persistent_g1u1t64v8f2a16c2_s3cg(
// SPLIT: rmsnorm.exchange_init <subgroups = 2, cluster = 2>
// SPLIT: %[[W:.*]] = rmsnorm.global_load %{{.*}} : vector<8xf32>
// SPLIT: scf.if
// SPLIT: rmsnorm.async_copy
// SPLIT: rmsnorm.copy_commit
// SPLIT: scf.if
// SPLIT: rmsnorm.async_copy
// SPLIT: rmsnorm.copy_commit
// SPLIT-NEXT: rmsnorm.exchange_ready <subgroups = 2, cluster = 2>
// SPLIT-NEXT: rmsnorm.copy_wait 1
// SPLIT: scf.if
// SPLIT: rmsnorm.workgroup_load %{{.*}} : vector<8xbf16>
// SPLIT: rmsnorm.exchange_publish %{{.*}} number(%{{.*}}) subgroup(%[[SUBGROUP:.*]]) <subgroups = 2, cluster = 2> : f32
// SPLIT: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (index, index)
// SPLIT: scf.if
// SPLIT: rmsnorm.async_copy
// SPLIT: rmsnorm.copy_commit
// SPLIT-NEXT: rmsnorm.copy_wait 1
// SPLIT-NEXT: scf.if
// SPLIT: rmsnorm.workgroup_load
// SPLIT: rmsnorm.exchange_publish %{{.*}} number(%[[NEXT:.*]]) subgroup(%[[SUBGROUP]])
// SPLIT: %[[N:.*]] = arith.index_castui %[[K]] : index to i32
// SPLIT: rmsnorm.exchange_await number(%[[N]]) <subgroups = 2, cluster = 2>
// SPLIT: rmsnorm.exchange_read number(%[[N]]) publisher(%{{.*}}) value(0)
// SPLIT: rmsnorm.subgroup_reduce add %{{.*}} width(4)
// SPLIT-NOT: rmsnorm.barrier
// SPLIT: rmsnorm.workgroup_load %{{.*}} segment(1) : vector<8xbf16>
// SPLIT: rmsnorm.keep %[[W]] after
// SPLIT-NOT: rmsnorm.exchange
// SPLIT: gpu.return
// Four slots of four values and a barrier, 96 bytes; three of 1024 bytes behind.
// SPLIT: dynamic_shared_memory_size %c3200_i32

// ELEMENT: rmsnorm.async_copy {{.*}} alignment(2) : vector<8xbf16>
func.func @ring(%x: memref<?x1000xbf16, strided<[?, 1]>>, %w: memref<1000xf32>, %y: memref<?x1000xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x1000xbf16, strided<[?, 1]>>
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x1000xbf16, strided<[?, 1]>> -> vector<1x1000xbf16>
    %1 = arith.extf %0 : vector<1x1000xbf16> to vector<1x1000xf32>
    %2 = arith.mulf %1, %1 : vector<1x1000xf32>
    %3 = rmsnorm.row_reduce add(%2) : vector<1x1000xf32> -> vector<1x1xf32>
    %4 = vector.broadcast %3 : vector<1x1xf32> to vector<1x1000xf32>
    %5 = arith.mulf %1, %4 : vector<1x1000xf32>
    %6 = rmsnorm.tile_load column %w : memref<1000xf32> -> vector<1x1000xf32>
    %7 = arith.mulf %5, %6 : vector<1x1000xf32>
    %8 = arith.truncf %7 : vector<1x1000xf32> to vector<1x1000xbf16>
    rmsnorm.tile_store tile %8, %y[%row] : vector<1x1000xbf16>, memref<?x1000xbf16, strided<[?, 1]>>
  }
  return
}

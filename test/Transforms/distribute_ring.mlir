// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent,cache=shared,stages=3,copy=cg,threads_per_row=64,rows_per_group=2,pdl=false" | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent,cache=shared,stages=2,copy=cg,threads_per_row=64,rows_per_group=2,pdl=false" | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 alignment=1 schedule=static_persistent,cache=shared,stages=3,threads_per_row=64" | FileCheck %s --check-prefix=ELEMENT

// 1000 columns of bf16 on 64 threads of 8: a whole vector and part of one, two
// rows, so four copies a tile. A slot is 64 threads x 16 bytes x 4 = 4096 bytes;
// a thread's vectors lie 1024 bytes apart.
// SPLIT: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s3cg(
// WHOLE: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s2cg(
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[C4096:.*]] = arith.constant 4096 : i32
// SPLIT: rmsnorm.exchange_init <values = 2, subgroups = 2>
// The weight, once for all tiles.
// CHECK: %[[W:.*]] = rmsnorm.global_load %{{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK-COUNT-4: rmsnorm.async_copy {{.*}} cache(cg) : vector<8xbf16>
// CHECK-NOT: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// SPLIT: scf.if
// SPLIT-COUNT-4: rmsnorm.async_copy
// SPLIT: rmsnorm.copy_commit
// SPLIT: rmsnorm.exchange_ready
// SPLIT: rmsnorm.copy_wait 1
// SPLIT: scf.if
// SPLIT-COUNT-4: rmsnorm.workgroup_load %{{.*}} : vector<8xbf16>
// SPLIT: rmsnorm.exchange_publish %{{.*}}, %{{.*}} number(%{{.*}}) group(%{{.*}}) subgroup(%{{.*}}) <values = 2, subgroups = 2> : f32, f32
// SPLIT: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (index, index)
// WHOLE: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (i32, index)
// CHECK: scf.if
// CHECK-COUNT-4: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// SPLIT: rmsnorm.copy_wait 1
// WHOLE: rmsnorm.copy_wait 1
// SPLIT: scf.if
// SPLIT-COUNT-4: rmsnorm.workgroup_load
// SPLIT: rmsnorm.exchange_publish
// SPLIT-NOT: rmsnorm.barrier
// SPLIT: rmsnorm.exchange_await number(%[[N:.*]]) group(%{{.*}}) <values = 2, subgroups = 2>
// SPLIT: rmsnorm.exchange_read number(%[[N]]) group(%{{.*}}) publisher(%{{.*}}) value(0)
// SPLIT: rmsnorm.subgroup_reduce add %{{.*}} width(2)
// SPLIT: rmsnorm.exchange_read number(%[[N]]) group(%{{.*}}) publisher(%{{.*}}) value(1)
// SPLIT-NOT: rmsnorm.barrier
// WHOLE: rmsnorm.barrier
// CHECK-COUNT-4: rmsnorm.workgroup_load %{{.*}} segment(1) : vector<8xbf16>
// CHECK: rmsnorm.keep %[[W]] after
// CHECK: gpu.return
// Three slots of 4096 bytes; values and barriers of four slots come first.
// SPLIT: dynamic_shared_memory_size %c12416_i32
// WHOLE: dynamic_shared_memory_size %c8224_i32

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

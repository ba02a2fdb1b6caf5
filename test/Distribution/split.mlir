// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Two blocks share a row, 504 columns and the other 496: part of one vector a
// thread. Two rows are on their way when the exchange is made ready; the first
// is published before the loop, the next one in each iteration, before the
// iteration's own is awaited. The loop carries a slot and a number, no turn.
// CHECK: gpu.func @split_static_persistent_g1u1t64v8f2a16c2_s3(
// CHECK-SAME: %[[TILES:[a-z0-9]*]]: index
// CHECK-DAG: %[[BLOCK:.*]] = arith.divui %{{.*}}, %c2 : index
// CHECK-DAG: %[[GRID:.*]] = arith.divui %{{.*}}, %c2 : index
// CHECK: rmsnorm.exchange_init <subgroups = 2, cluster = 2>
// CHECK: %[[OK0:.*]] = arith.cmpi ult, %[[BLOCK]], %[[TILES]]
// CHECK: %[[W:.*]] = rmsnorm.global_load %{{.*}} : vector<8xf32>
// CHECK: scf.if %[[OK0]] {
// CHECK: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// CHECK: scf.if
// CHECK: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// CHECK-NEXT: rmsnorm.exchange_ready <subgroups = 2, cluster = 2>
// CHECK-NEXT: rmsnorm.copy_wait 1
// CHECK-NEXT: scf.if %[[OK0]] {
// CHECK: rmsnorm.workgroup_load %{{.*}} : vector<8xbf16>
// CHECK: rmsnorm.exchange_publish %{{.*}} number(%c0_i32) subgroup(%[[SUBGROUP:.*]]) <subgroups = 2, cluster = 2> : f32
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[TILES]] step %[[GRID]] iter_args(%[[SLOT:.*]] = %c0, %[[K:.*]] = %c0) -> (index, index)
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c1 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[GRID]] : index
// CHECK: %[[NOWRAP:.*]] = arith.cmpi ult, %[[SLOT]], %c2 : index
// CHECK: %[[UP:.*]] = arith.addi %[[SLOT]], %c1 : index
// CHECK: %[[DOWN:.*]] = arith.subi %[[SLOT]], %c2 : index
// CHECK: %[[SLOT1:.*]] = arith.select %[[NOWRAP]], %[[UP]], %[[DOWN]] : index
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[TILES]]
// CHECK: scf.if
// CHECK: rmsnorm.async_copy
// CHECK: rmsnorm.copy_commit
// CHECK-NEXT: rmsnorm.copy_wait 1
// The next tile, from its own slot.
// CHECK-NEXT: scf.if %[[MORE]] {
// CHECK-NEXT: %[[S1:.*]] = arith.index_castui %[[SLOT1]] : index to i32
// CHECK-NEXT: arith.muli %[[S1]], %c1024_i32
// CHECK: rmsnorm.workgroup_load
// CHECK: %[[N1:.*]] = arith.index_castui %[[K1]] : index to i32
// CHECK-NEXT: rmsnorm.exchange_publish %{{.*}} number(%[[N1]]) subgroup(%[[SUBGROUP]])
// CHECK-NEXT: }
// CHECK-NOT: rmsnorm.workgroup_load
// CHECK: %[[N:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK: rmsnorm.exchange_await number(%[[N]]) <subgroups = 2, cluster = 2>
// CHECK: rmsnorm.exchange_read number(%[[N]]) publisher(%{{.*}}) value(0)
// CHECK: rmsnorm.subgroup_reduce add %{{.*}} width(4)
// CHECK-NOT: rmsnorm.barrier
// CHECK: %[[S:.*]] = arith.index_castui %[[SLOT]] : index to i32
// CHECK-NEXT: arith.muli %[[S]], %c1024_i32
// CHECK: rmsnorm.workgroup_load %{{.*}} segment(1) : vector<8xbf16>
// CHECK: rmsnorm.keep %[[W]] after
// CHECK-NOT: rmsnorm.exchange
// CHECK: scf.yield %[[SLOT1]], %[[K1]]
// CHECK: gpu.return
// Four slots of four values and a barrier, 96 bytes; three of 1024 bytes after.
// CHECK: dynamic_shared_memory_size %c3200_i32
func.func @split(%x: memref<?x1000xbf16, strided<[?, 1]>>, %w: memref<1000xf32>, %y: memref<?x1000xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x1000xbf16, strided<[?, 1]>>
  rmsnorm.rows sizes [%m] columns(1000)
      buffers(read %x : memref<?x1000xbf16, strided<[?, 1]>>, read %w : memref<1000xf32>, write %y : memref<?x1000xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 8, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x1000xbf16, strided<[?, 1]>>, %W: memref<1000xf32>, %Y: memref<?x1000xbf16, strided<[?, 1]>>):
    %0 = rmsnorm.tile_load column %W : memref<1000xf32> -> vector<1x1000xf32>
    rmsnorm.tiles copies(%X : memref<?x1000xbf16, strided<[?, 1]>>) stages 3 begin {
    ^bb0(%t: index, %xs: !rmsnorm.slot<1x1000xbf16>):
      %1 = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %2 = rmsnorm.slot_load %xs : <1x1000xbf16> -> vector<1x1000xbf16>
        %3 = arith.extf %2 : vector<1x1000xbf16> to vector<1x1000xf32>
        %4 = arith.mulf %3, %3 : vector<1x1000xf32>
        rmsnorm.yield %4 : vector<1x1000xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %1 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %xs: !rmsnorm.slot<1x1000xbf16>, %s: vector<1x1xf32>):
      rmsnorm.fetch %xs : !rmsnorm.slot<1x1000xbf16>
      rmsnorm.arrive %xs : !rmsnorm.slot<1x1000xbf16>
      rmsnorm.await %s : vector<1x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %1 = rmsnorm.slot_load %xs again(1) : <1x1000xbf16> -> vector<1x1000xbf16>
        %2 = arith.extf %1 : vector<1x1000xbf16> to vector<1x1000xf32>
        %3 = vector.broadcast %s : vector<1x1xf32> to vector<1x1000xf32>
        %4 = arith.mulf %2, %3 : vector<1x1000xf32>
        %5 = rmsnorm.keep %0 after %t : vector<1x1000xf32>, index
        %6 = arith.mulf %4, %5 : vector<1x1000xf32>
        %7 = arith.truncf %6 : vector<1x1000xf32> to vector<1x1000xbf16>
        rmsnorm.tile_store tile %7, %Y[%t] : vector<1x1000xbf16>, memref<?x1000xbf16, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

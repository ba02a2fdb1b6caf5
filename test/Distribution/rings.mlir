// Tiles that are copied to workgroup memory, each when rmsnorm.tiles says.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: sed 's/stages 3/stages 2/; s/stages = 3/stages = 2/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: sed 's/vector_width = 8/vector_width = 8, alignment = 1/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefix=ELEMENT

// One stage is no ring: the tile is copied and waited for, the weight travels
// meanwhile, and what is not copied is loaded.
// CHECK: gpu.func @shared_multi_wave_cached_{{.*}}_s1(%{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[W:[a-z0-9]*]]: !llvm.ptr<1>, %[[Z:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// CHECK-NOT: rmsnorm.async_copy
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: rmsnorm.async_copy %[[X]][%{{.*}}] to %[[PLACE:.*]] alignment(16)
// CHECK-NEXT: rmsnorm.copy_commit
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.global_load %[[W]]
// CHECK-NEXT: rmsnorm.copy_wait 0
// CHECK-NEXT: rmsnorm.workgroup_load %[[PLACE]] :
// CHECK: %[[SUM:.*]] = rmsnorm.subgroup_reduce
// CHECK: rmsnorm.workgroup_load %[[PLACE]] segment(1) :
// CHECK: rmsnorm.keep %[[W0]] after %[[SUM]]
// CHECK: rmsnorm.global_load %[[Z]]
// CHECK: rmsnorm.global_store
// CHECK: gpu.return

// A ring of three, of two buffers: two tiles are copied before the loop, if
// there are as many; in it the copies of the tile after next come first, after
// the loads of the next one's per-row values. The weight is loaded once for all tiles, and
// hidden in each. In place: each tile is stored where it was read. Z's ring
// lies after the three slots of X's.
// THREE: gpu.func @in_place_static_persistent_{{.*}}_s3(%[[TILES:[a-z0-9]*]]: index, %[[W:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[Z:[a-z0-9]*]]: !llvm.ptr<1>, %[[S:[a-z0-9]*]]: !llvm.ptr<1>) kernel
// THREE-DAG: %[[BLOCK:.*]] = gpu.block_id
// THREE-DAG: %[[GRID:.*]] = gpu.grid_dim
// THREE: %[[OK0:.*]] = arith.cmpi ult, %[[BLOCK]], %[[TILES]]
// THREE: %[[TILE1:.*]] = arith.addi %[[BLOCK]], %[[GRID]]
// THREE: %[[OK1:.*]] = arith.cmpi ult, %[[TILE1]], %[[TILES]]
// THREE: %[[W0:.*]] = rmsnorm.global_load %[[W]]
// THREE: scf.if %[[OK0]] {
// THREE: arith.muli %[[BLOCK]], %c4 : index
// THREE: rmsnorm.async_copy %[[X]][%[[ROW0:.*]], %[[COLUMN:.*]]] to %[[SLOT0:.*]] alignment(16)
// THREE: %[[ZSLOT0:.*]] = arith.addi %[[SLOT0]], %c1536_i32
// THREE: rmsnorm.async_copy %[[Z]][%[[ROW0]], %[[COLUMN]]] to %[[ZSLOT0]] alignment(16)
// THREE: }
// THREE-NEXT: rmsnorm.copy_commit
// THREE-NEXT: scf.if %[[OK1]] {
// THREE: arith.muli %[[TILE1]], %c4 : index
// THREE: arith.addi %{{.*}}, %c512_i32
// THREE-COUNT-2: rmsnorm.async_copy
// THREE: }
// THREE-NEXT: rmsnorm.copy_commit
// THREE-NOT: rmsnorm.async_copy
// THREE: arith.subi %[[TILES]], %c1 : index
// THREE: %[[S0V:.*]] = rmsnorm.global_load %[[S]]
// THREE: %[[S0:.*]] = vector.extract %[[S0V]]
// THREE: scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[TILES]] step %[[GRID]] iter_args(%[[OWN:.*]] = %[[S0]], %[[SLOT:.*]] = %c0) -> ({{.*}}, index)
// Slot + 2 and slot + 1, modulo three.
// THREE: %[[NOWRAP:.*]] = arith.cmpi ult, %[[SLOT]], %c1 : index
// THREE: %[[UP:.*]] = arith.addi %[[SLOT]], %c2 : index
// THREE: %[[DOWN:.*]] = arith.subi %[[SLOT]], %c1 : index
// THREE: %[[REFILL:.*]] = arith.select %[[NOWRAP]], %[[UP]], %[[DOWN]] : index
// THREE: %[[FAR:.*]] = arith.muli %[[GRID]], %c2 : index
// THREE: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[FAR]] : index
// THREE: %[[OK:.*]] = arith.cmpi ult, %[[NEXT]], %[[TILES]]
// THREE: %[[NOWRAP1:.*]] = arith.cmpi ult, %[[SLOT]], %c2 : index
// THREE: %[[UP1:.*]] = arith.addi %[[SLOT]], %c1 : index
// THREE: %[[DOWN1:.*]] = arith.subi %[[SLOT]], %c2 : index
// THREE: %[[SLOT1:.*]] = arith.select %[[NOWRAP1]], %[[UP1]], %[[DOWN1]] : index
// THREE: %[[NEXTSV:.*]] = rmsnorm.global_load %[[S]]
// THREE: %[[NEXTS:.*]] = vector.extract %[[NEXTSV]]
// THREE: scf.if %[[OK]] {
// THREE: arith.muli %[[NEXT]], %c4 : index
// THREE: %[[REFILL32:.*]] = arith.index_castui %[[REFILL]] : index to i32
// THREE: arith.muli %[[REFILL32]], %c512_i32 : i32
// THREE: rmsnorm.async_copy %[[X]]
// THREE: rmsnorm.async_copy %[[Z]]
// THREE: }
// THREE-NEXT: rmsnorm.copy_commit
// THREE-NEXT: rmsnorm.copy_wait 2
// THREE-NOT: rmsnorm.async_copy
// THREE: %[[SLOT32:.*]] = arith.index_castui %[[SLOT]] : index to i32
// THREE: %[[BEGIN:.*]] = arith.muli %[[SLOT32]], %c512_i32 : i32
// THREE: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[BEGIN]]
// THREE: rmsnorm.workgroup_load %[[PLACE]] :
// THREE: rmsnorm.keep %[[W0]] after %[[SLOT32]]
// THREE: rmsnorm.subgroup_reduce
// THREE: rmsnorm.workgroup_load %[[PLACE]] segment(1) :
// THREE: %[[ZPLACE:.*]] = arith.addi %[[PLACE]], %c1536_i32
// THREE: rmsnorm.workgroup_load %[[ZPLACE]] :
// THREE: rmsnorm.global_store %{{.*}}, %[[X]]
// THREE: scf.yield %[[NEXTS]], %[[SLOT1]] :
// THREE: gpu.return

// 1000 columns of bf16 on 64 threads of 8: a whole vector and part of one, two
// rows, so four copies a tile. A slot is 64 threads x 16 bytes x 4 = 4096 bytes;
// a thread's vectors lie 1024 bytes apart.
// THREE: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s3(
// TWO: gpu.func @ring_static_persistent_g1u2t64v8f2a16_s2(
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[C4096:.*]] = arith.constant 4096 : i32
// The weight, once for all tiles.
// CHECK: %[[W:.*]] = rmsnorm.global_load %{{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK-COUNT-4: rmsnorm.async_copy {{.*}} : vector<8xbf16>
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

// ELEMENT-NOT: rmsnorm.async_copy {{.*}} alignment(16)
// ELEMENT: rmsnorm.async_copy {{.*}} alignment(2) : vector<8xbf16>
// ELEMENT-NOT: rmsnorm.async_copy {{.*}} alignment(16)
func.func @shared(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %z: memref<?x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64)
      buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, read %z : memref<?x64xbf16>, write %y : memref<?x64xf32>)
      schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 8, vector_width = 8, cache = shared>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %Z: memref<?x64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles copies(%X : memref<?x64xbf16>) stages 1 body {
    ^bb0(%t: index, %xs: !rmsnorm.slot<4x64xbf16>):
      rmsnorm.fetch %xs : !rmsnorm.slot<4x64xbf16>
      %w0 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      rmsnorm.arrive %xs : !rmsnorm.slot<4x64xbf16>
      %s = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.slot_load %xs : <4x64xbf16> -> vector<4x64xbf16>
        %1 = arith.extf %0 : vector<4x64xbf16> to vector<4x64xf32>
        rmsnorm.yield %1 : vector<4x64xf32>
      } -> vector<4x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.slot_load %xs again(1) : <4x64xbf16> -> vector<4x64xbf16>
        %1 = arith.extf %0 : vector<4x64xbf16> to vector<4x64xf32>
        %2 = vector.broadcast %s : vector<4x1xf32> to vector<4x64xf32>
        %3 = arith.mulf %1, %2 : vector<4x64xf32>
        %4 = rmsnorm.keep %w0 after %s : vector<1x64xbf16>, vector<4x1xf32>
        %5 = arith.extf %4 : vector<1x64xbf16> to vector<1x64xf32>
        %6 = vector.broadcast %5 : vector<1x64xf32> to vector<4x64xf32>
        %7 = arith.mulf %3, %6 : vector<4x64xf32>
        %8 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<4x64xbf16>
        %9 = arith.extf %8 : vector<4x64xbf16> to vector<4x64xf32>
        %10 = arith.mulf %7, %9 : vector<4x64xf32>
        rmsnorm.tile_store tile %10, %Y[%t] : vector<4x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @in_place(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %s: memref<?xf32>, %z: memref<?x64xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64)
      buffers(update %x : memref<?x64xbf16>, read %w : memref<64xbf16>, read %s : memref<?xf32>, read %z : memref<?x64xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 8, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %S: memref<?xf32>, %Z: memref<?x64xbf16>):
    %w0 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
    rmsnorm.tiles copies(%X, %Z : memref<?x64xbf16>, memref<?x64xbf16>) stages 3 body {
    ^bb0(%t: index, %xs: !rmsnorm.slot<4x64xbf16>, %zs: !rmsnorm.slot<4x64xbf16>):
      %s0 = rmsnorm.tile_load row %S[%t] : memref<?xf32> -> vector<4x1xf32>
      rmsnorm.fetch %xs, %zs : !rmsnorm.slot<4x64xbf16>, !rmsnorm.slot<4x64xbf16>
      rmsnorm.arrive %xs, %zs : !rmsnorm.slot<4x64xbf16>, !rmsnorm.slot<4x64xbf16>
      %s1 = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.slot_load %xs : <4x64xbf16> -> vector<4x64xbf16>
        %1 = arith.extf %0 : vector<4x64xbf16> to vector<4x64xf32>
        %2 = rmsnorm.keep %w0 after %t : vector<1x64xbf16>, index
        %3 = arith.extf %2 : vector<1x64xbf16> to vector<1x64xf32>
        %4 = vector.broadcast %3 : vector<1x64xf32> to vector<4x64xf32>
        %5 = arith.mulf %1, %4 : vector<4x64xf32>
        rmsnorm.yield %5 : vector<4x64xf32>
      } -> vector<4x1xf32>
      %s2 = arith.mulf %s1, %s0 : vector<4x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.slot_load %xs again(1) : <4x64xbf16> -> vector<4x64xbf16>
        %1 = arith.extf %0 : vector<4x64xbf16> to vector<4x64xf32>
        %2 = vector.broadcast %s2 : vector<4x1xf32> to vector<4x64xf32>
        %3 = arith.mulf %1, %2 : vector<4x64xf32>
        %4 = rmsnorm.slot_load %zs : <4x64xbf16> -> vector<4x64xbf16>
        %5 = arith.extf %4 : vector<4x64xbf16> to vector<4x64xf32>
        %6 = arith.mulf %3, %5 : vector<4x64xf32>
        %7 = arith.truncf %6 : vector<4x64xf32> to vector<4x64xbf16>
        rmsnorm.tile_store tile %7, %X[%t] : vector<4x64xbf16>, memref<?x64xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @ring(%x: memref<?x1000xbf16, strided<[?, 1]>>, %w: memref<1000xf32>, %y: memref<?x1000xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x1000xbf16, strided<[?, 1]>>
  rmsnorm.rows sizes [%m] columns(1000)
      buffers(read %x : memref<?x1000xbf16, strided<[?, 1]>>, read %w : memref<1000xf32>, write %y : memref<?x1000xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<rows_per_group = 2, threads_per_row = 64, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 3>) {
  ^bb0(%M: index, %X: memref<?x1000xbf16, strided<[?, 1]>>, %W: memref<1000xf32>, %Y: memref<?x1000xbf16, strided<[?, 1]>>):
    %0 = rmsnorm.tile_load column %W : memref<1000xf32> -> vector<1x1000xf32>
    rmsnorm.tiles copies(%X : memref<?x1000xbf16, strided<[?, 1]>>) stages 3 body {
    ^bb0(%t: index, %xs: !rmsnorm.slot<2x1000xbf16>):
      rmsnorm.fetch %xs : !rmsnorm.slot<2x1000xbf16>
      rmsnorm.arrive %xs : !rmsnorm.slot<2x1000xbf16>
      %1 = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %2 = rmsnorm.slot_load %xs : <2x1000xbf16> -> vector<2x1000xbf16>
        %3 = arith.extf %2 : vector<2x1000xbf16> to vector<2x1000xf32>
        %4 = arith.mulf %3, %3 : vector<2x1000xf32>
        rmsnorm.yield %4 : vector<2x1000xf32>
      } -> vector<2x1xf32>
      rmsnorm.traverse chunks in_flight(2) {
        %2 = rmsnorm.slot_load %xs again(1) : <2x1000xbf16> -> vector<2x1000xbf16>
        %3 = arith.extf %2 : vector<2x1000xbf16> to vector<2x1000xf32>
        %4 = vector.broadcast %1 : vector<2x1xf32> to vector<2x1000xf32>
        %5 = arith.mulf %3, %4 : vector<2x1000xf32>
        %6 = rmsnorm.keep %0 after %t : vector<1x1000xf32>, index
        %7 = vector.broadcast %6 : vector<1x1000xf32> to vector<2x1000xf32>
        %8 = arith.mulf %5, %7 : vector<2x1000xf32>
        %9 = arith.truncf %8 : vector<2x1000xf32> to vector<2x1000xbf16>
        rmsnorm.tile_store tile %9, %Y[%t] : vector<2x1000xbf16>, memref<?x1000xbf16, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

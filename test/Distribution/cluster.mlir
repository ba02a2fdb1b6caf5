// Blocks of a cluster share a row: each has its columns, all have the sum.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PERSISTENT
// RUN: sed 's/, blocks_per_sm = 2//' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WAVES

// Four parts of 2048 columns: two vectors a thread, none of them in part. Three
// values of a row travel at once: a slot holds 3 x 4 x 4 of them.
// CHECK: gpu.func @even_{{.*}}c4(%[[M:[a-z0-9]*]]: index,
// CHECK-SAME: known_cluster_size = array<i32: 4, 1, 1>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[PART:.*]] = arith.constant 2048 : i32
// CHECK-DAG: %[[CLUSTER:.*]] = arith.divui %{{.*}}, %c4 : index
// CHECK-DAG: %[[CLUSTERS:.*]] = arith.divui %{{.*}}, %c4 : index
// CHECK: %[[RANK:.*]] = arith.remui %{{.*}}, %[[FOUR]] : i32
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %[[PART]] : i32
// CHECK: %[[COLUMN:.*]] = arith.addi %[[BEGIN]], %{{.*}} overflow<nsw, nuw> : i32
// CHECK: rmsnorm.exchange_init <values = 3, subgroups = 4, cluster = 4>
// CHECK: scf.for %{{.*}} = %[[CLUSTER]] to %[[M]] step %[[CLUSTERS]] iter_args(%[[TURN:.*]] = %[[ZERO]]) -> (i32)
// CHECK: rmsnorm.global_load %{{.*}}[%{{.*}}, %[[COLUMN]]] alignment(16)
// CHECK-NOT: valid
// CHECK-COUNT-3: rmsnorm.subgroup_reduce {{.*}} width(32) : f32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]], %[[ZERO]] : i32
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: rmsnorm.exchange_ready
// CHECK-NEXT: }
// CHECK: rmsnorm.exchange_publish %{{.*}}, %{{.*}}, %{{.*}} number(%[[TURN]]) subgroup(%{{.*}}) <values = 3, subgroups = 4, cluster = 4>
// CHECK: rmsnorm.exchange_await number(%[[TURN]]) <
// CHECK-COUNT-3: rmsnorm.exchange_read number(%[[TURN]]) publisher(%{{.*}}) value({{[012]}})
// CHECK: rmsnorm.subgroup_reduce {{.*}} width(16)
// CHECK-NOT: rmsnorm.barrier
// One of all the row's threads writes what there is one of.
// CHECK: %[[OWNER:.*]] = arith.cmpi eq, %{{.*}}, %[[ZERO]] : i32
// CHECK: %[[RANK0:.*]] = arith.cmpi eq, %[[RANK]], %[[ZERO]] : i32
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.addi %[[TURN]], %[[ONE]] : i32

// Four parts of 256 vectors, 2048 columns, cover 8190: the last part ends
// earlier, so the last vector of each thread asks.
// CHECK: gpu.func @odd_
// CHECK-DAG: %[[N:.*]] = arith.constant 8190 : i32
// CHECK-DAG: %[[PART2:.*]] = arith.constant 2048 : i32
// CHECK: %[[BEGIN2:.*]] = arith.muli %{{.*}}, %[[PART2]] : i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN2]], %[[PART2]] : i32
// CHECK: %[[END:.*]] = arith.minui %[[NEXT]], %[[N]] : i32
// CHECK: %[[VALID:.*]] = arith.subi %[[END]], %{{.*}} : i32
// CHECK: rmsnorm.global_load %{{.*}} alignment(16){{.*}} : vector<8xbf16>
// CHECK: rmsnorm.global_load %{{.*}} valid(%[[VALID]]) alignment(4)

// A cluster a row. A grid of whole clusters, one at least.
// CHECK-LABEL: func.func @even(
// WAVES: %[[GRID:.*]] = arith.minui
// PERSISTENT: %[[SMS:.*]] = rmsnorm.multiprocessor_count
// PERSISTENT: %[[BLOCKS:.*]] = arith.muli %[[SMS]], %c2
// PERSISTENT: %[[FIT:.*]] = arith.divui %[[BLOCKS]], %c4
// PERSISTENT: %[[RESIDENT:.*]] = rmsnorm.resident_clusters
// PERSISTENT: %[[WHOLE:.*]] = arith.minui %[[FIT]], %[[RESIDENT]]
// PERSISTENT: %[[MOST:.*]] = arith.maxui %[[WHOLE]], %c1
// PERSISTENT: %[[GRID:.*]] = arith.minui %{{.*}}, %[[MOST]]
// CHECK: %[[THREADBLOCKS:.*]] = arith.muli %[[GRID]], %c4
// CHECK: gpu.launch_func @rmsnorm_kernels::@even_{{.*}} clusters in (%c4{{.*}}, %c1{{.*}}, %c1{{.*}}) blocks in (%[[THREADBLOCKS]],
// CHECK-SAME: dynamic_shared_memory_size %c800
func.func @even(%x: memref<?x8192xbf16>, %y: memref<?x8192xbf16>, %s: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(8192)
      buffers(read %x : memref<?x8192xbf16>, write %y : memref<?x8192xbf16>, write %s : memref<?xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 128, vector_width = 8, cluster = 4, blocks_per_sm = 2>) {
  ^bb0(%M: index, %X: memref<?x8192xbf16>, %Y: memref<?x8192xbf16>, %S: memref<?xf32>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0:4 = rmsnorm.traverse unrolled reduce(add, maximumf, minimumf) {
        %3 = rmsnorm.tile_load tile %X[%t] : memref<?x8192xbf16> -> vector<1x8192xbf16>
        %4 = arith.extf %3 : vector<1x8192xbf16> to vector<1x8192xf32>
        %5 = math.absf %4 : vector<1x8192xf32>
        rmsnorm.yield %4, %5, %4, %3 : vector<1x8192xf32>, vector<1x8192xf32>, vector<1x8192xf32>, vector<1x8192xbf16>
      } -> vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>, vector<1x8192xbf16>
      %1 = arith.addf %0#1, %0#2 : vector<1x1xf32>
      %2 = arith.addf %0#0, %1 : vector<1x1xf32>
      rmsnorm.tile_store row %2, %S[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.traverse unrolled {
        %3 = rmsnorm.keep %0#3 after %0#0 : vector<1x8192xbf16>, vector<1x1xf32>
        %4 = arith.extf %3 : vector<1x8192xbf16> to vector<1x8192xf32>
        %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x8192xf32>
        %6 = arith.mulf %4, %5 : vector<1x8192xf32>
        %7 = arith.truncf %6 : vector<1x8192xf32> to vector<1x8192xbf16>
        rmsnorm.tile_store tile %7, %Y[%t] : vector<1x8192xbf16>, memref<?x8192xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @odd(%x: memref<?x8190xbf16>, %y: memref<?x8190xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(8190)
      buffers(read %x : memref<?x8190xbf16>, write %y : memref<?x8190xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 128, vector_width = 8, vectors_in_flight = 8, cluster = 4, blocks_per_sm = 2>) {
  ^bb0(%M: index, %X: memref<?x8190xbf16>, %Y: memref<?x8190xbf16>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0:2 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x8190xbf16> -> vector<1x8190xbf16>
        %2 = arith.extf %1 : vector<1x8190xbf16> to vector<1x8190xf32>
        rmsnorm.yield %2, %1 : vector<1x8190xf32>, vector<1x8190xbf16>
      } -> vector<1x1xf32>, vector<1x8190xbf16>
      rmsnorm.traverse unrolled {
        %1 = rmsnorm.keep %0#1 after %0#0 : vector<1x8190xbf16>, vector<1x1xf32>
        %2 = arith.extf %1 : vector<1x8190xbf16> to vector<1x8190xf32>
        %3 = vector.broadcast %0#0 : vector<1x1xf32> to vector<1x8190xf32>
        %4 = arith.mulf %2, %3 : vector<1x8190xf32>
        %5 = arith.truncf %4 : vector<1x8190xf32> to vector<1x8190xbf16>
        rmsnorm.tile_store tile %5, %Y[%t] : vector<1x8190xbf16>, memref<?x8190xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

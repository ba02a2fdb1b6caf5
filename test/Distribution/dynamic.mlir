// Rows of dynamic size: trips without a predicate, as many as every thread has,
// then one that asks. Partial sums are carried by the loop. The float N is
// computed in the kernel, as a launch passes integers and pointers.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s
// CHECK-LABEL: gpu.func @dynamic_multi_wave_reload
// CHECK-DAG: %[[STEP:.*]] = arith.constant 8192 : i32
// CHECK-DAG: %[[NF:.*]] = arith.uitofp %{{.*}} : i64 to f32
// CHECK: scf.for %{{.*}} step %{{.*}} iter_args(%{{.*}}) -> (i32) {
// CHECK: %[[N:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK: %[[TRIPS:.*]] = arith.divui %[[N]], %[[STEP]] : i32
// CHECK: %[[SUMS:.*]] = scf.for %{{.*}} to %[[TRIPS]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK-COUNT-2: rmsnorm.global_load %{{.*}}[%{{.*}}] alignment(16) policy(evict_last)
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: scf.yield
// CHECK: rmsnorm.global_load %{{.*}} valid(%{{.*}}) alignment(16)
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[SUMS]]
// CHECK: arith.divf %{{.*}}, %[[NF]] : f32
// CHECK: scf.for %{{.*}} to %[[TRIPS]]
// CHECK: rmsnorm.global_store %{{.*}}[%{{.*}}] alignment(16) : vector<8xbf16>
// CHECK: rmsnorm.global_store %{{.*}} valid(%{{.*}}) alignment(16) : vector<8xbf16>
func.func @dynamic(%x: memref<?x?xbf16, strided<[?, 1]>>, %y: memref<?x?xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %n = memref.dim %x, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %0 = arith.index_cast %n : index to i64
  rmsnorm.rows sizes [%m] columns(1073741824, %n)
      buffers(read %x : memref<?x?xbf16, strided<[?, 1]>>, write %y : memref<?x?xbf16, strided<[?, 1]>>) scalars(%0 : i64)
      schedule(#rmsnorm.schedule<threads_per_row = 512, vector_width = 8, cache = reload>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xbf16, strided<[?, 1]>>, %Y: memref<?x?xbf16, strided<[?, 1]>>, %V: i64):
    %1 = arith.uitofp %V : i64 to f32
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %2 = rmsnorm.traverse looped in_flight(2) reduce(add) {
        %5 = rmsnorm.tile_load tile %X[%t] policy(evict_last) : memref<?x?xbf16, strided<[?, 1]>> -> vector<1x1073741824xbf16>
        %6 = arith.extf %5 : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
        %7 = arith.mulf %6, %6 : vector<1x1073741824xf32>
        rmsnorm.yield %7 : vector<1x1073741824xf32>
      } -> vector<1x1xf32>
      %3 = vector.broadcast %1 : f32 to vector<1x1xf32>
      %4 = arith.divf %2, %3 : vector<1x1xf32>
      rmsnorm.traverse looped in_flight(2) {
        %5 = rmsnorm.tile_load tile %X[%t] again(1) policy(evict_first) : memref<?x?xbf16, strided<[?, 1]>> -> vector<1x1073741824xbf16>
        %6 = arith.extf %5 : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
        %7 = vector.broadcast %4 : vector<1x1xf32> to vector<1x1073741824xf32>
        %8 = arith.mulf %6, %7 : vector<1x1073741824xf32>
        %9 = arith.truncf %8 : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
        rmsnorm.tile_store tile %9, %Y[%t] : vector<1x1073741824xbf16>, memref<?x?xbf16, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

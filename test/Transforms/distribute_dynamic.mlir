// Rows of dynamic size: trips without a predicate, as many as every thread has,
// then one that asks. Partial sums are carried by the loop. The float N is
// computed in the kernel, as a launch passes integers and pointers.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sm_90 | FileCheck %s
// The threads of a row follow the most columns that there will be.
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=1536" | FileCheck %s --check-prefix=ONE
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=1537" | FileCheck %s --check-prefix=TWO
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=3072" | FileCheck %s --check-prefix=TWO
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=6144" | FileCheck %s --check-prefix=FOUR
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=12288" | FileCheck %s --check-prefix=EIGHT
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 columns=12289" | FileCheck %s --check-prefix=SIXTEEN
// ONE: gpu.func @dynamic_multi_wave_reload_g4u1t32v8f2
// TWO: gpu.func @dynamic_multi_wave_reload_g1u1t64v8f2
// FOUR: gpu.func @dynamic_multi_wave_reload_g1u1t128v8f2
// EIGHT: gpu.func @dynamic_multi_wave_reload_g1u1t256v8f2
// SIXTEEN: gpu.func @dynamic_multi_wave_reload_g1u1t512v8f2

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
  %ni = arith.index_cast %n : index to i64
  %nf = arith.uitofp %ni : i64 to f32
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xbf16, strided<[?, 1]>> -> vector<1x1073741824xbf16>
    %1 = arith.extf %0 : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
    %2 = arith.mulf %1, %1 : vector<1x1073741824xf32>
    %3 = rmsnorm.row_reduce add(%2) columns(%n) : vector<1x1073741824xf32> -> vector<1x1xf32>
    %4 = vector.broadcast %nf : f32 to vector<1x1xf32>
    %5 = arith.divf %3, %4 : vector<1x1xf32>
    %6 = vector.broadcast %5 : vector<1x1xf32> to vector<1x1073741824xf32>
    %7 = arith.mulf %1, %6 : vector<1x1073741824xf32>
    %8 = arith.truncf %7 : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
    rmsnorm.tile_store tile %8, %y[%row] columns(%n) : vector<1x1073741824xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  }
  return
}

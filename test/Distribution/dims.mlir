// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Rows of B x T x H, of which one buffer has B and H: T is divided out of the
// row's number, H and B are what addresses it. Another counts all rows in one
// dimension, and none is taken apart for it.
// CHECK-LABEL: gpu.func @dims_multi_wave_cached_g1u1t32v4f2a16(
// CHECK: scf.for %[[ROW:[a-z0-9_]*]] =
// CHECK: %[[ROW64:.*]] = arith.index_castui %[[ROW]] : index to i64
// CHECK: %[[HS:.*]] = arith.index_castui %{{.*}} : index to i64
// CHECK: arith.mului_extended
// CHECK: arith.cmpi uge, %{{.*}}, %[[HS]] : i64
// CHECK: %[[BT:.*]] = arith.addi %{{.*}} : i64
// CHECK: %[[H64:.*]] = arith.select %{{.*}} : i64
// CHECK: %[[H:.*]] = arith.index_castui %[[H64]] : i64 to index
// CHECK: %[[HO:.*]] = arith.muli %[[H]], %c128 : index
// CHECK: %[[TWICE:.*]] = arith.addi %[[BT]], %[[BT]] : i64
// CHECK: %{{.*}}, %{{.*}} = arith.mului_extended %[[TWICE]],
// CHECK: %[[B64:.*]] = arith.addi %{{.*}} : i64
// CHECK: %[[B:.*]] = arith.index_castui %[[B64]] : i64 to index
// CHECK: %[[BO:.*]] = arith.muli %[[B]], %[[STRIDE:.*]] : index
// CHECK: %[[O:.*]] = arith.addi %[[HO]], %[[BO]] : index
// CHECK: %[[O64:.*]] = arith.index_cast %[[O]] : index to i64
// CHECK: %[[Y:.*]] = arith.muli %[[ROW]], %c128 : index
// CHECK: rmsnorm.global_load %{{.*}}[%[[O64]],
func.func @dims(%s: memref<?x?x128xf32>, %y: memref<?x128xf32>, %b: index, %t: index, %h: index) {
  rmsnorm.rows sizes [%b, %t, %h] columns(128)
      buffers(read %s : memref<?x?x128xf32>, write %y : memref<?x128xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%B: index, %T: index, %H: index, %S: memref<?x?x128xf32>, %Y: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %S[%k] map(r0, r1, r2, c) -> (r0, r2, c) : memref<?x?x128xf32> -> vector<1x128xf32>
        rmsnorm.tile_store tile %0, %Y[%k] : vector<1x128xf32>, memref<?x128xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

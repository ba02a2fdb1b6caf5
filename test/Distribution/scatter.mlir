// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// The row of the index begins at the index times the stride; what has a negative
// one, and a row that is not there, is not stored.
// CHECK-LABEL: gpu.func @scatter
// CHECK:       %[[LIVE:.*]] = arith.cmpi ult
// CHECK:       %[[SLOT:.*]] = rmsnorm.global_load {{.*}} : vector<1xi64>
// CHECK:       %[[ONE:.*]] = vector.extract %[[SLOT]][0]
// CHECK:       %[[I:.*]] = arith.index_cast %[[ONE]] : i64 to index
// CHECK:       %[[AT:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK:       %[[ROW:.*]] = arith.index_cast %[[AT]] : index to i64
// CHECK:       %[[IS:.*]] = arith.cmpi sge, %[[I]], %c0{{.*}} : index
// CHECK:       %[[BOTH:.*]] = arith.andi %[[LIVE]], %[[IS]] : i1
// CHECK:       %[[COUNT:.*]] = arith.select %[[BOTH]], %c4_i32, %c0_i32 : i32
// CHECK:       rmsnorm.global_store %{{.*}}, %{{.*}}[%[[ROW]], %{{.*}}] valid(%[[COUNT]])
func.func @scatter(%m: index, %x: memref<?x64xf32>, %slots: memref<?xi64>, %cache: memref<?x64xf32, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, read %slots : memref<?xi64>, write %cache : memref<?x64xf32, strided<[?, 1]>>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %S: memref<?xi64>, %C: memref<?x64xf32, strided<[?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load row %S[%t] : memref<?xi64> -> vector<2x1xi64>
      %1 = arith.index_cast %0 : vector<2x1xi64> to vector<2x1xindex>
      rmsnorm.traverse unrolled {
        %2 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<2x64xf32>
        rmsnorm.tile_store tile %2, %C at(%1 : vector<2x1xindex>) skip_negative : vector<2x64xf32>, memref<?x64xf32, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// The index of each of a thread's rows is loaded, then the row of the table at
// it: once a row, ahead of the columns.
// CHECK-LABEL: gpu.func @gather_
// CHECK-SAME:    %{{[a-z0-9]*}}: index, %[[IDS:[a-z0-9]*]]: !llvm.ptr<1>, %[[SCALES:[a-z0-9]*]]: !llvm.ptr<1>, %[[STRIDE:[a-z0-9]*]]: index, %[[TABLE:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>)
// CHECK:       %[[V:.*]] = rmsnorm.global_load %[[IDS]]{{.*}} : vector<1xi32>
// CHECK-NEXT:  %[[ID:.*]] = vector.extract %[[V]]
// CHECK-NEXT:  %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK:       %[[R64:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK:       rmsnorm.global_load %[[SCALES]][%[[R64]],
// CHECK:       %[[AT:.*]] = arith.muli %[[ROW]], %[[STRIDE]] : index
// CHECK:       %[[O64:.*]] = arith.index_cast %[[AT]] : index to i64
// CHECK-COUNT-2: rmsnorm.global_load %[[TABLE]][%[[O64]], %{{.*}} : vector<4xf32>
func.func @gather(%table: memref<?x256xf32, strided<[?, 1]>>, %ids: memref<?xi32>, %scales: memref<?xf32>, %y: memref<?x256xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(256)
      buffers(read %table : memref<?x256xf32, strided<[?, 1]>>, read %ids : memref<?xi32>, read %scales : memref<?xf32>, write %y : memref<?x256xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %T: memref<?x256xf32, strided<[?, 1]>>, %I: memref<?xi32>, %S: memref<?xf32>, %Y: memref<?x256xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load row %I[%k] : memref<?xi32> -> vector<1x1xi32>
      %1 = arith.index_cast %0 : vector<1x1xi32> to vector<1x1xindex>
      %2 = rmsnorm.tile_load row %S at(%1 : vector<1x1xindex>) : memref<?xf32> -> vector<1x1xf32>
      rmsnorm.traverse unrolled {
        %3 = rmsnorm.tile_load tile %T at(%1 : vector<1x1xindex>) : memref<?x256xf32, strided<[?, 1]>> -> vector<1x256xf32>
        %4 = vector.broadcast %2 : vector<1x1xf32> to vector<1x256xf32>
        %5 = arith.mulf %3, %4 : vector<1x256xf32>
        rmsnorm.tile_store tile %5, %Y[%k] : vector<1x256xf32>, memref<?x256xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

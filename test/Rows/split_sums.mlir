// RUN: norm-opt %s --rmsnorm-split-sums --split-input-file | FileCheck %s
// RUN: norm-opt %s --rmsnorm-split-sums --rmsnorm-split-sums --split-input-file | FileCheck %s

// Sums of each batch and of each token: two ops. The sum over all rows stays.
// CHECK-LABEL: func.func @batch_and_token
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x?x64xf32>, %[[Y:[a-z0-9]*]]: memref<?x?x64xf32>, %[[BATCH:[a-z0-9]*]]: memref<?x64xf32>, %[[TOKEN:[a-z0-9]*]]: memref<?x64xf32>, %[[ALL:[a-z0-9]*]]: memref<64xf32>
// CHECK: rmsnorm.rows sizes [%[[B:.*]], %[[T:.*]]] segments [0] columns(64) buffers(read %[[X]] : memref<?x?x64xf32>, write %[[Y]] : memref<?x?x64xf32>, write %[[BATCH]] : memref<?x64xf32>, write %[[ALL]] : memref<64xf32>)
// CHECK: rmsnorm.tile_store
// CHECK: rmsnorm.accumulate %{{.*}} map(r0, r1, c) -> (r0, c)
// CHECK-NEXT: rmsnorm.accumulate %{{[0-9a-z]*}} into %{{[0-9a-z]*}} :
// CHECK-NEXT: rmsnorm.yield
// CHECK: rmsnorm.rows sizes [%[[B]], %[[T]]] segments [1] columns(64) buffers(read %[[X]] : memref<?x?x64xf32>, write %[[TOKEN]] : memref<?x64xf32>)
// CHECK-NOT: rmsnorm.tile_store
// CHECK: rmsnorm.accumulate %{{.*}} map(r0, r1, c) -> (r1, c)
// CHECK-NEXT: rmsnorm.yield
// CHECK-NOT: rmsnorm.rows
func.func @batch_and_token(%x: memref<?x?x64xf32>, %y: memref<?x?x64xf32>, %batch: memref<?x64xf32>, %token: memref<?x64xf32>, %all: memref<64xf32>, %b: index, %t: index) {
  rmsnorm.rows sizes [%b, %t] segments [1] columns(64) buffers(read %x : memref<?x?x64xf32>, write %y : memref<?x?x64xf32>, write %batch : memref<?x64xf32>, write %token : memref<?x64xf32>, write %all : memref<64xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %Y: memref<?x?x64xf32>, %BATCH: memref<?x64xf32>, %TOKEN: memref<?x64xf32>, %ALL: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%i: index):
      %0 = rmsnorm.tile_load tile %X[%i] : memref<?x?x64xf32> -> vector<1x64xf32>
      %1 = math.exp %0 : vector<1x64xf32>
      rmsnorm.tile_store tile %1, %Y[%i] : vector<1x64xf32>, memref<?x?x64xf32>
      rmsnorm.accumulate %0 into %BATCH map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.accumulate %1 into %TOKEN map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.accumulate %0 into %ALL : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What the sums read is overwritten: they come first.
// CHECK-LABEL: func.func @in_place
// CHECK: rmsnorm.rows sizes {{.*}} segments [1] columns(64) buffers(read %{{[^,]*}}, write %{{[^,]*}})
// CHECK: rmsnorm.rows sizes {{.*}} segments [0] columns(64) buffers(update
// CHECK-NOT: rmsnorm.rows
func.func @in_place(%x: memref<?x?x64xf32>, %batch: memref<?x64xf32>, %token: memref<?x64xf32>, %b: index, %t: index) {
  rmsnorm.rows sizes [%b, %t] segments [0] columns(64) buffers(update %x : memref<?x?x64xf32>, write %batch : memref<?x64xf32>, write %token : memref<?x64xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %BATCH: memref<?x64xf32>, %TOKEN: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%i: index):
      %0 = rmsnorm.tile_load tile %X[%i] : memref<?x?x64xf32> -> vector<1x64xf32>
      %1 = math.exp %0 : vector<1x64xf32>
      rmsnorm.tile_store tile %1, %X[%i] : vector<1x64xf32>, memref<?x?x64xf32>
      rmsnorm.accumulate %0 into %BATCH map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.accumulate %1 into %TOKEN map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

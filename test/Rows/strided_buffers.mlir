// RUN: norm-opt %s --rmsnorm-strided-buffers | FileCheck %s

// An offset becomes a subview, an order of rows a transposition; what has no
// strides stays in the map. Views of one buffer are of one alias class.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x48x128xf32>, %[[Y:[^:]*]]: memref<32x?x128xf32>, %[[S:[^:]*]]: memref<?x2x32x4xf32>
// CHECK-DAG:     %[[A:.*]] = memref.subview %[[X]][0, 4, 0] [%{{.*}}, 32, 128] [1, 1, 1]
// CHECK-DAG:     %[[B:.*]] = memref.subview %[[X]][0, 5, 0] [%{{.*}}, 32, 128] [1, 1, 1]
// CHECK-DAG:     %[[T:.*]] = memref.transpose %[[Y]] (d0, d1, d2) -> (d1, d0, d2)
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 32] columns [8, 16] buffers(read alias(0) %[[A]] : {{.*}}, read alias(0) %[[B]] : {{.*}}, write %[[T]] : {{.*}}, write %[[S]] : memref<?x2x32x4xf32>)
// CHECK:           rmsnorm.tile_load tile %{{.*}}[%{{[a-z0-9]*}}] : memref<?x32x128xf32, strided<[6144, 128, 1], offset: 512>> -> vector<1x8x16xf32>
// CHECK:           rmsnorm.tile_load tile %{{.*}}[%{{[a-z0-9]*}}] : memref<?x32x128xf32, strided<[6144, 128, 1], offset: 640>> -> vector<1x8x16xf32>
// CHECK:           rmsnorm.tile_store tile %{{.*}}[%{{[a-z0-9]*}}] : vector<1x8x16xf32>, memref<?x32x128xf32, strided<[128, ?, 1]>>
// CHECK:           rmsnorm.tile_store group %{{.*}} map(r0, r1, g) -> (r0, g floordiv 4, r1, g mod 4) : vector<1x8x1xf32>, memref<?x2x32x4xf32>
func.func @views(%x: memref<?x48x128xf32>, %y: memref<32x?x128xf32>, %s: memref<?x2x32x4xf32>, %n: index) {
  rmsnorm.rows sizes [%n, 32] columns [8, 16] buffers(read %x : memref<?x48x128xf32>, write %y : memref<32x?x128xf32>, write %s : memref<?x2x32x4xf32>) {
  ^bb0(%N: index, %X: memref<?x48x128xf32>, %Y: memref<32x?x128xf32>, %S: memref<?x2x32x4xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] map(r0, r1, c) -> (r0, r1 + 4, c) : memref<?x48x128xf32> -> vector<1x8x16xf32>
      %1 = rmsnorm.tile_load tile %X[%t] map(r0, r1, c) -> (r0, r1 + 5, c) : memref<?x48x128xf32> -> vector<1x8x16xf32>
      %2 = arith.addf %0, %1 : vector<1x8x16xf32>
      %3 = rmsnorm.group_reduce add(%2) : vector<1x8x16xf32> -> vector<1x8x1xf32>
      rmsnorm.tile_store tile %2, %Y[%t] map(r0, r1, c) -> (r1, r0, c) : vector<1x8x16xf32>, memref<32x?x128xf32>
      rmsnorm.tile_store group %3, %S[%t] map(r0, r1, g) -> (r0, g floordiv 4, r1, g mod 4) : vector<1x8x1xf32>, memref<?x2x32x4xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// The rows are groups of a dimension, the columns the last of each group: the
// offset is that of the column.
// CHECK-LABEL: func.func @ends_of_groups(
// CHECK:         %[[G:.*]] = memref.expand_shape %{{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         %[[V:.*]] = memref.subview %[[G]][0, 0, 8] [%{{.*}}, 2, 8] [1, 1, 1]
// CHECK:         rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{[a-z0-9]*}}] : memref<?x2x8xf32, strided<[32, 16, 1], offset: 8>> -> vector<1x8xf32>
func.func @ends_of_groups(%x: memref<?x32xf32>, %y: memref<?x2x8xf32>, %n: index) {
  rmsnorm.rows sizes [%n, 2] columns(8) buffers(read %x : memref<?x32xf32>, write %y : memref<?x2x8xf32>) {
  ^bb0(%N: index, %X: memref<?x32xf32>, %Y: memref<?x2x8xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] map(r0, r1, c) -> (r0, r1 * 16 + c + 8) : memref<?x32xf32> -> vector<1x8xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x8xf32>, memref<?x2x8xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

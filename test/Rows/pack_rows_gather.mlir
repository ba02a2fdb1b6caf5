// RUN: norm-opt %s --rmsnorm-pack-rows | FileCheck %s

// An index for each row of the tile, and what it gathers.
// CHECK-LABEL: func.func @pack(
// CHECK: %[[ID:.*]] = rmsnorm.tile_load row %{{.*}}[%{{.*}}] map(r0, r1) -> (r0) : memref<?xi32> -> vector<4x1xi32>
// CHECK: %[[I:.*]] = arith.index_cast %[[ID]] : vector<4x1xi32> to vector<4x1xindex>
// CHECK: %[[ROWS:.*]] = rmsnorm.tile_load tile %{{.*}} at(%[[I]] : vector<4x1xindex>) : memref<?x64xf32> -> vector<4x64xf32>
// CHECK: arith.mulf %{{.*}}, %[[ROWS]] : vector<4x64xf32>
func.func @pack(%x: memref<?x4x64xbf16>, %table: memref<?x64xf32>, %ids: memref<?xi32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(update %x : memref<?x4x64xbf16>, read %table : memref<?x64xf32>, read %ids : memref<?xi32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x4x64xbf16>, %T: memref<?x64xf32>, %I: memref<?xi32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %4 = arith.mulf %1, %3 : vector<1x64xf32>
      %5 = rmsnorm.tile_load row %I[%t] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
      %6 = arith.index_cast %5 : vector<1x1xi32> to vector<1x1xindex>
      %7 = rmsnorm.tile_load tile %T at(%6 : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
      %8 = arith.mulf %4, %7 : vector<1x64xf32>
      %9 = arith.truncf %8 : vector<1x64xf32> to vector<1x64xbf16>
      rmsnorm.tile_store tile %9, %X[%t] : vector<1x64xbf16>, memref<?x4x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s

// CHECK-LABEL: func.func @groups
// CHECK:         rmsnorm.group_reduce maximumf(%{{.*}}) : vector<4x8x32xf32> -> vector<4x8x1xf32>
// CHECK:         rmsnorm.group_reduce maxnumf(%{{.*}}) : vector<4x8x32xf32> -> vector<4x8x1xf32>
// CHECK:         vector.broadcast %{{.*}} : vector<4x8x1xf32> to vector<4x8x32xf32>
func.func @groups(%x: vector<4x8x32xf32>) -> vector<4x8x32xf32> {
  %a = rmsnorm.group_reduce maximumf(%x) : vector<4x8x32xf32> -> vector<4x8x1xf32>
  %b = rmsnorm.group_reduce maxnumf(%x) : vector<4x8x32xf32> -> vector<4x8x1xf32>
  %c = arith.addf %a, %b : vector<4x8x1xf32>
  %d = vector.broadcast %c : vector<4x8x1xf32> to vector<4x8x32xf32>
  return %d : vector<4x8x32xf32>
}

// CHECK-LABEL: func.func @accesses
// CHECK:         rmsnorm.tile_load group %{{.*}}[%{{.*}}] : memref<?x8xf32> -> vector<1x8xf32>
// CHECK:         rmsnorm.tile_store group %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x8xf32>, memref<?x8xf32>
func.func @accesses(%s: memref<?x8xf32>, %row: index) {
  %a = rmsnorm.tile_load group %s[%row] : memref<?x8xf32> -> vector<1x8xf32>
  rmsnorm.tile_store group %a, %s[%row] : vector<1x8xf32>, memref<?x8xf32>
  return
}

// Transposed, and as tensor cores read scales: 128 rows and 4 groups a tile.
// CHECK-LABEL: func.func @stored_groups
// CHECK:         rmsnorm.tile_store group %{{.*}}, %{{.*}}[%{{.*}}] map(r, g) -> (g, r) : vector<1x8xf32>, memref<8x?xf32, strided<[?, 1]>>
// CHECK:         rmsnorm.tile_store group %{{.*}}, %{{.*}}[%{{.*}}] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) policy(evict_first) : vector<1x8xf32>, memref<?x2x32x4x4xf32>
func.func @stored_groups(%s: vector<1x8xf32>, %t: memref<8x?xf32, strided<[?, 1]>>, %b: memref<?x2x32x4x4xf32>, %row: index) {
  rmsnorm.tile_store group %s, %t[%row] map(r, g) -> (g, r) : vector<1x8xf32>, memref<8x?xf32, strided<[?, 1]>>
  rmsnorm.tile_store group %s, %b[%row] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) policy(evict_first) : vector<1x8xf32>, memref<?x2x32x4x4xf32>
  return
}

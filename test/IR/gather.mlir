// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s

// Rows of a table at indices: a tile of its columns, one value of it.
// CHECK-LABEL: func.func @gather(
// CHECK:         %[[I:.*]] = arith.index_cast
// CHECK:         rmsnorm.tile_load tile %{{[a-z0-9]*}} at(%[[I]] : vector<4x1xindex>) : memref<?x64xbf16, strided<[?, 1]>> -> vector<4x64xbf16>
// CHECK:         rmsnorm.tile_load row %{{[a-z0-9]*}} at(%[[I]] : vector<4x1xindex>) : memref<?xf32> -> vector<4x1xf32>
func.func @gather(%table: memref<?x64xbf16, strided<[?, 1]>>, %scales: memref<?xf32>, %ids: memref<?xi32>, %t: index) {
  %0 = rmsnorm.tile_load row %ids[%t] : memref<?xi32> -> vector<4x1xi32>
  %1 = arith.index_cast %0 : vector<4x1xi32> to vector<4x1xindex>
  %2 = rmsnorm.tile_load tile %table at(%1 : vector<4x1xindex>) : memref<?x64xbf16, strided<[?, 1]>> -> vector<4x64xbf16>
  %3 = rmsnorm.tile_load row %scales at(%1 : vector<4x1xindex>) : memref<?xf32> -> vector<4x1xf32>
  return
}

// A table has any number of rows, and may be read by several indices.
// CHECK-LABEL: func.func @in_rows(
// CHECK-COUNT-2: rmsnorm.tile_load tile %{{[a-z0-9]*}} at(
func.func @in_rows(%m: index, %x: memref<?x64xf32>, %table: memref<100x64xf32>, %a: memref<?xi64>, %b: memref<?xi64>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(write %x : memref<?x64xf32>, read %table : memref<100x64xf32>, read %a : memref<?xi64>, read %b : memref<?xi64>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %T: memref<100x64xf32>, %A: memref<?xi64>, %B: memref<?xi64>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load row %A[%k] : memref<?xi64> -> vector<1x1xi64>
      %1 = arith.index_cast %0 : vector<1x1xi64> to vector<1x1xindex>
      %2 = rmsnorm.tile_load tile %T at(%1 : vector<1x1xindex>) : memref<100x64xf32> -> vector<1x64xf32>
      %3 = rmsnorm.tile_load row %B[%k] : memref<?xi64> -> vector<1x1xi64>
      %4 = arith.index_cast %3 : vector<1x1xi64> to vector<1x1xindex>
      %5 = rmsnorm.tile_load tile %T at(%4 : vector<1x1xindex>) : memref<100x64xf32> -> vector<1x64xf32>
      %6 = arith.addf %2, %5 : vector<1x64xf32>
      rmsnorm.tile_store tile %6, %X[%k] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

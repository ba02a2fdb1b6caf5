// RUN: norm-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @one_dimension(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x8xf32>, %[[ROW:[^:]*]]: index)
// CHECK-NEXT:    rmsnorm.tile_load tile %[[X]][%[[ROW]]] : memref<?x8xf32> -> vector<1x8xf32>
func.func @one_dimension(%x: memref<?x8xf32>, %row: index) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[%row, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x8xf32, strided<[8, 1], offset: ?>> -> vector<1x8xf32>
  return %v : vector<1x8xf32>
}

// -----

// Through what canonicalization makes of row 0 of one.
// CHECK-LABEL: func.func @cast(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1x8xf32>)
// CHECK:         rmsnorm.tile_load tile %[[X]][%c0] : memref<1x8xf32> -> vector<1x8xf32>
// CHECK-NEXT:    rmsnorm.tile_store tile %{{.*}}, %[[X]][%c0]
func.func @cast(%x: memref<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[0, 0] [1, 8] [1, 1] : memref<1x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  %t = memref.cast %s : memref<1x8xf32, strided<[8, 1]>> to memref<1x8xf32, strided<[?, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %t[%c0] : memref<1x8xf32, strided<[?, 1], offset: ?>> -> vector<1x8xf32>
  rmsnorm.tile_store tile %v, %t[%c0] : vector<1x8xf32>, memref<1x8xf32, strided<[?, 1], offset: ?>>
  return
}

// -----

// CHECK-LABEL: func.func @static_basis(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x4x8xf32>, %[[ROW:[^:]*]]: index)
// CHECK:         rmsnorm.tile_load tile %[[X]][%[[ROW]]] : memref<?x4x8xf32>
func.func @static_basis(%x: memref<?x4x8xf32>, %row: index) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %i:2 = affine.delinearize_index %row into (4) : index, index
  %s = memref.subview %x[%i#0, %i#1, 0] [1, 1, 8] [1, 1, 1] : memref<?x4x8xf32> to memref<1x1x8xf32, strided<[32, 8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x1x8xf32, strided<[32, 8, 1], offset: ?>> -> vector<1x8xf32>
  return %v : vector<1x8xf32>
}

// -----

// The rows of something else: index 5 of basis 4 is not row 5 of basis 6.
// CHECK-LABEL: func.func @other_basis(
// CHECK:         %[[S:.*]] = memref.subview
// CHECK:         rmsnorm.tile_load tile %[[S]]
func.func @other_basis(%x: memref<?x6x8xf32>, %row: index) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %i:2 = affine.delinearize_index %row into (4) : index, index
  %s = memref.subview %x[%i#0, %i#1, 0] [1, 1, 8] [1, 1, 1] : memref<?x6x8xf32> to memref<1x1x8xf32, strided<[48, 8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x1x8xf32, strided<[48, 8, 1], offset: ?>> -> vector<1x8xf32>
  return %v : vector<1x8xf32>
}

// -----

// Dynamic sizes are the same if the arguments' symbols are, and only then.
// CHECK-LABEL: func.func @symbols(
// CHECK-SAME:    %[[X:[^:]*]]: memref<{{.*}}>{{.*}}, %[[Y:[^:]*]]: memref<{{.*}}>{{.*}}, %[[Z:[^:]*]]: memref<{{.*}}>{{.*}}, %[[ROW:[^:]*]]: index)
// CHECK-DAG:     %[[S:.*]] = memref.subview %[[Z]]
// CHECK-DAG:     rmsnorm.tile_load tile %[[Y]][%[[ROW]]]
// CHECK-DAG:     rmsnorm.tile_load tile %[[S]]
func.func @symbols(%x: memref<?x?x8xf32> {rmsnorm.dims = array<i64: -1, -2, 8>}, %y: memref<?x?x8xf32> {rmsnorm.dims = array<i64: -1, -2, 8>},
    %z: memref<?x?x8xf32> {rmsnorm.dims = array<i64: -1, -3, 8>}, %row: index) -> (vector<1x8xf32>, vector<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?x8xf32>
  %i:2 = affine.delinearize_index %row into (%n) : index, index
  %s = memref.subview %y[%i#0, %i#1, 0] [1, 1, 8] [1, 1, 1] : memref<?x?x8xf32> to memref<1x1x8xf32, strided<[?, 8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x1x8xf32, strided<[?, 8, 1], offset: ?>> -> vector<1x8xf32>
  %t = memref.subview %z[%i#0, %i#1, 0] [1, 1, 8] [1, 1, 1] : memref<?x?x8xf32> to memref<1x1x8xf32, strided<[?, 8, 1], offset: ?>>
  %w = rmsnorm.tile_load tile %t[%c0] : memref<1x1x8xf32, strided<[?, 8, 1], offset: ?>> -> vector<1x8xf32>
  return %v, %w : vector<1x8xf32>, vector<1x8xf32>
}

// -----

// Dimensions of size 1 have no index.
// CHECK-LABEL: func.func @units(
// CHECK-SAME:    %[[X:[^:]*]]: memref<1x?x1x4x8xf32>, %[[ROW:[^:]*]]: index)
// CHECK:         rmsnorm.tile_load tile %[[X]][%[[ROW]]]
func.func @units(%x: memref<1x?x1x4x8xf32>, %row: index) -> vector<1x8xf32> {
  %c0 = arith.constant 0 : index
  %i:5 = affine.delinearize_index %row into (1, 7, 1, 4, 1) : index, index, index, index, index
  %s = memref.subview %x[%i#0, %i#1, 0, %i#3, 0] [1, 1, 1, 1, 8] [1, 1, 1, 1, 1] : memref<1x?x1x4x8xf32> to memref<1x1x1x1x8xf32, strided<[?, 32, 32, 8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x1x1x1x8xf32, strided<[?, 32, 32, 8, 1], offset: ?>> -> vector<1x8xf32>
  return %v : vector<1x8xf32>
}

// -----

// Columns are taken whole, or not at all; and a single row.
// CHECK-LABEL: func.func @part(
// CHECK-COUNT-2: memref.subview
// CHECK-COUNT-2: rmsnorm.tile_load tile %{{s|subview.*}}[
func.func @part(%x: memref<?x8xf32>, %row: index) -> (vector<1x4xf32>, vector<1x8xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[%row, 0] [1, 4] [1, 1] : memref<?x8xf32> to memref<1x4xf32, strided<[8, 1], offset: ?>>
  %t = memref.subview %x[%row, 0] [2, 8] [1, 1] : memref<?x8xf32> to memref<2x8xf32, strided<[8, 1], offset: ?>>
  %v = rmsnorm.tile_load tile %s[%c0] : memref<1x4xf32, strided<[8, 1], offset: ?>> -> vector<1x4xf32>
  %w = rmsnorm.tile_load tile %t[%c0] : memref<2x8xf32, strided<[8, 1], offset: ?>> -> vector<1x8xf32>
  return %v, %w : vector<1x4xf32>, vector<1x8xf32>
}

// -----

// Rows are counted over the dimensions that the store says, in their order.
// CHECK-LABEL: func.func @stored_groups(
// CHECK-SAME:    %{{[^:]*}}: vector<1x8xf32>, %[[S:[^:]*]]: memref<?x2x32x4x4xf32>, %[[T:[^:]*]]: memref<8x?xf32, strided<[?, 1]>>, %[[ROW:[^:]*]]: index)
// CHECK-NEXT:    rmsnorm.tile_store group %{{[^,]*}}, %[[S]][%[[ROW]]] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4)
// CHECK-NEXT:    rmsnorm.tile_store group %{{[^,]*}}, %[[T]][%[[ROW]]] map(r, g) -> (g, r)
func.func @stored_groups(%v: vector<1x8xf32>, %x: memref<?x2x32x4x4xf32>, %y: memref<8x?xf32, strided<[?, 1]>>, %row: index) {
  %c0 = arith.constant 0 : index
  %i:3 = affine.delinearize_index %row into (4, 32) : index, index, index
  %s = memref.subview %x[%i#0, 0, %i#2, %i#1, 0] [1, 2, 1, 1, 4] [1, 1, 1, 1, 1] : memref<?x2x32x4x4xf32> to memref<1x2x1x1x4xf32, strided<[1024, 512, 16, 4, 1], offset: ?>>
  rmsnorm.tile_store group %v, %s[%c0] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) : vector<1x8xf32>, memref<1x2x1x1x4xf32, strided<[1024, 512, 16, 4, 1], offset: ?>>
  %t = memref.subview %y[0, %row] [8, 1] [1, 1] : memref<8x?xf32, strided<[?, 1]>> to memref<8x1xf32, strided<[?, 1], offset: ?>>
  rmsnorm.tile_store group %v, %t[%c0] map(r, g) -> (g, r) : vector<1x8xf32>, memref<8x1xf32, strided<[?, 1], offset: ?>>
  return
}

// -----

// In another order they are other rows, of some groups other ones.
// CHECK-LABEL: func.func @other_stored_groups(
// CHECK:         memref.subview
// CHECK:         rmsnorm.tile_store group {{.*}} strided
// CHECK:         memref.subview
// CHECK:         rmsnorm.tile_store group {{.*}} strided
func.func @other_stored_groups(%v: vector<1x8xf32>, %x: memref<?x2x4x4x4xf32>, %y: memref<9x?xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %i:3 = affine.delinearize_index %row into (8, 4) : index, index, index
  %s = memref.subview %x[%i#0, 0, %i#2, %i#1, 0] [1, 2, 1, 1, 4] [1, 1, 1, 1, 1] : memref<?x2x4x4x4xf32> to memref<1x2x1x1x4xf32, strided<[128, 64, 16, 4, 1], offset: ?>>
  rmsnorm.tile_store group %v, %s[%c0] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) : vector<1x8xf32>, memref<1x2x1x1x4xf32, strided<[128, 64, 16, 4, 1], offset: ?>>
  %t = memref.subview %y[1, %row] [8, 1] [1, 1] : memref<9x?xf32> to memref<8x1xf32, strided<[?, 1], offset: ?>>
  rmsnorm.tile_store group %v, %t[%c0] map(r, g) -> (g, r) : vector<1x8xf32>, memref<8x1xf32, strided<[?, 1], offset: ?>>
  return
}

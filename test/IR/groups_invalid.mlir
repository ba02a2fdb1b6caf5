// RUN: norm-opt %s --split-input-file --verify-diagnostics

// (C1)
func.func @type(%x: vector<1x64xf16>) {
  // expected-error @below {{expected elements of f32, got 'vector<1x64xf16>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf16> -> vector<1x4xf16>
  return
}

// -----

// (C2)
func.func @divides(%x: vector<1x64xf32>) {
  // expected-error @below {{expected RxN and RxK elements, where K divides N and 1 < K < N, got 'vector<1x64xf32>' and 'vector<1x5xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf32> -> vector<1x5xf32>
  return
}

// -----

func.func @rows(%x: vector<2x4xf32>) {
  // expected-error @below {{got 'vector<1x64xf32>' and 'vector<2x4xf32>'}}
  %a = rmsnorm.group_broadcast %x : vector<2x4xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @one(%x: vector<1x64xf32>) {
  // expected-error @below {{1 < K < N}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf32> -> vector<1x1xf32>
  return
}

// -----

func.func @all(%x: vector<1x64xf32>) {
  // expected-error @below {{1 < K < N}}
  %a = rmsnorm.group_broadcast %x : vector<1x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @base(%s: memref<?x8xf32>, %row: index) {
  // expected-error @below {{expected 'group' to take a row unless the base has rank 1, no columns, and as many groups of a vector as the base has in its last dimension, got 'vector<1x4xf32>' and 'memref<?x8xf32>'}}
  %a = rmsnorm.tile_load group %s[%row] : memref<?x8xf32> -> vector<1x4xf32>
  return
}

// -----

// (C8) of rmsnorm.tile_store
func.func @row_dims_kind(%v: vector<1x8xf32>, %s: memref<?x8xf32>, %row: index) {
  // expected-error @below {{expected 'row_dims' of a 'group' with a row, and different dimensions of 'memref<?x8xf32>', got array<i64: 0>}}
  rmsnorm.tile_store tile %v, %s[%row] row_dims [0] : vector<1x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @row_dims_no_row(%v: vector<1x8xf32>, %s: memref<8x1xf32>) {
  // expected-error @below {{expected 'row_dims' of a 'group' with a row}}
  rmsnorm.tile_store group %v, %s row_dims [1] : vector<1x8xf32>, memref<8x1xf32>
  return
}

// -----

func.func @row_dims_none(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{got array<i64>}}
  rmsnorm.tile_store group %v, %s[%row] row_dims [] : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @row_dims_twice(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{got array<i64: 1, 1>}}
  rmsnorm.tile_store group %v, %s[%row] row_dims [1, 1] : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @row_dims_range(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{got array<i64: 2>}}
  rmsnorm.tile_store group %v, %s[%row] row_dims [2] : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @row_dims_groups(%v: vector<1x8xf32>, %s: memref<?x3x32x4x4xf32>, %row: index) {
  // expected-error @below {{expected as many groups of a vector as the base has in its dimensions that are not 'row_dims', got 'vector<1x8xf32>' and 'memref<?x3x32x4x4xf32>'}}
  rmsnorm.tile_store group %v, %s[%row] row_dims [0, 3, 2] : vector<1x8xf32>, memref<?x3x32x4x4xf32>
  return
}

// -----

func.func @row_dims_dynamic(%v: vector<1x8xf32>, %s: memref<?x8xf32>, %row: index) {
  // expected-error @below {{expected as many groups of a vector as the base has}}
  rmsnorm.tile_store group %v, %s[%row] row_dims [1] : vector<1x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @row_dims_sizes(%b: index, %t: index, %x: memref<?x?x64xf32>, %s: memref<?x4x?x?xf32>) {
  rmsnorm.rows sizes [%b, %t] columns(64) buffers(read %x : memref<?x?x64xf32>, write %s : memref<?x4x?x?xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %S: memref<?x4x?x?xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<?x?x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x64xf32> -> vector<1x4xf32>
      // expected-error @below {{expected 'row_dims' of static sizes but for the first, or of the leading sizes of rmsnorm.rows, got 'memref<?x4x?x?xf32>'}}
      rmsnorm.tile_store group %1, %S[%k] row_dims [0, 2, 3] : vector<1x4xf32>, memref<?x4x?x?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @row_dims_rows(%x: memref<300x64xf32>, %s: memref<2x1x32x4x4xf32>) {
  rmsnorm.rows sizes [300] columns(64) buffers(read %x : memref<300x64xf32>, write %s : memref<2x1x32x4x4xf32>) {
  ^bb0(%X: memref<300x64xf32>, %S: memref<2x1x32x4x4xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x64xf32> -> vector<1x4xf32>
      // expected-error @below {{expected a buffer of at least 300 rows, got 'memref<2x1x32x4x4xf32>'}}
      rmsnorm.tile_store group %1, %S[%k] row_dims [0, 3, 2] : vector<1x4xf32>, memref<2x1x32x4x4xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @row_dims_differ(%x: memref<300x64xf32>, %s: memref<4x300xf32>) {
  rmsnorm.rows sizes [300] columns(64) buffers(read %x : memref<300x64xf32>, update %s : memref<4x300xf32>) {
  ^bb0(%X: memref<300x64xf32>, %S: memref<4x300xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x64xf32> -> vector<1x4xf32>
      rmsnorm.tile_store group %1, %S[%k] row_dims [1] : vector<1x4xf32>, memref<4x300xf32>
      // expected-error @below {{expected all accesses to a buffer to have the same 'dims' or 'row_dims', and a row or none}}
      %2 = rmsnorm.tile_load row %S[%k] : memref<4x300xf32> -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @row_dims_columns(%n: index, %x: memref<300x?xf32>, %v: vector<1x4xf32>, %s: memref<4x300xf32>) {
  rmsnorm.rows sizes [300] columns(1536, %n) buffers(read %x : memref<300x?xf32>, write %s : memref<4x300xf32>) {
  ^bb0(%N: index, %X: memref<300x?xf32>, %S: memref<4x300xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x?xf32> -> vector<1x1536xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x1536xf32> -> vector<1x1xf32>
      // expected-error @below {{expected groups of the columns of rmsnorm.rows, got 'vector<1x1xf32>'}}
      rmsnorm.tile_store group %1, %S[%k] row_dims [1, 0] : vector<1x1xf32>, memref<4x300xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

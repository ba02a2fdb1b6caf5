// RUN: norm-opt %s --split-input-file --verify-diagnostics

// (C1)
func.func @type(%x: vector<1x4x16xf16>) {
  // expected-error @below {{expected elements of f32, got 'vector<1x4x16xf16>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf16> -> vector<1x4x1xf16>
  return
}

// -----

// (C2)
func.func @digits(%x: vector<1x4x16xf32>) {
  // expected-error @below {{expected a result with the rows and the outermost digits of the input, and size 1 for the others, got 'vector<1x4x16xf32>' and 'vector<1x2x1xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<1x2x1xf32>
  return
}

// -----

func.func @outer(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x4x16xf32>' and 'vector<1x1x16xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<1x1x16xf32>
  return
}

// -----

func.func @rows(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x4x16xf32>' and 'vector<2x4x1xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<2x4x1xf32>
  return
}

// -----

func.func @rank(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x4x16xf32>' and 'vector<1x4xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<1x4xf32>
  return
}

// -----

func.func @one(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x4x16xf32>' and 'vector<1x1x1xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<1x1x1xf32>
  return
}

// -----

func.func @all(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x4x16xf32>' and 'vector<1x4x16xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x4x16xf32> -> vector<1x4x16xf32>
  return
}

// -----

// (C1) of rmsnorm.take
func.func @take_past_the_end(%x: vector<1x4x16xf32>) {
  // expected-error @below {{expected a part with the rows of the row, and for each digit where it begins and indices that the row has, got 'vector<1x2x16xf32>' of 'vector<1x4x16xf32>' at [3, 0]}}
  %a = rmsnorm.take %x at [3, 0] : vector<1x4x16xf32> -> vector<1x2x16xf32>
  return
}

// -----

func.func @take_digits(%x: vector<1x4x16xf32>) {
  // expected-error @below {{got 'vector<1x1x16xf32>' of 'vector<1x4x16xf32>' at [1]}}
  %a = rmsnorm.take %x at [1] : vector<1x4x16xf32> -> vector<1x1x16xf32>
  return
}

// -----

func.func @put_rows(%x: vector<4x4x16xf32>, %p: vector<1x1x16xf32>) {
  // expected-error @below {{got 'vector<1x1x16xf32>' of 'vector<4x4x16xf32>' at [1, 0]}}
  %a = rmsnorm.put %p, %x at [1, 0] : vector<1x1x16xf32>, vector<4x4x16xf32>
  return
}

// -----

// (C2)
func.func @take_one(%x: vector<1x4x16xf32>) {
  // expected-error @below {{expected several columns of a row to be taken, got 'vector<1x4x16xf32>' and 'vector<1x1x1xf32>'}}
  %a = rmsnorm.take %x at [1, 3] : vector<1x4x16xf32> -> vector<1x1x1xf32>
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
func.func @map_kind(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{expected the last index of 'map' to be the column, and no other to depend on it, or all of its digits to be indices, the innermost one the last, got (r, c) -> (c, r)}}
  rmsnorm.tile_store tile %v, %s[%row] map(r, c) -> (c, r) : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @map_no_row(%v: vector<1x8xf32>, %s: memref<8x1xf32>) {
  // expected-error @below {{expected 'map' to have a sum of digits for each dimension of 'memref<8x1xf32>', indices of rows if and only if there is a row, and a symbol for each of 'at', got (r, c) -> (c, r)}}
  rmsnorm.tile_store group %v, %s map(r, g) -> (g, r) : vector<1x8xf32>, memref<8x1xf32>
  return
}

// -----

func.func @map_row_unused(%v: vector<1x8xf32>, %s: memref<8x1xf32>, %row: index) {
  // expected-error @below {{expected 'map' to lead each row to elements of its own, got (r, c) -> (c, 0)}}
  rmsnorm.tile_store group %v, %s[%row] map(r, g) -> (g, 0) : vector<1x8xf32>, memref<8x1xf32>
  return
}

// -----

func.func @map_results(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{expected 'map' to have a sum of digits for each dimension of 'memref<8x?xf32>'}}
  rmsnorm.tile_store group %v, %s[%row] map(r, g) -> (g) : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @map_no_digits(%v: vector<1x8xf32>, %s: memref<8x?xf32>, %row: index) {
  // expected-error @below {{got (r, c) -> (c, (r mod 12) mod 5)}}
  rmsnorm.tile_store group %v, %s[%row] map(r, g) -> (g, (r mod 12) mod 5) : vector<1x8xf32>, memref<8x?xf32>
  return
}

// -----

func.func @map_no_column(%v: vector<1x8xf32>, %s: memref<8xf32>) {
  // expected-error @below {{expected 'map' to have a column, got affine_map<() -> (0)>}}
  rmsnorm.tile_store group %v, %s map() -> (0) : vector<1x8xf32>, memref<8xf32>
  return
}

// -----

func.func @map_group_twice(%v: vector<1x8xf32>, %s: memref<?x4x2xf32>, %row: index) {
  // expected-error @below {{expected as many groups of a vector as the base has in its dimensions without a row, got 'vector<1x8xf32>' and 'memref<?x4x2xf32>' with the map (r, c) -> (r, c mod 4, c mod 2)}}
  rmsnorm.tile_store group %v, %s[%row] map(r, g) -> (r, g mod 4, g mod 2) : vector<1x8xf32>, memref<?x4x2xf32>
  return
}

// -----

func.func @map_groups(%v: vector<1x8xf32>, %s: memref<?x3x32x4x4xf32>, %row: index) {
  // expected-error @below {{expected as many groups of a vector as the base has in its dimensions without a row, got 'vector<1x8xf32>' and 'memref<?x3x32x4x4xf32>'}}
  rmsnorm.tile_store group %v, %s[%row] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) : vector<1x8xf32>, memref<?x3x32x4x4xf32>
  return
}

// -----

func.func @map_dynamic(%v: vector<1x8xf32>, %s: memref<?x8xf32>, %row: index) {
  // expected-error @below {{expected as many groups of a vector as the base has}}
  rmsnorm.tile_store group %v, %s[%row] map(r, g) -> (g, r) : vector<1x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @map_sizes(%b: index, %t: index, %x: memref<?x?x64xf32>, %s: memref<?x4x?x?xf32>) {
  rmsnorm.rows sizes [%b, %t] columns [4, 16] buffers(read %x : memref<?x?x64xf32>, write %s : memref<?x4x?x?xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %S: memref<?x4x?x?xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<?x?x64xf32> -> vector<1x4x16xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x4x16xf32> -> vector<1x4x1xf32>
      // expected-error @below {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<?x4x?x?xf32>' with the map (r0, r1, r2, c) -> (r0, c, r1, r2)}}
      rmsnorm.tile_store group %1, %S[%k] map(r0, r1, r2, g) -> (r0, g, r1, r2) : vector<1x4x1xf32>, memref<?x4x?x?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_rows(%x: memref<300x64xf32>, %s: memref<2x1x32x4x4xf32>) {
  rmsnorm.rows sizes [300] columns [4, 16] buffers(read %x : memref<300x64xf32>, write %s : memref<2x1x32x4x4xf32>) {
  ^bb0(%X: memref<300x64xf32>, %S: memref<2x1x32x4x4xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x64xf32> -> vector<1x4x16xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x4x16xf32> -> vector<1x4x1xf32>
      // expected-error @below {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<2x1x32x4x4xf32>' with the map}}
      rmsnorm.tile_store group %1, %S[%k] map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x4x1xf32>, memref<2x1x32x4x4xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_differs(%x: memref<300x64xf32>, %s: memref<4x300xf32>) {
  rmsnorm.rows sizes [300] columns [4, 16] buffers(read %x : memref<300x64xf32>, update %s : memref<4x300xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%X: memref<300x64xf32>, %S: memref<4x300xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x64xf32> -> vector<1x4x16xf32>
      %1 = rmsnorm.group_reduce add(%0) : vector<1x4x16xf32> -> vector<1x4x1xf32>
      rmsnorm.tile_store group %1, %S[%k] map(r, g) -> (g, r) : vector<1x4x1xf32>, memref<4x300xf32>
      // expected-error @below {{expected all accesses to a buffer to have the same map, (r, c) -> (c, r), got (r) -> (0, r)}}
      %2 = rmsnorm.tile_load row %S[%k] map(r) -> (0, r) : memref<4x300xf32> -> vector<1x1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_columns(%n: index, %x: memref<300x?xf32>, %s: memref<1x300xf32>) {
  rmsnorm.rows sizes [300] columns(1536, %n) buffers(read %x : memref<300x?xf32>, write %s : memref<1x300xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%N: index, %X: memref<300x?xf32>, %S: memref<1x300xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<300x?xf32> -> vector<1x1536xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x1536xf32> -> vector<1x1xf32>
      // expected-error @below {{expected static columns of rmsnorm.rows for values of groups, got 'vector<1x1xf32>'}}
      rmsnorm.tile_store group %1, %S[%k] map(r, g) -> (g, r) : vector<1x1xf32>, memref<1x300xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @tile_load_c8_row(%table: memref<?x64xf32>, %i: vector<1x1xindex>, %t: index) {
  // expected-error @+1 {{expected 'map' to have a sum of digits for each dimension of 'memref<?x64xf32>', indices of rows if and only if there is a row, and a symbol for each of 'at', got (r, c) -> (r, c)}}
  %0 = rmsnorm.tile_load tile %table[%t] at(%i : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_rank(%table: memref<?x2x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'map' to have a sum of digits for each dimension of 'memref<?x2x64xf32>', indices of rows if and only if there is a row, and a symbol for each of 'at', got (c)[i] -> (i, c)}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xindex>) : memref<?x2x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_kind(%table: memref<64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'at' to give a tile or a row an index for each row of the vector, got column}}
  %0 = rmsnorm.tile_load column %table at(%i : vector<1x1xindex>) map(c)[i] -> (i) : memref<64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_count(%table: memref<?x64xf32>, %i: vector<2x1xindex>) {
  // expected-error @+1 {{an index for each row of the vector, got tile, 'vector<4x64xf32>' and 'vector<2x1xindex>'}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<2x1xindex>) : memref<?x64xf32> -> vector<4x64xf32>
  return
}

// -----

func.func @tile_load_index_type(%table: memref<?x64xf32>, %i: vector<1x1xi64>) {
  // expected-error @+1 {{operand #1 must be variadic of vector of index values of ranks 2/3/4/5/6, but got 'vector<1x1xi64>'}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xi64>) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

// The index of one dimension, and nothing else, is what is given.
func.func @tile_load_c8_map(%table: memref<?x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected each of 'at' to be the index of one dimension, got (c)[i] -> (i floordiv 2, c)}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xindex>) map(c)[i] -> (i floordiv 2, c) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_unused(%table: memref<?x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected each of 'at' to be the index of one dimension, got (c)[i] -> (0, c)}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xindex>) map(c)[i] -> (0, c) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

// A table has the columns of the rows, or a part of them.
func.func @columns(%m: index, %x: memref<?x64xf32>, %table: memref<?x128xf32>, %ids: memref<?xi64>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(write %x : memref<?x64xf32>, read %table : memref<?x128xf32>, read %ids : memref<?xi64>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %T: memref<?x128xf32>, %I: memref<?xi64>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load row %I[%k] : memref<?xi64> -> vector<1x1xi64>
      %1 = arith.index_cast %0 : vector<1x1xi64> to vector<1x1xindex>
      // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<?x128xf32>'}}
      %2 = rmsnorm.tile_load tile %T at(%1 : vector<1x1xindex>) : memref<?x128xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %2, %X[%k] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Groups are stored at indices, not loaded.
func.func @tile_load_c8_group(%table: memref<?x4xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'at' to give a tile or a row an index for each row of the vector, got group, 'vector<1x4xf32>' and 'vector<1x1xindex>'}}
  %0 = rmsnorm.tile_load group %table at(%i : vector<1x1xindex>) : memref<?x4xf32> -> vector<1x4xf32>
  return
}

// -----

func.func @tile_store_c9_count(%x: vector<4x64xf32>, %cache: memref<?x64xf32>, %i: vector<2x1xindex>) {
  // expected-error @+1 {{expected 'at' to give a tile, a row or groups an index for each row of the vector, got tile, 'vector<4x64xf32>' and 'vector<2x1xindex>'}}
  rmsnorm.tile_store tile %x, %cache at(%i : vector<2x1xindex>) : vector<4x64xf32>, memref<?x64xf32>
  return
}

// -----

func.func @tile_store_c9_map(%x: vector<1x64xf32>, %cache: memref<?x?x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected each of 'at' to be the index of one dimension, got (c)[i] -> (i, i, c)}}
  rmsnorm.tile_store tile %x, %cache at(%i : vector<1x1xindex>) map(c)[i] -> (i, i, c) : vector<1x64xf32>, memref<?x?x64xf32>
  return
}

// -----

func.func @tile_store_c9_skip(%x: vector<1x64xf32>, %cache: memref<?x64xf32>, %t: index) {
  // expected-error @+1 {{expected 'skip_negative' only where 'at' gives indices}}
  rmsnorm.tile_store tile %x, %cache[%t] skip_negative : vector<1x64xf32>, memref<?x64xf32>
  return
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @tile_load_c8_row(%table: memref<?x64xf32>, %i: vector<1x1xindex>, %t: index) {
  // expected-error @+1 {{expected 'at' to give a tile or a row an index for each row of the vector, and no row, got tile, 'vector<1x64xf32>' and 'vector<1x1xindex>'}}
  %0 = rmsnorm.tile_load tile %table[%t] at(%i : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_rank(%table: memref<?x2x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'tile' to take a row unless the base has rank 1, or 2 with 'at', got rank 3}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xindex>) : memref<?x2x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_kind(%table: memref<64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'at' to give a tile or a row an index for each row of the vector, and no row, got column}}
  %0 = rmsnorm.tile_load column %table at(%i : vector<1x1xindex>) : memref<64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_count(%table: memref<?x64xf32>, %i: vector<2x1xindex>) {
  // expected-error @+1 {{an index for each row of the vector, and no row, got tile, 'vector<4x64xf32>' and 'vector<2x1xindex>'}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<2x1xindex>) : memref<?x64xf32> -> vector<4x64xf32>
  return
}

// -----

func.func @tile_load_index_type(%table: memref<?x64xf32>, %i: vector<1x1xi64>) {
  // expected-error @+1 {{operand #1 must be vector of index values of ranks 2/3/4/5/6, but got 'vector<1x1xi64>'}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xi64>) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

// The index of one dimension, and nothing else, is what is given.
func.func @tile_load_c8_map(%table: memref<?x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'at' to be the index of one dimension, got (c)[i] -> (i floordiv 2, c)}}
  %0 = rmsnorm.tile_load tile %table at(%i : vector<1x1xindex>) map(c)[i] -> (i floordiv 2, c) : memref<?x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_load_c8_unused(%table: memref<?x64xf32>, %i: vector<1x1xindex>) {
  // expected-error @+1 {{expected 'at' to be the index of one dimension, got (c)[i] -> (0, c)}}
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

// RUN: norm-opt %s --rmsnorm-outline-rows --split-input-file --verify-diagnostics

func.func @two_dimensions(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a bufferized loop over rows from 0 with step 1}}
  scf.forall (%row, %other) in (%m, %m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @lower_bound(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a bufferized loop over rows from 0 with step 1}}
  scf.forall (%row) = (3) to (%m) step (1) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @step(%x: memref<?x64xf32>, %m: index) {
  // expected-error @below {{expected a bufferized loop over rows from 0 with step 1}}
  scf.forall (%row) = (0) to (%m) step (7) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @not_bufferized(%x: tensor<?x64xf32>, %m: index) -> tensor<?x64xf32> {
  // expected-error @below {{expected a bufferized loop over rows from 0 with step 1, got one on tensors: one-shot-bufferize comes first}}
  %r = scf.forall (%row) in (%m) shared_outs(%o = %x) -> (tensor<?x64xf32>) {
    %0 = rmsnorm.tile_load tile %o[%row] : tensor<?x64xf32> -> vector<1x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return %r : tensor<?x64xf32>
}

// -----

func.func @tensor(%x: tensor<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected a buffer from outside of the loop over rows, got 'tensor<?x64xf32>'}}
    %0 = rmsnorm.tile_load tile %x[%row] : tensor<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @dest_inside(%x: memref<?x64xf32>, %dws: memref<2x64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %dw = memref.subview %dws[0, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<64xf32, strided<[1]>>
    // expected-error @below {{expected a buffer from outside of the loop over rows, got 'memref<64xf32, strided<[1]>>'}}
    rmsnorm.accumulate %0 into %dw : vector<1x64xf32> into memref<64xf32, strided<[1]>>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @empty_loop(%m: index) {
  // expected-error @below {{expected a loop over rows to access a buffer}}
  scf.forall (%row) in (%m) {
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// y[r] = x[0] computed x[r].
func.func @fixed_row_load(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected the row of the loop it is in}}
    %0 = rmsnorm.tile_load tile %x[%c0] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @shifted_store(%x: memref<?x64xf32>, %m: index) {
  %c1 = arith.constant 1 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %next = arith.addi %row, %c1 : index
    // expected-error @below {{expected the row of the loop it is in}}
    rmsnorm.tile_store tile %0, %x[%next] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @two_sizes(%x: memref<?x64xf32>, %w: memref<128xf32>, %dw: memref<128xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
    // expected-error @below {{expected all tiles of a loop over rows to have the same number of columns, got 64 and 128}}
    %1 = rmsnorm.tile_load column %w : memref<128xf32> -> vector<1x128xf32>
    rmsnorm.accumulate %1 into %dw : vector<1x128xf32> into memref<128xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// The first 'columns' was taken for all.
func.func @two_columns_load(%x: memref<?x?xf32>, %w: memref<?xf32>, %m: index, %n: index) {
  %c64 = arith.constant 64 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xf32> -> vector<1x1073741824xf32>
    // expected-error @below {{expected all tiles of a loop over rows to have the same number of columns}}
    %1 = rmsnorm.tile_load column %w columns(%c64) : memref<?xf32> -> vector<1x1073741824xf32>
    %2 = arith.mulf %0, %1 : vector<1x1073741824xf32>
    rmsnorm.tile_store tile %2, %x[%row] columns(%n) : vector<1x1073741824xf32>, memref<?x?xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @two_columns_store(%x: memref<?x?xf32>, %m: index, %n: index) {
  %c64 = arith.constant 64 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xf32> -> vector<1x1073741824xf32>
    // expected-error @below {{expected all tiles of a loop over rows to have the same number of columns}}
    rmsnorm.tile_store tile %0, %x[%row] columns(%c64) : vector<1x1073741824xf32>, memref<?x?xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @two_columns_sum(%x: memref<?x?xf32>, %dw: memref<?xf32>, %m: index, %n: index) {
  %c64 = arith.constant 64 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xf32> -> vector<1x1073741824xf32>
    // expected-error @below {{expected all tiles of a loop over rows to have the same number of columns}}
    rmsnorm.accumulate %0 into %dw columns(%c64) : vector<1x1073741824xf32> into memref<?xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// A loop in ours was left as it was, without a word.
func.func @nested_for(%x: memref<?x64xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected a loop over rows to access a buffer}}
  scf.forall (%row) in (%m) {
    scf.for %i = %c0 to %m step %c1 {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @nested_for_behind(%x: memref<?x64xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
    // expected-error @below {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
    scf.for %i = %c0 to %m step %c1 {
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @vector_from_outside(%x: memref<?x64xf32>, %v: vector<1x64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected scalars from outside of the loop over rows, got 'vector<1x64xf32>'}}
    rmsnorm.tile_store tile %v, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @buffer_of_another_op(%x: memref<?x64xf32>, %s: memref<f32>, %m: index) {
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected scalars from outside of the loop over rows, got 'memref<f32>'}}
    %0 = memref.load %s[] : memref<f32>
    %1 = vector.broadcast %0 : f32 to vector<1x64xf32>
    rmsnorm.tile_store tile %1, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @dims_bound(%x: memref<?x?x64xf32>, %s: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x64xf32>
  %t = memref.dim %x, %c1 : memref<?x?x64xf32>
  %m = arith.muli %b, %t : index
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected bounds of all indices, from outside of the loop over rows}}
    %i:2 = affine.delinearize_index %row into (%t) : index, index
    %1 = rmsnorm.tile_load tile %s[%i#0] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %1, %x[%row] : vector<1x64xf32>, memref<?x?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @dims_sizes(%x: memref<?x?x64xf32>, %s: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x64xf32>
  %t = memref.dim %x, %c1 : memref<?x?x64xf32>
  %m = arith.muli %b, %t : index
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected the leading sizes of 'memref<?x?x64xf32>', which all rows of the loop are counted in}}
    %i:2 = affine.delinearize_index %row into (%b, %n) : index, index
    %1 = rmsnorm.tile_load tile %s[%i#0] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %1, %x[%row] : vector<1x64xf32>, memref<?x?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @dims_differ(%x: memref<?x?x64xf32>, %s: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x64xf32>
  %t = memref.dim %x, %c1 : memref<?x?x64xf32>
  %m = arith.muli %b, %t : index
  scf.forall (%row) in (%m) {
    %i:2 = affine.delinearize_index %row into (%b, %t) : index, index
    // expected-error @below {{expected all rows of a loop to be counted in the same sizes}}
    %j:2 = affine.delinearize_index %row into (%t, %b) : index, index
    %1 = rmsnorm.tile_load tile %s[%i#0] : memref<?x64xf32> -> vector<1x64xf32>
    %2 = rmsnorm.tile_load tile %s[%j#0] : memref<?x64xf32> -> vector<1x64xf32>
    %3 = arith.addf %1, %2 : vector<1x64xf32>
    rmsnorm.tile_store tile %3, %x[%row] : vector<1x64xf32>, memref<?x?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @inner_stride(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>, %y: memref<?x64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    // expected-error @below {{expected a buffer with an inner stride of 1, got 'memref<?x64xf32, strided<[?, ?], offset: ?>>'}}
    // expected-note @below {{identity-layout-map}}
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32, strided<[?, ?], offset: ?>> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

func.func @two_segments(%x: memref<?x4x64xf32>, %s: memref<?x64xf32>, %h: memref<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %b = memref.dim %x, %c0 : memref<?x4x64xf32>
  %m = arith.muli %b, %c4 : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x4x64xf32> -> vector<1x64xf32>
    rmsnorm.accumulate %0 into %s map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
    // expected-error @below {{expected all sums over rows of a loop to be over the same dimensions, or all, got those but [1] and [0]}}
    rmsnorm.accumulate %0 into %h map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32>
  } {rmsnorm.rows = 2 : i64}
  return
}

// -----

func.func @flat_rows(%x: memref<?x64xf32>, %s: memref<?x64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    // expected-error @below {{expected rows that are counted in the 1 leading dimensions that the map is of}}
    rmsnorm.accumulate %0 into %s map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
  } {rmsnorm.rows = 2 : i64}
  return
}

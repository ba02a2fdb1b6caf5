// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-split-strips --split-input-file | FileCheck %s

// The backward with rstd recomputed: the sums need rstd, one value a row, and
// read the tiles again.
// CHECK-LABEL: func.func @recomputed
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x?xbf16>, %[[X:[a-z0-9]*]]: memref<?x?xbf16>, %[[DX:[a-z0-9]*]]: memref<?x?xbf16>, %[[DW:[a-z0-9]*]]: memref<?xbf16>, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[WS:.*]] = rmsnorm.workspace(%[[M]]) : memref<?xf32>
// CHECK: scf.forall (%[[ROW:.*]]) in (%[[M]]) {
// CHECK: rmsnorm.row_reduce
// CHECK: %[[RSTD:.*]] = math.rsqrt
// CHECK-NOT: rmsnorm.accumulate
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[DX]][%[[ROW]]]
// CHECK: rmsnorm.tile_store row %[[RSTD]], %[[WS]][%[[ROW]]] : vector<1x1xf32>, memref<?xf32>
// CHECK: } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload>}
// CHECK: scf.forall (%[[ROW:.*]]) in (%[[M]]) {
// CHECK-NEXT: %[[R:.*]] = rmsnorm.tile_load row %[[WS]][%[[ROW]]] : memref<?xf32> -> vector<1x1xf32>
// CHECK: %[[DY0:.*]] = rmsnorm.tile_load tile %[[DY]][%[[ROW]]] columns(%[[N]])
// CHECK: %[[X0:.*]] = rmsnorm.tile_load tile %[[X]][%[[ROW]]] columns(%[[N]])
// CHECK-NOT: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store
// CHECK: %[[B:.*]] = vector.broadcast %[[R]]
// CHECK: %[[XHAT:.*]] = arith.mulf %{{.*}}, %[[B]]
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[XHAT]]
// CHECK: rmsnorm.accumulate %[[P]] into %[[DW]] columns(%[[N]])
// CHECK: } {rmsnorm.schedule = #rmsnorm.schedule<row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>}
func.func @recomputed(%dys: memref<?x?xbf16>, %xs: memref<?x?xbf16>, %dxs: memref<?x?xbf16>, %dw: memref<?xbf16>, %m: index, %n: index) {
  scf.forall (%row) in (%m) {
    %dy = rmsnorm.tile_load tile %dys[%row] columns(%n) : memref<?x?xbf16> -> vector<1x1073741824xbf16>
    %x = rmsnorm.tile_load tile %xs[%row] columns(%n) : memref<?x?xbf16> -> vector<1x1073741824xbf16>
    %dyf = arith.extf %dy : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
    %xf = arith.extf %x : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
    %xx = arith.mulf %xf, %xf : vector<1x1073741824xf32>
    %s = rmsnorm.row_reduce add(%xx) columns(%n) : vector<1x1073741824xf32> -> vector<1x1xf32>
    %r = math.rsqrt %s : vector<1x1xf32>
    %b = vector.broadcast %r : vector<1x1xf32> to vector<1x1073741824xf32>
    %xhat = arith.mulf %xf, %b : vector<1x1073741824xf32>
    %dx = arith.truncf %xhat : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
    %p = arith.mulf %dyf, %xhat : vector<1x1073741824xf32>
    rmsnorm.tile_store tile %dx, %dxs[%row] columns(%n) : vector<1x1073741824xbf16>, memref<?x?xbf16>
    rmsnorm.accumulate %p into %dw columns(%n) : vector<1x1073741824xf32> into memref<?xbf16>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>}
  return
}

// -----

// dx in place of dy: what the sums need of a row first, then the sums, and the
// loop that overwrites dy last.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x64xf32>, %[[DW:[a-z0-9]*]]: memref<64xf32>
// CHECK: %[[WS:.*]] = rmsnorm.workspace
// CHECK: scf.forall
// CHECK: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store tile
// CHECK: rmsnorm.tile_store row %{{.*}}, %[[WS]]
// CHECK: scf.forall
// CHECK: rmsnorm.tile_load row %[[WS]]
// CHECK: rmsnorm.accumulate %{{.*}} into %[[DW]]
// CHECK: scf.forall
// CHECK: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store row
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[DY]]
func.func @in_place(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %dy = rmsnorm.tile_load tile %dys[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
    %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
    %p = arith.mulf %dy, %b : vector<1x64xf32>
    rmsnorm.tile_store tile %p, %dys[%row] : vector<1x64xf32>, memref<?x64xf32>
    rmsnorm.accumulate %p into %dw : vector<1x64xf32> into memref<64xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>}
  return
}

// -----

// In place with rstd given: no per-row value to keep, the sums just come first.
// CHECK-LABEL: func.func @in_place_given
// CHECK-NOT: rmsnorm.workspace
// CHECK: scf.forall
// CHECK: rmsnorm.accumulate
// CHECK: scf.forall
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK-NOT: scf.forall
func.func @in_place_given(%dys: memref<?x64xf32>, %rs: memref<?xf32>, %dw: memref<64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %dy = rmsnorm.tile_load tile %dys[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %r = rmsnorm.tile_load row %rs[%row] : memref<?xf32> -> vector<1x1xf32>
    %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
    %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
    %dx = arith.mulf %dy, %b : vector<1x64xf32>
    %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
    %p = arith.mulf %dy, %rb : vector<1x64xf32>
    rmsnorm.tile_store tile %dx, %dys[%row] : vector<1x64xf32>, memref<?x64xf32>
    rmsnorm.accumulate %p into %dw : vector<1x64xf32> into memref<64xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>}
  return
}

// -----

// In place through another view of the buffer, and with a reduction that the
// sums do not need: the loop for what they need does without it and what is read
// for it.
// CHECK-LABEL: func.func @in_place_view
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x64xf32>, %[[X:[a-z0-9]*]]: memref<?x64xf32>
// CHECK: scf.forall
// CHECK-NOT: rmsnorm.tile_load tile %[[DY]]
// CHECK: rmsnorm.row_reduce add(%{{[^)]*}}) :
// CHECK-NOT: rmsnorm.tile_store tile
// CHECK: rmsnorm.tile_store row
// CHECK: scf.forall
// CHECK: rmsnorm.accumulate
// CHECK: scf.forall
// CHECK: rmsnorm.row_reduce add(%{{[^)]*}}), add(
// CHECK: rmsnorm.tile_store tile
// CHECK-NOT: scf.forall
func.func @in_place_view(%dys: memref<?x64xf32>, %xs: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  %view = memref.cast %dys : memref<?x64xf32> to memref<?x64xf32, strided<[?, 1]>>
  scf.forall (%row) in (%m) {
    %dy = rmsnorm.tile_load tile %dys[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %x = rmsnorm.tile_load tile %xs[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %xx = arith.mulf %x, %x : vector<1x64xf32>
    %dyx = arith.mulf %dy, %x : vector<1x64xf32>
    %s:2 = rmsnorm.row_reduce add(%xx), add(%dyx) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
    %b = vector.broadcast %s#0 : vector<1x1xf32> to vector<1x64xf32>
    %c = vector.broadcast %s#1 : vector<1x1xf32> to vector<1x64xf32>
    %p = arith.mulf %dy, %b : vector<1x64xf32>
    %dx = arith.subf %p, %c : vector<1x64xf32>
    rmsnorm.tile_store tile %dx, %view[%row] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1]>>
    rmsnorm.accumulate %p into %dw : vector<1x64xf32> into memref<64xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>}
  return
}

// -----

// Sums that fit stay where they are.
// CHECK-LABEL: func.func @registers
// CHECK: scf.forall
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.accumulate
// CHECK-NOT: scf.forall
func.func @registers(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %dy = rmsnorm.tile_load tile %dys[%row] : memref<?x64xf32> -> vector<1x64xf32>
    %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
    %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
    %p = arith.mulf %dy, %b : vector<1x64xf32>
    rmsnorm.accumulate %p into %dw : vector<1x64xf32> into memref<64xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>}
  return
}

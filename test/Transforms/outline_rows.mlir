// RUN: norm-opt %s --rmsnorm-outline-rows --split-input-file | FileCheck %s

// The body becomes that of the tiles. Buffers stand in the order of their first
// use, each once, with all that is done with them; only what is read can be
// constant. Constants are made again inside. A reduction that no column waits
// for comes last.
// CHECK-LABEL: func.func @static
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x64xbf16>, %[[W:[a-z0-9]*]]: memref<64xf32> {rmsnorm.constant}, %[[Z:[a-z0-9]*]]: memref<?x64xbf16> {rmsnorm.constant}, %[[R:[a-z0-9]*]]: memref<?xf32>, %[[DW:[a-z0-9]*]]: memref<64xf32>, %[[M:[a-z0-9]*]]: index)
// CHECK-NOT: scf.forall
// CHECK: rmsnorm.rows sizes [%[[M]]] columns(64) buffers(update %[[X]] : memref<?x64xbf16>, read constant %[[W]] : memref<64xf32>, write %[[R]] : memref<?xf32>, update %[[Z]] : memref<?x64xbf16>, write %[[DW]] : memref<64xf32>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %[[XA:[^:]*]]: memref<?x64xbf16>, %[[WA:[^:]*]]: memref<64xf32>, %[[RA:[^:]*]]: memref<?xf32>, %[[ZA:[^:]*]]: memref<?x64xbf16>, %[[DWA:[^:]*]]: memref<64xf32>):
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<5.000000e-01> : vector<1x1xf32>
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: %[[V:.*]] = rmsnorm.tile_load tile %[[XA]][%[[T]]] policy(evict_first) : memref<?x64xbf16> -> vector<1x64xbf16>
// CHECK-NEXT: %[[WV:.*]] = rmsnorm.tile_load column %[[WA]] : memref<64xf32> -> vector<1x64xf32>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[V]]
// CHECK-NEXT: rmsnorm.tile_store tile %[[V]], %[[XA]][%[[T]]]
// CHECK-NEXT: %[[ZV:.*]] = rmsnorm.tile_load tile %[[ZA]][%[[T]]]
// CHECK-NEXT: rmsnorm.tile_store tile %[[ZV]], %[[ZA]][%[[T]]]
// CHECK-NEXT: rmsnorm.accumulate %[[WV]] into %[[DWA]] : vector<1x64xf32> into memref<64xf32>
// CHECK-NEXT: %[[S:.*]] = rmsnorm.row_reduce add(%[[F]])
// CHECK-NEXT: %[[H:.*]] = arith.mulf %[[S]], %[[C]]
// CHECK-NEXT: rmsnorm.tile_store row %[[H]], %[[RA]][%[[T]]]
// CHECK-NEXT: rmsnorm.yield
// CHECK-NEXT: }
// CHECK-NEXT: rmsnorm.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @static(%x: memref<?x64xbf16>, %w: memref<64xf32> {rmsnorm.constant}, %z: memref<?x64xbf16> {rmsnorm.constant}, %r: memref<?xf32>, %dw: memref<64xf32>, %m: index) {
  %c = arith.constant dense<0.5> : vector<1x1xf32>
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] policy(evict_first) : memref<?x64xbf16> -> vector<1x64xbf16>
    %1 = rmsnorm.tile_load column %w : memref<64xf32> -> vector<1x64xf32>
    %2 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
    %3 = rmsnorm.row_reduce add(%2) : vector<1x64xf32> -> vector<1x1xf32>
    %4 = arith.mulf %3, %c : vector<1x1xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xbf16>, memref<?x64xbf16>
    rmsnorm.tile_store row %4, %r[%row] : vector<1x1xf32>, memref<?xf32>
    %5 = rmsnorm.tile_load tile %z[%row] : memref<?x64xbf16> -> vector<1x64xbf16>
    rmsnorm.tile_store tile %5, %z[%row] : vector<1x64xbf16>, memref<?x64xbf16>
    rmsnorm.accumulate %1 into %dw : vector<1x64xf32> into memref<64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// N known at a call is an operand, for all accesses; scalars are operands too.
// Arithmetic on floats, which no launch does, moves inside; that on indices
// stays.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x?xf32>, %[[DW:[a-z0-9]*]]: memref<?xf32>, %[[E:[a-z0-9]*]]: f32, %[[K:[a-z0-9]*]]: index)
// CHECK: %[[M:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[NI:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: rmsnorm.rows sizes [%[[M]]] columns(1073741824, %[[N]]) buffers(update %[[X]] : memref<?x?xf32>, write %[[DW]] : memref<?xf32>) scalars(%[[E]], %[[NI]], %[[K]] : f32, i64, index) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: index, %[[XA:[^:]*]]: memref<?x?xf32>, %[[DWA:[^:]*]]: memref<?xf32>, %[[EA:[^:]*]]: f32, %[[NIA:[^:]*]]: i64, %[[KA:[^:]*]]: index):
// CHECK-NEXT: %[[NF:.*]] = arith.sitofp %[[NIA]] : i64 to f32
// CHECK-NEXT: %[[EN:.*]] = arith.divf %[[EA]], %[[NF]] : f32
// CHECK-NOT: columns(
// CHECK: rmsnorm.tile_load tile %[[XA]][%[[T:.*]]] : memref<?x?xf32> -> vector<1x1073741824xf32>
// CHECK-NEXT: rmsnorm.row_reduce add(%{{.*}}) : vector<1x1073741824xf32> -> vector<1x1xf32>
// CHECK-NEXT: vector.broadcast %[[EN]] : f32 to vector<1x1xf32>
// CHECK: arith.index_cast %[[KA]] : index to i32
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[XA]][%[[T]]] : vector<1x1073741824xf32>, memref<?x?xf32>
// CHECK-NEXT: rmsnorm.accumulate %{{.*}} into %[[DWA]] : vector<1x1073741824xf32> into memref<?xf32>
func.func @dynamic(%x: memref<?x?xf32>, %dw: memref<?xf32>, %e: f32, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %ni = arith.index_cast %n : index to i64
  %nf = arith.sitofp %ni : i64 to f32
  %en = arith.divf %e, %nf : f32
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xf32> -> vector<1x1073741824xf32>
    %1 = rmsnorm.row_reduce add(%0) columns(%n) : vector<1x1073741824xf32> -> vector<1x1xf32>
    %2 = vector.broadcast %en : f32 to vector<1x1xf32>
    %3 = arith.mulf %1, %2 : vector<1x1xf32>
    %i = arith.index_cast %k : index to i32
    %f = arith.sitofp %i : i32 to f32
    %4 = vector.broadcast %f : f32 to vector<1x1xf32>
    %5 = arith.mulf %3, %4 : vector<1x1xf32>
    %6 = vector.broadcast %5 : vector<1x1xf32> to vector<1x1073741824xf32>
    %7 = arith.mulf %0, %6 : vector<1x1073741824xf32>
    rmsnorm.tile_store tile %7, %x[%row] columns(%n) : vector<1x1073741824xf32>, memref<?x?xf32>
    rmsnorm.accumulate %0 into %dw columns(%n) : vector<1x1073741824xf32> into memref<?xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// The leading sizes, not their product: static where any buffer has it, else of
// the first buffer that has all of them.
// CHECK-LABEL: func.func @leading_sizes
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x?x64xf32>, %[[Y:[a-z0-9]*]]: memref<?x32x64xf32>, %[[R:[a-z0-9]*]]: memref<?x32xf32>, %[[S:[a-z0-9]*]]: memref<?xf32>, %{{.*}}: index)
// CHECK: %[[B:.*]] = memref.dim %[[X]], %c0
// CHECK: rmsnorm.rows sizes [%[[B]], 32] columns(64) buffers(read %[[S]] : memref<?xf32>, read %[[X]] : memref<?x?x64xf32>, write %[[Y]] : memref<?x32x64xf32>, write %[[R]] : memref<?x32xf32>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: memref<?x?x64xf32>, %{{[^:]*}}: memref<?x32x64xf32>, %{{[^:]*}}: memref<?x32xf32>):
func.func @leading_sizes(%x: memref<?x?x64xf32>, %y: memref<?x32x64xf32>, %r: memref<?x32xf32>, %s: memref<?xf32>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load row %s[%row] : memref<?xf32> -> vector<1x1xf32>
    %1 = rmsnorm.tile_load tile %x[%row] : memref<?x?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %1, %y[%row] : vector<1x64xf32>, memref<?x32x64xf32>
    rmsnorm.tile_store row %0, %r[%row] : vector<1x1xf32>, memref<?x32xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// Views of one buffer may overlap: they are of one class, named by the first of
// them. A single row needs no size.
// CHECK-LABEL: func.func @views
// CHECK: rmsnorm.rows sizes [1] columns(64) buffers(read %{{.*}} : memref<64xf32>, read alias(1) %{{.*}} : memref<1x64xf32, strided<[64, 1], offset: 64>>, write alias(1) %{{.*}} : memref<1x64xf32, strided<[64, 1], offset: ?>>) {
func.func @views(%b: memref<2x64xf32>, %i: index, %z: memref<64xf32>) {
  %x = memref.subview %b[1, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<1x64xf32, strided<[64, 1], offset: 64>>
  %view = memref.subview %b[%i, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
  scf.forall (%row) in (1) {
    %0 = rmsnorm.tile_load tile %z : memref<64xf32> -> vector<1x64xf32>
    %1 = rmsnorm.tile_load tile %x[%row] : memref<1x64xf32, strided<[64, 1], offset: 64>> -> vector<1x64xf32>
    %2 = arith.addf %0, %1 : vector<1x64xf32>
    rmsnorm.tile_store tile %2, %view[%row] : vector<1x64xf32>, memref<1x64xf32, strided<[64, 1], offset: ?>>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// The one row of a loop over one may have been folded to row 0.
// CHECK-LABEL: func.func @single_row
// CHECK: rmsnorm.tiles body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: %[[V:.*]] = rmsnorm.tile_load tile %{{.*}}[%[[T]]] :
// CHECK-NEXT: rmsnorm.tile_store tile %[[V]], %{{.*}}[%[[T]]] :
func.func @single_row(%x: memref<1x64xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%row) in (1) {
    %0 = rmsnorm.tile_load tile %x[%c0] : memref<1x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<1x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// Only loops with the mark are ours; one in a loop of somebody else is, too.
// CHECK-LABEL: func.func @others
// CHECK: scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK: rmsnorm.rows sizes [4]
// CHECK: scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK-NEXT: rmsnorm.tile_load
// CHECK-NOT: rmsnorm.rows
func.func @others(%x: memref<4x64xf32>, %m: index) {
  scf.forall (%i) in (%m) {
    scf.forall (%row) in (4) {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<4x64xf32>
    } {rmsnorm.rows = 1 : i64}
  }
  scf.forall (%i) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%i] : memref<4x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%i] : vector<1x64xf32>, memref<4x64xf32>
  }
  return
}

// -----

// A buffer with some of the leading sizes: its rows are counted by one index of
// the loop's delinearized, which names the size and is gone then.
// CHECK-LABEL: func.func @dims
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x?x64xf32>, %[[S:[a-z0-9]*]]: memref<?x64xf32>, %[[R:[a-z0-9]*]]: memref<?xf32>)
// CHECK: rmsnorm.rows sizes [%[[B:.*]], %[[T:.*]]] columns(64) buffers(update %[[X]] : memref<?x?x64xf32>, read %[[S]] : memref<?x64xf32>, read %[[R]] : memref<?xf32>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: index, %[[XA:[^:]*]]: memref<?x?x64xf32>, %[[SA:[^:]*]]: memref<?x64xf32>, %[[RA:[^:]*]]: memref<?xf32>):
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK-NEXT: ^bb0(%[[K:.*]]: index):
// CHECK-NEXT: rmsnorm.tile_load tile %[[XA]][%[[K]]] : memref<?x?x64xf32>
// CHECK-NEXT: rmsnorm.tile_load tile %[[SA]][%[[K]]] map(r0, r1, c) -> (r0, c) : memref<?x64xf32>
// CHECK-NEXT: rmsnorm.tile_load row %[[RA]][%[[K]]] map(r0, r1) -> (r1) : memref<?xf32>
func.func @dims(%x: memref<?x?x64xf32>, %s: memref<?x64xf32>, %r: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x64xf32>
  %t = memref.dim %x, %c1 : memref<?x?x64xf32>
  %m = arith.muli %b, %t : index
  scf.forall (%row) in (%m) {
    %i:2 = affine.delinearize_index %row into (%b, %t) : index, index
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x?x64xf32> -> vector<1x64xf32>
    %1 = rmsnorm.tile_load tile %s[%i#0] : memref<?x64xf32> -> vector<1x64xf32>
    %2 = rmsnorm.tile_load row %r[%i#1] : memref<?xf32> -> vector<1x1xf32>
    %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
    %4 = arith.mulf %0, %1 : vector<1x64xf32>
    %5 = arith.addf %4, %3 : vector<1x64xf32>
    rmsnorm.tile_store tile %5, %x[%row] : vector<1x64xf32>, memref<?x?x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// Leading sizes in another order: a view has them in the order of the rows.
// CHECK-LABEL: func.func @permuted
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<2x5x4x64xf32>, %[[S:[a-z0-9]*]]: memref<4x5x64xf32>, %[[Y:[a-z0-9]*]]: memref<2x4x5x64xf32, strided<[?, ?, ?, 1]>>)
// CHECK-DAG: %[[SV:.*]] = memref.transpose %[[S]] (d0, d1, d2) -> (d1, d0, d2) : memref<4x5x64xf32> to memref<5x4x64xf32, strided<[64, 320, 1]>>
// CHECK-DAG: %[[YV:.*]] = memref.transpose %[[Y]] (d0, d1, d2, d3) -> (d0, d2, d1, d3) : {{.*}} to memref<2x5x4x64xf32, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.rows sizes [2, 5, 4] columns(64) buffers(read %[[X]] : memref<2x5x4x64xf32>, read %[[SV]] : {{.*}}, write %[[YV]] :
// CHECK: ^bb0(%[[XA:[^:]*]]: memref<2x5x4x64xf32>, %[[SA:[^:]*]]: memref<5x4x64xf32, strided<[64, 320, 1]>>, %[[YA:[^:]*]]: memref<2x5x4x64xf32, strided<[?, ?, ?, 1]>>):
// CHECK: ^bb0(%[[K:.*]]: index):
// CHECK-NEXT: rmsnorm.tile_load tile %[[XA]][%[[K]]] :
// CHECK-NEXT: rmsnorm.tile_load tile %[[SA]][%[[K]]] map(r0, r1, r2, c) -> (r1, r2, c) :
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: rmsnorm.tile_store tile %{{.*}}, %[[YA]][%[[K]]] :
// CHECK-NEXT: rmsnorm.yield
func.func @permuted(%x: memref<2x5x4x64xf32>, %s: memref<4x5x64xf32>, %y: memref<2x4x5x64xf32, strided<[?, ?, ?, 1]>>) {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.forall (%row) in (40) {
    %i:3 = affine.delinearize_index %row into (2, 5, 4) : index, index, index
    %0 = rmsnorm.tile_load tile %x[%row] : memref<2x5x4x64xf32> -> vector<1x64xf32>
    %ht = arith.muli %i#2, %c5 : index
    %th = arith.addi %ht, %i#1 : index
    %1 = rmsnorm.tile_load tile %s[%th] : memref<4x5x64xf32> -> vector<1x64xf32>
    %2 = arith.mulf %0, %1 : vector<1x64xf32>
    %b4 = arith.muli %i#0, %c4 : index
    %bh = arith.addi %b4, %i#2 : index
    %bht = arith.muli %bh, %c5 : index
    %r = arith.addi %bht, %i#1 : index
    rmsnorm.tile_store tile %2, %y[%r] : vector<1x64xf32>, memref<2x4x5x64xf32, strided<[?, ?, ?, 1]>>
  } {rmsnorm.rows = 3 : i64}
  return
}

// -----

// Sums for each index of a leading dimension: its rows are a segment.
// CHECK-LABEL: func.func @segments
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(64) buffers(read %{{.*}} : memref<?x?x64xf32>, write %{{.*}} : memref<?x?xf32>, write %{{.*}} : memref<f32>, write %{{.*}} : memref<?x64xf32>) {
// CHECK: %[[V:.*]] = rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.row_reduce add(
// CHECK-NEXT: vector.broadcast
// CHECK-NEXT: %[[P:.*]] = arith.mulf
// CHECK-NEXT: rmsnorm.accumulate %[[P]] into %{{.*}} map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
// CHECK-NEXT: %[[MAX:.*]] = rmsnorm.row_reduce maximumf(%[[V]])
// CHECK-NEXT: rmsnorm.tile_store row %[[MAX]]
// CHECK-NEXT: rmsnorm.accumulate %[[MAX]] into %{{.*}} kind(maximumf) : vector<1x1xf32> into memref<f32>
// CHECK-NEXT: rmsnorm.yield
func.func @segments(%x: memref<?x?x64xf32>, %r: memref<?x?xf32>, %s: memref<?x64xf32>, %a: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %x, %c0 : memref<?x?x64xf32>
  %t = memref.dim %x, %c1 : memref<?x?x64xf32>
  %m = arith.muli %b, %t : index
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x?x64xf32> -> vector<1x64xf32>
    %1 = rmsnorm.row_reduce maximumf(%0) : vector<1x64xf32> -> vector<1x1xf32>
    rmsnorm.tile_store row %1, %r[%row] : vector<1x1xf32>, memref<?x?xf32>
    rmsnorm.accumulate %1 into %a kind(maximumf) : vector<1x1xf32> into memref<f32>
    %2 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
    %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
    %4 = arith.mulf %0, %3 : vector<1x64xf32>
    rmsnorm.accumulate %4 into %s map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
  } {rmsnorm.rows = 2 : i64}
  return
}

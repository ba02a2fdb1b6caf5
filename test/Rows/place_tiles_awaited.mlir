// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// What only the second traverse needs is loaded in the first, and its use of
// the row waits for it: of the row's tile, not of what is held of it. The value
// of the row is loaded ahead of all.
// CHECK-LABEL: func.func @awaited
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %[[S:[^:]*]]: memref<f32>,
// CHECK: rmsnorm.tiles body {
// CHECK: %[[SCALE:.*]] = rmsnorm.tile_load row %[[S]]
// CHECK-NEXT: %[[ROW:.*]]:3 = rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.tile_load tile %[[X]]
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: %[[KEPT:.*]] = rmsnorm.keep %[[X0]] after %[[W0]] : vector<1x64xbf16>, vector<1x64xbf16>
// CHECK-NEXT: arith.extf %[[KEPT]]
// CHECK: rmsnorm.yield %{{.*}}, %[[X0]], %[[W0]] :
// CHECK: rmsnorm.traverse unrolled {
// CHECK-NOT: tile_load
// CHECK: rmsnorm.keep %[[ROW]]#1 after %[[ROW]]#0
// CHECK: vector.broadcast %[[SCALE]]
// CHECK-NOT: tile_load
func.func @awaited(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %s: memref<f32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, read %s : memref<f32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %S: memref<f32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      %8 = rmsnorm.tile_load row %S : memref<f32> -> vector<1x1xf32>
      %9 = vector.broadcast %8 : vector<1x1xf32> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Of a row that is read again the first traverse waits, too, for one operand
// after the other: a tile that rows share is one.
// CHECK-LABEL: func.func @awaited_reloaded
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>, %[[P:[^:]*]]: memref<8x64xbf16>,
// CHECK: rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.tile_load tile %[[X]]
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: %[[P0:.*]] = rmsnorm.tile_load tile %[[P]]
// CHECK-NEXT: %[[ONE:.*]] = rmsnorm.keep %[[X0]] after %[[W0]]
// CHECK-NEXT: %[[TWO:.*]] = rmsnorm.keep %[[ONE]] after %[[P0]]
// CHECK-NEXT: arith.extf %[[TWO]]
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK: rmsnorm.tile_load tile %[[X]]{{.*}} again(1)
func.func @awaited_reloaded(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %p: memref<8x64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m, 8] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, read %p : memref<8x64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %P: memref<8x64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      %8 = rmsnorm.tile_load tile %P[%t] map(r0, r1, c) -> (r1, c) : memref<8x64xbf16> -> vector<1x64xbf16>
      %9 = arith.extf %8 : vector<1x64xbf16> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Nothing waits for what the row is used with at once, and values of the row
// stay where they are: registers are what such kernels are short of. Nor for
// two numbers a byte.
// CHECK-LABEL: func.func @used_at_once
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NOT: rmsnorm.keep
// CHECK: rmsnorm.yield
// CHECK: rmsnorm.tile_load row
// CHECK-LABEL: func.func @fours
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK: rmsnorm.tile_load column
// CHECK-NOT: rmsnorm.keep
// CHECK: rmsnorm.yield
func.func @used_at_once(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %s: memref<f32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xbf16>, read %s : memref<f32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>, %S: memref<f32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %6 = arith.mulf %1, %4 : vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%6) : vector<1x64xf32> -> vector<1x1xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %7 = arith.mulf %6, %5 : vector<1x64xf32>
      %8 = rmsnorm.tile_load row %S : memref<f32> -> vector<1x1xf32>
      %9 = vector.broadcast %8 : vector<1x1xf32> to vector<1x64xf32>
      %10 = arith.mulf %7, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @fours(%x: memref<?x64xbf16>, %w: memref<64xf4E2M1FN>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %w : memref<64xf4E2M1FN>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xf4E2M1FN>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xf4E2M1FN> -> vector<1x64xf4E2M1FN>
      %4 = arith.extf %3 : vector<1x64xf4E2M1FN> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A value of the row that has just been written is not loaded before that.
// CHECK-LABEL: func.func @written_before
// CHECK: rmsnorm.tile_store row
// CHECK: rmsnorm.tile_load row
func.func @written_before(%x: memref<?x64xbf16>, %s: memref<?xf32>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, update %s : memref<?xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %S: memref<?xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      rmsnorm.tile_store row %2, %S[%t] : vector<1x1xf32>, memref<?xf32>
      %8 = rmsnorm.tile_load row %S[%t] : memref<?xf32> -> vector<1x1xf32>
      %9 = vector.broadcast %8 : vector<1x1xf32> to vector<1x64xf32>
      %10 = arith.mulf %1, %9 : vector<1x64xf32>
      rmsnorm.tile_store tile %10, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Another tile that only a later traverse needs is not in between: what is
// waited for stands in front of the first use of the row.
// CHECK-LABEL: func.func @behind_another_tile
// CHECK: ^bb0(%{{[^:]*}}: index, %[[X:[^:]*]]: memref<?x64xbf16>, %[[Z:[^:]*]]: memref<?x64xbf16>, %[[W:[^:]*]]: memref<64xbf16>,
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.tile_load tile %[[X]]
// CHECK-NEXT: %[[W0:.*]] = rmsnorm.tile_load column %[[W]]
// CHECK-NEXT: %[[KEPT:.*]] = rmsnorm.keep %[[X0]] after %[[W0]]
// CHECK-NEXT: arith.extf %[[KEPT]]
// CHECK: rmsnorm.tile_load tile %[[Z]]
func.func @behind_another_tile(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %w: memref<64xbf16>, %y: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16>, read %z : memref<?x64xbf16>, read %w : memref<64xbf16>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %Z: memref<?x64xbf16>, %W: memref<64xbf16>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %z0 = rmsnorm.tile_load tile %Z[%t] : memref<?x64xbf16> -> vector<1x64xbf16>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %4 = arith.extf %3 : vector<1x64xbf16> to vector<1x64xf32>
      %5 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %6 = arith.mulf %1, %5 : vector<1x64xf32>
      %7 = arith.mulf %6, %4 : vector<1x64xf32>
      %8 = arith.extf %z0 : vector<1x64xbf16> to vector<1x64xf32>
      %9 = arith.mulf %7, %8 : vector<1x64xf32>
      rmsnorm.tile_store tile %9, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Half of a row has vectors of its own: nothing waits for an operand of it.
// CHECK-LABEL: func.func @half
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK-NOT: rmsnorm.keep
// CHECK: rmsnorm.yield
func.func @half(%x: memref<?x64xbf16>, %p: memref<8x32xf32>, %y: memref<?x32xf32>, %m: index) {
  rmsnorm.rows sizes [%m, 8] columns [2, 32] buffers(read %x : memref<?x64xbf16>, read %p : memref<8x32xf32>, write %y : memref<?x32xf32>) schedule(#rmsnorm.schedule<threads_per_row = 4, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %P: memref<8x32xf32>, %Y: memref<?x32xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<1x2x32xbf16>
      %1 = arith.extf %0 : vector<1x2x32xbf16> to vector<1x2x32xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x2x32xf32> -> vector<1x1x1xf32>
      %3 = rmsnorm.take %1 at [1, 0] : vector<1x2x32xf32> -> vector<1x1x32xf32>
      %4 = rmsnorm.tile_load tile %P[%t] map(r0, r1, c) -> (r1, c) : memref<8x32xf32> -> vector<1x1x32xf32>
      %5 = arith.mulf %3, %4 : vector<1x1x32xf32>
      %6 = vector.broadcast %2 : vector<1x1x1xf32> to vector<1x1x32xf32>
      %7 = arith.mulf %5, %6 : vector<1x1x32xf32>
      rmsnorm.tile_store tile %7, %Y[%t] : vector<1x1x32xf32>, memref<?x32xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-split-strips --split-input-file | FileCheck %s
// RUN: norm-opt %s --rmsnorm-split-strips --rmsnorm-split-strips --split-input-file | FileCheck %s

// The backward with rstd recomputed: the sums need rstd, one value a row, and
// read the tiles again. Each op has the buffers it uses, as it uses them.
// CHECK-LABEL: func.func @recomputed
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x?xbf16>, %[[X:[a-z0-9]*]]: memref<?x?xbf16>, %[[DX:[a-z0-9]*]]: memref<?x?xbf16>, %[[DW:[a-z0-9]*]]: memref<?xbf16>, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[WS:.*]] = rmsnorm.workspace(%[[M]]) : memref<?xf32>
// CHECK-NEXT: rmsnorm.rows sizes [%[[M]]] columns(1073741824, %[[N]]) buffers(read constant %[[X]] : memref<?x?xbf16>, write %[[DX]] : memref<?x?xbf16>, write %[[WS]] : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: index, %[[XA:[^:]*]]: memref<?x?xbf16>, %[[DXA:[^:]*]]: memref<?x?xbf16>, %[[WSA:[^:]*]]: memref<?xf32>):
// CHECK: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: rmsnorm.tile_load tile %[[XA]][%[[T]]]
// CHECK: rmsnorm.row_reduce
// CHECK: %[[RSTD:.*]] = math.rsqrt
// CHECK-NOT: rmsnorm.accumulate
// CHECK: rmsnorm.tile_store tile %{{.*}}, %[[DXA]][%[[T]]]
// CHECK-NEXT: rmsnorm.tile_store row %[[RSTD]], %[[WSA]][%[[T]]] : vector<1x1xf32>, memref<?xf32>
// CHECK: rmsnorm.rows sizes [%[[M]]] columns(1073741824, %[[N]]) buffers(read %[[WS]] : memref<?xf32>, read %[[DY]] : memref<?x?xbf16>, read constant %[[X]] : memref<?x?xbf16>, write %[[DW]] : memref<?xbf16>) schedule(#rmsnorm.schedule<row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: index, %[[WSB:[^:]*]]: memref<?xf32>, %[[DYB:[^:]*]]: memref<?x?xbf16>, %[[XB:[^:]*]]: memref<?x?xbf16>, %[[DWB:[^:]*]]: memref<?xbf16>):
// CHECK: ^bb0(%[[S:.*]]: index):
// CHECK-NEXT: %[[R:.*]] = rmsnorm.tile_load row %[[WSB]][%[[S]]] : memref<?xf32> -> vector<1x1xf32>
// CHECK-NEXT: %[[DY0:.*]] = rmsnorm.tile_load tile %[[DYB]][%[[S]]]
// CHECK-NEXT: %[[X0:.*]] = rmsnorm.tile_load tile %[[XB]][%[[S]]]
// CHECK-NOT: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store
// CHECK: %[[B:.*]] = vector.broadcast %[[R]]
// CHECK: %[[XHAT:.*]] = arith.mulf %{{.*}}, %[[B]]
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[XHAT]]
// CHECK: rmsnorm.accumulate %[[P]] into %[[DWB]]
// CHECK-NOT: rmsnorm.rows
func.func @recomputed(%dys: memref<?x?xbf16>, %xs: memref<?x?xbf16>, %dxs: memref<?x?xbf16>, %dw: memref<?xbf16>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(read %dys : memref<?x?xbf16>, read constant %xs : memref<?x?xbf16>, write %dxs : memref<?x?xbf16>, write %dw : memref<?xbf16>) schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%M: index, %N: index, %DYS: memref<?x?xbf16>, %XS: memref<?x?xbf16>, %DXS: memref<?x?xbf16>, %DW: memref<?xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x?xbf16> -> vector<1x1073741824xbf16>
      %x = rmsnorm.tile_load tile %XS[%t] : memref<?x?xbf16> -> vector<1x1073741824xbf16>
      %dyf = arith.extf %dy : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
      %xf = arith.extf %x : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
      %xx = arith.mulf %xf, %xf : vector<1x1073741824xf32>
      %s = rmsnorm.row_reduce add(%xx) : vector<1x1073741824xf32> -> vector<1x1xf32>
      %r = math.rsqrt %s : vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x1073741824xf32>
      %xhat = arith.mulf %xf, %b : vector<1x1073741824xf32>
      %dx = arith.truncf %xhat : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
      %p = arith.mulf %dyf, %xhat : vector<1x1073741824xf32>
      rmsnorm.tile_store tile %dx, %DXS[%t] : vector<1x1073741824xbf16>, memref<?x?xbf16>
      rmsnorm.accumulate %p into %DW : vector<1x1073741824xf32> into memref<?xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// dx in place of dy: what the sums need of a row first, then the sums, and what
// overwrites dy last.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x64xf32>, %[[DW:[a-z0-9]*]]: memref<64xf32>
// CHECK: %[[WS:.*]] = rmsnorm.workspace
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[DY]] : memref<?x64xf32>, write %[[WS]] : memref<?xf32>)
// CHECK: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store tile
// CHECK: rmsnorm.tile_store row
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[WS]] : memref<?xf32>, read %[[DY]] : memref<?x64xf32>, write %[[DW]] : memref<64xf32>)
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.rows {{.*}} buffers(update %[[DY]] : memref<?x64xf32>)
// CHECK: rmsnorm.row_reduce
// CHECK-NOT: rmsnorm.tile_store row
// CHECK: rmsnorm.tile_store tile
// CHECK-NOT: rmsnorm.rows
func.func @in_place(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %dys : memref<?x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %DYS[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In place with rstd given: no per-row value to keep, the sums just come first.
// CHECK-LABEL: func.func @in_place_given
// CHECK-NOT: rmsnorm.workspace
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK-NOT: rmsnorm.rows
func.func @in_place_given(%dys: memref<?x64xf32>, %rs: memref<?xf32>, %dw: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %dys : memref<?x64xf32>, read %rs : memref<?xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %RS: memref<?xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %r = rmsnorm.tile_load row %RS[%t] : memref<?xf32> -> vector<1x1xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %dx = arith.mulf %dy, %b : vector<1x64xf32>
      %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %rb : vector<1x64xf32>
      rmsnorm.tile_store tile %dx, %DYS[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// In place through another view of the buffer, and with a reduction that the
// sums do not need: the op for what they need does without it and what is read
// for it. What is left alone in its class has none.
// CHECK-LABEL: func.func @in_place_view
// CHECK-SAME: %[[DY:[a-z0-9]*]]: memref<?x64xf32>, %[[X:[a-z0-9]*]]: memref<?x64xf32>
// CHECK: %[[VIEW:.*]] = memref.cast %[[DY]]
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[X]] : memref<?x64xf32>, write %{{.*}} : memref<?xf32>)
// CHECK: rmsnorm.row_reduce add(%{{[^)]*}}) :
// CHECK-NOT: rmsnorm.tile_store tile
// CHECK: rmsnorm.tile_store row
// CHECK: rmsnorm.rows {{.*}} buffers(read %{{.*}} : memref<?xf32>, read %[[DY]] : memref<?x64xf32>, write %{{.*}} : memref<64xf32>)
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.rows {{.*}} buffers(read alias(0) %[[DY]] : memref<?x64xf32>, read %[[X]] : memref<?x64xf32>, write alias(0) %[[VIEW]] :
// CHECK: rmsnorm.row_reduce add(%{{[^)]*}}), add(
// CHECK: rmsnorm.tile_store tile
// CHECK-NOT: rmsnorm.rows
func.func @in_place_view(%dys: memref<?x64xf32>, %xs: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  %view = memref.cast %dys : memref<?x64xf32> to memref<?x64xf32, strided<[?, 1]>>
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %dys : memref<?x64xf32>, read %xs : memref<?x64xf32>, write alias(0) %view : memref<?x64xf32, strided<[?, 1]>>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %XS: memref<?x64xf32>, %VIEW: memref<?x64xf32, strided<[?, 1]>>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %x = rmsnorm.tile_load tile %XS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %xx = arith.mulf %x, %x : vector<1x64xf32>
      %dyx = arith.mulf %dy, %x : vector<1x64xf32>
      %s:2 = rmsnorm.row_reduce add(%xx), add(%dyx) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
      %b = vector.broadcast %s#0 : vector<1x1xf32> to vector<1x64xf32>
      %c = vector.broadcast %s#1 : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      %dx = arith.subf %p, %c : vector<1x64xf32>
      rmsnorm.tile_store tile %dx, %VIEW[%t] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1]>>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Sums that fit stay where they are, and what has nothing to reduce is strips
// already.
// CHECK-LABEL: func.func @registers
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.accumulate
// CHECK-NOT: rmsnorm.rows
// CHECK-LABEL: func.func @strips
// CHECK: rmsnorm.rows {{.*}} column_sums = strips
// CHECK: rmsnorm.accumulate
// CHECK-NOT: rmsnorm.rows
func.func @registers(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %dys : memref<?x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @strips(%dys: memref<?x64xf32>, %dw: memref<64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %dys : memref<?x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>) {
  ^bb0(%M: index, %DYS: memref<?x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.accumulate %dy into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// M may be static; of several leading sizes it is their product.
// CHECK-LABEL: func.func @static_rows
// CHECK: rmsnorm.workspace() : memref<12xf32>
// CHECK: rmsnorm.rows sizes [12]
// CHECK: rmsnorm.tile_store row %{{.*}} : vector<1x1xf32>, memref<12xf32>
// CHECK-LABEL: func.func @leading_sizes
// CHECK: %[[M:.*]] = arith.muli %c3, %c4
// CHECK: rmsnorm.workspace(%[[M]]) : memref<?xf32>
// CHECK: rmsnorm.rows sizes [3, 4]
// CHECK: rmsnorm.tile_store row %{{.*}} : vector<1x1xf32>, memref<?xf32>
// CHECK: rmsnorm.rows sizes [3, 4]
// CHECK: rmsnorm.tile_load row %{{.*}} : memref<?xf32> -> vector<1x1xf32>
func.func @static_rows(%dys: memref<12x64xf32>, %dw: memref<64xf32>) {
  rmsnorm.rows sizes [12] columns(64) buffers(read %dys : memref<12x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%DYS: memref<12x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<12x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @leading_sizes(%dys: memref<3x4x64xf32>, %dw: memref<64xf32>) {
  rmsnorm.rows sizes [3, 4] columns(64) buffers(read %dys : memref<3x4x64xf32>, write %dw : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, rows_per_group = 4, threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%DYS: memref<3x4x64xf32>, %DW: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %dy = rmsnorm.tile_load tile %DYS[%t] : memref<3x4x64xf32> -> vector<1x64xf32>
      %s = rmsnorm.row_reduce add(%dy) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x64xf32>
      %p = arith.mulf %dy, %b : vector<1x64xf32>
      rmsnorm.accumulate %p into %DW : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// One value a row is no sum of columns: it stays with the rows, and is not taken
// where only what the strips need is computed ahead. Strips keep to segments.
// CHECK-LABEL: func.func @values
// CHECK: %[[WS:.*]] = rmsnorm.workspace
// CHECK-NEXT: rmsnorm.rows sizes [%{{.*}}, 4] columns(64) buffers(read %{{.*}} : memref<?x4x64xf32>, write %[[WS]] : memref<?xf32>)
// CHECK-NOT: rmsnorm.accumulate
// CHECK: rmsnorm.tile_store row
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] segments [1] columns(64)
// CHECK: rmsnorm.accumulate %{{.*}} map(r0, r1, c) -> (r1, c)
// CHECK-NOT: rmsnorm.accumulate
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns(64)
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.row_reduce maximumf(
// CHECK: rmsnorm.accumulate %{{.*}} kind(maximumf)
// CHECK-NOT: rmsnorm.accumulate
// CHECK: return
func.func @values(%x: memref<?x4x64xf32>, %h: memref<4x64xf32>, %a: memref<f32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] segments [1] columns(64) buffers(update %x : memref<?x4x64xf32>, write %h : memref<4x64xf32>, write %a : memref<f32>) schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = reload, column_sums = strips, sums = <row_groups = 4, threads_per_row = 16, vector_width = 4, cache = reload, blocks_per_sm = 4, column_sums = strips>>) {
  ^bb0(%M: index, %X: memref<?x4x64xf32>, %H: memref<4x64xf32>, %A: memref<f32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4x64xf32> -> vector<1x64xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x64xf32>
      %3 = arith.mulf %0, %2 : vector<1x64xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x64xf32>, memref<?x4x64xf32>
      rmsnorm.accumulate %3 into %H map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32>
      %4 = rmsnorm.row_reduce maximumf(%3) : vector<1x64xf32> -> vector<1x1xf32>
      rmsnorm.accumulate %4 into %A kind(maximumf) : vector<1x1xf32> into memref<f32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

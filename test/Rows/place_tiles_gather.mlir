// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// What rows share is loaded after the row, and its index before it, to travel
// while the row is reduced.
// CHECK-LABEL: func.func @registers(
// CHECK: rmsnorm.tiles body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index):
// CHECK-NEXT: %[[ID:.*]] = rmsnorm.tile_load row
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[ID]]
// CHECK-NEXT: %[[S:.*]]:{{[0-9]+}} = rmsnorm.traverse unrolled reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}}[%[[T]]] :
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} at(%[[I]] :
func.func @registers(%x: memref<?x4x64xbf16>, %table: memref<?x64xf32>, %ids: memref<?xi32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(update %x : memref<?x4x64xbf16>, read %table : memref<?x64xf32>, read %ids : memref<?xi32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x4x64xbf16>, %T: memref<?x64xf32>, %I: memref<?xi32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %4 = arith.mulf %1, %3 : vector<1x64xf32>
      %5 = rmsnorm.tile_load row %I[%t] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
      %6 = arith.index_cast %5 : vector<1x1xi32> to vector<1x1xindex>
      %7 = rmsnorm.tile_load tile %T at(%6 : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
      %8 = arith.mulf %4, %7 : vector<1x64xf32>
      %9 = arith.truncf %8 : vector<1x64xf32> to vector<1x64xbf16>
      rmsnorm.tile_store tile %9, %X[%t] : vector<1x64xbf16>, memref<?x4x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Read again, the row's tile is; what rows share is held.
// CHECK-LABEL: func.func @reload(
// CHECK: %[[S:.*]]:2 = rmsnorm.traverse chunks in_flight({{[0-9]+}}) reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} at(
// CHECK: rmsnorm.traverse chunks
// CHECK-NEXT: rmsnorm.keep %[[S]]#1
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} again(1) policy(evict_first)
// CHECK-NOT: gather(
// CHECK: rmsnorm.tile_store
func.func @reload(%x: memref<?x4x64xbf16>, %table: memref<?x64xf32>, %ids: memref<?xi32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(update %x : memref<?x4x64xbf16>, read %table : memref<?x64xf32>, read %ids : memref<?xi32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = reload, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x4x64xbf16>, %T: memref<?x64xf32>, %I: memref<?xi32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %4 = arith.mulf %1, %3 : vector<1x64xf32>
      %5 = rmsnorm.tile_load row %I[%t] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
      %6 = arith.index_cast %5 : vector<1x1xi32> to vector<1x1xindex>
      %7 = rmsnorm.tile_load tile %T at(%6 : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
      %8 = arith.mulf %4, %7 : vector<1x64xf32>
      %9 = arith.truncf %8 : vector<1x64xf32> to vector<1x64xbf16>
      rmsnorm.tile_store tile %9, %X[%t] : vector<1x64xbf16>, memref<?x4x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// It is neither copied to workgroup memory nor waited for.
// CHECK-LABEL: func.func @shared(
// CHECK: rmsnorm.tiles copies(%{{[^,]*}} : memref<?x4x64xbf16>) stages 1 body {
// CHECK: rmsnorm.traverse chunks in_flight({{[0-9]+}}) reduce(add) {
// CHECK: rmsnorm.slot_load
// CHECK: rmsnorm.traverse chunks
// CHECK: rmsnorm.slot_load
// CHECK: rmsnorm.tile_load tile %{{.*}} at(
func.func @shared(%x: memref<?x4x64xbf16>, %table: memref<?x64xf32>, %ids: memref<?xi32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(update %x : memref<?x4x64xbf16>, read %table : memref<?x64xf32>, read %ids : memref<?xi32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x4x64xbf16>, %T: memref<?x64xf32>, %I: memref<?xi32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4x64xbf16> -> vector<1x64xbf16>
      %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x64xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x64xf32>
      %4 = arith.mulf %1, %3 : vector<1x64xf32>
      %5 = rmsnorm.tile_load row %I[%t] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
      %6 = arith.index_cast %5 : vector<1x1xi32> to vector<1x1xindex>
      %7 = rmsnorm.tile_load tile %T at(%6 : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
      %8 = arith.mulf %4, %7 : vector<1x64xf32>
      %9 = arith.truncf %8 : vector<1x64xf32> to vector<1x64xbf16>
      rmsnorm.tile_store tile %9, %X[%t] : vector<1x64xbf16>, memref<?x4x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A norm's own input is read again.
// CHECK-LABEL: func.func @input(
// CHECK-NOT: rmsnorm.fetch
// CHECK: rmsnorm.tiles body {
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: rmsnorm.traverse chunks in_flight({{[0-9]+}}) reduce(add) {
// CHECK-NEXT: rmsnorm.tile_load tile %{{.*}} at(%[[I]] : vector<1x1xindex>) : memref<?x64xf32>
// CHECK: rmsnorm.traverse chunks
// CHECK: rmsnorm.tile_load tile %{{.*}} at(%[[I]] : vector<1x1xindex>) again(1) : memref<?x64xf32>
func.func @input(%x: memref<?x4x64xbf16>, %table: memref<?x64xf32>, %ids: memref<?x4xi32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(write %x : memref<?x4x64xbf16>, read %table : memref<?x64xf32>, read %ids : memref<?x4xi32>) schedule(#rmsnorm.schedule<threads_per_row = 8, vector_width = 8, cache = shared, column_operands = tile>) {
  ^bb0(%M: index, %X: memref<?x4x64xbf16>, %T: memref<?x64xf32>, %I: memref<?x4xi32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load row %I[%t] : memref<?x4xi32> -> vector<1x1xi32>
      %1 = arith.index_cast %0 : vector<1x1xi32> to vector<1x1xindex>
      %2 = rmsnorm.tile_load tile %T at(%1 : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
      %3 = rmsnorm.row_reduce add(%2) : vector<1x64xf32> -> vector<1x1xf32>
      %4 = vector.broadcast %3 : vector<1x1xf32> to vector<1x64xf32>
      %5 = arith.mulf %2, %4 : vector<1x64xf32>
      %6 = arith.truncf %5 : vector<1x64xf32> to vector<1x64xbf16>
      rmsnorm.tile_store tile %6, %X[%t] : vector<1x64xbf16>, memref<?x4x64xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

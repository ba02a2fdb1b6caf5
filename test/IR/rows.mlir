// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s
// RUN: norm-opt %s --emit-bytecode | norm-opt | FileCheck %s
// RUN: norm-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// Pretty, generic and bytecode form keep everything.

// Mixed sizes, one dimension for all rows, every access, a scalar, no schedule.
// CHECK-LABEL: func.func @straight(
// CHECK:         rmsnorm.rows sizes [%{{[^ ]*}}, 3] columns(64)
// CHECK-SAME:      buffers(read constant %{{[^ ]*}} : memref<64xbf16>, update alias(0) %{{[^ ]*}} : memref<?x3x64xbf16>,
// CHECK-SAME:      write alias(0) %{{[^ ]*}} : memref<?x64xbf16, strided<[128, 1]>>, write %{{[^ ]*}} : memref<?xf32>)
// CHECK-SAME:      scalars(%{{[^ ]*}} : f32) {
// CHECK-NEXT:    ^bb0(%[[M:[^ ]*]]: index, %[[W:[^ ]*]]: memref<64xbf16>, %[[X:[^ ]*]]: memref<?x3x64xbf16>, %[[Y:[^ ]*]]: memref<?x64xbf16, strided<[128, 1]>>, %[[R:[^ ]*]]: memref<?xf32>, %[[EPS:[^ ]*]]: f32):
// CHECK-NEXT:      rmsnorm.tiles body {
// CHECK-NEXT:      ^bb0(%[[T:[^ ]*]]: index):
// CHECK:             rmsnorm.tile_load tile %[[X]][%[[T]]] : memref<?x3x64xbf16> -> vector<1x64xbf16>
// CHECK:             rmsnorm.tile_load column %[[W]] : memref<64xbf16> -> vector<1x64xbf16>
// CHECK:             rmsnorm.row_reduce add(%{{[^ ]*}}) : vector<1x64xbf16> -> vector<1x1xbf16>
// CHECK:             vector.broadcast %[[EPS]] : f32 to vector<1x1xf32>
// CHECK:             rmsnorm.tile_store row %{{[^ ]*}}, %[[R]][%[[T]]] : vector<1x1xf32>, memref<?xf32>
// CHECK:             rmsnorm.tile_store tile %{{[^ ]*}}, %[[Y]][%[[T]]] : vector<1x64xbf16>, memref<?x64xbf16, strided<[128, 1]>>
// CHECK-NEXT:        rmsnorm.yield{{$}}
// CHECK-NEXT:      }{{$}}
// CHECK-NEXT:      rmsnorm.yield{{$}}
// CHECK-NEXT:    }{{$}}
func.func @straight(%m: index, %w: memref<64xbf16>, %x: memref<?x3x64xbf16>,
    %y: memref<?x64xbf16, strided<[128, 1]>>, %r: memref<?xf32>, %eps: f32) {
  rmsnorm.rows sizes [%m, 3] columns(64)
      buffers(read constant %w : memref<64xbf16>, update alias(0) %x : memref<?x3x64xbf16>,
        write alias(0) %y : memref<?x64xbf16, strided<[128, 1]>>, write %r : memref<?xf32>)
      scalars(%eps : f32) {
  ^bb0(%M: index, %W: memref<64xbf16>, %X: memref<?x3x64xbf16>,
       %Y: memref<?x64xbf16, strided<[128, 1]>>, %R: memref<?xf32>, %E: f32):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x3x64xbf16> -> vector<1x64xbf16>
      %1 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
      %2 = arith.mulf %0, %1 : vector<1x64xbf16>
      %3 = rmsnorm.row_reduce add(%2) : vector<1x64xbf16> -> vector<1x1xbf16>
      %4 = arith.extf %3 : vector<1x1xbf16> to vector<1x1xf32>
      %5 = vector.broadcast %E : f32 to vector<1x1xf32>
      %6 = arith.addf %4, %5 : vector<1x1xf32>
      rmsnorm.tile_store row %6, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.tile_store tile %2, %Y[%t] : vector<1x64xbf16>, memref<?x64xbf16, strided<[128, 1]>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// A dynamic number of columns; no buffers; a single row without sizes.
// CHECK-LABEL: func.func @sizes(
// CHECK:         rmsnorm.rows sizes [] columns(1073741824, %{{[^ ]*}}) buffers(read %{{[^ ]*}} : memref<?xf32>) {
// CHECK-NEXT:    ^bb0(%{{[^ ]*}}: index, %[[X:[^ ]*]]: memref<?xf32>):
// CHECK:           rmsnorm.traverse looped in_flight(4) reduce(add, maximumf) {
// CHECK-NEXT:        rmsnorm.tile_load tile %[[X]] again(2) policy(evict_first) : memref<?xf32> -> vector<1x1073741824xf32>
// CHECK:         rmsnorm.rows sizes [4] columns(8) buffers() {
// CHECK-NEXT:      rmsnorm.tiles body {
// CHECK-NEXT:      ^bb0(%{{[^ ]*}}: index):
func.func @sizes(%n: index, %x: memref<?xf32>) {
  rmsnorm.rows sizes [] columns(1073741824, %n) buffers(read %x : memref<?xf32>) {
  ^bb0(%N: index, %X: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %s, %a = rmsnorm.traverse looped in_flight(4) reduce(add, maximumf) {
        %0 = rmsnorm.tile_load tile %X again(2) policy(evict_first) : memref<?xf32> -> vector<1x1073741824xf32>
        rmsnorm.yield %0, %0 : vector<1x1073741824xf32>, vector<1x1073741824xf32>
      } -> vector<1x1xf32>, vector<1x1xf32>
      %sum = arith.addf %s, %a : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [4] columns(8) buffers() {
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Copies, both regions, accumulators, partial sums.
// CHECK-LABEL: func.func @split(
// CHECK:         %[[P:[^ ]*]] = rmsnorm.rows sizes [%{{[^ ]*}}] columns(64)
// CHECK-SAME:      schedule(#rmsnorm.schedule<row_groups = 2, {{.*}}stages = 3>) -> memref<?x64xf32> {
// CHECK-NEXT:    ^bb0(%{{[^ ]*}}: index, %[[X:[^ ]*]]: memref<?x64xf32>, %[[W:[^ ]*]]: memref<64xf32>):
// CHECK:           rmsnorm.tile_load column %[[W]]
// CHECK-NEXT:      rmsnorm.grid_wait
// CHECK-NEXT:      %[[SUM:[^ ]*]] = rmsnorm.tiles copies(%[[X]] : memref<?x64xf32>) stages 3 inits(%{{[^ ]*}} : vector<2x64xf32>) begin {
// CHECK-NEXT:      ^bb0(%{{[^ ]*}}: index, %[[SLOT:[^ ]*]]: !rmsnorm.slot<4x64xf32>):
// CHECK-NEXT:        %[[S:[^ ]*]] = rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK-NEXT:          %[[L:[^ ]*]] = rmsnorm.slot_load %[[SLOT]] : <4x64xf32> -> vector<4x64xf32>
// CHECK-NEXT:          rmsnorm.yield %[[L]] : vector<4x64xf32>
// CHECK-NEXT:        } -> vector<4x1xf32>
// CHECK-NEXT:        rmsnorm.yield %[[S]] : vector<4x1xf32>
// CHECK-NEXT:      } body {
// CHECK-NEXT:      ^bb0(%[[T:[^ ]*]]: index, %[[SLOT:[^ ]*]]: !rmsnorm.slot<4x64xf32>, %[[S:[^ ]*]]: vector<4x1xf32>, %[[ACC:[^ ]*]]: vector<2x64xf32>):
// CHECK-NEXT:        rmsnorm.fetch %[[SLOT]] : !rmsnorm.slot<4x64xf32>
// CHECK-NEXT:        rmsnorm.arrive %[[SLOT]] : !rmsnorm.slot<4x64xf32>
// CHECK-NEXT:        rmsnorm.await %[[S]] : vector<4x1xf32>
// CHECK-NEXT:        %[[NEXT:[^ ]*]] = rmsnorm.traverse unrolled order(vectors) {
// CHECK-NEXT:          rmsnorm.slot_load %[[SLOT]] again(1) : <4x64xf32> -> vector<4x64xf32>
// CHECK:               %[[A:[^ ]*]] = rmsnorm.accumulate %{{[^ ]*}} into %[[ACC]] : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
// CHECK:               rmsnorm.tile_store tile %{{[^ ]*}}, %[[X]][%[[T]]] : vector<4x64xf32>, memref<?x64xf32>
// CHECK-NEXT:          rmsnorm.yield %[[A]] : vector<2x64xf32>
// CHECK-NEXT:        } -> vector<2x64xf32>
// CHECK-NEXT:        rmsnorm.yield %[[NEXT]] : vector<2x64xf32>
// CHECK-NEXT:      } -> vector<2x64xf32>
// CHECK-NEXT:      rmsnorm.yield %[[SUM]] : vector<2x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[P]] : memref<?x64xf32>
func.func @split(%m: index, %x: memref<?x64xf32>, %w: memref<64xf32>) -> memref<?x64xf32> {
  %p = rmsnorm.rows sizes [%m] columns(64)
      buffers(update %x : memref<?x64xf32>, read constant %w : memref<64xf32>)
      schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 3>)
      -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    %zero = arith.constant dense<0.0> : vector<2x64xf32>
    %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
    rmsnorm.grid_wait
    %sum = rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 inits(%zero : vector<2x64xf32>) begin {
    ^bb0(%t: index, %slot: !rmsnorm.slot<4x64xf32>):
      %s = rmsnorm.traverse chunks in_flight(2) reduce(add) {
        %0 = rmsnorm.slot_load %slot : !rmsnorm.slot<4x64xf32> -> vector<4x64xf32>
        rmsnorm.yield %0 : vector<4x64xf32>
      } -> vector<4x1xf32>
      rmsnorm.yield %s : vector<4x1xf32>
    } body {
    ^bb0(%t: index, %slot: !rmsnorm.slot<4x64xf32>, %s: vector<4x1xf32>, %acc: vector<2x64xf32>):
      rmsnorm.fetch %slot : !rmsnorm.slot<4x64xf32>
      rmsnorm.arrive %slot : !rmsnorm.slot<4x64xf32>
      rmsnorm.await %s : vector<4x1xf32>
      %next = rmsnorm.traverse unrolled order(vectors) {
        %0 = rmsnorm.slot_load %slot again(1) : !rmsnorm.slot<4x64xf32> -> vector<4x64xf32>
        %1 = rmsnorm.keep %w0 after %s : vector<1x64xf32>, vector<4x1xf32>
        %2 = vector.broadcast %1 : vector<1x64xf32> to vector<4x64xf32>
        %3 = arith.mulf %0, %2 : vector<4x64xf32>
        %4 = rmsnorm.accumulate %3 into %acc : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
        rmsnorm.tile_store tile %3, %X[%t] : vector<4x64xf32>, memref<?x64xf32>
        rmsnorm.yield %4 : vector<2x64xf32>
      } -> vector<2x64xf32>
      rmsnorm.yield %next : vector<2x64xf32>
    } -> vector<2x64xf32>
    rmsnorm.yield %sum : vector<2x64xf32>
  }
  return %p : memref<?x64xf32>
}

// The type of a slot.
// CHECK-LABEL: func.func private @slots(!rmsnorm.slot<3x4096xbf16>, !rmsnorm.slot<1x1xi8>)
func.func private @slots(!rmsnorm.slot<3x4096xbf16>, !rmsnorm.slot<1x1xi8>)

// Results of a traverse that nobody uses are dropped: a reduction with its
// kind, a held value, and what only they need. A traverse that then does
// nothing goes.
// CANON-LABEL: func.func @dead(
// CANON:         rmsnorm.tiles body {
// CANON-NEXT:    ^bb0(%[[T:[^ ]*]]: index):
// CANON-NEXT:      %[[S:[^ ]*]]:2 = rmsnorm.traverse chunks in_flight(2) reduce(maximumf) {
// CANON-NEXT:        %[[V:[^ ]*]] = rmsnorm.tile_load tile
// CANON-NEXT:        %[[N:[^ ]*]] = arith.negf %[[V]]
// CANON-NEXT:        rmsnorm.yield %[[N]], %[[V]] : vector<1x64xf32>, vector<1x64xf32>
// CANON-NEXT:      } -> vector<1x1xf32>, vector<1x64xf32>
// CANON-NEXT:      rmsnorm.tile_store row %[[S]]#0,
// CANON-NEXT:      rmsnorm.traverse unrolled {
// CANON-NEXT:        rmsnorm.tile_store tile %[[S]]#1,
// CANON-NEXT:        rmsnorm.yield{{$}}
// CANON-NEXT:      }{{$}}
// CANON-NEXT:      rmsnorm.yield{{$}}
func.func @dead(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>, %r: memref<?xf32>) {
  rmsnorm.rows sizes [%m] columns(64)
      buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>, write %r : memref<?xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>, %R: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %sum, %max, %square, %v = rmsnorm.traverse chunks in_flight(2) reduce(add, maximumf) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        %1 = arith.mulf %0, %0 : vector<1x64xf32>
        %2 = arith.negf %0 : vector<1x64xf32>
        rmsnorm.yield %1, %2, %1, %0 : vector<1x64xf32>, vector<1x64xf32>, vector<1x64xf32>, vector<1x64xf32>
      } -> vector<1x1xf32>, vector<1x1xf32>, vector<1x64xf32>, vector<1x64xf32>
      %unused = rmsnorm.traverse looped reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] again(1) : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.tile_store row %max, %R[%t] : vector<1x1xf32>, memref<?xf32>
      rmsnorm.traverse unrolled {
        rmsnorm.tile_store tile %v, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

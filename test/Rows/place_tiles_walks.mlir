// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-place-tiles --split-input-file | FileCheck %s

// A row that is read again is walked in a loop where a thread has more than
// `unrolled` vectors (8; there are 16 here), unless all are in flight at once.
// CHECK-LABEL: func.func @looped
// CHECK: rmsnorm.traverse looped in_flight(2) reduce(add) {
// CHECK: rmsnorm.traverse looped in_flight(2) {
// CHECK-LABEL: func.func @few_enough
// CHECK: rmsnorm.traverse chunks in_flight(2) reduce(add) {
// CHECK: rmsnorm.traverse chunks in_flight(2) {
// CHECK-LABEL: func.func @all_in_flight
// CHECK: rmsnorm.traverse chunks in_flight(16) reduce(add) {
// CHECK: rmsnorm.traverse chunks in_flight(16) {
// CHECK-LABEL: func.func @in_registers
// CHECK: rmsnorm.traverse unrolled reduce(add) {
// CHECK: rmsnorm.traverse unrolled {
func.func @looped(%x: memref<?x2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(update %x : memref<?x2048xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x2048xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x2048xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x2048xf32>
      %3 = arith.mulf %0, %2 : vector<1x2048xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x2048xf32>, memref<?x2048xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @few_enough(%x: memref<?x2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(update %x : memref<?x2048xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, unrolled = 16>) {
  ^bb0(%M: index, %X: memref<?x2048xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x2048xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x2048xf32>
      %3 = arith.mulf %0, %2 : vector<1x2048xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x2048xf32>, memref<?x2048xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @all_in_flight(%x: memref<?x2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(update %x : memref<?x2048xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, vectors_in_flight = 16, cache = reload>) {
  ^bb0(%M: index, %X: memref<?x2048xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x2048xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x2048xf32>
      %3 = arith.mulf %0, %2 : vector<1x2048xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x2048xf32>, memref<?x2048xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @in_registers(%x: memref<?x2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(update %x : memref<?x2048xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x2048xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x2048xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x2048xf32>
      %3 = arith.mulf %0, %2 : vector<1x2048xf32>
      rmsnorm.tile_store tile %3, %X[%t] : vector<1x2048xf32>, memref<?x2048xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Rows whose size a call knows are walked in a loop, and per-column operands
// stay where they are used: nobody knows how many a thread would hold.
// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT: rmsnorm.rows
// CHECK-NEXT: ^bb0
// CHECK-NEXT: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.tiles body {
// CHECK: rmsnorm.traverse looped in_flight(2) reduce(add) {
// CHECK: rmsnorm.tile_load tile %{{.*}} policy(evict_last)
// CHECK: rmsnorm.traverse looped in_flight(2) {
// CHECK: rmsnorm.tile_load tile %{{.*}} again(1) policy(evict_first)
// CHECK: rmsnorm.tile_load column %{{.*}} policy(evict_last)
// CHECK: rmsnorm.tile_store
// Of another target than the module around it.
module {
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @dynamic(%x: memref<?x?xf32>, %w: memref<?xf32>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(update %x : memref<?x?xf32>, read constant %w : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>, %W: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x1073741824xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x1073741824xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x1073741824xf32>
      %3 = arith.mulf %0, %2 : vector<1x1073741824xf32>
      %4 = rmsnorm.tile_load column %W : memref<?xf32> -> vector<1x1073741824xf32>
      %5 = arith.mulf %3, %4 : vector<1x1073741824xf32>
      rmsnorm.tile_store tile %5, %X[%t] : vector<1x1073741824xf32>, memref<?x?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}
}

// -----

// Strips: a thread has one vector of a strip, and carries its sum.
// CHECK-LABEL: func.func @strips
// CHECK: rmsnorm.tiles inits(%{{.*}} : vector<1x1073741824xf32>) body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index, %[[ACC:.*]]: vector<1x1073741824xf32>):
// CHECK-NEXT: %[[S:.*]] = rmsnorm.traverse strip order(vectors) {
// CHECK-NEXT: %[[X:.*]] = rmsnorm.tile_load tile %{{.*}} policy(evict_first) :
// CHECK-NEXT: %[[NEXT:.*]] = rmsnorm.accumulate %[[X]] into %[[ACC]]
// CHECK-NEXT: rmsnorm.yield %[[NEXT]] : vector<1x1073741824xf32>
// CHECK-NEXT: } -> vector<1x1073741824xf32>
// CHECK-NEXT: rmsnorm.yield %[[S]] : vector<1x1073741824xf32>
func.func @strips(%x: memref<?x?xf32>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(read %x : memref<?x?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 2, column_sums = strips>) -> memref<?x?xf32> {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>):
    %zero = arith.constant dense<0.0> : vector<1x1073741824xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x1073741824xf32>) body {
    ^bb0(%t: index, %acc: vector<1x1073741824xf32>):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x1073741824xf32>
      %1 = rmsnorm.accumulate %0 into %acc : vector<1x1073741824xf32> into vector<1x1073741824xf32> -> vector<1x1073741824xf32>
      rmsnorm.yield %1 : vector<1x1073741824xf32>
    } -> vector<1x1073741824xf32>
    rmsnorm.yield %sum : vector<1x1073741824xf32>
  }
  return
}

// -----

// Where rows are summed, one vector is done with before the next is begun; what
// holds the sums is no loop, however many vectors there are.
// CHECK-LABEL: func.func @sums
// CHECK: rmsnorm.traverse looped in_flight(2) order(vectors) reduce(add) {
// CHECK: rmsnorm.traverse chunks in_flight(2) order(vectors) {
// CHECK: rmsnorm.accumulate
// CHECK: } -> vector<1x2048xf32>
func.func @sums(%x: memref<?x2048xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(2048) buffers(read %x : memref<?x2048xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cache = reload, blocks_per_sm = 1>) -> memref<?x2048xf32> {
  ^bb0(%M: index, %X: memref<?x2048xf32>):
    %zero = arith.constant dense<0.0> : vector<1x2048xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x2048xf32>) body {
    ^bb0(%t: index, %acc: vector<1x2048xf32>):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2048xf32> -> vector<1x2048xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x2048xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x2048xf32>
      %3 = arith.mulf %0, %2 : vector<1x2048xf32>
      %4 = rmsnorm.accumulate %3 into %acc : vector<1x2048xf32> into vector<1x2048xf32> -> vector<1x2048xf32>
      rmsnorm.yield %4 : vector<1x2048xf32>
    } -> vector<1x2048xf32>
    rmsnorm.yield %sum : vector<1x2048xf32>
  }
  return
}

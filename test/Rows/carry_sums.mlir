// RUN: norm-opt %s --rmsnorm-carry-sums --split-input-file | FileCheck %s
// RUN: norm-opt %s --rmsnorm-carry-sums --rmsnorm-carry-sums --split-input-file | FileCheck %s

// A sum over rows: an accumulator for each row group, carried from tile to tile,
// a row of partial sums for each block, and a program that adds those up: its
// blocks do all rows, so the sums are stored. Nothing is left of the buffer
// inside; what else the program does stays.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x128xf32>, %[[DW:[a-z0-9]*]]: memref<128xbf16>, %[[Y:[a-z0-9]*]]: memref<?x128xf32>, %[[DB:[a-z0-9]*]]: memref<128xf32>, %[[M:[a-z0-9]*]]: index)
// CHECK: %[[P:.*]]:2 = rmsnorm.rows sizes [%[[M]]] columns(128) buffers(read %[[X]] : memref<?x128xf32>, write %[[Y]] : memref<?x128xf32>) schedule({{.*}}blocks_per_sm = 1{{.*}}) -> memref<?x128xf32>, memref<?x128xf32> {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %[[XA:[^:]*]]: memref<?x128xf32>, %[[YA:[^:]*]]: memref<?x128xf32>):
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<2x128xf32>
// CHECK-NEXT: %[[ZERO1:.*]] = arith.constant dense<0.000000e+00> : vector<2x128xf32>
// CHECK-NEXT: %[[SUM:.*]]:2 = rmsnorm.tiles inits(%[[ZERO]], %[[ZERO1]] : vector<2x128xf32>, vector<2x128xf32>) body {
// CHECK-NEXT: ^bb0(%[[T:.*]]: index, %[[ACC:.*]]: vector<2x128xf32>, %[[ACC1:.*]]: vector<2x128xf32>):
// CHECK-NEXT: %[[V:.*]] = rmsnorm.tile_load tile %[[XA]][%[[T]]]
// CHECK-NEXT: %[[NEXT:.*]] = rmsnorm.accumulate %[[V]] into %[[ACC]] : vector<4x128xf32> into vector<2x128xf32> -> vector<2x128xf32>
// CHECK-NEXT: rmsnorm.row_reduce add(%[[V]])
// CHECK: %[[S:.*]] = arith.mulf
// CHECK-NEXT: %[[NEXT1:.*]] = rmsnorm.accumulate %[[S]] into %[[ACC1]] : vector<4x128xf32> into vector<2x128xf32> -> vector<2x128xf32>
// CHECK-NEXT: rmsnorm.tile_store tile %[[V]], %[[YA]][%[[T]]]
// CHECK-NEXT: rmsnorm.yield %[[NEXT]], %[[NEXT1]] : vector<2x128xf32>, vector<2x128xf32>
// CHECK-NEXT: } -> vector<2x128xf32>, vector<2x128xf32>
// CHECK-NEXT: rmsnorm.yield %[[SUM]]#0, %[[SUM]]#1 : vector<2x128xf32>, vector<2x128xf32>
// CHECK: %[[B0:.*]] = memref.dim %[[P]]#0, %{{.*}}
// CHECK: rmsnorm.rows sizes [%[[B0]]] columns(128) buffers(read %[[P]]#0 : memref<?x128xf32>, write %[[DW]] : memref<128xbf16>) schedule(#rmsnorm.schedule<row_groups = 32, rows_per_group = 16, threads_per_row = 8, vector_width = 4, cache = reload, column_sums = all_rows>) {
// CHECK-NEXT: ^bb0(%{{[^:]*}}: index, %[[PA:[^:]*]]: memref<?x128xf32>, %[[DWA:[^:]*]]: memref<128xbf16>):
// CHECK-NEXT: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<32x128xf32>
// CHECK-NEXT: %[[ALL:.*]] = rmsnorm.tiles inits(%[[ZEROS]] : vector<32x128xf32>) body {
// CHECK-NEXT: ^bb0(%[[PT:.*]]: index, %[[PACC:.*]]: vector<32x128xf32>):
// CHECK-NEXT: %[[PV:.*]] = rmsnorm.tile_load tile %[[PA]][%[[PT]]] : memref<?x128xf32> -> vector<512x128xf32>
// CHECK-NEXT: %[[PNEXT:.*]] = rmsnorm.accumulate %[[PV]] into %[[PACC]] : vector<512x128xf32> into vector<32x128xf32> -> vector<32x128xf32>
// CHECK-NEXT: rmsnorm.yield %[[PNEXT]] : vector<32x128xf32>
// CHECK-NEXT: } -> vector<32x128xf32>
// CHECK-NEXT: rmsnorm.sum_store %[[ALL]], %[[DWA]] : vector<32x128xf32>, memref<128xbf16>
// CHECK-NEXT: rmsnorm.yield
// CHECK: %[[B1:.*]] = memref.dim %[[P]]#1, %{{.*}}
// CHECK: rmsnorm.rows sizes [%[[B1]]] columns(128) buffers(read %[[P]]#1 : memref<?x128xf32>, write %[[DB]] : memref<128xf32>)
func.func @sums(%x: memref<?x128xf32>, %dw: memref<128xbf16>, %y: memref<?x128xf32>, %db: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xbf16>, write %y : memref<?x128xf32>, write %db : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xbf16>, %Y: memref<?x128xf32>, %DB: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<4x128xf32>
      rmsnorm.accumulate %0 into %DW : vector<4x128xf32> into memref<128xbf16>
      %1 = rmsnorm.row_reduce add(%0) : vector<4x128xf32> -> vector<4x1xf32>
      %b = vector.broadcast %1 : vector<4x1xf32> to vector<4x128xf32>
      %2 = arith.mulf %0, %b : vector<4x128xf32>
      rmsnorm.accumulate %2 into %DB : vector<4x128xf32> into memref<128xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<4x128xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Columns known at a call: so are those of the result. The schedule says who
// adds up the blocks' rows.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x?xf32>, %[[DW:[a-z0-9]*]]: memref<?xf32>, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[P:.*]] = rmsnorm.rows sizes [%[[M]]] columns(1073741824, %[[N]]) buffers(read %[[X]] : memref<?x?xf32>) {{.*}} -> memref<?x?xf32> {
// CHECK: rmsnorm.tiles inits(%{{.*}} : vector<1x1073741824xf32>)
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(1073741824, %[[N]]) buffers(read %[[P]] : memref<?x?xf32>, write %[[DW]] : memref<?xf32>) schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 16, threads_per_row = 32, vector_width = 4, cache = reload, alignment = 4, column_sums = all_rows>) {
func.func @dynamic(%x: memref<?x?xf32>, %dw: memref<?xf32>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(read %x : memref<?x?xf32>, write %dw : memref<?xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4, cache = reload, blocks_per_sm = 2, column_sums = strips, sum_lanes = 32, sum_walkers = 16>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xf32>, %DW: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x1073741824xf32>
      rmsnorm.accumulate %0 into %DW : vector<1x1073741824xf32> into memref<?xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// The user's choice of all_rows: nothing is left to add up, no persistent blocks
// are wanted.
// CHECK-LABEL: func.func @all_rows
// CHECK: rmsnorm.rows {{.*}} column_sums = all_rows>) {
// CHECK: rmsnorm.sum_store
// CHECK-NOT: rmsnorm.rows
// CHECK: return
func.func @all_rows(%x: memref<?x128xf32>, %dw: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 32, vector_width = 4, cache = reload, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<4x128xf32>
      rmsnorm.accumulate %0 into %DW : vector<4x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What a sum is added to goes to the program that adds up what the blocks have
// come to, as a buffer of its own or the one that is written.
// CHECK-LABEL: func.func @added
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x128xf32>, %[[DW:[a-z0-9]*]]: memref<128xf32>, %[[ACC:[a-z0-9]*]]: memref<128xbf16>, %[[DB:[a-z0-9]*]]: memref<128xf32>, %{{.*}}: index)
// CHECK: %[[P:.*]]:2 = rmsnorm.rows {{.*}} buffers(read %[[X]] : memref<?x128xf32>) schedule
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[P]]#0 : memref<?x128xf32>, write %[[DW]] : memref<128xf32>, read %[[ACC]] : memref<128xbf16>) schedule
// CHECK: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: memref<?x128xf32>, %[[DWA:[^:]*]]: memref<128xf32>, %[[ACCA:[^:]*]]: memref<128xbf16>):
// CHECK: rmsnorm.sum_store %{{.*}}, %[[DWA]] init(%[[ACCA]] : memref<128xbf16>) : vector<32x128xf32>, memref<128xf32>
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[P]]#1 : memref<?x128xf32>, update %[[DB]] : memref<128xf32>) schedule
// CHECK: ^bb0(%{{[^:]*}}: index, %{{[^:]*}}: memref<?x128xf32>, %[[DBA:[^:]*]]: memref<128xf32>):
// CHECK: rmsnorm.sum_store %{{.*}}, %[[DBA]] init(%[[DBA]] : memref<128xf32>) : vector<32x128xf32>, memref<128xf32>
func.func @added(%x: memref<?x128xf32>, %dw: memref<128xf32>, %acc: memref<128xbf16>, %db: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %dw : memref<128xf32>, read %acc : memref<128xbf16>, update %db : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %DW: memref<128xf32>, %ACC: memref<128xbf16>, %DB: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<4x128xf32>
      rmsnorm.accumulate %0 into %DW init(%ACC : memref<128xbf16>) : vector<4x128xf32> into memref<128xf32>
      rmsnorm.accumulate %0 into %DB init(%DB : memref<128xf32>) : vector<4x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Nothing is summed: nothing to do, no persistent block wanted.
// CHECK-LABEL: func.func @no_sums
// CHECK: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
// CHECK: rmsnorm.tiles body {
// CHECK-NOT: rmsnorm.rows
// CHECK: return
func.func @no_sums(%x: memref<?x128xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// One value a row: blocks need not be persistent, each leaves one. It is there as
// often as a program has blocks, for the largest block to reduce; a maximum
// begins with what it is told, or what changes nothing.
// CHECK-LABEL: func.func @values
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x128xf32>, %[[Y:[a-z0-9]*]]: memref<?x128xf32>, %[[A:[a-z0-9]*]]: memref<f32>, %[[B:[a-z0-9]*]]: memref<1xf32>, %{{.*}}: index)
// CHECK: %[[P:.*]]:2 = rmsnorm.rows {{.*}} -> memref<?x1xf32>, memref<?x1xf32> {
// CHECK-DAG: %[[S0:.*]] = arith.constant dense<5.000000e-01> : vector<2x1xf32>
// CHECK-DAG: %[[S1:.*]] = arith.constant dense<0xFF800000> : vector<2x1xf32>
// CHECK: rmsnorm.tiles inits(%[[S0]], %[[S1]] : vector<2x1xf32>, vector<2x1xf32>) body {
// CHECK: ^bb0(%{{.*}}: index, %[[A0:.*]]: vector<2x1xf32>, %[[A1:.*]]: vector<2x1xf32>):
// CHECK: rmsnorm.accumulate %{{.*}} into %[[A0]] kind(maximumf) : vector<4x1xf32> into vector<2x1xf32> -> vector<2x1xf32>
// CHECK: rmsnorm.accumulate %{{.*}} into %[[A1]] kind(maximumf) : vector<4x1xf32> into vector<2x1xf32> -> vector<2x1xf32>
// CHECK: %[[C0:.*]] = memref.dim %[[P]]#0, %{{.*}}
// CHECK: rmsnorm.rows sizes [%[[C0]]] columns(1) buffers(read %[[P]]#0 : memref<?x1xf32>, write %[[A]] : memref<f32>) schedule(#rmsnorm.schedule<row_groups = 1024, rows_per_group = 16, threads_per_row = 1, vector_width = 1, cache = reload, column_sums = all_rows>) {
// CHECK: %[[S:.*]] = arith.constant dense<5.000000e-01> : vector<1024x1xf32>
// CHECK: rmsnorm.tiles inits(%[[S]] : vector<1024x1xf32>)
// CHECK: rmsnorm.accumulate %{{.*}} kind(maximumf) : vector<16384x1xf32> into vector<1024x1xf32>
// CHECK: rmsnorm.sum_store %{{.*}}, %{{.*}} : vector<1024x1xf32>, memref<f32>
// CHECK: rmsnorm.rows {{.*}} buffers(read %[[P]]#1 : memref<?x1xf32>, update %[[B]] : memref<1xf32>)
// CHECK: rmsnorm.sum_store %{{.*}}, %[[BA:.*]] init(%[[BA]] : memref<1xf32>) : vector<1024x1xf32>, memref<1xf32>
func.func @values(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %a: memref<f32>, %b: memref<1xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>, write %y : memref<?x128xf32>, write %a : memref<f32>, update %b : memref<1xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %Y: memref<?x128xf32>, %A: memref<f32>, %B: memref<1xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<4x128xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<4x128xf32>, memref<?x128xf32>
      %1 = rmsnorm.row_reduce maximumf(%0) : vector<4x128xf32> -> vector<4x1xf32>
      rmsnorm.accumulate %1 into %A kind(maximumf) start(0.5) : vector<4x1xf32> into memref<f32>
      rmsnorm.accumulate %1 into %B init(%B : memref<1xf32>) kind(maximumf) : vector<4x1xf32> into memref<1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Sums for each index of a leading size: those of a segment's blocks lie together
// and are added up by blocks of its own; one over all rows takes them all.
// CHECK-LABEL: func.func @segments
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?x128xf32>, %[[H:[a-z0-9]*]]: memref<4x128xf32>, %[[DB:[a-z0-9]*]]: memref<128xf32>, %[[M:[a-z0-9]*]]: index)
// CHECK: %[[P:.*]]:2 = rmsnorm.rows sizes [%[[M]], 4] segments [1] columns(128) {{.*}} -> memref<?x128xf32>, memref<?x128xf32> {
// CHECK: %[[ALL:.*]] = memref.dim %[[P]]#0, %{{.*}}
// CHECK: %[[OWN:.*]] = arith.divui %[[ALL]], %{{.*}} : index
// CHECK: rmsnorm.rows sizes [4, %[[OWN]]] segments [0] columns(128) buffers(read %[[P]]#0 : memref<?x128xf32>, write %[[H]] : memref<4x128xf32>)
// CHECK: rmsnorm.sum_store %{{.*}}, %{{.*}} map(r0, r1, c) -> (r0, c) : vector<32x128xf32>, memref<4x128xf32>
// CHECK: %[[ALL1:.*]] = memref.dim %[[P]]#1, %{{.*}}
// CHECK: rmsnorm.rows sizes [%[[ALL1]]] columns(128) buffers(read %[[P]]#1 : memref<?x128xf32>, write %[[DB]] : memref<128xf32>)
// CHECK: rmsnorm.sum_store %{{.*}}, %{{.*}} : vector<32x128xf32>, memref<128xf32>
func.func @segments(%x: memref<?x128xf32>, %h: memref<4x128xf32>, %db: memref<128xf32>, %m: index) {
  rmsnorm.rows sizes [%m, 4] segments [1] columns(128) buffers(read %x : memref<?x128xf32>, write %h : memref<4x128xf32>, write %db : memref<128xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x128xf32>, %H: memref<4x128xf32>, %DB: memref<128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<4x128xf32>
      rmsnorm.accumulate %0 into %H map(r0, r1, c) -> (r1, c) : vector<4x128xf32> into memref<4x128xf32>
      rmsnorm.accumulate %0 into %DB : vector<4x128xf32> into memref<128xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

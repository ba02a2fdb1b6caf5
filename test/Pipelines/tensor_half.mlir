// RUN: norm-opt %s --rmsnorm-tensor-half --cse --split-input-file | FileCheck %s --implicit-check-not=memref.alloc --implicit-check-not=memref.copy --implicit-check-not=tensor

// What the memref half takes: arguments for everything, rmsnorm.rows on whole
// buffers, straight-line programs on a tile of one row in it.
// CHECK-LABEL: func.func @llama(
// CHECK-SAME:    %[[XS:[^:]*]]: memref<?x4096xbf16, strided<[?, 1]>> {rmsnorm.dims = array<i64: -1, 4096>, rmsnorm.name = "input", rmsnorm.role = "input"},
// CHECK-SAME:    %[[WS:[^:]*]]: memref<4096xbf16> {rmsnorm.dims = array<i64: 4096>, rmsnorm.name = "weight", rmsnorm.role = "input"},
// CHECK-SAME:    %[[YS:[^:]*]]: memref<?x4096xbf16, strided<[?, 1]>> {rmsnorm.dims = array<i64: -1, 4096>, rmsnorm.name = "output", rmsnorm.role = "output"}) {
// CHECK:         %[[M:.*]] = memref.dim %[[XS]], %c0
// CHECK:         rmsnorm.rows sizes [%[[M]]] columns(4096) buffers(read %[[XS]] : {{.*}}, read %[[WS]] : {{.*}}, write %[[YS]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[XA:.*]]: memref<{{.*}}>>, %[[WA:.*]]: memref<4096xbf16>, %[[YA:.*]]: memref<{{.*}}>>):
// CHECK-DAG:       %[[EPS:.*]] = arith.constant dense<9.99999974E-6> : vector<1x1xf32>
// CHECK-DAG:       %[[RECIPROCAL:.*]] = arith.constant dense<2.44140625E-4> : vector<1x1xf32>
// CHECK-NEXT:      rmsnorm.tiles body {
// CHECK-NEXT:      ^bb0(%[[ROW:.*]]: index):
// CHECK-NEXT:        %[[X:.*]] = rmsnorm.tile_load tile %[[XA]][%[[ROW]]]
// CHECK-NEXT:        %[[XF:.*]] = arith.extf %[[X]]
// CHECK-NEXT:        %[[SQUARE:.*]] = arith.mulf %[[XF]], %[[XF]]
// CHECK-NEXT:        %[[SUM:.*]] = rmsnorm.row_reduce add(%[[SQUARE]])
// CHECK-NEXT:        %[[MEAN:.*]] = arith.mulf %[[SUM]], %[[RECIPROCAL]]
// CHECK-NEXT:        %[[MS:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK-NEXT:        %[[RSTD:.*]] = math.rsqrt %[[MS]]
// CHECK-NEXT:        %[[B:.*]] = vector.broadcast %[[RSTD]]
// CHECK-NEXT:        %[[XHAT:.*]] = arith.mulf %[[XF]], %[[B]]
// CHECK-NEXT:        %[[W:.*]] = rmsnorm.tile_load column %[[WA]]
// CHECK-NEXT:        %[[WF:.*]] = arith.extf %[[W]]
// CHECK-NEXT:        %[[YF:.*]] = arith.mulf %[[XHAT]], %[[WF]]
// CHECK-NEXT:        %[[Y:.*]] = arith.truncf %[[YF]]
// CHECK-NEXT:        rmsnorm.tile_store tile %[[Y]], %[[YA]][%[[ROW]]]
// CHECK-NEXT:        rmsnorm.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      rmsnorm.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @llama(%x: tensor<?x4096xbf16>, %w: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %e = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) weight(%w : tensor<4096xbf16>) output(%e : tensor<?x4096xbf16>) eps = 1.0e-5 -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

// -----

// Any strides; rows are counted over all leading sizes.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[XS:[^:]*]]: memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>> {rmsnorm.dims = array<i64: -1, -2, 32, 128>
// CHECK:         %[[A:.*]] = memref.dim %[[XS]], %c0 : memref
// CHECK:         %[[B:.*]] = memref.dim %[[XS]], %c1 : memref
// CHECK:         rmsnorm.rows sizes [%[[A]], %[[B]], 32] columns(128) buffers(read %[[XS]] : {{.*}}, read %{{.*}} : memref<128xf32>, write %{{.*}}, write %{{.*}})
// CHECK:         ^bb0(%{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>, %{{.*}}: memref<128xf32>, %[[Y:.*]]: memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>, %[[R:.*]]: memref<?x?x32xf32, strided<[?, ?, 1]>>):
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK-NOT:         delinearize
// CHECK:             rmsnorm.tile_load tile %[[X]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.tile_store tile %{{.*}}, %[[Y]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.tile_store row %{{.*}}, %[[R]][%[[ROW]]] : vector<1x1xf32>, memref<?x?x32xf32, strided<[?, ?, 1]>>
func.func @heads(%x: tensor<?x?x32x128xbf16>, %w: tensor<128xf32>) -> (tensor<?x?x32x128xbf16>, tensor<?x?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32x128xbf16>
  %s = tensor.dim %x, %c1 : tensor<?x?x32x128xbf16>
  %e = tensor.empty(%b, %s) : tensor<?x?x32x128xbf16>
  %er = tensor.empty(%b, %s) : tensor<?x?x32xf32>
  %y:2 = rmsnorm.forward input(%x : tensor<?x?x32x128xbf16>) weight(%w : tensor<128xf32>) output(%e : tensor<?x?x32x128xbf16>) rstd(%er : tensor<?x?x32xf32>) eps = 1.0e-6 -> tensor<?x?x32x128xbf16>, tensor<?x?x32xf32>
  return %y#0, %y#1 : tensor<?x?x32x128xbf16>, tensor<?x?x32xf32>
}

// -----

// Dimensions of size 1 among the rows, also only the types of one argument
// say so.
// CHECK-LABEL: func.func @units(
// CHECK:         rmsnorm.rows sizes [%{{[a-z0-9_]*}}] columns(64)
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK:             rmsnorm.tile_load tile %{{.*}}[%[[ROW]]]
// CHECK:             rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%[[ROW]]]
// CHECK:             rmsnorm.tile_store row %{{.*}}, %{{.*}}[%[[ROW]]]
func.func @units(%x: tensor<1x?x1x64xf32>, %y0: tensor<?x?x?x64xf32>, %r0: tensor<?x?x1xf32>) -> (tensor<?x?x?x64xf32>, tensor<?x?x1xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<1x?x1x64xf32>) output(%y0 : tensor<?x?x?x64xf32>) rstd(%r0 : tensor<?x?x1xf32>) eps = 1.0e-5 -> tensor<?x?x?x64xf32>, tensor<?x?x1xf32>
  return %y#0, %y#1 : tensor<?x?x?x64xf32>, tensor<?x?x1xf32>
}

// -----

// One row, whose number was folded, has the number of a tile again.
// CHECK-LABEL: func.func @one_row(
// CHECK:         rmsnorm.rows sizes [1] columns(64)
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK:             rmsnorm.tile_load tile %{{.*}}[%[[ROW]]]
// CHECK:             rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%[[ROW]]]
// CHECK:             rmsnorm.tile_store row %{{.*}}, %{{.*}}[%[[ROW]]]
func.func @one_row(%x: tensor<1x64xf32>, %y0: tensor<1x64xf32>, %r0: tensor<1xf32>) -> (tensor<1x64xf32>, tensor<1xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<1x64xf32>) output(%y0 : tensor<1x64xf32>) rstd(%r0 : tensor<1xf32>) eps = 1.0e-5 -> tensor<1x64xf32>, tensor<1xf32>
  return %y#0, %y#1 : tensor<1x64xf32>, tensor<1xf32>
}

// -----

// The row size is static in one type only.
// CHECK-LABEL: func.func @static_elsewhere(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64)
// CHECK:         rmsnorm.tile_load tile %{{.*}} : memref<?x64xf32, strided<[?, 1]>> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
func.func @static_elsewhere(%x: tensor<?x?xf32>, %w: tensor<64xf32>, %y0: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// An exact residual update in place: each row is read before it is written.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:[^:]*]]: memref<{{[^)]*}} {{{[^}]*}}rmsnorm.role = "inout"},
// CHECK-SAME:    %[[R:[^:]*]]: memref<{{[^)]*}} {{{[^}]*}}rmsnorm.role = "inout"})
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(update %[[X]] : {{.*}}, update %[[R]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[XA:.*]]: memref<{{.*}}>>, %[[RA:.*]]: memref<{{.*}}>>):
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK-DAG:         rmsnorm.tile_load tile %[[XA]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.tile_load tile %[[RA]][%[[ROW]]]
// CHECK:             rmsnorm.row_reduce
// CHECK-NOT:         rmsnorm.tile_load
// CHECK-DAG:         rmsnorm.tile_store tile %{{.*}}, %[[XA]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.tile_store tile %{{.*}}, %[[RA]][%[[ROW]]]
func.func @in_place(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %h = linalg.add ins(%x, %r : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%r : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x64xbf16>) output(%x : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  return %y, %h : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// -----

// Two norms of one input: one loop, one traversal for both sums.
// CHECK-LABEL: func.func @two_norms(
// CHECK-COUNT-1: rmsnorm.rows sizes
// CHECK-COUNT-1: rmsnorm.row_reduce
// CHECK-NOT:     rmsnorm.row_reduce
// CHECK-NOT:     rmsnorm.rows sizes
// CHECK:         return
func.func @two_norms(%x: tensor<?x64xf32>, %v: tensor<64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%v : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-6 -> tensor<?x64xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// Part of a packed buffer, normalised in place: the view stays outside of the
// op, and its rows are counted on their own.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME:    %[[QKV:[^:]*]]: memref<?x48x128xbf16, strided<[?, ?, 1]>> {{{[^}]*}}rmsnorm.role = "inout"}
// CHECK:         %[[VIEW:.*]] = memref.subview %[[QKV]][0, 0, 0]
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 32] columns(128) buffers(update %[[VIEW]] : memref<?x32x128xbf16, strided<[?, ?, 1]>>) {
// CHECK:         ^bb0(%{{.*}}: index, %[[Q:.*]]: memref
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK:             %{{.*}} = rmsnorm.tile_load tile %[[Q]][%[[ROW]]] : memref<?x32x128xbf16, strided<[?, ?, 1]>>
// CHECK:             rmsnorm.tile_store tile %{{.*}}, %[[Q]][%[[ROW]]]
func.func @packed(%qkv: tensor<?x48x128xbf16>) -> tensor<?x48x128xbf16> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%b, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) output(%q : tensor<?x32x128xbf16>) eps = 1.0e-6 -> tensor<?x32x128xbf16>
  %z = tensor.insert_slice %y into %qkv[0, 0, 0] [%b, 32, 128] [1, 1, 1] : tensor<?x32x128xbf16> into tensor<?x48x128xbf16>
  return %z : tensor<?x48x128xbf16>
}

// -----

// One column, one row.
// CHECK-LABEL: func.func @one(
// CHECK:         rmsnorm.rows sizes [1] columns(1)
// CHECK:           rmsnorm.tile_load row
// CHECK:           rmsnorm.tile_load row
// CHECK:           rmsnorm.tile_store row
func.func @one(%x: tensor<1x1xf32>, %w: tensor<1xf32>, %y0: tensor<1x1xf32>, %r0: tensor<1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<1x1xf32>) weight(%w : tensor<1xf32>) output(%y0 : tensor<1x1xf32>) rstd(%r0 : tensor<1xf32>) eps = 1.0e-5 -> tensor<1x1xf32>, tensor<1xf32>
  return %y#0, %y#1 : tensor<1x1xf32>, tensor<1xf32>
}

// RUN: norm-opt %s --one-shot-bufferize="bufferize-function-boundaries=true" --cse --canonicalize | FileCheck %s

// One row per iteration, forward with its row statistic; the slices of a row
// disappear into the accesses.

#layout = strided<[?, 1], offset: 0>

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?x128xbf16{{[^%]*}}, %[[W:[a-z0-9]*]]: memref<128xf32{{[^%]*}},
// CHECK-SAME:    %[[Y:[a-z0-9]*]]: memref<?x128xbf16{{[^%]*}}, %[[R:[a-z0-9]*]]: memref<?xf32
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.forall (%[[ROW:.*]]) in
// CHECK-NEXT:      %[[XV:.*]] = rmsnorm.tile_load tile %[[X]][%[[ROW]]] : memref<?x128xbf16, strided<[?, 1]>> -> vector<1x128xbf16>
// CHECK-NEXT:      %[[WV:.*]] = rmsnorm.tile_load column %[[W]] policy(evict_last) :
// CHECK:           %[[S:.*]] = rmsnorm.row_reduce add(%{{.*}}) : vector<1x128xf32> -> vector<1x1xf32>
// CHECK:           rmsnorm.tile_store tile %{{.*}}, %[[Y]][%[[ROW]]] policy(evict_first) :
// CHECK-NEXT:      rmsnorm.tile_store row %[[S]], %[[R]][%[[ROW]]] : vector<1x1xf32>,
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @rows(
    %x: tensor<?x128xbf16> {bufferization.buffer_layout = #layout, bufferization.writable = false},
    %w: tensor<128xf32> {bufferization.writable = false},
    %y: tensor<?x128xbf16> {bufferization.buffer_layout = #layout},
    %r: tensor<?xf32>) -> (tensor<?x128xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y, %c0 : tensor<?x128xbf16>
  %res:2 = scf.forall (%i) in (%m) shared_outs(%yo = %y, %ro = %r)
      -> (tensor<?x128xbf16>, tensor<?xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 128] [1, 1]
        : tensor<?x128xbf16> to tensor<1x128xbf16>
    %ys = tensor.extract_slice %yo[%i, 0] [1, 128] [1, 1]
        : tensor<?x128xbf16> to tensor<1x128xbf16>
    %rs = tensor.extract_slice %ro[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %xv = rmsnorm.tile_load tile %xs[%c0]
        : tensor<1x128xbf16> -> vector<1x128xbf16>
    %wv = rmsnorm.tile_load column %w policy(evict_last)
        : tensor<128xf32> -> vector<1x128xf32>
    %xf = arith.extf %xv : vector<1x128xbf16> to vector<1x128xf32>
    %p = arith.mulf %xf, %wv : vector<1x128xf32>
    %s = rmsnorm.row_reduce add(%p) : vector<1x128xf32> -> vector<1x1xf32>
    %pt = arith.truncf %p : vector<1x128xf32> to vector<1x128xbf16>
    %yt = rmsnorm.tile_store tile %pt, %ys[%c0] policy(evict_first)
        : vector<1x128xbf16>, tensor<1x128xbf16> -> tensor<1x128xbf16>
    %rt = rmsnorm.tile_store row %s, %rs[%c0]
        : vector<1x1xf32>, tensor<1xf32> -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %yt into %yo[%i, 0] [1, 128] [1, 1]
          : tensor<1x128xbf16> into tensor<?x128xbf16>
      tensor.parallel_insert_slice %rt into %ro[%i] [1] [1]
          : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %res#0, %res#1 : tensor<?x128xbf16>, tensor<?xf32>
}

// Rank 4 with run-time strides: the flattened row is the delinearised one.

#layout4 = strided<[?, ?, ?, 1], offset: 0>

// CHECK-LABEL: func.func @leading_dims(
// CHECK-SAME:    %[[X4:[a-z0-9]*]]: memref<?x?x8x64xf16{{[^%]*}}, %[[Y4:[a-z0-9]*]]: memref<?x?x8x64xf16
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.forall (%[[ROW4:.*]]) in
// CHECK-NOT:       memref.subview
// CHECK:           %[[V4:.*]] = rmsnorm.tile_load tile %[[X4]][%[[ROW4]]] :
// CHECK:           rmsnorm.tile_store tile %[[V4]], %[[Y4]][%[[ROW4]]] :
func.func @leading_dims(
    %x: tensor<?x?x8x64xf16> {bufferization.buffer_layout = #layout4, bufferization.writable = false, rmsnorm.dims = array<i64: -1, -2, 8, 64>},
    %y: tensor<?x?x8x64xf16> {bufferization.buffer_layout = #layout4, rmsnorm.dims = array<i64: -1, -2, 8, 64>})
    -> tensor<?x?x8x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %y, %c0 : tensor<?x?x8x64xf16>
  %t = tensor.dim %y, %c1 : tensor<?x?x8x64xf16>
  %m = affine.apply affine_map<()[s0, s1] -> (s0 * s1 * 8)>()[%b, %t]
  %res = scf.forall (%row) in (%m) shared_outs(%yo = %y) -> (tensor<?x?x8x64xf16>) {
    %i:3 = affine.delinearize_index %row into (%b, %t, 8) : index, index, index
    %xs = tensor.extract_slice %x[%i#0, %i#1, %i#2, 0] [1, 1, 1, 64] [1, 1, 1, 1]
        : tensor<?x?x8x64xf16> to tensor<1x1x1x64xf16>
    %ys = tensor.extract_slice %yo[%i#0, %i#1, %i#2, 0] [1, 1, 1, 64] [1, 1, 1, 1]
        : tensor<?x?x8x64xf16> to tensor<1x1x1x64xf16>
    %v = rmsnorm.tile_load tile %xs[%c0]
        : tensor<1x1x1x64xf16> -> vector<1x64xf16>
    %yt = rmsnorm.tile_store tile %v, %ys[%c0]
        : vector<1x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x1x1x64xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %yt into %yo[%i#0, %i#1, %i#2, 0] [1, 1, 1, 64] [1, 1, 1, 1]
          : tensor<1x1x1x64xf16> into tensor<?x?x8x64xf16>
    }
  }
  return %res : tensor<?x?x8x64xf16>
}

// A store that overwrites all of its base needs none of its contents, a store
// of some rows passes the others on: only the second one takes a copy.

// CHECK-LABEL: func.func @overwrite(
// CHECK-SAME:    %[[A:.*]]: memref<1x4xf32
// CHECK:         %[[FRESH:.*]] = memref.alloc() {{.*}}: memref<1x4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %[[FRESH]][%{{.*}}] :
func.func @overwrite(%a: tensor<1x4xf32> {bufferization.writable = false})
    -> tensor<1x4xf32> {
  %c0 = arith.constant 0 : index
  %v = rmsnorm.tile_load tile %a[%c0] : tensor<1x4xf32> -> vector<1x4xf32>
  %w = arith.addf %v, %v : vector<1x4xf32>
  %t = rmsnorm.tile_store tile %w, %a[%c0]
      : vector<1x4xf32>, tensor<1x4xf32> -> tensor<1x4xf32>
  return %t : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @partial_overwrite(
// CHECK-SAME:    %[[B:.*]]: memref<3x4xf32
// CHECK:         %[[COPY:.*]] = memref.alloc() {{.*}}: memref<3x4xf32>
// CHECK:         memref.copy %[[B]], %[[COPY]]
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %[[COPY]][%{{.*}}] :
func.func @partial_overwrite(%b: tensor<3x4xf32> {bufferization.writable = false})
    -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : vector<1x4xf32>
  %t = rmsnorm.tile_store tile %v, %b[%c0]
      : vector<1x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  return %t : tensor<3x4xf32>
}

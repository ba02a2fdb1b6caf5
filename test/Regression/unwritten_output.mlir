// A result that is the identity of an argument is folded to that argument, and
// nobody wrote the output. Both the kernels and the oracle copy it.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90 --target=sim:gfx942 --target=oracle --rows=3,35 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=35 --strided | FileCheck %s --check-prefix=RESULT
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=3 | FileCheck %s --check-prefix=RESULT
// RESULT-COUNT-5: {{ ok$}}

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @generic(
// CHECK-SAME:    %{{[^:]*}}: memref<{{[^>]*>}}>{{[^%]*}}%[[Z:[^:]*]]: memref<{{[^>]*>}}>{{[^%]*}}%{{[^:]*}}: memref<{{[^>]*>}}>{{[^%]*}}%[[C:[^:]*]]: memref
// CHECK:         rmsnorm.rows sizes
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %[[Z]] : {{.*}}, write %[[C]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[ZA:.*]]: memref<{{.*}}>>, %[[CA:.*]]: memref<{{.*}}>>):
// CHECK-NEXT:      rmsnorm.tiles body {
// CHECK-NEXT:      ^bb0(%[[ROW:.*]]: index):
// CHECK-NEXT:        %[[V:.*]] = rmsnorm.tile_load tile %[[ZA]][%[[ROW]]]
// CHECK-NEXT:        rmsnorm.tile_store tile %[[V]], %[[CA]][%[[ROW]]]
// CHECK-NEXT:        rmsnorm.yield
func.func @generic(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %e2 = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<?x64xf32>) outs(%e2 : tensor<?x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %y, %c : tensor<?x64xf32>, tensor<?x64xf32>
}

// A dynamic number of columns.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(1073741824, %[[N]])
// CHECK:         rmsnorm.tile_load tile
// CHECK-NEXT:    rmsnorm.tile_store tile
func.func @dynamic(%z: tensor<?x?xbf16>, %e: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<?x?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %o: bf16):
    linalg.yield %p : bf16
  } -> tensor<?x?xbf16>
  return %c : tensor<?x?xbf16>
}

// Three dimensions of rows, one of them static.
// CHECK-LABEL: func.func @rank_4(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 3, %{{.*}}] columns(16)
// CHECK:           rmsnorm.tile_load tile %{{.*}} -> vector<1x16xbf16>
func.func @rank_4(%z: tensor<?x3x?x16xbf16>, %e: tensor<?x3x?x16xbf16>) -> tensor<?x3x?x16xbf16> {
  %c = linalg.transpose ins(%z : tensor<?x3x?x16xbf16>) outs(%e : tensor<?x3x?x16xbf16>) permutation = [0, 1, 2, 3]
  return %c : tensor<?x3x?x16xbf16>
}

// Elements of rank 1, and one value.
// CHECK-LABEL: func.func @rank_1(
// CHECK:         rmsnorm.rows sizes [64] columns(1)
// CHECK:           rmsnorm.tile_load row %{{.*}} : memref<64xf32> -> vector<1x1xf32>
func.func @rank_1(%z: tensor<64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  %c = linalg.transpose ins(%z : tensor<64xf32>) outs(%e : tensor<64xf32>) permutation = [0]
  return %c : tensor<64xf32>
}

// CHECK-LABEL: func.func @rank_0(
// CHECK:         rmsnorm.rows sizes [1] columns(1)
// CHECK:           rmsnorm.tile_load row %{{[^\[]*}} : memref<f32> -> vector<1x1xf32>
func.func @rank_0(%z: tensor<f32>, %e: tensor<f32>) -> tensor<f32> {
  %c = linalg.broadcast ins(%z : tensor<f32>) outs(%e : tensor<f32>) dimensions = []
  return %c : tensor<f32>
}

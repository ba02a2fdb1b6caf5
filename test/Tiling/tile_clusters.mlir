// RUN: norm-opt %s --rmsnorm-tile-clusters --split-input-file --verify-diagnostics | FileCheck %s

// A slice and a transposition are in the maps; the residual is computed in it.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[QKV:[^:]*]]: tensor<?x48x128xbf16>, %[[W:[^:]*]]: tensor<128xbf16>, %[[D:[^:]*]]: tensor<32x?x128xbf16>
// CHECK:         %[[R:.*]] = rmsnorm.rows sizes [%{{.*}}, 32] columns(128) buffers(read %[[QKV]] : tensor<?x48x128xbf16>, read %[[W]] : tensor<128xbf16>, write %[[D]] : tensor<32x?x128xbf16>) -> tensor<32x?x128xbf16> {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[X:.*]]: memref<?x48x128xbf16>, %{{.*}}: memref<128xbf16>, %[[Y:.*]]: memref<32x?x128xbf16>):
// CHECK-NEXT:      rmsnorm.tiles body {
// CHECK-NEXT:      ^bb0(%[[T:.*]]: index):
// CHECK:             rmsnorm.tile_load tile %[[X]][%[[T]]] map(r0, r1, c) -> (r0, r1 + 4, c) : memref<?x48x128xbf16> -> vector<1x128xbf16>
// CHECK:             rmsnorm.row_reduce add
// CHECK:             rmsnorm.tile_store tile %{{.*}}, %[[Y]][%[[T]]] map(r0, r1, c) -> (r1, r0, c) : vector<1x128xbf16>, memref<32x?x128xbf16>
// CHECK:         return %[[R]]
func.func @views(%qkv: tensor<?x48x128xbf16>, %w: tensor<128xbf16>, %d: tensor<32x?x128xbf16>) -> tensor<32x?x128xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 4, 0] [%n, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %e = tensor.empty(%n) : tensor<?x32x128xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x32x128xbf16>) eps = 1.0e-6 -> tensor<?x32x128xbf16>
  %t = linalg.transpose ins(%y : tensor<?x32x128xbf16>) outs(%d : tensor<32x?x128xbf16>) permutation = [1, 0, 2]
  return %t : tensor<32x?x128xbf16>
}

// -----

// What has no place in the program begins another, with a remark: its elements
// are its rows, as its columns lie side by side on one side only.
// CHECK-LABEL: func.func @outside(
// CHECK:         %[[R:.*]] = rmsnorm.rows sizes [%{{.*}}] columns(64)
// CHECK:         rmsnorm.rows sizes [64, %{{.*}}] columns(1) buffers(read %[[R]] : tensor<?x64xf32>, write %{{.*}} : tensor<64x?xf32>)
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] map(r0, r1) -> (r1, r0)
// CHECK-NOT:     linalg
func.func @outside(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %t: tensor<64x?xf32>) -> (tensor<?x64xf32>, tensor<64x?xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{begins another kernel: in the one next to it, it writes columns in an order of their own}}
  %z = linalg.transpose ins(%y : tensor<?x64xf32>) outs(%t : tensor<64x?xf32>) permutation = [1, 0]
  return %y, %z : tensor<?x64xf32>, tensor<64x?xf32>
}

// -----

// A copy has all of what it copies, zeros that others put there, too: they are
// stored where it is wanted, and the norm after them.
// CHECK-LABEL: func.func @zeros(
// CHECK:         rmsnorm.rows sizes [2, 4] columns(64)
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK-NOT:     rmsnorm.rows
// CHECK-NOT:     linalg.transpose
func.func @zeros(%x: tensor<6x64xf32>, %e: tensor<6x64xf32>, %f: tensor<8x64xf32>, %t: tensor<2x4x64xf32>) -> tensor<2x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %y = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-5 -> tensor<6x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  %all = tensor.insert_slice %y into %none[0, 0] [6, 64] [1, 1] : tensor<6x64xf32> into tensor<8x64xf32>
  %s = tensor.expand_shape %all [[0, 1], [2]] output_shape [4, 2, 64] : tensor<8x64xf32> into tensor<4x2x64xf32>
  %z = linalg.transpose ins(%s : tensor<4x2x64xf32>) outs(%t : tensor<2x4x64xf32>) permutation = [1, 0, 2]
  return %z : tensor<2x4x64xf32>
}

// -----

// The norm of half a row, and of the row that it is put into: two kernels.
// CHECK-LABEL: func.func @halves(
// CHECK:         %[[Z:.*]] = rmsnorm.rows sizes [7] columns(8) buffers(read %[[X:.*]] : tensor<7x16xf32>, write %[[X]] : tensor<7x16xf32>)
// CHECK:           rmsnorm.tile_store tile %{{.*}} map(r, c) -> (r, c + 8)
// CHECK:         rmsnorm.rows sizes [7] columns(16) buffers(read %[[Z]] : tensor<7x16xf32>
func.func @halves(%x: tensor<7x16xf32>, %e: tensor<7x8xf32>, %f: tensor<7x16xf32>) -> tensor<7x16xf32> {
  %a = tensor.extract_slice %x[0, 8] [7, 8] [1, 1] : tensor<7x16xf32> to tensor<7x8xf32>
  %n = rmsnorm.forward input(%a : tensor<7x8xf32>) output(%e : tensor<7x8xf32>) eps = 1.0e-05 -> tensor<7x8xf32>
  %z = tensor.insert_slice %n into %x[0, 8] [7, 8] [1, 1] : tensor<7x8xf32> into tensor<7x16xf32>
  %y = rmsnorm.forward input(%z : tensor<7x16xf32>) output(%f : tensor<7x16xf32>) eps = 1.0e-05 -> tensor<7x16xf32>
  return %y : tensor<7x16xf32>
}

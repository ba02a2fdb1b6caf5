// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Why a neighbour is no member.
// CHECK-LABEL: func.func @combines_rows(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         linalg.reduce
// CHECK:         return
func.func @combines_rows(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %s0: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows: a kernel adds them up, or takes their maximum or minimum}}
  %s = linalg.reduce {arith.mulf} ins(%y : tensor<?x64xf32>) outs(%s0 : tensor<64xf32>) dimensions = [0]
  return %y, %s : tensor<?x64xf32>, tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @transposes(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         linalg.transpose
// CHECK:         return
func.func @transposes(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  return %y, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @matmul(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         linalg.matmul
// CHECK:         return
func.func @matmul(%x: tensor<?x64xf32>, %b: tensor<64x32xf32>, %y0: tensor<?x64xf32>, %t0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %t = linalg.matmul ins(%y, %b : tensor<?x64xf32>, tensor<64x32xf32>) outs(%t0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %t : tensor<?x32xf32>
}

// -----

// The rstd of 64 rows used as 64 columns.
// CHECK-LABEL: func.func @rows_as_columns(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1xf32>, memref<64xf32>
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         return
func.func @rows_as_columns(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %r0: tensor<64xf32>, %z0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y:2 = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) rstd(%r0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>, tensor<64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it has operands with other rows}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y#0, %y#1 : tensor<64x64xf32>, tensor<64xf32>) outs(%z0 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// -----

// The weight of the second norm is rows of the first.
// CHECK-LABEL: func.func @rank_differs(
// CHECK:         rmsnorm.rows sizes [1] columns(64) buffers(read %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}} : vector<1x64xf32>, memref<64xf32>
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @rank_differs(%x: tensor<64xf32>, %z: tensor<?x64xf32>, %y0: tensor<64xf32>, %z0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<64xf32>) output(%y0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64xf32>
  %v = rmsnorm.forward input(%z : tensor<?x64xf32>) weight(%y : tensor<64xf32>) output(%z0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %v : tensor<?x64xf32>
}

// -----

// The transposition of the norm's result comes back into the cluster: what
// follows it is another kernel, and it stays between the two.
// CHECK-LABEL: func.func @split(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         linalg.transpose
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, read %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         return
func.func @split(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>, %h0: tensor<64x64xf32>, %z0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  %h = linalg.add ins(%t, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%h0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = rmsnorm.forward input(%h : tensor<64x64xf32>) output(%z0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  return %z, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// What uses the cluster's first result stands before its last op: it moves
// behind the kernel.
// CHECK-LABEL: func.func @follower(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         linalg.transpose
// CHECK:         return
func.func @follower(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>, %z0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  %z = linalg.exp ins(%y : tensor<64x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %t, %z : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Parts that no types tell, or that leave columns out.
// CHECK-LABEL: func.func @dynamic_part(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         linalg.negf
// CHECK:         return
func.func @dynamic_part(%x: tensor<?x64xf32>, %k: index, %y0: tensor<?x64xf32>, %z0: tensor<?x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y0, %c0 : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %p = tensor.extract_slice %y[0, %k] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  // expected-remark @below {{not tiled with the norm next to it: it uses what an op outside computes from the cluster}}
  %z = linalg.negf ins(%p : tensor<?x32xf32>) outs(%z0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x32xf32>
}

// -----

// CHECK-LABEL: func.func @every_fourth(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns [16, 4] buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x16xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x16x4xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x16x4xf32> -> vector<1x1x1xf32>
// CHECK:         %[[Z:.*]] = rmsnorm.take %{{.*}} at [0, 0] : vector<1x16x4xf32> -> vector<1x16x1xf32>
// CHECK:         arith.negf %[[Z]]
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x16x4xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store
// CHECK:         return
func.func @every_fourth(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %z0: tensor<?x16xf32>) -> (tensor<?x64xf32>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y0, %c0 : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %p = tensor.extract_slice %y[0, 0] [%m, 16] [1, 4] : tensor<?x64xf32> to tensor<?x16xf32>
  %z = linalg.negf ins(%p : tensor<?x16xf32>) outs(%z0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x16xf32>
}

// -----

// Sums that keep each another dimension of the rows: one order has two of them in front or at the end, and no order all.
// CHECK-LABEL: func.func @three_groupings(
// CHECK:         linalg.reduce
// CHECK:         rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 8] segments [2] columns(64)
// CHECK:         return
func.func @three_groupings(%dy: tensor<?x?x8x64xf32>, %x: tensor<?x?x8x64xf32>, %dx0: tensor<?x?x8x64xf32>, %s0: tensor<?x64xf32>, %t0: tensor<?x64xf32>, %h0: tensor<8x64xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<8x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %dx = rmsnorm.backward dy(%dy : tensor<?x?x8x64xf32>) input(%x : tensor<?x?x8x64xf32>) dx(%dx0 : tensor<?x?x8x64xf32>) eps = 1.0e-5 -> tensor<?x?x8x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%s0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%t0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%h0 : tensor<8x64xf32>) -> tensor<8x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it keeps other dimensions of the rows than the first or the last ones where it sums over the rest}}
  %s = linalg.reduce {arith.addf} ins(%dy : tensor<?x?x8x64xf32>) outs(%fs : tensor<?x64xf32>) dimensions = [0, 2]
  %t = linalg.reduce {arith.addf} ins(%dy : tensor<?x?x8x64xf32>) outs(%ft : tensor<?x64xf32>) dimensions = [1, 2]
  %h = linalg.reduce {arith.addf} ins(%dy : tensor<?x?x8x64xf32>) outs(%fh : tensor<8x64xf32>) dimensions = [0, 1]
  return %dx, %s, %t, %h : tensor<?x?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<8x64xf32>
}

// -----

// Only what stands next to the kernel, but for views, is remarked on: the product
// that uses it, and the one that it uses, whatever the sizes of their matrices.
// CHECK-LABEL: func.func @between_products(
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows
// CHECK:         linalg.matmul
// CHECK:         linalg.exp
// CHECK:         linalg.add
func.func @between_products(%a: tensor<?x32xf32>, %b: tensor<32x64xf32>, %c: tensor<64x96xf32>, %p0: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %q0: tensor<16x96xf32>) -> tensor<16x96xf32> {
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %p = linalg.matmul ins(%a, %b : tensor<?x32xf32>, tensor<32x64xf32>) outs(%p0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%p : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %v = tensor.cast %y : tensor<?x64xf32> to tensor<16x64xf32>
  %w = tensor.expand_shape %v [[0], [1, 2]] output_shape [16, 64, 1] : tensor<16x64xf32> into tensor<16x64x1xf32>
  %u = tensor.collapse_shape %w [[0], [1, 2]] : tensor<16x64x1xf32> into tensor<16x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %q = linalg.matmul ins(%u, %c : tensor<16x64xf32>, tensor<64x96xf32>) outs(%q0 : tensor<16x96xf32>) -> tensor<16x96xf32>
  %e = linalg.exp ins(%q : tensor<16x96xf32>) outs(%q0 : tensor<16x96xf32>) -> tensor<16x96xf32>
  %s = linalg.add ins(%e, %q : tensor<16x96xf32>, tensor<16x96xf32>) outs(%q0 : tensor<16x96xf32>) -> tensor<16x96xf32>
  return %s : tensor<16x96xf32>
}

// -----

// What uses only the neighbour is not next to the kernel.
// CHECK-LABEL: func.func @far(
// CHECK:         rmsnorm.rows
// CHECK:         linalg.transpose
// CHECK:         linalg.exp
func.func @far(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %t0: tensor<64x?xf32>, %u0: tensor<?x64xf32>, %f0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<64x?xf32>) {
  %u = linalg.exp ins(%z : tensor<?x64xf32>) outs(%u0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = linalg.add ins(%x, %u : tensor<?x64xf32>, tensor<?x64xf32>) outs(%f0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %t = linalg.transpose ins(%u : tensor<?x64xf32>) outs(%t0 : tensor<64x?xf32>) permutation = [1, 0]
  %y = rmsnorm.forward input(%f : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %e = linalg.exp ins(%t : tensor<64x?xf32>) outs(%t0 : tensor<64x?xf32>) -> tensor<64x?xf32>
  return %y, %e : tensor<?x64xf32>, tensor<64x?xf32>
}

// -----

// An operand that is transposed, too.
// CHECK-LABEL: func.func @reads_transposed(
// CHECK:         rmsnorm.rows
// CHECK:         linalg.generic
// CHECK:         return
func.func @reads_transposed(%x: tensor<?x64xf32>, %t: tensor<64x?xf32>, %y0: tensor<?x64xf32>, %z0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{it reads columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %t : tensor<?x64xf32>, tensor<64x?xf32>) outs(%z0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

// Rows that the input has in two indices, and the result in one: only a call
// knows by what to divide that.
// CHECK-LABEL: func.func @divided_rows(
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @divided_rows(%x: tensor<?x?x?x8xf32>, %s: tensor<?xf32>, %y0: tensor<?x?x8xf32>, %z0: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %flat = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<?x?x?x8xf32> into tensor<?x?x8xf32>
  // expected-remark @below {{it writes rows in one index that are divided by what only a call knows: expected an index for each part, got (r0, r1, c) -> (r0, r1, c)}}
  %y = rmsnorm.forward input(%flat : tensor<?x?x8xf32>) output(%y0 : tensor<?x?x8xf32>) eps = 1.0e-5 -> tensor<?x?x8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %s : tensor<?x?x8xf32>, tensor<?xf32>) outs(%z0 : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

// -----

// Rows of two norms one behind the other, as those of text and image tokens: a
// kernel has those of one.
// CHECK-LABEL: func.func @among_others(
// CHECK:         rmsnorm.rows sizes [2] columns(64)
// CHECK:         rmsnorm.rows sizes [4] columns(64)
// CHECK:         linalg.mul
// CHECK:         linalg.exp
// CHECK:         linalg.matmul
func.func @among_others(%x: tensor<2x64xf32>, %y: tensor<4x64xf32>, %c: tensor<6x64xf32>, %w: tensor<64x8xf32>, %o: tensor<6x8xf32>) -> (tensor<6x64xf32>, tensor<3x2x64xf32>, tensor<6x8xf32>) {
  %ex = tensor.empty() : tensor<2x64xf32>
  %ey = tensor.empty() : tensor<4x64xf32>
  %e = tensor.empty() : tensor<6x64xf32>
  %n = rmsnorm.forward input(%x : tensor<2x64xf32>) output(%ex : tensor<2x64xf32>) eps = 1.0e-06 -> tensor<2x64xf32>
  %m = rmsnorm.forward input(%y : tensor<4x64xf32>) output(%ey : tensor<4x64xf32>) eps = 1.0e-06 -> tensor<4x64xf32>
  %first = tensor.insert_slice %n into %e[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<6x64xf32>
  %all = tensor.insert_slice %m into %first[2, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<6x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it works on other rows: a view or an insertion cuts those of the norm, or puts them among others}}
  %z = linalg.mul ins(%all, %c : tensor<6x64xf32>, tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) -> tensor<6x64xf32>
  %view = tensor.expand_shape %all [[0, 1], [2]] output_shape [3, 2, 64] : tensor<6x64xf32> into tensor<3x2x64xf32>
  %ev = tensor.empty() : tensor<3x2x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it works on other rows: a view or an insertion cuts those of the norm, or puts them among others}}
  %v = linalg.exp ins(%view : tensor<3x2x64xf32>) outs(%ev : tensor<3x2x64xf32>) -> tensor<3x2x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %p = linalg.matmul ins(%all, %w : tensor<6x64xf32>, tensor<64x8xf32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %z, %v, %p : tensor<6x64xf32>, tensor<3x2x64xf32>, tensor<6x8xf32>
}

// -----

// Sums over rows that kernels do not have: in bf16, of a part of the columns,
// and with the columns of the sum in front.
// CHECK-LABEL: func.func @sums(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 8] columns(64)
// CHECK:         rmsnorm.tile_load tile
// CHECK:         rmsnorm.row_reduce add
// CHECK:         rmsnorm.tile_store tile
// CHECK-NOT:     rmsnorm.accumulate
// CHECK:         return
func.func @sums(%x: tensor<?x8x64xf32>, %y0: tensor<?x8x64xf32>, %s0: tensor<64xbf16>, %s1: tensor<32xf32>, %s2: tensor<64x8xf32>) -> (tensor<?x8x64xf32>, tensor<64xbf16>, tensor<32xf32>, tensor<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8x64xf32>) output(%y0 : tensor<?x8x64xf32>) eps = 1.0e-5 -> tensor<?x8x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it sums rows up in bf16, kernels do in f32}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%y : tensor<?x8x64xf32>) outs(%s0 : tensor<64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %n = arith.truncf %a : f32 to bf16
    %r = arith.addf %o, %n : bf16
    linalg.yield %r : bf16
  } -> tensor<64xbf16>
  %g = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%d, 8, 2, 32] : tensor<?x8x64xf32> into tensor<?x8x2x32xf32>
  // expected-remark @below {{not tiled with the norm next to it: it sums up a part of the columns}}
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%g : tensor<?x8x2x32xf32>) outs(%s1 : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  // expected-remark @below {{not tiled with the norm next to it: it sums up to columns in an order of their own: expected them side by side in the innermost indices, got (r0, r1, c) -> (c, r1)}}
  %u = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%y : tensor<?x8x64xf32>) outs(%s2 : tensor<64x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<64x8xf32>
  return %y, %s, %t, %u : tensor<?x8x64xf32>, tensor<64xbf16>, tensor<32xf32>, tensor<64x8xf32>
}

// -----

// Batches and heads have a sum of their own each, in either order.
// CHECK-LABEL: func.func @segments_swapped(
// CHECK:         rmsnorm.accumulate {{.*}} map(r0, r1, r2, c) -> (r1, r2, c)
// CHECK-NOT:     rmsnorm.accumulate
// CHECK:         return
func.func @segments_swapped(%x: tensor<?x16x8x64xf32>, %y0: tensor<?x16x8x64xf32>, %s0: tensor<8x16x64xf32>, %t0: tensor<16x8x64xf32>) -> (tensor<?x16x8x64xf32>, tensor<8x16x64xf32>, tensor<16x8x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x16x8x64xf32>) output(%y0 : tensor<?x16x8x64xf32>) eps = 1.0e-5 -> tensor<?x16x8x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it sums up to what lies in an order of its own: expected indices of rows in their order, then the column, got (r0, r1, r2, c) -> (r2, r1, c)}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%y : tensor<?x16x8x64xf32>) outs(%s0 : tensor<8x16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<8x16x64xf32>
  %t = linalg.reduce {arith.addf} ins(%y : tensor<?x16x8x64xf32>) outs(%t0 : tensor<16x8x64xf32>) dimensions = [0]
  return %y, %s, %t : tensor<?x16x8x64xf32>, tensor<8x16x64xf32>, tensor<16x8x64xf32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

// Tables of half the columns, repeated for the whole row: no kernel of its own
// repeats them.
#whole = affine_map<(t, h, c) -> (t, h, c)>
#table = affine_map<(t, h, c) -> (t, c)>

// One after the other, as for halves that are rotated.
// CHECK-LABEL: func.func @table_halves(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [2, 32]
// CHECK: tile_load tile %{{.*}} : memref<?x4x64xbf16
// CHECK: tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x32xbf16
// CHECK-COUNT-2: rmsnorm.put
// CHECK: tile_store tile %{{.*}} : vector<1x2x32xbf16>
func.func @table_halves(%x: tensor<?x4x64xbf16>, %cos: tensor<?x32xbf16>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%n) : tensor<?x4x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xbf16>) output(%e : tensor<?x4x64xbf16>) eps = 1.0e-05 -> tensor<?x4x64xbf16>
  %t = tensor.concat dim(1) %cos, %cos : (tensor<?x32xbf16>, tensor<?x32xbf16>) -> tensor<?x64xbf16>
  %r = linalg.generic {indexing_maps = [#whole, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %t : tensor<?x4x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x4x64xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %o: bf16):
    %0 = arith.mulf %i, %j : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x4x64xbf16>
  return %r : tensor<?x4x64xbf16>
}

// Each for two columns side by side, as for pairs that are rotated:
// y * cos + [-y[1], y[0], -y[3], y[2], ...] * sin.
// CHECK-LABEL: func.func @table_pairs(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [32, 2]
// CHECK: tile_load tile %{{.*}} : memref<?x4x64xbf16
// CHECK: rmsnorm.take
// CHECK: rmsnorm.put
// CHECK: [[COS:%.*]] = rmsnorm.tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x32xbf16
// CHECK: vector.broadcast [[COS]]
// CHECK: [[SIN:%.*]] = rmsnorm.tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x32xbf16
// CHECK: vector.broadcast [[SIN]]
// CHECK: tile_store tile %{{.*}} : vector<1x32x2xbf16>
func.func @table_pairs(%x: tensor<?x4x64xbf16>, %cos: tensor<?x32xbf16>, %sin: tensor<?x32xbf16>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %t0 = tensor.empty(%n) : tensor<?x32x2xbf16>
  %c2 = linalg.broadcast ins(%cos : tensor<?x32xbf16>) outs(%t0 : tensor<?x32x2xbf16>) dimensions = [2]
  %c = tensor.collapse_shape %c2 [[0], [1, 2]] : tensor<?x32x2xbf16> into tensor<?x64xbf16>
  %s2 = linalg.broadcast ins(%sin : tensor<?x32xbf16>) outs(%t0 : tensor<?x32x2xbf16>) dimensions = [2]
  %s = tensor.collapse_shape %s2 [[0], [1, 2]] : tensor<?x32x2xbf16> into tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x4x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xbf16>) output(%e : tensor<?x4x64xbf16>) eps = 1.0e-05 -> tensor<?x4x64xbf16>
  %a = tensor.extract_slice %y[0, 0, 0] [%n, 4, 32] [1, 1, 2] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %b = tensor.extract_slice %y[0, 0, 1] [%n, 4, 32] [1, 1, 2] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %nb = arith.negf %b : tensor<?x4x32xbf16>
  %z = tensor.empty(%n) : tensor<?x4x32x2xbf16>
  %z1 = tensor.insert_slice %nb into %z[0, 0, 0, 0] [%n, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x32x2xbf16>
  %z2 = tensor.insert_slice %a into %z1[0, 0, 0, 1] [%n, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x32x2xbf16>
  %q = tensor.collapse_shape %z2 [[0], [1], [2, 3]] : tensor<?x4x32x2xbf16> into tensor<?x4x64xbf16>
  %r = linalg.generic {indexing_maps = [#whole, #table, #whole, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %c, %q, %s : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x4x64xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %k: bf16, %l: bf16, %o: bf16):
    %0 = arith.mulf %i, %j : bf16
    %1 = arith.mulf %k, %l : bf16
    %2 = arith.addf %0, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x4x64xbf16>
  return %r : tensor<?x4x64xbf16>
}

// Slices that keep a dimension of one column, of a single token.
// CHECK-LABEL: func.func @kept_dimension(
// CHECK: rmsnorm.rows sizes [4] columns [32, 2]
// CHECK: tile_load tile
// CHECK: rmsnorm.take
// CHECK: tile_load column %{{.*}} : memref<32xbf16
// CHECK: rmsnorm.put
// CHECK: tile_store tile
func.func @kept_dimension(%x: tensor<1x4x64xbf16>, %cos: tensor<1x32xbf16>) -> tensor<1x4x64xbf16> {
  %e = tensor.empty() : tensor<1x4x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<1x4x64xbf16>) output(%e : tensor<1x4x64xbf16>) eps = 1.0e-05 -> tensor<1x4x64xbf16>
  %p = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 32, 2] : tensor<1x4x64xbf16> into tensor<1x4x32x2xbf16>
  %a1 = tensor.extract_slice %p[0, 0, 0, 0] [1, 4, 32, 1] [1, 1, 1, 1] : tensor<1x4x32x2xbf16> to tensor<1x4x32x1xbf16>
  %a = tensor.collapse_shape %a1 [[0], [1], [2, 3]] : tensor<1x4x32x1xbf16> into tensor<1x4x32xbf16>
  %b1 = tensor.extract_slice %p[0, 0, 0, 1] [1, 4, 32, 1] [1, 1, 1, 1] : tensor<1x4x32x2xbf16> to tensor<1x4x32x1xbf16>
  %h = tensor.empty() : tensor<1x4x32xbf16>
  %d = linalg.generic {indexing_maps = [#whole, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %cos : tensor<1x4x32xbf16>, tensor<1x32xbf16>) outs(%h : tensor<1x4x32xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %o: bf16):
    %0 = arith.mulf %i, %j : bf16
    linalg.yield %0 : bf16
  } -> tensor<1x4x32xbf16>
  %d1 = tensor.expand_shape %d [[0], [1], [2, 3]] output_shape [1, 4, 32, 1] : tensor<1x4x32xbf16> into tensor<1x4x32x1xbf16>
  %z = tensor.empty() : tensor<1x4x32x2xbf16>
  %z1 = tensor.insert_slice %b1 into %z[0, 0, 0, 0] [1, 4, 32, 1] [1, 1, 1, 1] : tensor<1x4x32x1xbf16> into tensor<1x4x32x2xbf16>
  %z2 = tensor.insert_slice %d1 into %z1[0, 0, 0, 1] [1, 4, 32, 1] [1, 1, 1, 1] : tensor<1x4x32x1xbf16> into tensor<1x4x32x2xbf16>
  %q = tensor.collapse_shape %z2 [[0], [1], [2, 3]] : tensor<1x4x32x2xbf16> into tensor<1x4x64xbf16>
  return %q : tensor<1x4x64xbf16>
}

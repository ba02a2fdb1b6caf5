// RUN: norm-opt %s --rmsnorm-sink-transposes --split-input-file | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>

// Behind what uses it: the second op has the rows of the norm in their order, and
// reads what comes in the other order where it is. What is left is written by a
// copy whose loops are the rows.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x64xf32>, %[[R:[a-z0-9]*]]: tensor<4x?x64xf32>, %[[S:[a-z0-9]*]]: tensor<4x?xf32>, %[[O:[a-z0-9]*]]: tensor<4x?x64xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[Y:.*]] = rmsnorm.forward
// CHECK:         %[[A:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$T]], #[[$ROW]], #[[$ID]]]
// CHECK-SAME:      ins(%[[Y]], %[[R]], %[[S]] : tensor<?x4x64xf32>, tensor<4x?x64xf32>, tensor<4x?xf32>) outs(%{{.*}} : tensor<?x4x64xf32>)
// CHECK:         %[[B:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$T]]]{{.*}} ins(%[[A]] : tensor<?x4x64xf32>) outs(%[[O]] : tensor<4x?x64xf32>)
// CHECK:         return %[[B]]
func.func @elementwise(%x: tensor<?x4x64xf32>, %r: tensor<4x?x64xf32>, %s: tensor<4x?xf32>, %o: tensor<4x?x64xf32>) -> tensor<4x?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %e = tensor.empty(%m) : tensor<?x4x64xf32>
  %t0 = tensor.empty(%m) : tensor<4x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xf32>) output(%e : tensor<?x4x64xf32>) eps = 1.0e-5 -> tensor<?x4x64xf32>
  %t = linalg.transpose ins(%y : tensor<?x4x64xf32>) outs(%t0 : tensor<4x?x64xf32>) permutation = [1, 0, 2]
  %a = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t, %r, %s : tensor<4x?x64xf32>, tensor<4x?x64xf32>, tensor<4x?xf32>) outs(%o : tensor<4x?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %u: f32, %z: f32):
    %v = arith.addf %p, %q : f32
    %w = arith.mulf %v, %u : f32
    linalg.yield %w : f32
  } -> tensor<4x?x64xf32>
  return %a : tensor<4x?x64xf32>
}

// -----

// Three dimensions take turns; parts are taken out and put in before.
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d1, d3)>
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[Y:.*]] = rmsnorm.forward {{.*}} -> tensor<?x5x3x64xf32>
// CHECK:         %[[LO:.*]] = tensor.extract_slice %[[Y]][0, 0, 0, 0] [%{{.*}}, 5, 3, 32] [1, 1, 1, 1]
// CHECK:         %[[HI:.*]] = tensor.extract_slice %[[Y]][0, 0, 0, 32] [%{{.*}}, 5, 3, 32] [1, 1, 1, 1]
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[HI]] into %{{.*}}[0, 0, 0, 0] [%{{.*}}, 5, 3, 32] [1, 1, 1, 1]
// CHECK:         %[[J:.*]] = tensor.insert_slice %[[LO]] into %[[I]][0, 0, 0, 32] [%{{.*}}, 5, 3, 32] [1, 1, 1, 1]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$T]]]{{.*}} ins(%[[J]] : tensor<?x5x3x64xf32>)
func.func @parts(%x: tensor<?x5x3x64xf32>) -> tensor<3x?x5x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x5x3x64xf32>
  %o = tensor.empty(%m) : tensor<3x?x5x64xf32>
  %e = tensor.empty(%m) : tensor<?x5x3x64xf32>
  %t0 = tensor.empty(%m) : tensor<3x?x5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x5x3x64xf32>) output(%e : tensor<?x5x3x64xf32>) eps = 1.0e-5 -> tensor<?x5x3x64xf32>
  %t = linalg.transpose ins(%y : tensor<?x5x3x64xf32>) outs(%t0 : tensor<3x?x5x64xf32>) permutation = [2, 0, 1, 3]
  %lo = tensor.extract_slice %t[0, 0, 0, 0] [3, %m, 5, 32] [1, 1, 1, 1] : tensor<3x?x5x64xf32> to tensor<3x?x5x32xf32>
  %hi = tensor.extract_slice %t[0, 0, 0, 32] [3, %m, 5, 32] [1, 1, 1, 1] : tensor<3x?x5x64xf32> to tensor<3x?x5x32xf32>
  %i = tensor.insert_slice %hi into %o[0, 0, 0, 0] [3, %m, 5, 32] [1, 1, 1, 1] : tensor<3x?x5x32xf32> into tensor<3x?x5x64xf32>
  %j = tensor.insert_slice %lo into %i[0, 0, 0, 32] [3, %m, 5, 32] [1, 1, 1, 1] : tensor<3x?x5x32xf32> into tensor<3x?x5x64xf32>
  return %j : tensor<3x?x5x64xf32>
}

// -----

// A norm of what is computed, and back again.
// CHECK-LABEL: func.func @norm(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[H:.*]] = linalg.exp
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[H]] : tensor<?x4x64xf32>)
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%arg1 :
// CHECK:         return %[[COPY]]
func.func @norm(%x: tensor<?x4x64xf32>, %o: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %e = tensor.empty(%m) : tensor<?x4x64xf32>
  %t0 = tensor.empty(%m) : tensor<4x?x64xf32>
  %h = linalg.exp ins(%x : tensor<?x4x64xf32>) outs(%e : tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %t = linalg.transpose ins(%h : tensor<?x4x64xf32>) outs(%t0 : tensor<4x?x64xf32>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%t : tensor<4x?x64xf32>) output(%t0 : tensor<4x?x64xf32>) eps = 1.0e-5 -> tensor<4x?x64xf32>
  %b = linalg.transpose ins(%y : tensor<4x?x64xf32>) outs(%o : tensor<?x4x64xf32>) permutation = [1, 0, 2]
  return %b : tensor<?x4x64xf32>
}

// -----

// An argument that a norm reads is transposed where it was; columns are none of
// the rows' dimensions for an op that is not elementwise.
// CHECK-LABEL: func.func @stays(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x4x64xf32>)
// CHECK:         rmsnorm.forward input(%[[T]] : tensor<4x?x64xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x64x?xf32>, tensor<?xf32>)
func.func @stays(%x: tensor<?x4x64xf32>, %s: tensor<?xf32>, %o: tensor<4x64x?xf32>) -> tensor<4x64x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %t0 = tensor.empty(%m) : tensor<4x?x64xf32>
  %u0 = tensor.empty(%m) : tensor<4x64x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x4x64xf32>) outs(%t0 : tensor<4x?x64xf32>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%t : tensor<4x?x64xf32>) output(%t0 : tensor<4x?x64xf32>) eps = 1.0e-5 -> tensor<4x?x64xf32>
  %u = linalg.transpose ins(%y : tensor<4x?x64xf32>) outs(%u0 : tensor<4x64x?xf32>) permutation = [0, 2, 1]
  %v = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%u, %s : tensor<4x64x?xf32>, tensor<?xf32>) outs(%o : tensor<4x64x?xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32):
    %w = arith.mulf %p, %q : f32
    linalg.yield %w : f32
  } -> tensor<4x64x?xf32>
  return %v : tensor<4x64x?xf32>
}

// -----

// A gradient has two inputs: it keeps its order, and what is transposed for it is
// in front of it.
// CHECK-LABEL: func.func @backward(
// CHECK:         %[[G:.*]] = linalg.exp
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%[[G]] : tensor<4x?x64xf32>)
// CHECK:         rmsnorm.backward dy(%[[T]] : tensor<?x4x64xf32>)
func.func @backward(%g: tensor<4x?x64xf32>, %x: tensor<?x4x64xf32>, %o: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %e = tensor.empty(%m) : tensor<4x?x64xf32>
  %t0 = tensor.empty(%m) : tensor<?x4x64xf32>
  %h = linalg.exp ins(%g : tensor<4x?x64xf32>) outs(%e : tensor<4x?x64xf32>) -> tensor<4x?x64xf32>
  %t = linalg.transpose ins(%h : tensor<4x?x64xf32>) outs(%t0 : tensor<?x4x64xf32>) permutation = [1, 0, 2]
  %dx = rmsnorm.backward dy(%t : tensor<?x4x64xf32>) input(%x : tensor<?x4x64xf32>) dx(%o : tensor<?x4x64xf32>) eps = 1.0e-5 -> tensor<?x4x64xf32>
  return %dx : tensor<?x4x64xf32>
}

// -----

// A value for each group of columns: an elementwise op works on rows, and the
// copy has their loops.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @groups(
// CHECK:         %[[E:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]{{.*}} ins(%{{.*}} : tensor<?x4xf32>) outs(%{{.*}} : tensor<?x4xbf16>)
// CHECK:         arith.truncf
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$T]]]{{.*}} ins(%[[E]] : tensor<?x4xbf16>) outs(%{{.*}} : tensor<4x?xbf16>)
#groups = affine_map<(i, j) -> (i, j)>
func.func @groups(%x: tensor<?x4xf32>, %o: tensor<4x?xbf16>) -> tensor<4x?xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %t0 = tensor.empty(%m) : tensor<4x?xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = linalg.transpose ins(%y : tensor<?x4xf32>) outs(%t0 : tensor<4x?xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#groups, #groups], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x?xf32>) outs(%o : tensor<4x?xbf16>) {
  ^bb0(%p: f32, %z: bf16):
    %v = arith.truncf %p : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4x?xbf16>
  return %r : tensor<4x?xbf16>
}

// -----

// What a reduction writes with groups in front of rows it computes first, from the
// same start.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @written(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x4x16xf32>, %[[O:[a-z0-9]*]]: tensor<4x?xf32>)
// CHECK:         %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$ROW]]]{{.*}} ins(%[[X]] : tensor<?x4x16xf32>) outs(%[[F]] : tensor<?x4xf32>)
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$T]]]{{.*}} ins(%[[R]] : tensor<?x4xf32>) outs(%[[O]] : tensor<4x?xf32>)
func.func @written(%x: tensor<?x4x16xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x4x16xf32>) outs(%f : tensor<4x?xf32>) {
  ^bb0(%p: f32, %s: f32):
    %v = arith.addf %p, %s : f32
    linalg.yield %v : f32
  } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// -----

// One that reads what it writes to stays.
// CHECK-DAG: #[[$T:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @updated(
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$T]]]{{.*}} outs(%{{.*}} : tensor<4x?xf32>)
// CHECK-NOT:     ins(
// CHECK:         return
func.func @updated(%x: tensor<?x4x16xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x4x16xf32>) outs(%o : tensor<4x?xf32>) {
  ^bb0(%p: f32, %s: f32):
    %v = arith.addf %p, %s : f32
    linalg.yield %v : f32
  } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

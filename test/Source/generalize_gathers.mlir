// RUN: norm-opt %s --rmsnorm-generalize-gathers | FileCheck %s

// CHECK-DAG: #[[$INDEX:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<?x64xf32>, %[[I:[a-z0-9]*]]: tensor<?x1xi32>)
// CHECK-DAG:     %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x64xf32>
// CHECK-DAG:     %[[F:.*]] = tensor.extract_slice %[[I]][0, 0] [%{{.*}}, 1] [1, 1] : tensor<?x1xi32> to tensor<?xi32>
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[$INDEX]], #[[$ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[F]] : {{.*}}) outs(%[[E]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i32,
// CHECK-NEXT:      %[[ROW:.*]] = arith.index_cast %[[A]] : i32 to index
// CHECK-NEXT:      %[[J:.*]] = linalg.index 1
// CHECK-NEXT:      %[[V:.*]] = tensor.extract %[[T]][%[[ROW]], %[[J]]]
// CHECK-NEXT:      linalg.yield %[[V]]
// CHECK:         return %[[R]]
func.func @rows(%table: tensor<?x64xf32>, %ids: tensor<?x1xi32>) -> tensor<?x64xf32> {
  %0 = tensor.gather %table[%ids] gather_dims([0]) : (tensor<?x64xf32>, tensor<?x1xi32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// The dimension that is gathered, kept with size 1, before and after.
// CHECK-LABEL: func.func @kept(
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<5x64xf32>)
// CHECK:         tensor.expand_shape %[[R]] {{\[}}[0, 1], [2]] output_shape [5, 1, 64] : tensor<5x64xf32> into tensor<5x1x64xf32>
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64xf32>)
// CHECK:         tensor.expand_shape %[[S]] {{\[}}[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
func.func @kept(%table: tensor<9x64xf32>, %ids: tensor<5x1xindex>, %id: tensor<1xindex>) -> (tensor<5x1x64xf32>, tensor<1x64xf32>) {
  %0 = tensor.gather %table[%ids] gather_dims([0]) : (tensor<9x64xf32>, tensor<5x1xindex>) -> tensor<5x1x64xf32>
  %1 = tensor.gather %table[%id] gather_dims([0]) : (tensor<9x64xf32>, tensor<1xindex>) -> tensor<1x64xf32>
  return %0, %1 : tensor<5x1x64xf32>, tensor<1x64xf32>
}

// By several indices: an operand for each.
// CHECK-LABEL: func.func @two(
// CHECK:         linalg.generic {{.*}} ins(%[[I:.*]], %[[I]] : tensor<5x2xi64>, tensor<5x2xi64>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i64, %[[B:.*]]: i64,
// CHECK-DAG:       %[[P:.*]] = arith.index_cast %[[A]]
// CHECK-DAG:       %[[Q:.*]] = arith.index_cast %[[B]]
// CHECK:           tensor.extract %{{.*}}[%[[P]], %{{.*}}, %[[Q]]]
func.func @two(%table: tensor<4x8x16xf32>, %ids: tensor<5x2xi64>) -> tensor<5x8xf32> {
  %0 = tensor.gather %table[%ids] gather_dims([0, 2]) : (tensor<4x8x16xf32>, tensor<5x2xi64>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// As StableHLO's gather becomes linalg: the indices are read in the body. They
// become an operand, of as many as there are loops.
// CHECK-LABEL: func.func @indices(
// CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<100x64xf32>, %[[I:[a-z0-9]*]]: tensor<9x1xi32>, %[[E:[a-z0-9]*]]: tensor<5x64xf32>)
// CHECK:         %[[F:.*]] = tensor.extract_slice %[[I]][0, 0] [9, 1] [1, 1] : tensor<9x1xi32> to tensor<9xi32>
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[F]][0] [5] [1]
// CHECK:         linalg.generic {indexing_maps = [#[[$INDEX]], #[[$ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[S]] : tensor<5xi32>) outs(%[[E]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i32,
// CHECK-NEXT:      %[[J:.*]] = linalg.index 1
// CHECK-NEXT:      %[[ROW:.*]] = arith.index_cast %[[A]] : i32 to index
// CHECK-NEXT:      %[[LOW:.*]] = arith.maxsi %[[ROW]], %c0
// CHECK-NEXT:      %[[IN:.*]] = arith.minsi %[[LOW]], %c99
// CHECK-NEXT:      tensor.extract %[[T]][%[[IN]], %[[J]]]
func.func @indices(%table: tensor<100x64xf32>, %ids: tensor<9x1xi32>, %e: tensor<5x64xf32>) -> tensor<5x64xf32> {
  %c0 = arith.constant 0 : index
  %c99 = arith.constant 99 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x64xf32>) {
  ^bb0(%z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %id = tensor.extract %ids[%i, %c0] : tensor<9x1xi32>
    %row = arith.index_cast %id : i32 to index
    %low = arith.maxsi %row, %c0 : index
    %in = arith.minsi %low, %c99 : index
    %v = tensor.extract %table[%in, %j] : tensor<100x64xf32>
    linalg.yield %v : f32
  } -> tensor<5x64xf32>
  return %0 : tensor<5x64xf32>
}

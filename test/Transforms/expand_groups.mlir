// RUN: norm-opt %s --rmsnorm-expand-groups --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// A gate in front and a weight behind: both on groups, their operands expanded.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @around(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x256xf32>, %[[Z:[a-z0-9]*]]: tensor<?x256xf32>, %[[W:[a-z0-9]*]]: tensor<256xf32>, %[[OUT:[a-z0-9]*]]: tensor<?x256xf32>
// CHECK-DAG:     %[[XG:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 128]
// CHECK-DAG:     %[[ZG:.*]] = tensor.expand_shape %[[Z]] {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 128]
// CHECK:         %[[G:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]], #[[$ID]]]{{.*}} ins(%[[XG]], %[[ZG]] : tensor<?x2x128xf32>, tensor<?x2x128xf32>)
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[G]] : tensor<?x2x128xf32>)
// CHECK-DAG:     %[[WG:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1]] output_shape [2, 128]
// CHECK-DAG:     %[[OUTG:.*]] = tensor.expand_shape %[[OUT]]
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$COLUMN]], #[[$ID]]]{{.*}} ins(%[[Y]], %[[WG]] : {{.*}}) outs(%[[OUTG]] :
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0], [1, 2]]
// CHECK:         return %[[C]]
func.func @around(%x: tensor<?x256xf32>, %z: tensor<?x256xf32>, %w: tensor<256xf32>, %out: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %z : tensor<?x256xf32>, tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x256xf32>
  %h = tensor.expand_shape %g [[0], [1, 2]] output_shape [%m, 2, 128] : tensor<?x256xf32> into tensor<?x2x128xf32>
  %eg = tensor.empty(%m) : tensor<?x2x128xf32>
  %y = rmsnorm.forward input(%h : tensor<?x2x128xf32>) output(%eg : tensor<?x2x128xf32>) eps = 1.0e-5 -> tensor<?x2x128xf32>
  %c = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x2x128xf32> into tensor<?x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %w : tensor<?x256xf32>, tensor<256xf32>) outs(%out : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// What a norm of whole rows computes stays whole, and so do groups of it.
// CHECK-LABEL: func.func @whole(
// CHECK:         rmsnorm.forward {{.*}} -> tensor<?x256xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         tensor.expand_shape
// CHECK:         rmsnorm.forward {{.*}} -> tensor<?x2x128xf32>
func.func @whole(%x: tensor<?x256xf32>, %e: tensor<?x256xf32>, %eg: tensor<?x2x128xf32>) -> tensor<?x2x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-5 -> tensor<?x256xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %a : f32
    linalg.yield %p : f32
  } -> tensor<?x256xf32>
  %h = tensor.expand_shape %g [[0], [1, 2]] output_shape [%m, 2, 128] : tensor<?x256xf32> into tensor<?x2x128xf32>
  %n = rmsnorm.forward input(%h : tensor<?x2x128xf32>) output(%eg : tensor<?x2x128xf32>) eps = 1.0e-5 -> tensor<?x2x128xf32>
  return %n : tensor<?x2x128xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// So do what is not for a norm, sums over rows, and groups of others.
// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x256xf32>, %[[O:[a-z0-9]*]]: tensor<?x2x128xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[X]]
// CHECK:         rmsnorm.forward
// CHECK:         tensor.collapse_shape %[[O]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
func.func @others(%x: tensor<?x256xf32>, %o: tensor<?x2x128xf32>, %e: tensor<?x256xf32>, %s: tensor<256xf32>, %t: tensor<2x128xf32>) -> (tensor<?x2x128xf32>, tensor<2x128xf32>, tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %a : f32
    linalg.yield %p : f32
  } -> tensor<?x256xf32>
  %h = tensor.expand_shape %g [[0], [1, 2]] output_shape [%m, 2, 128] : tensor<?x256xf32> into tensor<?x2x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x256xf32>) outs(%s : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<256xf32>
  %rg = tensor.expand_shape %r [[0, 1]] output_shape [2, 128] : tensor<256xf32> into tensor<2x128xf32>
  %y = rmsnorm.forward input(%rg : tensor<2x128xf32>) output(%t : tensor<2x128xf32>) eps = 1.0e-5 -> tensor<2x128xf32>
  %c = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x2x128xf32> into tensor<?x256xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %a : f32
    linalg.yield %p : f32
  } -> tensor<?x256xf32>
  return %h, %y, %d : tensor<?x2x128xf32>, tensor<2x128xf32>, tensor<?x256xf32>
}

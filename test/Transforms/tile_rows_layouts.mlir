// RUN: norm-opt %s --rmsnorm-tile-rows --canonicalize --cse --split-input-file | FileCheck %s

// Groups of columns that are stored as tensor cores read them: the loop's row is
// taken apart by the static sizes and inserted at the index of its tile. The reshapes
// and the transpose are gone, the destination stays.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:    %[[X:.*]]: tensor<?x512xbf16>, %[[O:.*]]: tensor<?x32x16xf32>)
// CHECK:         %[[D:.*]] = tensor.expand_shape %[[O]] {{\[\[}}0, 1], [2], [3, 4]]
// CHECK:         %[[R:.*]] = scf.forall (%[[I:.*]]) in (%{{.*}}) shared_outs(%[[A:.*]] = %[[D]]) -> (tensor<?x4x32x4x4xf32>)
// CHECK:           %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16xf32>)
// CHECK:           %[[P:.*]]:3 = affine.delinearize_index %[[I]] into (4, 32) : index, index, index
// CHECK:           %[[V:.*]] = tensor.expand_shape %[[S]] {{\[\[}}0], [1, 2, 3, 4]] output_shape [1, 4, 1, 1, 4]
// CHECK:           tensor.parallel_insert_slice %[[V]] into %[[A]][%[[P]]#0, 0, %[[P]]#2, %[[P]]#1, 0] [1, 4, 1, 1, 4] [1, 1, 1, 1, 1]
// CHECK:         rmsnorm.rows = 1
// CHECK-NOT:     linalg
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0, 1], [2], [3, 4]]
// CHECK:         return %[[C]]
func.func @tiles(%x: tensor<?x512xbf16>, %o: tensor<?x32x16xf32>) -> tensor<?x32x16xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 32] : tensor<?x512xf32> into tensor<?x16x32xf32>
  %f = tensor.empty(%m) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x16x32xf32>) outs(%zeros : tensor<?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x16xf32>
  %c128 = arith.constant 128 : index
  %b = arith.divui %m, %c128 : index
  %x5 = tensor.expand_shape %s [[0, 1, 2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x16xf32> into tensor<?x4x32x4x4xf32>
  %te = tensor.expand_shape %o [[0, 1], [2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x32x16xf32> into tensor<?x4x32x4x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x4x4xf32>) outs(%te : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  %flat = tensor.collapse_shape %t [[0, 1], [2], [3, 4]] : tensor<?x4x32x4x4xf32> into tensor<?x32x16xf32>
  return %flat : tensor<?x32x16xf32>
}

// -----

// Inserted into what the destination holds, which stays.
// CHECK-LABEL: func.func @fewer(
// CHECK-SAME:    %{{.*}}: tensor<?x512xbf16>, %[[O:.*]]: tensor<?x4x32x4x4xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         scf.forall (%[[I:.*]]) in (%{{.*}}) shared_outs(%[[A:.*]] = %[[O]])
// CHECK:           %[[P:.*]]:3 = affine.delinearize_index %[[I]] into (4, 32) : index, index, index
// CHECK:           tensor.parallel_insert_slice %{{.*}} into %[[A]][%[[P]]#0, 0, %[[P]]#2, %[[P]]#1, 0] [1, 4, 1, 1, 4] [1, 1, 1, 1, 1]
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @fewer(%x: tensor<?x512xbf16>, %old: tensor<?x4x32x4x4xf32>) -> tensor<?x4x32x4x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 32] : tensor<?x512xf32> into tensor<?x16x32xf32>
  %f = tensor.empty(%m) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x16x32xf32>) outs(%zeros : tensor<?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x16xf32>
  %b = tensor.dim %old, %c0 : tensor<?x4x32x4x4xf32>
  %ue = tensor.empty(%b) : tensor<?x4x32x4x4xf32>
  %u = linalg.transpose ins(%old : tensor<?x4x32x4x4xf32>) outs(%ue : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  %all = tensor.collapse_shape %u [[0, 1, 2], [3, 4]] : tensor<?x4x32x4x4xf32> into tensor<?x16xf32>
  %some = tensor.insert_slice %s into %all[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
  %x5 = tensor.expand_shape %some [[0, 1, 2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x16xf32> into tensor<?x4x32x4x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x4x4xf32>) outs(%old : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %t : tensor<?x4x32x4x4xf32>
}

// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Groups of columns that are stored as tensor cores read them.
// CHECK-LABEL: func.func @tiles(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns [16, 32] buffers(read %{{.*}} : tensor<?x512xbf16>, write %{{.*}} : tensor<?x32x16xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x512xbf16> -> vector<1x16x32xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x16x32xf32> -> vector<1x1x1xf32>
// CHECK:         rmsnorm.group_reduce maximumf(%{{.*}}) : vector<1x16x32xf32> -> vector<1x16x1xf32>
// CHECK:         rmsnorm.tile_store group %{{.*}}, %{{.*}}[%{{.*}}] map(r, g) -> (((r floordiv 128) * 4) + (g floordiv 4), r mod 32, (((r floordiv 32) mod 4) * 4) + (g mod 4)) : vector<1x16x1xf32>, memref<?x32x16xf32>
// CHECK:         return
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
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns [16, 32] buffers(read %{{.*}} : tensor<?x512xbf16>, write %{{.*}} : tensor<?x4x32x4x4xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x512xbf16> -> vector<1x16x32xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x16x32xf32> -> vector<1x1x1xf32>
// CHECK:         rmsnorm.group_reduce maximumf(%{{.*}}) : vector<1x16x32xf32> -> vector<1x16x1xf32>
// CHECK:         rmsnorm.tile_store group %{{.*}}, %{{.*}}[%{{.*}}] map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x16x1xf32>, memref<?x4x32x4x4xf32>
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

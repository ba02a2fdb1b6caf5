// RUN: not norm-opt %s --rmsnorm-tensor-half --split-input-file 2>&1 | FileCheck %s

// Columns, not groups of them.
// CHECK: remark: {{.*}} op not tiled with the norm next to it: it writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c) -> (c, r)
// CHECK: error: 'linalg.{{[a-z]*}}' op expected to be part of a kernel
func.func @columns_transposed(%x: tensor<?x512xbf16>) -> (tensor<?x16xf32>, tensor<512x?xf32>) {
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
  %te = tensor.empty(%m) : tensor<512x?xf32>
  %tr = linalg.transpose ins(%y : tensor<?x512xf32>) outs(%te : tensor<512x?xf32>) permutation = [1, 0]
  return %s, %tr : tensor<?x16xf32>, tensor<512x?xf32>
}

// RUN: not norm-opt %s --rmsnorm-tensor-half --split-input-file 2>&1 | FileCheck %s

// More rows than there are, with zeros.
// CHECK: error: expected what one kernel computes for another to be returned, or computed into an argument, got 'tensor<384x16xf32>', for which a module has no memory
func.func @zeros_behind(%x: tensor<300x512xbf16>) -> tensor<3x4x32x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x512xf32>
  %y = rmsnorm.forward input(%x : tensor<300x512xbf16>) output(%e : tensor<300x512xf32>) eps = 1.0e-05 -> tensor<300x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [300, 16, 32] : tensor<300x512xf32> into tensor<300x16x32xf32>
  %f = tensor.empty() : tensor<300x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<300x16xf32>) -> tensor<300x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<300x16x32xf32>) outs(%zeros : tensor<300x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<300x16xf32>
  %pe = tensor.empty() : tensor<384x16xf32>
  %none = linalg.fill ins(%zero : f32) outs(%pe : tensor<384x16xf32>) -> tensor<384x16xf32>
  %all = tensor.insert_slice %s into %none[0, 0] [300, 16] [1, 1] : tensor<300x16xf32> into tensor<384x16xf32>
  %x5 = tensor.expand_shape %all [[0, 1, 2], [3, 4]] output_shape [3, 4, 32, 4, 4] : tensor<384x16xf32> into tensor<3x4x32x4x4xf32>
  %te = tensor.empty() : tensor<3x4x32x4x4xf32>
  %tr = linalg.transpose ins(%x5 : tensor<3x4x32x4x4xf32>) outs(%te : tensor<3x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %tr : tensor<3x4x32x4x4xf32>
}

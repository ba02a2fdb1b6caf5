// RUN: not norm-opt %s --rmsnorm-tensor-half 2>&1 | FileCheck %s
// Rows that are written in another order are not the rows of the norm behind them,
// also where there are as many.
// CHECK: remark: not tiled with the norm next to it: it uses rows as columns
// CHECK: error: 'linalg.{{[a-z]*}}' op expected to be part of a loop over rows
func.func @transposed_gradient(%g: tensor<4x4x64xf32>, %x: tensor<4x4x64xf32>, %o: tensor<4x4x64xf32>) -> tensor<4x4x64xf32> {
  %e = tensor.empty() : tensor<4x4x64xf32>
  %h = linalg.exp ins(%g : tensor<4x4x64xf32>) outs(%e : tensor<4x4x64xf32>) -> tensor<4x4x64xf32>
  %t = linalg.transpose ins(%h : tensor<4x4x64xf32>) outs(%e : tensor<4x4x64xf32>) permutation = [1, 0, 2]
  %dx = rmsnorm.backward dy(%t : tensor<4x4x64xf32>) input(%x : tensor<4x4x64xf32>) dx(%o : tensor<4x4x64xf32>) eps = 1.0e-5 -> tensor<4x4x64xf32>
  return %dx : tensor<4x4x64xf32>
}

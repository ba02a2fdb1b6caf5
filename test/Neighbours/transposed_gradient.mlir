// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-run %s --device=sim:sm_90,sim:gfx942

// Rows that are written in another order are not the rows of the norm after it,
// also where there are as many.
// CHECK: %[[G:.*]] = memref.transpose
// CHECK: rmsnorm.rows sizes [4, 4] columns(64) buffers({{.*}}%[[G]] :
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store tile
func.func @transposed_gradient(%g: tensor<4x4x64xf32>, %x: tensor<4x4x64xf32>, %o: tensor<4x4x64xf32>) -> tensor<4x4x64xf32> {
  %e = tensor.empty() : tensor<4x4x64xf32>
  %h = linalg.exp ins(%g : tensor<4x4x64xf32>) outs(%e : tensor<4x4x64xf32>) -> tensor<4x4x64xf32>
  %t = linalg.transpose ins(%h : tensor<4x4x64xf32>) outs(%e : tensor<4x4x64xf32>) permutation = [1, 0, 2]
  %dx = rmsnorm.backward dy(%t : tensor<4x4x64xf32>) input(%x : tensor<4x4x64xf32>) dx(%o : tensor<4x4x64xf32>) eps = 1.0e-5 -> tensor<4x4x64xf32>
  return %dx : tensor<4x4x64xf32>
}

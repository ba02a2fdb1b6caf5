// What is computed of a transposed operand cannot be part of the kernel.
// RUN: not norm-opt %s --rmsnorm-tensor-half 2>&1 | FileCheck %s
// CHECK: :[[#@LINE+5]]:8: error: 'linalg.generic' op is in no kernel with what it uses or computes, which no argument holds: it reads columns in an order of their own
func.func @transposed_producer(%x: tensor<4x8x256xf32>, %s: tensor<256x4xf32>) -> tensor<4x8x256xf32> {
  %e = tensor.empty() : tensor<4x8x256xf32>
  %y = rmsnorm.forward input(%x : tensor<4x8x256xf32>) output(%e : tensor<4x8x256xf32>) eps = 1.0e-05 -> tensor<4x8x256xf32>
  %es = tensor.empty() : tensor<4x256xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<256x4xf32>) outs(%es : tensor<4x256xf32>) {
  ^bb0(%a: f32, %z: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x256xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %t : tensor<4x8x256xf32>, tensor<4x256xf32>) outs(%e : tensor<4x8x256xf32>) {
  ^bb0(%a: f32, %b: f32, %z: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8x256xf32>
  return %q : tensor<4x8x256xf32>
}

// Two ops that sum up the gradient of one weight are one op: the second is gone
// with the first.
// RUN: norm-opt %s --rmsnorm-raise | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @equal(
// CHECK-NOT: reduction
// CHECK: %[[GRADIENT:.*]]:2 = rmsnorm.backward
// CHECK-NOT: rmsnorm.backward
// CHECK: return %[[GRADIENT]]#1, %[[GRADIENT]]#1
func.func @equal(%x: tensor<8x64xf32>, %dy: tensor<8x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %columns = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %zeroc = linalg.fill ins(%zero : f32) outs(%columns : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %square = arith.mulf %a, %a : f32
    %r = arith.addf %acc, %square : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %one = linalg.generic {indexing_maps = [#id, #id, #row, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %dy, %sum : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>) outs(%zeroc : tensor<64xf32>) {
  ^bb0(%a: f32, %g: f32, %s: f32, %acc: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %p = arith.mulf %normal, %g : f32
    %r = arith.addf %acc, %p : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %two = linalg.generic {indexing_maps = [#id, #id, #row, #column], iterator_types = ["reduction", "parallel"]} ins(%dy, %x, %sum : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>) outs(%zeroc : tensor<64xf32>) {
  ^bb0(%g: f32, %a: f32, %s: f32, %acc: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %p = arith.mulf %g, %normal : f32
    %r = arith.addf %acc, %p : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %one, %two : tensor<64xf32>, tensor<64xf32>
}

// The second op also sums up the gradient of a bias. It is gone, too: another one
// takes its block.
// CHECK-LABEL: func.func @beside_bias(
// CHECK: %[[GRADIENT:.*]]:2 = rmsnorm.backward
// CHECK-NOT: rmsnorm.backward
// CHECK: %[[BIAS:.*]] = linalg.generic {{.*}}["reduction", "parallel"]
// CHECK-NOT: reduction
// CHECK: return %[[GRADIENT]]#1, %[[GRADIENT]]#1, %[[BIAS]]
func.func @beside_bias(%x: tensor<8x64xf32>, %dy: tensor<8x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %columns = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %zeroc = linalg.fill ins(%zero : f32) outs(%columns : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %square = arith.mulf %a, %a : f32
    %r = arith.addf %acc, %square : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %one = linalg.generic {indexing_maps = [#id, #id, #row, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %dy, %sum : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>) outs(%zeroc : tensor<64xf32>) {
  ^bb0(%a: f32, %g: f32, %s: f32, %acc: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %p = arith.mulf %normal, %g : f32
    %r = arith.addf %acc, %p : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %two:2 = linalg.generic {indexing_maps = [#id, #id, #row, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%dy, %x, %sum : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>) outs(%zeroc, %zeroc : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%g: f32, %a: f32, %s: f32, %acc: f32, %bias: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %p = arith.mulf %g, %normal : f32
    %r = arith.addf %acc, %p : f32
    %b = arith.addf %bias, %g : f32
    linalg.yield %r, %b : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %one, %two#0, %two#1 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// RUN: norm-opt %s --rmsnorm-raise --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// An op stands for all that is gone with what it replaces: its own location is first.
// CHECK: rmsnorm.forward {{.*}} loc(fused["scaled", {{.*}}"summed"{{.*}}])
// CHECK-NOT: linalg.generic
#row = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>
func.func @norm(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %e2 = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x64xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %p, %b : f32
    linalg.yield %q : f32
  } -> tensor<8xf32> loc("summed")
  %y = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %o = arith.mulf %a, %r : f32 loc("scaled")
    linalg.yield %o : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

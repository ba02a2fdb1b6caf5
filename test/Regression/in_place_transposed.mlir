// What a row is read from is written in the same loop, in another order: it would
// be found overwritten. In a larger program bufferization copies it.
// RUN: not norm-opt %s --rmsnorm-tensor-half 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED-COUNT-3: expected what one kernel computes for another to be returned, or computed into an argument, and arguments to be read before they are written, got a new
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}3 results, 0 wrong

func.func @f1(%b: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
  %e = tensor.empty() : tensor<8x8x64xf32>
  %y = rmsnorm.forward input(%b : tensor<8x8x64xf32>) output(%e : tensor<8x8x64xf32>) eps = 1.0e-05 -> tensor<8x8x64xf32>
  %t = linalg.transpose ins(%y : tensor<8x8x64xf32>) outs(%b : tensor<8x8x64xf32>) permutation = [1, 0, 2]
  return %t : tensor<8x8x64xf32>
}

func.func @f2(%b: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
  %e = tensor.empty() : tensor<8x8x64xf32>
  %t = linalg.transpose ins(%b : tensor<8x8x64xf32>) outs(%e : tensor<8x8x64xf32>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%t : tensor<8x8x64xf32>) output(%b : tensor<8x8x64xf32>) eps = 1.0e-05 -> tensor<8x8x64xf32>
  return %y : tensor<8x8x64xf32>
}

func.func @f3(%b: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
  %e = tensor.empty() : tensor<8x8x64xf32>
  %y = rmsnorm.forward input(%b : tensor<8x8x64xf32>) output(%e : tensor<8x8x64xf32>) eps = 1.0e-05 -> tensor<8x8x64xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (b, a, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %b : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%b : tensor<8x8x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<8x8x64xf32>
  return %u : tensor<8x8x64xf32>
}


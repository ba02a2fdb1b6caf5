// Every second column of a norm, beside half of it, in a padded row: no kernel has both, so one is left to others. What
// holds the other one was taken for a whole row, and stored without it.
// RUN: not norm-opt %s --rmsnorm-tensor-half -o %t.mlir 2>&1 | FileCheck %s
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=3 --embed=sim:sm_90,direct | FileCheck %s --check-prefix=EMBED
// CHECK: error: expected what one kernel computes for another to be returned, or computed into an argument
// EMBED: {{^}}2 results, 0 wrong

func.func @padded(%a0: tensor<?x1x1x6xf32>, %a1: tensor<6xf32>) -> (tensor<?x1x1x6xf32>, tensor<?x1x9xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x1x1x6xf32>
  %v1 = tensor.empty(%d0) : tensor<?x1x1x6xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x1x1x6xf32>) weight(%a1 : tensor<6xf32>) output(%v1 : tensor<?x1x1x6xf32>) eps = 1.0e-03 -> tensor<?x1x1x6xf32>
  %v3 = tensor.collapse_shape %v2 [[0, 1], [2], [3]] : tensor<?x1x1x6xf32> into tensor<?x1x6xf32>
  %v4 = tensor.extract_slice %v3[0, 0, 0] [%d0, 1, 3] [1, 1, 2] : tensor<?x1x6xf32> to tensor<?x1x3xf32>
  %v5 = tensor.extract_slice %v3[0, 0, 3] [%d0, 1, 3] [1, 1, 1] : tensor<?x1x6xf32> to tensor<?x1x3xf32>
  %v6 = tensor.concat dim(2) %v4, %v5 : (tensor<?x1x3xf32>, tensor<?x1x3xf32>) -> tensor<?x1x6xf32>
  %v7 = arith.constant 0.0 : f32
  %v8 = tensor.pad %v6 low[0, 0, 1] high[0, 0, 2] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v7 : f32
  } : tensor<?x1x6xf32> to tensor<?x1x9xf32>
  return %v2, %v8 : tensor<?x1x1x6xf32>, tensor<?x1x9xf32>
}

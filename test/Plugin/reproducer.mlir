// A pipeline that fails leaves a reproducer that fails the same, with norm-opt
// and through the plugin; the schedule's commas and spaces survive in it.
// RUN: not norm-opt %s --pass-pipeline='builtin.module(rmsnorm-to-nvvm{target=sm_90 schedule="#rmsnorm.schedule<threads_per_row = 128, vector_width = 4>"})' --mlir-pass-pipeline-crash-reproducer=%t.norm.mlir -o /dev/null 2>&1 | FileCheck %s
// RUN: not mlir-opt %plugin %s --pass-pipeline='builtin.module(rmsnorm-to-nvvm{target=sm_90 schedule="#rmsnorm.schedule<threads_per_row = 128, vector_width = 4>"})' --mlir-pass-pipeline-crash-reproducer=%t.plugin.mlir -o /dev/null 2>&1 | FileCheck %s
// RUN: cmp %t.norm.mlir %t.plugin.mlir
// RUN: FileCheck %s --check-prefix=FILE < %t.norm.mlir
// RUN: not norm-opt %t.plugin.mlir --run-reproducer -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not mlir-opt %plugin %t.norm.mlir --run-reproducer -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: error: 'linalg.matmul' op is in no kernel: it multiplies rows by a matrix
// CHECK: Pipeline failed while executing [`TileClusters` on 'func.func' operation: @f]: reproducer generated at
// FILE:  pipeline: "builtin.module(symbol-dce, func.func(rmsnorm-generalize-elementwise{restorable=false},rmsnorm-generalize-gathers{scatters-only=false}), rmsnorm-compute-in-place, rmsnorm-bind-arguments,
// FILE-SAME: schedule={#rmsnorm.schedule<threads_per_row = 128, vector_width = 4>}
// ERROR: error: 'linalg.matmul' op is in no kernel: it multiplies rows by a matrix

func.func @f(%x: tensor<?x1024xf32>, %b: tensor<1024x8xf32>, %y: tensor<?x1024xf32>,
             %c: tensor<?x8xf32>) -> (tensor<?x1024xf32>, tensor<?x8xf32>) {
  %0 = rmsnorm.forward input(%x : tensor<?x1024xf32>)
      output(%y : tensor<?x1024xf32>) eps = 1.0e-05 -> tensor<?x1024xf32>
  %1 = linalg.matmul ins(%x, %b : tensor<?x1024xf32>, tensor<1024x8xf32>)
      outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0, %1 : tensor<?x1024xf32>, tensor<?x8xf32>
}

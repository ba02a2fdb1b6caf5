// Rows that others put apart: into heads that are wider, or every second column. The norm is a kernel, whose result they copy.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s
// CHECK-DAG: launched concat{{.*}} 1 times
// CHECK-DAG: launched kept{{.*}} 1 times
// CHECK-DAG: launched pad{{.*}} 1 times
// CHECK-DAG: launched insert{{.*}} 1 times
// CHECK-DAG: launched strided{{.*}} 1 times
// CHECK: {{^}}6 results, 0 wrong
func.func @concat(%a0: tensor<?x64xf32>, %a1: tensor<?x4x8xf32>) -> (tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.concat dim(2) %v4, %a1 : (tensor<?x4x16xf32>, tensor<?x4x8xf32>) -> tensor<?x4x24xf32>
  return %v5 : tensor<?x4x24xf32>
}

func.func @kept(%a0: tensor<?x64xf32>, %a1: tensor<?x4x8xf32>) -> (tensor<?x64xf32>, tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.concat dim(2) %v4, %a1 : (tensor<?x4x16xf32>, tensor<?x4x8xf32>) -> tensor<?x4x24xf32>
  return %v3, %v5 : tensor<?x64xf32>, tensor<?x4x24xf32>
}

func.func @pad(%a0: tensor<?x64xf32>) -> (tensor<?x4x20xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = arith.constant 1.0 : f32
  %v6 = tensor.pad %v4 low[0, 0, 0] high[0, 0, 4] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v5 : f32
  } : tensor<?x4x16xf32> to tensor<?x4x20xf32>
  return %v6 : tensor<?x4x20xf32>
}

func.func @insert(%a0: tensor<?x64xf32>, %a1: tensor<?x4x24xf32>) -> (tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.insert_slice %v4 into %a1[0, 0, 8] [%m, 4, 16] [1, 1, 1] : tensor<?x4x16xf32> into tensor<?x4x24xf32>
  return %v5 : tensor<?x4x24xf32>
}

func.func @strided(%a0: tensor<?x64xf32>, %a1: tensor<?x128xf32>) -> (tensor<?x128xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.insert_slice %v3 into %a1[0, 0] [%m, 64] [1, 2] : tensor<?x64xf32> into tensor<?x128xf32>
  return %v4 : tensor<?x128xf32>
}

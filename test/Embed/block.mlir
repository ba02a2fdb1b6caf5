// Norm, matmul, residual and norm, matmul: our kernels in the simulator among
// loops of stock passes, against the same without us. A sum has 64 terms of
// about 1.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --magnitude=64,0
// RUN: %{compare} --embed=sim:sim32,gpu --size=37 | FileCheck %s
// RUN: %{compare} --embed=sim:sim32,direct --size=0 | FileCheck %s
// RUN: %{compare} --embed=sim:sim64,direct --size=1 | FileCheck %s
// RUN: %{compare} --embed=sim:sm_90,direct --size=1000 | FileCheck %s
// CHECK: {{^}}2 results, 0 wrong

func.func @block(%x: tensor<?x64xf32>, %w1: tensor<64xf32>, %a: tensor<64x64xf32>, %w2: tensor<64xf32>, %b: tensor<64x32xf32>) -> (tensor<?x32xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %n1 = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w1 : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x64xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%n1, %a : tensor<?x64xf32>, tensor<64x64xf32>) outs(%z1 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e2 = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.add ins(%x, %p : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e3 = tensor.empty(%m) : tensor<?x64xf32>
  %n2 = rmsnorm.forward input(%h : tensor<?x64xf32>) weight(%w2 : tensor<64xf32>) output(%e3 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %e4 = tensor.empty(%m) : tensor<?x32xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %q = linalg.matmul ins(%n2, %b : tensor<?x64xf32>, tensor<64x32xf32>) outs(%z4 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %q, %h : tensor<?x32xf32>, tensor<?x64xf32>
}

// In Debian's own mlir-opt our target compiles kernels, beside upstream's, and
// what leaves the last of our passes is the same.
// DEFINE: %{passes} = --pass-pipeline='builtin.module(rmsnorm-tensor-half,rmsnorm-embed-memrefs{target=sm_90},rmsnorm-embed-host{host=gpu},gpu-module-to-binary{format=isa})'
// RUN: mlir-opt %plugin %s %{passes} -o %t.mlir
// RUN: norm-opt %s %{passes} | cmp - %t.mlir
// RUN: mlir-opt %t.mlir | FileCheck %s --implicit-check-not=rmsnorm.
// CHECK: gpu.binary @rmsnorm_kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90">, assembly = "//
// CHECK: scf.if
// CHECK: gpu.launch_func @rmsnorm_kernels::@norm_

func.func @norm(%x: tensor<?x1024xbf16>, %w: tensor<1024xbf16>) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %y = tensor.empty(%m) : tensor<?x1024xbf16>
  %n = rmsnorm.forward input(%x : tensor<?x1024xbf16>) weight(%w : tensor<1024xbf16>) output(%y : tensor<?x1024xbf16>) eps = 1.0e-05 -> tensor<?x1024xbf16>
  return %n : tensor<?x1024xbf16>
}

// Two norms among somebody else's host code are one launch.
// DEFINE: %{compare} = env RMSNORM_GPU_TRACE=1 LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s
// RUN: %{compare} --embed=sim:sm_90,gpu --size=5 | FileCheck %s --implicit-check-not=launched
// RUN: %{compare} --embed=sim:gfx942,direct --size=37 --options=variants=fixed | FileCheck %s --implicit-check-not=launched
// RUN: %{compare} --embed=sim:sim32,direct --size=0 | FileCheck %s --check-prefix=NONE --implicit-check-not=launched
// CHECK: launched latents_{{.*}}_and_{{.*}} 1 times
// CHECK: launched qk_{{.*}}_and_{{.*}} 1 times
// CHECK: 4 results, 0 wrong
// NONE: 4 results, 0 wrong

// RUN: norm-opt %s --pass-pipeline="builtin.module(rmsnorm-embed-tensors,one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,buffer-deallocation-pipeline)" -o %t
// RUN: norm-opt %t --rmsnorm-embed-memrefs=target=sm_90 | FileCheck %s --check-prefix=IR
// RUN: norm-opt %t --rmsnorm-embed-memrefs="target=sm_90 merge-launches=0" | FileCheck %s --check-prefix=APART
// IR-LABEL: func.func @qk
// IR: scf.if
// IR: gpu.launch_func @rmsnorm_kernels::@qk_{{[a-z0-9_]*}}a16_and_{{[a-z0-9_]*}}a16{{(_[0-9]+)?}} blocks
// IR: } else {
// IR: gpu.launch_func @rmsnorm_kernels::@qk_{{[a-z0-9_]*}}a1_and_{{[a-z0-9_]*}}a1{{(_[0-9]+)?}} blocks
// IR-NOT: gpu.launch_func @rmsnorm_kernels::@qk_multi_wave_cached_{{[a-z0-9]+(_[0-9]+)?}} blocks
// APART-LABEL: func.func @qk
// APART: scf.if
// APART-COUNT-2: gpu.launch_func
// APART: else
// APART-COUNT-2: gpu.launch_func
func.func @qk(%q: tensor<?x8x64xf32>, %k: tensor<?x2x64xf32>, %wq: tensor<64xf32>, %wk: tensor<64xf32>) -> (tensor<?x8x64xf32>, tensor<?x2x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x8x64xf32>
  %n = tensor.dim %k, %c0 : tensor<?x2x64xf32>
  %qe = tensor.empty(%m) : tensor<?x8x64xf32>
  %ke = tensor.empty(%n) : tensor<?x2x64xf32>
  %qy = rmsnorm.forward input(%q : tensor<?x8x64xf32>) weight(%wq : tensor<64xf32>) output(%qe : tensor<?x8x64xf32>) eps = 1.0e-05 -> tensor<?x8x64xf32>
  %ky = rmsnorm.forward input(%k : tensor<?x2x64xf32>) weight(%wk : tensor<64xf32>) output(%ke : tensor<?x2x64xf32>) eps = 1.0e-05 -> tensor<?x2x64xf32>
  return %qy, %ky : tensor<?x8x64xf32>, tensor<?x2x64xf32>
}

// Blocks for few rows are made as large as the neighbour's.
// IR-LABEL: func.func @latents
// IR: scf.if
// IR: scf.if
// IR: gpu.launch_func @rmsnorm_kernels::@latents_multi_wave_cached_{{[a-z0-9]+}}a16_and_{{[a-z0-9]+}}a16
// IR: } else {
// IR: gpu.launch_func @rmsnorm_kernels::@latents_multi_wave_cached_{{[a-z0-9]+}}a16_and_{{[a-z0-9]+}}a16
func.func @latents(%x: tensor<?x1536xbf16>, %z: tensor<?x512xbf16>, %wx: tensor<1536xbf16>, %wz: tensor<512xbf16>) -> (tensor<?x1536xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1536xbf16>
  %xe = tensor.empty(%m) : tensor<?x1536xbf16>
  %xy = rmsnorm.forward input(%x : tensor<?x1536xbf16>) weight(%wx : tensor<1536xbf16>) output(%xe : tensor<?x1536xbf16>) eps = 1.0e-06 -> tensor<?x1536xbf16>
  %zs = tensor.extract_slice %z[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %ze = tensor.empty(%m) : tensor<?x512xbf16>
  %zy = rmsnorm.forward input(%zs : tensor<?x512xbf16>) weight(%wz : tensor<512xbf16>) output(%ze : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  return %xy, %zy : tensor<?x1536xbf16>, tensor<?x512xbf16>
}

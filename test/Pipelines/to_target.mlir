// The pipelines of norm-opt end where serialization begins: kernels are LLVM
// functions, the host function holds launches.
// RUN: norm-opt %s --rmsnorm-to-nvvm | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: norm-opt %s --rmsnorm-to-nvvm="target=sm_80 schedule=multi_wave_cached alignment=1" | FileCheck %s --check-prefix=SM80
// RUN: norm-opt %s --rmsnorm-to-rocdl=target=gfx1100 | FileCheck %s --check-prefixes=CHECK,ROCDL
// RUN: norm-opt %s --rmsnorm-to-sim=target=sim:sim64 | FileCheck %s --check-prefix=SIM
// RUN: not norm-opt %s --rmsnorm-to-nvvm=target=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not norm-opt %s --rmsnorm-to-nvvm=target=gfx942 2>&1 | FileCheck %s --check-prefix=VENDOR

// NVVM: rmsnorm.target = #rmsnorm.target<nvvm "sm_90">
// ROCDL: rmsnorm.target = #rmsnorm.target<rocdl "gfx1100">
// CHECK: gpu.module @rmsnorm_kernels
// CHECK: llvm.func @norm_[[SCHEDULE:[a-z0-9_]+]](
// NVVM: nvvm.kernel
// ROCDL: rocdl.kernel
// CHECK-LABEL: func.func @norm(
// CHECK: gpu.launch_func @rmsnorm_kernels::@norm_
// SM80: #rmsnorm.target<nvvm "sm_80">
// SM80: llvm.func @norm_multi_wave_cached_{{.*}}a1(
// SIM: #rmsnorm.target<sim "sim64">
// SIM: llvm.func @norm_{{.*}}(%{{.*}}: !llvm.ptr{{.*}}, %{{.*}}: !llvm.ptr{{.*}}) -> !llvm.ptr
// UNKNOWN: error: expected a target: {{.*}}got 'sm_1'
// VENDOR: error: {{.*}}gfx942
func.func @norm(%x: tensor<?x512xf16>, %w: tensor<512xf32>, %y0: tensor<?x512xf16>) -> tensor<?x512xf16> {
  %y = rmsnorm.forward input(%x : tensor<?x512xf16>) weight(%w : tensor<512xf32>) output(%y0 : tensor<?x512xf16>) eps = 1.0e-05 -> tensor<?x512xf16>
  return %y : tensor<?x512xf16>
}

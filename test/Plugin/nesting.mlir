// Through the plugin our pipelines and passes run nested under other ops, with
// upstream's passes between them.
// RUN: mlir-opt %plugin %s --pass-pipeline='builtin.module(builtin.module(rmsnorm-to-nvvm{target=sm_90 schedule=multi_wave_cached,threads_per_row=128}))' | FileCheck %s --check-prefix=MODULE
// RUN: mlir-opt %plugin %s --pass-pipeline='builtin.module(builtin.module(func.func(rmsnorm-decompose, linalg-fuse-elementwise-ops, canonicalize)))' | FileCheck %s --check-prefix=FUNC
// RUN: mlir-opt %plugin %s --pass-pipeline='builtin.module(builtin.module(any(rmsnorm-decompose)))' | FileCheck %s --check-prefix=FUNC

// MODULE:      module {
// MODULE-NEXT:   func.func @other
// MODULE:        module @inner attributes {{.*}}#rmsnorm.target<nvvm "sm_90">
// MODULE:          gpu.module @rmsnorm_kernels
// MODULE:            llvm.func @f_multi_wave_cached_g1u1t128{{.*}}gpu.kernel
// MODULE:          gpu.launch_func @rmsnorm_kernels::@f_multi_wave_cached

// FUNC-LABEL: func.func @f
// FUNC-NOT:     rmsnorm.forward
// FUNC:         math.rsqrt

func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

module @inner {
  func.func @f(%x: tensor<?x1024xf32>, %weight: tensor<1024xf32>,
               %out: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
    %y = rmsnorm.forward input(%x : tensor<?x1024xf32>)
        weight(%weight : tensor<1024xf32>) output(%out : tensor<?x1024xf32>)
        eps = 1.0e-05 -> tensor<?x1024xf32>
    return %y : tensor<?x1024xf32>
  }
}

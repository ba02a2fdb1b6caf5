// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | norm-opt --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl | FileCheck %s
// RUN: sed 's/TARGET/sim "sim32"/' %s | norm-opt --rmsnorm-attach-target=target=sim --rmsnorm-finalize-sim | FileCheck %s

// A gpu.module with a target of ours is compiled; one without is somebody
// else's and stays as it is, arguments that we do not take included.
// CHECK:       gpu.module @ours
// CHECK-NOT:     gpu.func
// CHECK:         llvm.func @kernel
// CHECK:       gpu.module @theirs
// CHECK-NEXT:    gpu.func @kernel(%{{.*}}: memref<?xf32>) kernel
// CHECK-NEXT:      gpu.thread_id x
// CHECK:           memref.load
// CHECK:       gpu.module @with_their_target [#nvvm.target]
// CHECK-NEXT:    gpu.func @kernel(
gpu.module @ours [#rmsnorm.target<TARGET>] {
  gpu.func @kernel() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
gpu.module @theirs {
  gpu.func @kernel(%p: memref<?xf32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %p[%t] : memref<?xf32>
    memref.store %v, %p[%t] : memref<?xf32>
    gpu.return
  }
}
gpu.module @with_their_target [#nvvm.target] {
  gpu.func @kernel(%p: memref<?xf32>) kernel {
    gpu.return
  }
}

// What frees buffers at the end of blocks may run after the host's pass, too, which hides the uses of buffers: a block waits
// for its launches. `host=gpu` is upstream's error.
// RUN: norm-opt %s --pass-pipeline='builtin.module(rmsnorm-embed-memrefs{target=sim:sm_90 variants=fixed},rmsnorm-embed-host{host=direct},buffer-deallocation-pipeline)' | FileCheck %s
// RUN: not norm-opt %s --pass-pipeline='builtin.module(rmsnorm-embed-memrefs{target=sim:sm_90 variants=fixed},rmsnorm-embed-host{host=gpu},buffer-deallocation-pipeline)' 2>&1 | FileCheck %s --check-prefix=GPU

// GPU: error: ops with unknown memory side effects are not supported
// CHECK-LABEL: func.func @late(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK-NOT:     memref.dealloc
// CHECK:         llvm.call @rmsnorm_gpu_launch
// CHECK-NOT:     memref.dealloc
// CHECK:         llvm.call @rmsnorm_gpu_synchronize
// CHECK:         memref.dealloc %[[A]]
// CHECK:         return
func.func @late(%x: memref<8x64xf32>, %i: index) -> f32 {
  %a = memref.alloc() {alignment = 64 : i64} : memref<8x64xf32>
  rmsnorm.rows sizes [8] columns(64) buffers(read %x : memref<8x64xf32>, write %a : memref<8x64xf32>) {
  ^bb0(%in: memref<8x64xf32>, %out: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%r: index):
      %v = rmsnorm.tile_load tile %in[%r] : memref<8x64xf32> -> vector<1x64xf32>
      %d = arith.mulf %v, %v : vector<1x64xf32>
      rmsnorm.tile_store tile %d, %out[%r] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  %l = memref.load %x[%i, %i] : memref<8x64xf32>
  return %l : f32
}

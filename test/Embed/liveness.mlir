// What moves deallocations may run after kernels are made, too: a launch is the
// last use of a buffer that it has the address of.
// RUN: norm-opt %s --pass-pipeline='builtin.module(rmsnorm-embed-memrefs{target=sim variants=fixed},func.func(optimize-allocation-liveness))' | FileCheck %s

// CHECK-LABEL: func @f
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: rmsnorm.buffer_pointer %[[A]]
// CHECK-NOT: memref.dealloc
// CHECK: gpu.launch_func
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: memref.load
func.func @f(%x: memref<8x64xf32>, %i: index) -> f32 {
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
  memref.dealloc %a : memref<8x64xf32>
  return %l : f32
}

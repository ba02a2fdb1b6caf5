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
  scf.forall (%r) in (8) {
    %v = rmsnorm.tile_load tile %x[%r] : memref<8x64xf32> -> vector<1x64xf32>
    %d = arith.mulf %v, %v : vector<1x64xf32>
    rmsnorm.tile_store tile %d, %a[%r] : vector<1x64xf32>, memref<8x64xf32>
  } {mapping = [#gpu.block<x>], rmsnorm.rows = 1 : i64}
  %l = memref.load %x[%i, %i] : memref<8x64xf32>
  memref.dealloc %a : memref<8x64xf32>
  return %l : f32
}

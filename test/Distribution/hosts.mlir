// RUN: norm-opt %s --rmsnorm-attach-target=target=sim --rmsnorm-select-schedule --rmsnorm-pack-rows --rmsnorm-carry-sums --cse --rmsnorm-place-tiles --rmsnorm-distribute | FileCheck %s

// Kernels stand in the module of the function that launches them, under a name
// that is free, marked by the target; their own names are for code generators.
// CHECK:       module attributes {gpu.container_module
// CHECK-NEXT:    gpu.module @rmsnorm_kernels_0 [#rmsnorm.target<sim "sim32">]
// CHECK:           gpu.func @_1_a_b$c_multi_wave
// CHECK:           gpu.func @_1_a_b$c_multi_wave{{.*}}_0(
// CHECK:         gpu.module @rmsnorm_kernels {
// CHECK-NEXT:      gpu.func @mine() kernel
// CHECK:         func.func @"1.a b$c"(
// CHECK:           gpu.launch_func @rmsnorm_kernels_0::@_1_a_b$c_multi_wave
// CHECK:           gpu.launch_func @rmsnorm_kernels_0::@_1_a_b$c_multi_wave{{.*}}_0 blocks
// CHECK:         module @inner attributes {gpu.container_module}
// CHECK-NEXT:      gpu.module @rmsnorm_kernels [#rmsnorm.target
// CHECK:           func.func @nested(
// CHECK:             gpu.launch_func @rmsnorm_kernels::@nested_
gpu.module @rmsnorm_kernels {
  gpu.func @mine() kernel {
    gpu.return
  }
}
func.func @"1.a b$c"(%x: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %w = arith.mulf %v, %v : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %w = arith.addf %v, %v : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
module @inner {
  func.func @nested(%x: memref<?x64xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) {
    ^bb0(%M: index, %X: memref<?x64xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        %w = arith.mulf %v, %v : vector<1x64xf32>
        rmsnorm.tile_store tile %w, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

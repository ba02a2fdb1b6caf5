// Programmatic dependent launch: where the two ops stand, and what may stand before.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sm_90 | FileCheck %s --check-prefixes=CHECK,WAVES
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=static_persistent" | FileCheck %s --check-prefixes=CHECK,PERSISTENT
// RUN: norm-opt %s --rmsnorm-memref-half=target=gfx942 | FileCheck %s --check-prefix=NONE
// RUN: norm-opt %s --rmsnorm-memref-half="target=sm_90 schedule=pdl=false" | FileCheck %s --check-prefix=NONE

// First of all, and outside of any control flow; the wait before any access.
// CHECK: gpu.func @plain_{{.*}}p(
// CHECK: rmsnorm.launch_dependents
// CHECK-NEXT: gpu.block_id
// CHECK-NOT: rmsnorm.global
// CHECK-NOT: scf
// CHECK: rmsnorm.grid_wait
// CHECK: scf.for
// CHECK: rmsnorm.global_load
// CHECK-NOT: rmsnorm.grid_wait
// CHECK: gpu.return

// The constant weight is read once, before the wait; its last vector exists in
// part.
// CHECK: gpu.func @constant_{{.*}}p(%[[W:[a-z0-9]*]]: !llvm.ptr<1>
// CHECK: rmsnorm.launch_dependents
// CHECK-NOT: scf
// CHECK: rmsnorm.global_load %[[W]]{{.*}} valid(%{{.*}}) alignment(8) : vector<4xbf16>
// CHECK-NOT: rmsnorm.global
// CHECK: rmsnorm.grid_wait
// CHECK: scf.for
// CHECK-NOT: %[[W]]
// CHECK: gpu.return

// Rows of dynamic size are read again, and so is their weight.
// CHECK: gpu.func @dynamic_{{.*}}p(
// CHECK: rmsnorm.launch_dependents
// CHECK-NOT: rmsnorm.global
// CHECK-NOT: scf
// CHECK: rmsnorm.grid_wait
// CHECK: scf.for

// WAVES: gpu.launch_func @rmsnorm_kernels::@plain_{{.*}} {rmsnorm.programmatic_dependent_launch,
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@plain_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch,
// WAVES: gpu.launch_func @rmsnorm_kernels::@constant_{{.*}} {rmsnorm.programmatic_dependent_launch,
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@constant_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch,
// WAVES: gpu.launch_func @rmsnorm_kernels::@dynamic_{{.*}} {rmsnorm.programmatic_dependent_launch,
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@dynamic_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch,

// NONE-NOT: rmsnorm.launch_dependents
// NONE-NOT: rmsnorm.grid_wait
// NONE-NOT: rmsnorm.programmatic_dependent_launch
func.func @plain(%x: memref<?x64xf32, strided<[?, 1]>>, %y: memref<?x64xf32, strided<[?, 1]>>, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32, strided<[?, 1]>> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %y[%row] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1]>>
  }
  return
}

func.func @constant(%x: memref<?x60xbf16>, %w: memref<60xbf16> {rmsnorm.constant}, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x60xbf16> -> vector<1x60xbf16>
    %1 = rmsnorm.tile_load column %w : memref<60xbf16> -> vector<1x60xbf16>
    %2 = arith.mulf %0, %1 : vector<1x60xbf16>
    rmsnorm.tile_store tile %2, %x[%row] : vector<1x60xbf16>, memref<?x60xbf16>
  }
  return
}

func.func @dynamic(%x: memref<?x?xbf16>, %w: memref<?xbf16> {rmsnorm.constant}, %m: index, %n: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] columns(%n) : memref<?x?xbf16> -> vector<1x1073741824xbf16>
    %1 = rmsnorm.tile_load column %w columns(%n) : memref<?xbf16> -> vector<1x1073741824xbf16>
    %2 = arith.mulf %0, %1 : vector<1x1073741824xbf16>
    rmsnorm.tile_store tile %2, %x[%row] columns(%n) : vector<1x1073741824xbf16>, memref<?x?xbf16>
  }
  return
}

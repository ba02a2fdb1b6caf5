// What stands around kernels is somebody else's: it stays as it is.
// RUN: norm-opt %s --rmsnorm-embed-memrefs=target=sim:sm_90 > %t
// RUN: FileCheck %s < %t
// RUN: norm-opt %s | sed -n '/@theirs/,/^  }/p' > %t.before
// RUN: sed -n '/@theirs/,/^  }/p' %t > %t.after
// RUN: FileCheck %s --check-prefix=THEIRS < %t.before && diff %t.before %t.after
// RUN: norm-opt %s --rmsnorm-embed-memrefs="target=sm_90 variants=fixed alignment=1" | FileCheck %s --check-prefix=FIXED
// RUN: norm-opt %s --rmsnorm-embed-memrefs="target=gfx942" | FileCheck %s --check-prefix=AMD
// RUN: not norm-opt %s --rmsnorm-embed-memrefs=target=sm_1 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not norm-opt %s --rmsnorm-embed-memrefs=variants=some 2>&1 | FileCheck %s --check-prefix=VARIANTS
// RUN: not norm-opt %s --rmsnorm-embed-memrefs 2>&1 | FileCheck %s --check-prefix=NONE
// CHIP: sm_1
// NONE: error: expected a target: a chip (sm_75, {{.*}}), 'sim', or 'sim:' and a chip, got none (option target)
// VARIANTS: Cannot find option named 'some'

// FIXED: gpu.module @rmsnorm_kernels [#rmsnorm.target<nvvm "sm_90">]
// FIXED: llvm.func @norm_{{.*}}a1
// FIXED-NOT: llvm.func
// FIXED: func.func @norm
// FIXED-NOT: scf.if
// FIXED: return

// AMD: gpu.module @rmsnorm_kernels [#rmsnorm.target<rocdl "gfx942">]
// AMD: rocdl.kernel

// CHECK: gpu.module @rmsnorm_kernels [#rmsnorm.target<sim "sm_90">]
// CHECK-DAG: llvm.func @norm_{{.*}}a16(
// CHECK-DAG: llvm.func @norm_{{.*}}a1(
// CHECK-LABEL: func.func @norm
// CHECK: scf.if
// CHECK: gpu.launch_func @rmsnorm_kernels::@norm_{{.*}}a16 blocks
// CHECK: } else {
// CHECK: gpu.launch_func @rmsnorm_kernels::@norm_{{.*}}a1 blocks
func.func @norm(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32>
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) {
  ^bb0(%rows: index, %b: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%r: index):
      %v = rmsnorm.tile_load tile %b[%r] : memref<?x64xf32> -> vector<1x64xf32>
      %d = arith.mulf %v, %v : vector<1x64xf32>
      rmsnorm.tile_store tile %d, %b[%r] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// THEIRS: arith.constant 1 : index
// THEIRS: arith.constant 1 : index
// THEIRS: arith.addi
// THEIRS: arith.addi
// THEIRS: scf.for
func.func @theirs(%a: index, %x: memref<?xf32>) -> index {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : index
  %dead = arith.addi %a, %one : index
  %sum = arith.addi %a, %c1 : index
  scf.for %i = %c1 to %c1 step %one {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return %sum : index
}

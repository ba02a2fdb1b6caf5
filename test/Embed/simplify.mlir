// RUN: norm-opt %s --rmsnorm-simplify | FileCheck %s
// RUN: norm-opt %s --rmsnorm-simplify=canonicalize=false | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: gpu.module @ours
// CSE-LABEL: gpu.module @ours
gpu.module @ours [#rmsnorm.target<sim "sim32">] {
  gpu.func @k(%a: index, %b: memref<2xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK-NOT: arith.addi
    // CSE-COUNT-1: arith.addi
    // CSE-NOT: arith.addi
    // CSE: gpu.return
    %x = arith.addi %a, %c0 : index
    %y = arith.addi %a, %c0 : index
    // CHECK-COUNT-2: memref.store %arg0
    memref.store %x, %b[%c0] : memref<2xindex>
    memref.store %y, %b[%c1] : memref<2xindex>
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @theirs
gpu.module @theirs [#nvvm.target] {
  gpu.func @k(%a: index, %b: memref<2xindex>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK-COUNT-2: arith.addi
    %x = arith.addi %a, %c0 : index
    %y = arith.addi %a, %c0 : index
    memref.store %x, %b[%c0] : memref<2xindex>
    memref.store %y, %b[%c0] : memref<2xindex>
    gpu.return
  }
}

// CHECK-LABEL: func @rows
func.func @rows(%x: memref<8x64xf32>, %a: index, %c: i1) -> (index, index) {
  %c0 = arith.constant 0 : index
  // CHECK: arith.addi
  %i = arith.addi %a, %c0 : index
  scf.if %c {
    // CHECK: rmsnorm.rows
    // CHECK: arith.mulf
    // CHECK-NOT: arith.mulf
    // CHECK: arith.addf
    rmsnorm.rows sizes [8] columns(64) buffers(update %x : memref<8x64xf32>) {
    ^bb0(%X: memref<8x64xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
        %d = arith.mulf %v, %v : vector<1x64xf32>
        %e = arith.mulf %v, %v : vector<1x64xf32>
        %f = arith.addf %d, %e : vector<1x64xf32>
        rmsnorm.tile_store tile %f, %X[%t] : vector<1x64xf32>, memref<8x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
  }
  // CHECK: arith.addi
  %j = arith.addi %a, %c0 : index
  return %i, %j : index, index
}

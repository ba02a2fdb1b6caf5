// A private function that nobody calls is no entry and harms none.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-opt %s --rmsnorm-to-oracle | FileCheck %s --check-prefix=ORACLE

// CHECK-NOT: @helper
// CHECK: func.func @entry
// CHECK: rmsnorm.tile_store
// ORACLE-NOT: oracle_helper
// ORACLE: llvm.func @oracle_entry
func.func private @helper(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
func.func @entry(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

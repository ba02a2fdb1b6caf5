// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s

// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[ROW:.*]]: i64, %[[COL:.*]]: i32, %[[TO:.*]]: i32
func.func @copies(%p: !llvm.ptr<1>, %row: i64, %col: i32, %to: i32, %v: vector<8xbf16>) {
  // CHECK: rmsnorm.async_copy %[[P]][%[[ROW]], %[[COL]]] to %[[TO]] alignment(16) : vector<8xbf16>
  // CHECK: rmsnorm.async_copy %[[P]][%[[ROW]], %[[COL]]] to %[[TO]] valid(%[[COL]]) alignment(4) : vector<4xf32>
  rmsnorm.async_copy %p[%row, %col] to %to alignment(16) : vector<8xbf16>
  rmsnorm.async_copy %p[%row, %col] to %to valid(%col) alignment(4) : vector<4xf32>
  // CHECK: rmsnorm.copy_commit
  // CHECK: rmsnorm.copy_wait 2
  rmsnorm.copy_commit
  rmsnorm.copy_wait 2
  // CHECK: rmsnorm.workgroup_load %[[TO]] : vector<8xbf16>
  // CHECK: rmsnorm.workgroup_load %[[TO]] segment(2) : f32
  // CHECK: rmsnorm.workgroup_store %{{.*}}, %[[TO]] : vector<8xbf16>
  %0 = rmsnorm.workgroup_load %to : vector<8xbf16>
  %1 = rmsnorm.workgroup_load %to segment(2) : f32
  rmsnorm.workgroup_store %v, %to : vector<8xbf16>
  return
}

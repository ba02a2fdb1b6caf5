// RUN: norm-opt %s --cse --canonicalize --cse | FileCheck %s

// Two workspaces of one size are two buffers; one that nobody uses is none.
// CHECK-LABEL: func.func @two(
// CHECK-COUNT-2: rmsnorm.workspace(%{{.*}}) : memref<?x64xf32>
// CHECK-NOT:     rmsnorm.workspace
// CHECK:         return
func.func @two(%n: index) -> (memref<?x64xf32>, memref<?x64xf32>) {
  %0 = rmsnorm.workspace(%n) : memref<?x64xf32>
  %1 = rmsnorm.workspace(%n) : memref<?x64xf32>
  %2 = rmsnorm.workspace(%n) : memref<?x64xf32>
  return %0, %1 : memref<?x64xf32>, memref<?x64xf32>
}

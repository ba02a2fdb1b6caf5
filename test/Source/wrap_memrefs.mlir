// RUN: norm-opt %s --rmsnorm-wrap-memrefs | FileCheck %s

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x64xf32>, %[[W:[^:]*]]: memref<64xf32>, %[[Y:[^:]*]]: memref<?x64xf32>, %[[R:[^:]*]]: memref<?xf32>)
// CHECK-DAG:     %[[TX:.*]] = bufferization.to_tensor %[[X]] restrict : memref<?x64xf32>
// CHECK-DAG:     %[[TW:.*]] = bufferization.to_tensor %[[W]] restrict : memref<64xf32>
// CHECK-DAG:     %[[TY:.*]] = bufferization.to_tensor %[[Y]] restrict writable : memref<?x64xf32>
// CHECK-DAG:     %[[TR:.*]] = bufferization.to_tensor %[[R]] restrict writable : memref<?xf32>
// CHECK:         %[[N:.*]]:2 = rmsnorm.forward input(%[[TX]] : {{.*}}) weight(%[[TW]] : {{.*}}) output(%[[TY]] : {{.*}}) rstd(%[[TR]] : {{.*}}) eps = {{.*}} offset = 1.0{{.*}} casting = llama
// CHECK:         bufferization.materialize_in_destination %[[N]]#0 in writable %[[Y]]
// CHECK:         bufferization.materialize_in_destination %[[N]]#1 in writable %[[R]]
// CHECK-NEXT:    return
func.func @forward(%x: memref<?x64xf32>, %w: memref<64xf32>, %y: memref<?x64xf32>, %r: memref<?xf32>) {
  rmsnorm.forward input(%x : memref<?x64xf32>) weight(%w : memref<64xf32>) output(%y : memref<?x64xf32>) rstd(%r : memref<?xf32>) eps = 1.0e-5 offset = 1.0 casting = llama
  return
}

// One tensor for a buffer that is read and written.
// CHECK-LABEL: func.func @in_place(
// CHECK:         %[[T:.*]] = bufferization.to_tensor %{{.*}} restrict writable
// CHECK-NOT:     bufferization.to_tensor
// CHECK:         rmsnorm.forward input(%[[T]] : {{.*}}) output(%[[T]] :
func.func @in_place(%x: memref<?x64xf32>) {
  rmsnorm.forward input(%x : memref<?x64xf32>) output(%x : memref<?x64xf32>) eps = 1.0e-5
  return
}

// CHECK-LABEL: func.func @backward(
// CHECK:         %[[N:.*]]:2 = rmsnorm.backward
// CHECK:         bufferization.materialize_in_destination %[[N]]#0
// CHECK:         bufferization.materialize_in_destination %[[N]]#1
func.func @backward(%dy: memref<?x64xf32>, %x: memref<?x64xf32>, %w: memref<64xf32>, %dx: memref<?x64xf32>, %dw: memref<64xf32>) {
  rmsnorm.backward dy(%dy : memref<?x64xf32>) input(%x : memref<?x64xf32>) weight(%w : memref<64xf32>) dx(%dx : memref<?x64xf32>) dweight(%dw : memref<64xf32>) eps = 1.0e-5
  return
}

// CHECK-LABEL: func.func @tensors(
// CHECK-NEXT:    rmsnorm.forward
// CHECK-NEXT:    return
func.func @tensors(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

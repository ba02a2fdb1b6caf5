// RUN: norm-opt %s --canonicalize | FileCheck %s

// A row statistic that nobody reads is not computed.

// CHECK-LABEL: func.func @unused_rstd(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<4x8xf32>, %[[W:[^ ]*]]: tensor<8xf32>, %[[Y:[^ ]*]]: tensor<4x8xf32>
// CHECK:         %[[RES:[^ ]*]] = rmsnorm.forward input(%[[X]] : {{.*}}) weight(%[[W]] : {{.*}}) output(%[[Y]] : tensor<4x8xf32>) eps = 1.000000e+00 offset = 1.000000e+00 casting = llama {note} -> tensor<4x8xf32>
// CHECK-NEXT:    return %[[RES]]
func.func @unused_rstd(%x: tensor<4x8xf32>, %w: tensor<8xf32>,
                       %y: tensor<4x8xf32>, %r: tensor<4xf32>) -> tensor<4x8xf32> {
  %0:2 = rmsnorm.forward input(%x : tensor<4x8xf32>) weight(%w : tensor<8xf32>)
      output(%y : tensor<4x8xf32>) rstd(%r : tensor<4xf32>) eps = 1.0
      offset = 1.0 casting = llama {note} -> tensor<4x8xf32>, tensor<4xf32>
  return %0#0 : tensor<4x8xf32>
}

// One that is read stays.

// CHECK-LABEL: func.func @used_rstd(
// CHECK:         %[[RES:[^ ]*]]:2 = rmsnorm.forward {{.*}} rstd(
// CHECK:         return %[[RES]]#1
func.func @used_rstd(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %r: tensor<4xf32>)
    -> tensor<4xf32> {
  %0:2 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y : tensor<4x8xf32>)
      rstd(%r : tensor<4xf32>) eps = 1.0 -> tensor<4x8xf32>, tensor<4xf32>
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @unused_dweight(
// CHECK:         rmsnorm.backward
// CHECK-SAME:      rstd(%{{[^ ]*}} : tensor<4xf32>) dx(
// CHECK-NOT:       dweight
// CHECK-SAME:      eps = 1.000000e+00 -> tensor<4x8xf32>
func.func @unused_dweight(%dy: tensor<4x8xf32>, %x: tensor<4x8xf32>,
    %w: tensor<8xf32>, %r: tensor<4xf32>, %dx: tensor<4x8xf32>,
    %dw: tensor<8xf32>) -> tensor<4x8xf32> {
  %0:2 = rmsnorm.backward dy(%dy : tensor<4x8xf32>) input(%x : tensor<4x8xf32>)
      weight(%w : tensor<8xf32>) rstd(%r : tensor<4xf32>)
      dx(%dx : tensor<4x8xf32>) dweight(%dw : tensor<8xf32>) eps = 1.0
      -> tensor<4x8xf32>, tensor<8xf32>
  return %0#0 : tensor<4x8xf32>
}

// On tensors a norm without uses goes; on memrefs it stays.

// CHECK-LABEL: func.func @dead(
// CHECK-NOT:     tensor<
// CHECK:         rmsnorm.forward input(%{{[^ ]*}} : memref
// CHECK-NEXT:    rmsnorm.backward dy(%{{[^ ]*}} : memref
// CHECK-NEXT:    return
func.func @dead(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  %t = tensor.empty() : tensor<4x8xf32>
  %0 = rmsnorm.forward input(%t : tensor<4x8xf32>) output(%t : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  %1 = rmsnorm.backward dy(%t : tensor<4x8xf32>) input(%t : tensor<4x8xf32>)
      dx(%t : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%y : memref<4x8xf32>) eps = 1.0
  rmsnorm.backward dy(%y : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%y : memref<4x8xf32>) eps = 1.0
  return
}

// A cast that forgets sizes folds into the op, and what one operand knows, all
// know.

// CHECK-LABEL: func.func @tensor_cast(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<4x8xf32>, %[[Y:[^ ]*]]: tensor<?x?xf32>, %[[R:[^ ]*]]: tensor<?xf32>
// CHECK-DAG:     %[[YC:[^ ]*]] = tensor.cast %[[Y]] : tensor<?x?xf32> to tensor<4x8xf32>
// CHECK-DAG:     %[[RC:[^ ]*]] = tensor.cast %[[R]] : tensor<?xf32> to tensor<4xf32>
// CHECK:         %[[RES:[^ ]*]]:2 = rmsnorm.forward input(%[[X]] : tensor<4x8xf32>)
// CHECK-SAME:      output(%[[YC]] : tensor<4x8xf32>) rstd(%[[RC]] : tensor<4xf32>)
// CHECK-SAME:      -> tensor<4x8xf32>, tensor<4xf32>
// CHECK-DAG:     %[[YR:[^ ]*]] = tensor.cast %[[RES]]#0 : tensor<4x8xf32> to tensor<?x?xf32>
// CHECK-DAG:     %[[RR:[^ ]*]] = tensor.cast %[[RES]]#1 : tensor<4xf32> to tensor<?xf32>
// CHECK:         return %[[YR]], %[[RR]]
func.func @tensor_cast(%x: tensor<4x8xf32>, %y: tensor<?x?xf32>, %r: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c = tensor.cast %x : tensor<4x8xf32> to tensor<?x?xf32>
  %0:2 = rmsnorm.forward input(%c : tensor<?x?xf32>) output(%y : tensor<?x?xf32>)
      rstd(%r : tensor<?xf32>) eps = 1.0 -> tensor<?x?xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?xf32>
}

// N from weight, M from rstd.
// CHECK-LABEL: func.func @infer_sizes(
// CHECK-COUNT-3: tensor.cast %{{[^ ]*}} : tensor<?x?xf32> to tensor<4x8xf32>
// CHECK:         tensor.cast %{{[^ ]*}} : tensor<?xf32> to tensor<8xf32>
// CHECK:         rmsnorm.backward dy(%{{[^ ]*}} : tensor<4x8xf32>) input(%{{[^ ]*}} : tensor<4x8xf32>)
// CHECK-SAME:      weight(%{{[^ ]*}} : tensor<8xf32>) rstd(%{{[^ ]*}} : tensor<4xf32>)
// CHECK-SAME:      dx(%{{[^ ]*}} : tensor<4x8xf32>) dweight(%{{[^ ]*}} : tensor<8xf32>)
func.func @infer_sizes(%dy: tensor<?x?xf32>, %x: tensor<?x?xf32>,
    %w: tensor<8xf32>, %r: tensor<4xf32>, %dx: tensor<?x?xf32>,
    %dw: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xf32>) input(%x : tensor<?x?xf32>)
      weight(%w : tensor<8xf32>) rstd(%r : tensor<4xf32>)
      dx(%dx : tensor<?x?xf32>) dweight(%dw : tensor<?xf32>) eps = 1.0
      -> tensor<?x?xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @memref_cast(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<4x8xf32>, %[[S:[^ ]*]]: memref<4x8xf32, strided<[?, ?]>>
// CHECK:         %[[SC:[^ ]*]] = memref.cast %[[S]]
// CHECK:         rmsnorm.forward input(%[[X]] : memref<4x8xf32>)
// The cast that says the inner stride is 1 must stay.
// CHECK-SAME:      output(%[[SC]] : memref<4x8xf32, strided<[?, 1]>>)
// CHECK-NEXT:    rmsnorm.backward dy(%[[X]] : memref<4x8xf32>) input(%[[X]] : memref<4x8xf32>) dx(%[[X]] :
func.func @memref_cast(%x: memref<4x8xf32>, %s: memref<4x8xf32, strided<[?, ?]>>) {
  %0 = memref.cast %x : memref<4x8xf32> to memref<?x8xf32, strided<[?, 1], offset: ?>>
  %1 = memref.cast %s : memref<4x8xf32, strided<[?, ?]>> to memref<4x8xf32, strided<[?, 1]>>
  rmsnorm.forward input(%0 : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      output(%1 : memref<4x8xf32, strided<[?, 1]>>) eps = 1.0
  rmsnorm.backward dy(%0 : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      input(%0 : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      dx(%0 : memref<?x8xf32, strided<[?, 1], offset: ?>>) eps = 1.0
  return
}

// Sizes of results are sizes of destinations.

// CHECK-LABEL: func.func @dims(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<?x?xf32>, %[[Y:[^ ]*]]: tensor<?x?xf32>, %[[R:[^ ]*]]: tensor<?xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[A:.*]] = tensor.dim %[[Y]], %[[C1]]
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[R]], %[[C0]]
// CHECK-NOT:     rmsnorm
// CHECK:         return %[[A]], %[[B]]
func.func @dims(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %r: tensor<?xf32>)
    -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = rmsnorm.forward input(%x : tensor<?x?xf32>) output(%y : tensor<?x?xf32>)
      rstd(%r : tensor<?xf32>) eps = 1.0 -> tensor<?x?xf32>, tensor<?xf32>
  %a = tensor.dim %0#0, %c1 : tensor<?x?xf32>
  %b = tensor.dim %0#1, %c0 : tensor<?xf32>
  return %a, %b : index, index
}

// A weight that is exactly 1 with its offset goes, one that is not stays, and
// so does one whose gradient is asked for.

// CHECK-LABEL: func.func @unit_weight(
// CHECK:         %[[A:[^ ]*]] = rmsnorm.forward input(%{{[^ ]*}} : tensor<4x8xf16>) output(%{{[^ ]*}} : tensor<4x8xf16>) eps = 1.000000e+00 casting = none ->
// CHECK-NEXT:    rmsnorm.forward input(%[[A]] : tensor<4x8xf16>) weight(
// CHECK-NEXT:    rmsnorm.backward {{.*}} weight({{.*}} dweight(
func.func @unit_weight(%x: tensor<4x8xf16>, %dw: tensor<8xf32>)
    -> (tensor<4x8xf16>, tensor<4x8xf16>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xbf16>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %0 = rmsnorm.forward input(%x : tensor<4x8xf16>) weight(%zero : tensor<8xbf16>)
      output(%x : tensor<4x8xf16>) eps = 1.0 offset = 1.0 casting = none
      -> tensor<4x8xf16>
  %1 = rmsnorm.forward input(%0 : tensor<4x8xf16>) weight(%one : tensor<8xf32>)
      output(%x : tensor<4x8xf16>) eps = 1.0 offset = 1.0 -> tensor<4x8xf16>
  %2:2 = rmsnorm.backward dy(%1 : tensor<4x8xf16>) input(%x : tensor<4x8xf16>)
      weight(%one : tensor<8xf32>) dx(%x : tensor<4x8xf16>)
      dweight(%dw : tensor<8xf32>) eps = 1.0 -> tensor<4x8xf16>, tensor<8xf32>
  return %1, %2#0, %2#1 : tensor<4x8xf16>, tensor<4x8xf16>, tensor<8xf32>
}

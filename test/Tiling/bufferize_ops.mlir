// RUN: norm-opt %s --split-input-file --one-shot-bufferize="bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map" --canonicalize --cse | FileCheck %s

// Destinations are written in place, operands read where they are.

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<4x8xbf16>, %[[W:[^ ]*]]: memref<8xf32>, %[[Y:[^ ]*]]: memref<4x8xbf16>, %[[R:[^ ]*]]: memref<4xf32>
// CHECK-NEXT:    rmsnorm.forward input(%[[X]] : memref<4x8xbf16>) weight(%[[W]] : memref<8xf32>)
// CHECK-SAME:      output(%[[Y]] : memref<4x8xbf16>) rstd(%[[R]] : memref<4xf32>) eps = 1.000000e+00 casting = llama{{$}}
// CHECK-NEXT:    return %[[Y]], %[[R]]
func.func @forward(%x: tensor<4x8xbf16>, %w: tensor<8xf32>, %y: tensor<4x8xbf16>,
                   %r: tensor<4xf32>) -> (tensor<4x8xbf16>, tensor<4xf32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<4x8xbf16>) weight(%w : tensor<8xf32>)
      output(%y : tensor<4x8xbf16>) rstd(%r : tensor<4xf32>) eps = 1.0
      casting = llama -> tensor<4x8xbf16>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4x8xbf16>, tensor<4xf32>
}

// -----

// The output may be the input: a row is read before it is written.

// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<4x8xf32>, %[[DY:[^ ]*]]: memref<4x8xf32>
// CHECK-NEXT:    rmsnorm.backward dy(%[[DY]] : {{.*}}) input(%[[X]] : {{.*}}) dx(%[[DY]] :
// CHECK-NEXT:    rmsnorm.forward input(%[[X]] : {{.*}}) output(%[[X]] :
// CHECK-NEXT:    return
func.func @in_place(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = rmsnorm.backward dy(%dy : tensor<4x8xf32>) input(%x : tensor<4x8xf32>)
      dx(%dy : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  %1 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The weight of a single row has the row's shape, but is not read row-wise:
// it must not share the output's buffer.

// CHECK-LABEL: func.func @not_in_place(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<8xf32>, %[[W:[^ ]*]]: memref<8xf32>
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK:         rmsnorm.forward input(%[[X]] : memref<8xf32>) weight(%[[W]] : memref<8xf32>) output(%[[COPY]] :
func.func @not_in_place(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %0 = rmsnorm.forward input(%x : tensor<8xf32>) weight(%w : tensor<8xf32>)
      output(%w : tensor<8xf32>) eps = 1.0 -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A later reader of the input keeps it from being overwritten.

// CHECK-LABEL: func.func @live_input(
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK-NOT:     memref.copy
// CHECK:         rmsnorm.forward input(%[[X:[^ ]*]] : {{.*}}) output(%[[COPY]] :
func.func @live_input(%x: tensor<4x8xf32> {bufferization.writable = false})
    -> tensor<4x8xf32> {
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

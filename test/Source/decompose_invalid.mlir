// RUN: norm-opt %s --rmsnorm-decompose --verify-diagnostics

func.func @memref(%x: memref<4x8xf32>) {
  // expected-error @below {{expected tensors, got 'memref<4x8xf32>'; rmsnorm-decompose runs before bufferization}}
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>) eps = 1.0
  return
}

// RUN: norm-opt %s --rmsnorm-drop-results --split-input-file --verify-diagnostics

// expected-error @below {{expected result #0 to have the shape of argument #1, which it is written to, got 'memref<4x8xf32>' and 'memref<f32>'}}
func.func @rank(%x: memref<4x8xf32>, %y: memref<f32>) -> (memref<4x8xf32> {rmsnorm.argument = 1 : i64}) {
  return %x : memref<4x8xf32>
}

// RUN: norm-opt %s --rmsnorm-check-buffers --split-input-file --verify-diagnostics

// One error for a function: what else is wrong with it follows in notes.
func.func @allocation(%x: memref<4x8xf32>) {
  // expected-error @below {{expected what one kernel computes for another to be returned, or computed into an argument, and arguments to be read before they are written, got a new 'memref<4x8xf32>'}}
  %a = memref.alloc() : memref<4x8xf32>
  // expected-note @below {{expected no copy, got one of argument #0 to a new memref<4x8xf32>}}
  memref.copy %x, %a : memref<4x8xf32> to memref<4x8xf32>
  return
}

// -----

func.func @copy(%x: memref<4x8xf32> {rmsnorm.name = "input"}, %y: memref<4x8xf32> {rmsnorm.name = "output"}) {
  %s = memref.subview %y[0, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  %t = memref.subview %x[0, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  // expected-error @below {{expected no copy, got one of argument 'input' to argument 'output'}}
  memref.copy %t, %s : memref<1x8xf32, strided<[8, 1]>> to memref<1x8xf32, strided<[8, 1]>>
  return
}

// -----

func.func @returned(%x: memref<4x8xf32>) -> memref<4x8xf32> {
  // expected-error @below {{expected results to be written to arguments, got a returned 'memref<4x8xf32>'}}
  return %x : memref<4x8xf32>
}

// -----

func.func @tensor(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected no tensors, got 'tensor<?x8xf32>'}}
  %y = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  return
}

// -----

func.func private @helper(%x: memref<4x8xf32>)
func.func @host_work(%x: memref<4x8xf32>) {
  // expected-error @below {{expected a public function to hold nothing but rmsnorm.rows and index arithmetic}}
  call @helper(%x) : (memref<4x8xf32>) -> ()
  return
}

// -----

// A private function may do as it likes.
func.func private @private(%x: memref<4x8xf32>) -> memref<4x8xf32> {
  return %x : memref<4x8xf32>
}

// -----

func.func @other_work(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @below {{'linalg.exp' op expected to be part of a kernel, as what works row by row on tensors is}}
  linalg.exp ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  // expected-note @below {{'linalg.negf' op expected to be part of a kernel, too}}
  linalg.negf ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  return
}

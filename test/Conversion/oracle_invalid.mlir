// RUN: norm-opt %s --split-input-file --rmsnorm-to-oracle --verify-diagnostics

// expected-error @below {{expected result 0 to be computed into an argument; run rmsnorm-bind-arguments first}}
func.func @no_destination(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%e : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// expected-error @below {{expected an entry's arguments to be ranked tensors or memrefs, got 'f32'}}
func.func @scalar_argument(%x: f32) {
  return
}

// -----

func.func @math(%x: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<8xf64>
  // expected-error @below {{expected math that the oracle can do without a maths library, got 'math.erf' of 'f64' (see rmsnorm-expand-oracle-math)}}
  %b = math.erf %a : f64
  memref.store %b, %x[%c0] : memref<8xf64>
  return
}

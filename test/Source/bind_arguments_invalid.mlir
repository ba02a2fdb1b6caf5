// RUN: norm-opt %s --rmsnorm-bind-arguments --split-input-file --verify-diagnostics

func.func @nothing() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expected result #0 to be computed into a destination, got a value of 'tensor.empty'}}
  return %e : tensor<4xf32>
}

// -----

func.func @scalar(%x: tensor<4x8xf32>) -> index {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected result #0 to be a ranked tensor, got 'index'}}
  return %c0 : index
}

// -----

func.func @one_destination(%x: tensor<4x8xf32>, %y0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y0 : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  %z = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y0 : tensor<4x8xf32>) eps = 1.0e-6 -> tensor<4x8xf32>
  // expected-error @below {{expected a destination for each result, got argument #1 for results #0 and #1}}
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// expected-error @below {{expected arguments with different names, got 'x' twice}}
func.func @names(%x: tensor<4x8xf32> {rmsnorm.name = "x"}, %y0: tensor<4x8xf32> {rmsnorm.name = "x"}) -> tensor<4x8xf32> {
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y0 : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @conflict(%x: tensor<?x?xf32>, %w: tensor<64xf32>, %v: tensor<128xf32>, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<64xf32>) output(%a : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  // expected-error @below {{expected two dimensions to be equal, got sizes 64 and 128}}
  %z = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%v : tensor<128xf32>) output(%b : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  return %y, %z : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// expected-error @below {{expected a body of one block, got 2}}
func.func @blocks(%x: tensor<4x8xf32>, %y0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  cf.br ^next
^next:
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y0 : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @callee(%x: tensor<4x8xf32>, %y0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y0 : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @caller(%x: tensor<4x8xf32>, %y0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expected a public function not to be called in its own module, got 'callee'}}
  %y = call @callee(%x, %y0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// expected-error @below {{expected arguments that are 'rmsnorm.constant' to be only read, but result #0 is computed into argument 'x'}}
func.func @constant_result(%x: tensor<4x8xf32> {rmsnorm.constant, rmsnorm.name = "x"}) -> tensor<4x8xf32> {
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @scalar_elsewhere(%x: tensor<4x8xf32>, %s: f32) -> tensor<4x8xf32> {
  // expected-error @below {{expected argument #1, a 'f32', to be used by linalg ops only}}
  %t = arith.addf %s, %s : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.fill ins(%t : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @reshaped_twice(%x: tensor<4x8xf32>) -> tensor<2x2x2x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%e : tensor<4x8xf32>) eps = 1.0e-5 -> tensor<4x8xf32>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  %q = tensor.expand_shape %r [[0], [1], [2, 3]] output_shape [2, 2, 2, 4] : tensor<2x2x8xf32> into tensor<2x2x2x4xf32>
  // expected-error @below {{expected result #0 to be reshaped once at most, got 'tensor.expand_shape' of 'tensor.expand_shape'}}
  return %q : tensor<2x2x2x4xf32>
}

// -----

func.func @scatter(%x: tensor<?x1x8xf32>, %i: tensor<?x1xi64>, %cache: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'tensor.scatter' op expected result #0 to be computed by norms, linalg and elementwise ops, reshapes, slices and insertions, which kernels are made of, got an op that is in no kernel; functions with other work are for rmsnorm-embed-tensors}}
  %y = tensor.scatter %x into %cache[%i] scatter_dims([0]) unique : (tensor<?x1x8xf32>, tensor<?x8xf32>, tensor<?x1xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half --split-input-file --verify-diagnostics

// Threads count bytes of a row in 32 bits, and 2^30 columns mean that their
// number is not known: such rows crashed the compiler or came out wrong.
func.func @most(%x: tensor<1x536870912xf32>, %e: tensor<1x536870912xf32>) -> tensor<1x536870912xf32> {
  %y = rmsnorm.forward input(%x : tensor<1x536870912xf32>) output(%e : tensor<1x536870912xf32>) eps = 1.0e-5 -> tensor<1x536870912xf32>
  return %y : tensor<1x536870912xf32>
}

// -----

func.func @one_more(%x: tensor<1x536870913xf32>, %e: tensor<1x536870913xf32>) -> tensor<1x536870913xf32> {
  // expected-error @below {{'rmsnorm.forward' op is in no kernel: it has rows of 536870913 elements, more than 536870912}}
  %y = rmsnorm.forward input(%x : tensor<1x536870913xf32>) output(%e : tensor<1x536870913xf32>) eps = 1.0e-5 -> tensor<1x536870913xf32>
  return %y : tensor<1x536870913xf32>
}

// -----

func.func @unknown(%x: tensor<1x1073741824xf32>, %e: tensor<1x1073741824xf32>) -> tensor<1x1073741824xf32> {
  // expected-error @below {{'rmsnorm.forward' op is in no kernel: it has rows of 1073741824 elements, more than 536870912}}
  %y = rmsnorm.forward input(%x : tensor<1x1073741824xf32>) output(%e : tensor<1x1073741824xf32>) eps = 1.0e-5 -> tensor<1x1073741824xf32>
  return %y : tensor<1x1073741824xf32>
}

// -----

func.func @huge(%x: tensor<1x4611686018427387904xf32>, %e: tensor<1x4611686018427387904xf32>) -> tensor<1x4611686018427387904xf32> {
  // expected-error @below {{'rmsnorm.forward' op is in no kernel: it has rows of 4611686018427387904 elements, more than 536870912}}
  %y = rmsnorm.forward input(%x : tensor<1x4611686018427387904xf32>) output(%e : tensor<1x4611686018427387904xf32>) eps = 1.0e-5 -> tensor<1x4611686018427387904xf32>
  return %y : tensor<1x4611686018427387904xf32>
}

// -----

// 2^32 + 8 computed the first 8.
func.func @cut(%x: tensor<1x4294967304xf32>, %e: tensor<1x4294967304xf32>) -> tensor<1x4294967304xf32> {
  // expected-error @below {{'rmsnorm.forward' op is in no kernel: it has rows of 4294967304 elements, more than 536870912}}
  %y = rmsnorm.forward input(%x : tensor<1x4294967304xf32>) output(%e : tensor<1x4294967304xf32>) eps = 1.0e-5 -> tensor<1x4294967304xf32>
  return %y : tensor<1x4294967304xf32>
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics --rmsnorm-bind-arguments

// expected-error @below {{'func.func' op expected sums, products, quotients or remainders of arguments' sizes as sizes, got another value in dimension 0 of result "output"}}
func.func @smaller(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %b = arith.minui %m, %c8 : index
  %s = tensor.extract_slice %x[0, 0] [%b, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// A chain of squares is no size that anybody writes.
// expected-error @below {{got another value in dimension 0 of result "output"}}
func.func @squares(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %2 = arith.muli %m, %m : index
  %4 = arith.muli %2, %2 : index
  %8 = arith.muli %4, %4 : index
  %16 = arith.muli %8, %8 : index
  %32 = arith.muli %16, %16 : index
  %64 = arith.muli %32, %32 : index
  %128 = arith.muli %64, %64 : index
  %256 = arith.muli %128, %128 : index
  %s = tensor.extract_slice %x[0, 0] [%256, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%256) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

func.func @offset(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = tensor.dim %r, %c0 : tensor<?x64xf32>
  %o = arith.minui %m, %c8 : index
  // expected-error @below {{'tensor.extract_slice' op expected sums, products, quotients or remainders of arguments' sizes as sizes, got another value}}
  %s = tensor.extract_slice %x[%o, 0] [%m, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %a = linalg.add ins(%s, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%a : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

func.func @parts(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %o = arith.minui %m, %c8 : index
  // expected-error @below {{'tensor.expand_shape' op expected sums, products, quotients or remainders of arguments' sizes as sizes, got another value}}
  %q = tensor.expand_shape %x [[0, 1], [2]] output_shape [%o, %m, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  %e = tensor.empty(%o, %m) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%q : tensor<?x?x64xf32>) output(%e : tensor<?x?x64xf32>) eps = 1.0e-05 -> tensor<?x?x64xf32>
  %f = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %n = tensor.dim %r, %c0 : tensor<?x64xf32>
  %g = tensor.empty(%n) : tensor<?x64xf32>
  %a = linalg.add ins(%f, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%g : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// -----

// Sizes that fit no call.
func.func @never(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  // expected-error @below {{'tensor.extract_slice' op expected sizes that fit, got a difference of -1}}
  %s = tensor.extract_slice %x[1, 0] [%m, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

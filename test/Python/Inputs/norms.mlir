// What the tests of the Python package call.
func.func @bf16_norm(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
func.func @f32_norm(%x: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %r = tensor.empty(%m) : tensor<?xf32>
  %y, %rstd = rmsnorm.forward input(%x : tensor<?x96xf32>) output(%e : tensor<?x96xf32>) rstd(%r : tensor<?xf32>) eps = 1.0e-06 -> tensor<?x96xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x96xf32>, tensor<?xf32>
}
func.func @f32_gradient(%dy: tensor<?x96xf32>, %x: tensor<?x96xf32>, %w: tensor<96xf32>, %r: tensor<?xf32>) -> (tensor<?x96xf32>, tensor<96xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %d = tensor.empty() : tensor<96xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x96xf32>) input(%x : tensor<?x96xf32>) weight(%w : tensor<96xf32>) rstd(%r : tensor<?xf32>) dx(%e : tensor<?x96xf32>) dweight(%d : tensor<96xf32>) eps = 1.0e-06 -> tensor<?x96xf32>, tensor<96xf32>
  return %dx, %dw : tensor<?x96xf32>, tensor<96xf32>
}
// The rows of the result follow from two sizes.
func.func @merged(%x: tensor<?x?x96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x96xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x96xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x96xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x96xf32>) output(%e : tensor<?x?x96xf32>) eps = 1.0e-05 -> tensor<?x?x96xf32>
  %q = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x96xf32> into tensor<?x96xf32>
  return %q : tensor<?x96xf32>
}
// A norm that is added to its argument, there.
func.func @in_place(%x: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %y = rmsnorm.forward input(%x : tensor<?x96xf32>) output(%e : tensor<?x96xf32>) eps = 1.0e-05 -> tensor<?x96xf32>
  %r = linalg.add ins(%x, %y : tensor<?x96xf32>, tensor<?x96xf32>) outs(%x : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}

// The gradient of the norm of an f32 residual stream: dy in bf16, dx in f32.
func.func @stream_backward(%dy: tensor<?x4096xbf16>, %x: tensor<?x4096xf32>, %weight: tensor<4096xbf16>, %rstd: tensor<?xf32>)
    -> (tensor<?x4096xf32>, tensor<4096xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xf32>
  %empty = tensor.empty(%m) : tensor<?x4096xf32>
  %empty_weight = tensor.empty() : tensor<4096xf32>
  %dx, %dweight = rmsnorm.backward dy(%dy : tensor<?x4096xbf16>) input(%x : tensor<?x4096xf32>)
      weight(%weight : tensor<4096xbf16>) rstd(%rstd : tensor<?xf32>) dx(%empty : tensor<?x4096xf32>)
      dweight(%empty_weight : tensor<4096xf32>) eps = 1.0e-05
      -> tensor<?x4096xf32>, tensor<4096xf32>
  return %dx, %dweight : tensor<?x4096xf32>, tensor<4096xf32>
}

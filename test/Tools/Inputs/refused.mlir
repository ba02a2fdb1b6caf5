// A product is no kernel.
func.func @f(%x: tensor<8x64xf32>, %b: tensor<64x64xf32>, %e: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-5 -> tensor<8x64xf32> loc("the norm")
  %q = linalg.matmul ins(%y, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32> loc("the product")
  return %q : tensor<8x64xf32>
}

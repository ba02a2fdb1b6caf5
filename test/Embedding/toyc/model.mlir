// Residual and norm, a matmul, and what toy does with its result.
func.func @layer(%x: tensor<?x256xf32>, %residual: tensor<?x256xf32>, %weight: tensor<256xf32>,
                 %matrix: tensor<256x64xf32>) -> tensor<?x64xf32> {
  %h = toy.add %x, %residual : tensor<?x256xf32>, tensor<?x256xf32>
  %n = toy.norm %h, %weight : tensor<?x256xf32>, tensor<256xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x256xf32>
  %empty = tensor.empty(%rows) : tensor<?x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%n, %matrix : tensor<?x256xf32>, tensor<256x64xf32>)
                     outs(%filled : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = toy.mul %p, %p : tensor<?x64xf32>, tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

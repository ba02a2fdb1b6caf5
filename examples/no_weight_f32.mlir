// No weight, f32: the plain definition, as in normalised attention logits or in
// a test of another implementation. The reciprocal root mean square of each row
// is kept for a backward pass.
//
//   norm-run examples/no_weight_f32.mlir --device=sim:sm_90

func.func @no_weight_f32(%x: tensor<?x1024xf32>)
    -> (tensor<?x1024xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %empty = tensor.empty(%rows) : tensor<?x1024xf32>
  %empty_rstd = tensor.empty(%rows) : tensor<?xf32>
  %y, %rstd = rmsnorm.forward input(%x : tensor<?x1024xf32>)
      output(%empty : tensor<?x1024xf32>)
      rstd(%empty_rstd : tensor<?xf32>) eps = 1.0e-06
      -> tensor<?x1024xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x1024xf32>, tensor<?xf32>
}

// Residual add and norm: h = x + residual is rounded to bf16, as the types say,
// and is a result too, because the next block adds to it. The addition is
// ordinary linalg around the op: the passes fuse the two, so that x and the
// residual are read once and both results written once.
//
//   norm-run examples/residual_add.mlir --device=sim:sm_90

func.func @residual_add(%x: tensor<?x4096xbf16>, %residual: tensor<?x4096xbf16>,
                        %weight: tensor<4096xbf16>)
    -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x4096xbf16>
  %h = linalg.add
      ins(%x, %residual : tensor<?x4096xbf16>, tensor<?x4096xbf16>)
      outs(%empty : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%empty : tensor<?x4096xbf16>) eps = 1.0e-05
      -> tensor<?x4096xbf16>
  return %y, %h : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}

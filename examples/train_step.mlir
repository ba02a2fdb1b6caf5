// A training step of a block's residual add and norm, both halves as entries of
// one module, compiled ahead of time and called from C (c/train_step.c).
//
// The forward keeps what the backward needs: h, as it was rounded, and one rstd
// per row. In the backward, `dh` is the gradient that reaches h past the norm;
// adding it to the norm's own is ordinary linalg around the op, and rounded as
// the types say: the passes fuse the two, so that dy, h and dh are read once and
// dx is written once. It is the gradient of x and of the residual alike. The
// weight's gradient sums over all rows in an order that is the same in every
// run, through a workspace of one row of f32 per block, which the caller owns.
//
//   norm-run examples/train_step.mlir --device=sim:sm_90

func.func @forward(%x: tensor<?x2048xbf16>, %residual: tensor<?x2048xbf16>,
                   %weight: tensor<2048xbf16>)
    -> (tensor<?x2048xbf16>, tensor<?x2048xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x2048xbf16>
  %empty_rstd = tensor.empty(%tokens) : tensor<?xf32>
  %h = linalg.add
      ins(%x, %residual : tensor<?x2048xbf16>, tensor<?x2048xbf16>)
      outs(%empty : tensor<?x2048xbf16>) -> tensor<?x2048xbf16>
  %y, %rstd = rmsnorm.forward input(%h : tensor<?x2048xbf16>)
      weight(%weight : tensor<2048xbf16>)
      output(%empty : tensor<?x2048xbf16>) rstd(%empty_rstd : tensor<?xf32>)
      eps = 1.0e-05 -> tensor<?x2048xbf16>, tensor<?xf32>
  return %y, %h, %rstd : tensor<?x2048xbf16>, tensor<?x2048xbf16>, tensor<?xf32>
}

func.func @backward(%dy: tensor<?x2048xbf16>, %h: tensor<?x2048xbf16>,
                    %weight: tensor<2048xbf16>, %rstd: tensor<?xf32>,
                    %dh: tensor<?x2048xbf16>)
    -> (tensor<?x2048xbf16>, tensor<2048xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %h, %c0 : tensor<?x2048xbf16>
  %empty = tensor.empty(%tokens) : tensor<?x2048xbf16>
  %empty_weight = tensor.empty() : tensor<2048xf32>
  %norm, %dweight = rmsnorm.backward dy(%dy : tensor<?x2048xbf16>)
      input(%h : tensor<?x2048xbf16>) weight(%weight : tensor<2048xbf16>)
      rstd(%rstd : tensor<?xf32>) dx(%empty : tensor<?x2048xbf16>)
      dweight(%empty_weight : tensor<2048xf32>) eps = 1.0e-05
      -> tensor<?x2048xbf16>, tensor<2048xf32>
  %dx = linalg.add
      ins(%norm, %dh : tensor<?x2048xbf16>, tensor<?x2048xbf16>)
      outs(%empty : tensor<?x2048xbf16>) -> tensor<?x2048xbf16>
  return %dx, %dweight : tensor<?x2048xbf16>, tensor<2048xf32>
}

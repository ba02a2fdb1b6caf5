// Rows of dynamic size, whose weight gradient no block can keep; rstd is computed, so that
// the loop that is split off reads it from a workspace.
func.func @backward(%dy: tensor<?x?xbf16>, %x: tensor<?x?xbf16>, %w: tensor<?xbf16>, %dx: tensor<?x?xbf16>, %dw: tensor<?xf32>) -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xbf16>) input(%x : tensor<?x?xbf16>) weight(%w : tensor<?xbf16>)
      dx(%dx : tensor<?x?xbf16>) dweight(%dw : tensor<?xf32>) eps = 1.0e-05 -> tensor<?x?xbf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xbf16>, tensor<?xf32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half --verify-diagnostics

// A norm in somebody else's loop, device code to be, was taken for the body of
// one of ours, and only row 0 was computed.
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %o: tensor<8x64xf32>) -> (tensor<8x64xf32>) {
  %r = scf.forall (%i) in (1) shared_outs(%s = %o) -> (tensor<8x64xf32>) {
    // expected-error @below {{is in no kernel: it stands in device code, which launches no kernel}}
    %q = rmsnorm.forward input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%s : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32> }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<8x64xf32>
}

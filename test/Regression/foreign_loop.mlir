// RUN: norm-opt %s --rmsnorm-tensor-half --verify-diagnostics
// RUN: norm-opt %s --rmsnorm-tile-clusters | FileCheck %s

// A norm in somebody else's loop was taken for the body of one of ours, and
// only row 0 was computed. It gets rows of its own; an entry of a module
// cannot hold the other one.
// CHECK:       scf.forall (%{{.*}}) in (1)
// CHECK:         rmsnorm.rows sizes [8] columns(64) buffers(read %{{.*}} : tensor<8x64xf32>,
// CHECK:       } {mapping = [#gpu.block<x>]}
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %o: tensor<8x64xf32>) -> (tensor<8x64xf32>) {
  // expected-error @below {{expected a public function to hold no loops but those of rmsnorm-tile-clusters, got another one}}
  %r = scf.forall (%i) in (1) shared_outs(%s = %o) -> (tensor<8x64xf32>) {
    %q = rmsnorm.forward input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%s : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32> }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<8x64xf32>
}

// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=5 -o %t.rmsn
// RUN: norm-opt %s --rmsnorm-tensor-half 2>&1 | FileCheck %s --implicit-check-not="rmsnorm.rows " --implicit-check-not=remark:
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=5
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=5

// Not every chip has groups of 256 columns in a kernel, so that a norm of tokens
// is none with the norms of their heads: two kernels, not an error.
// The first is no neighbour that is left outside.
// CHECK: rmsnorm.rows sizes [%{{.*}}, 2] columns(256)
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
func.func @norm_of_wide_heads(%x: tensor<?x512xf32>, %v: tensor<256xf32>, %w: tensor<512xf32>) -> (tensor<?x512xf32>, tensor<?x512xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %heads = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 2, 256] : tensor<?x512xf32> into tensor<?x2x256xf32>
  %he = tensor.empty(%m) : tensor<?x2x256xf32>
  %h = rmsnorm.forward input(%heads : tensor<?x2x256xf32>) weight(%v : tensor<256xf32>) output(%he : tensor<?x2x256xf32>) eps = 1.0e-06 -> tensor<?x2x256xf32>
  %token = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x2x256xf32> into tensor<?x512xf32>
  %sum = arith.addf %token, %x : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xf32>) weight(%w : tensor<512xf32>) output(%e : tensor<?x512xf32>) eps = 1.0e-06 -> tensor<?x512xf32>
  return %sum, %y : tensor<?x512xf32>, tensor<?x512xf32>
}

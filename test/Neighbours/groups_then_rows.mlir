// A norm of groups of columns, then one of all of them: one kernel, whether the first result is kept or not.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 | FileCheck %s --check-prefix=RESULT
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=1 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=1 | FileCheck %s --check-prefix=RESULT
// RESULT-COUNT-3: {{^[a-z_]+ .*}} ok

// CHECK-LABEL: func.func @kept(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 64] buffers(read %{{.*}}, read %{{.*}}, write %{{.*}}, write %{{.*}})
func.func @kept(%x: tensor<?x2x64xf32>, %w: tensor<128xf32>) -> (tensor<?x128xf32>, tensor<?x2x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x2x64xf32>
  %e = tensor.empty(%m) : tensor<?x2x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x2x64xf32>) output(%e : tensor<?x2x64xf32>) eps = 1.0e-05 -> tensor<?x2x64xf32>
  %f = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
  %e2 = tensor.empty(%m) : tensor<?x128xf32>
  %z = rmsnorm.forward input(%f : tensor<?x128xf32>) weight(%w : tensor<128xf32>) output(%e2 : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  return %z, %y : tensor<?x128xf32>, tensor<?x2x64xf32>
}

// CHECK-LABEL: func.func @not_kept(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 64] buffers(read %{{.*}}, read %{{.*}}, write %{{.*}})
func.func @not_kept(%x: tensor<?x2x64xf32>, %w: tensor<128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x2x64xf32>
  %e = tensor.empty(%m) : tensor<?x2x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x2x64xf32>) output(%e : tensor<?x2x64xf32>) eps = 1.0e-05 -> tensor<?x2x64xf32>
  %f = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
  %e2 = tensor.empty(%m) : tensor<?x128xf32>
  %z = rmsnorm.forward input(%f : tensor<?x128xf32>) weight(%w : tensor<128xf32>) output(%e2 : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  return %z : tensor<?x128xf32>
}

// With a residual and rows of two dimensions.
// CHECK-LABEL: func.func @with_residual(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [4, 64] buffers(read %{{.*}}, read %{{.*}}, write %{{.*}}, write %{{.*}}, write %{{.*}})
func.func @with_residual(%x: tensor<?x3x4x64xbf16>, %r: tensor<?x3x4x64xbf16>) -> (tensor<?x3x256xbf16>, tensor<?x3x4x64xbf16>, tensor<?x3x4x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x3x4x64xbf16>
  %h = arith.addf %x, %r : tensor<?x3x4x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x4x64xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x3x4x64xbf16>) output(%e : tensor<?x3x4x64xbf16>) eps = 1.0e-05 -> tensor<?x3x4x64xbf16>
  %f = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<?x3x4x64xbf16> into tensor<?x3x256xbf16>
  %e2 = tensor.empty(%m) : tensor<?x3x256xbf16>
  %z = rmsnorm.forward input(%f : tensor<?x3x256xbf16>) output(%e2 : tensor<?x3x256xbf16>) eps = 1.0e-05 -> tensor<?x3x256xbf16>
  return %z, %y, %h : tensor<?x3x256xbf16>, tensor<?x3x4x64xbf16>, tensor<?x3x4x64xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// Heads are one row, and go out as heads again. Whoever calls it has them side
// by side: strides of dimensions that become one are not free.
// CHECK: func.func @collapse_in(%{{[a-z0-9]*}}: memref<?x4x64xbf16> {
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16>
func.func @collapse_in(%x: tensor<?x4x64xbf16>, %w: tensor<256xbf16>) -> tensor<?x2x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %row = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xbf16> into tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%row : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %heads = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 2, 128] : tensor<?x256xbf16> into tensor<?x2x128xbf16>
  return %heads : tensor<?x2x128xbf16>
}

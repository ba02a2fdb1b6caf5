// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x4x256xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x4x256xbf16, strided<[?, 256, 1]>>
func.func @collapse_out(%x: tensor<?x4x256xbf16>, %w: tensor<256xbf16>) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x256xbf16>
  %e = tensor.empty(%m) : tensor<?x4x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x4x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x4x256xbf16>) eps = 1.0e-05 -> tensor<?x4x256xbf16>
  %q = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x4x256xbf16> into tensor<?x1024xbf16>
  return %q : tensor<?x1024xbf16>
}


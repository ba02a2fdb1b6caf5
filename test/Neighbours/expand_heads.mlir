// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x4x256xbf16, strided<[?, 256, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x4x256xbf16, strided<[?, ?, 1]>>
func.func @expand_heads(%x: tensor<?x1024xbf16>, %w: tensor<256xbf16>) -> tensor<?x4x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %q = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 4, 256] : tensor<?x1024xbf16> into tensor<?x4x256xbf16>
  %e = tensor.empty(%m) : tensor<?x4x256xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x4x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x4x256xbf16>) eps = 1.0e-05 -> tensor<?x4x256xbf16>
  return %y : tensor<?x4x256xbf16>
}


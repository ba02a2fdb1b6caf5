// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16, strided<[1], offset: ?>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
func.func @concat_rows_weight_row(%x: tensor<?x256xbf16>, %ws: tensor<4x256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %w = tensor.extract_slice %ws[2, 0] [1, 256] [1, 1] : tensor<4x256xbf16> to tensor<256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}


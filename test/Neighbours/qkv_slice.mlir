// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}, 32] columns(128)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x32x128xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<128xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x128xbf16>, memref<?x32x128xbf16, strided<[?, ?, 1]>>
func.func @qkv_slice(%qkv: tensor<?x48x128xbf16>, %w: tensor<128xbf16>) -> tensor<?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0,0,0][%m,32,128][1,1,1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %e = tensor.empty(%m) : tensor<?x32x128xbf16>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x32x128xbf16>) eps = 1.0e-05 -> tensor<?x32x128xbf16>
  return %y : tensor<?x32x128xbf16>
}


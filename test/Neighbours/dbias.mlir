// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.accumulate %{{.*}} : vector<1x256xf32> into memref<256xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @dbias(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %dwe = tensor.empty() : tensor<256xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%dwe : tensor<256xf32>) -> tensor<256xf32>
  %dx = rmsnorm.backward dy(%dy : tensor<?x256xbf16>) input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) dx(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %a = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%dy : tensor<?x256xbf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %q = arith.extf %p : bf16 to f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  return %dx, %a : tensor<?x256xbf16>, tensor<256xf32>
}

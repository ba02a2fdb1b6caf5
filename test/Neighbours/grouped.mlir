// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns(512)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x8x512xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r1, c) : memref<8x512xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x512xbf16>, memref<?x8x512xbf16, strided<[?, ?, 1]>>
func.func @grouped(%x: tensor<?x8x512xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x8x512xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8x512xbf16>
  %e = tensor.empty(%m) : tensor<?x8x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8x512xbf16>) output(%e : tensor<?x8x512xf32>) eps = 1.0e-05 -> tensor<?x8x512xf32>
  %o = tensor.empty(%m) : tensor<?x8x512xbf16>
  %q = linalg.generic {indexing_maps=[affine_map<(d0,d1,d2)->(d0,d1,d2)>,affine_map<(d0,d1,d2)->(d1,d2)>,affine_map<(d0,d1,d2)->(d0,d1,d2)>], iterator_types=["parallel","parallel","parallel"]} ins(%y, %w : tensor<?x8x512xf32>, tensor<8x512xbf16>) outs(%o : tensor<?x8x512xbf16>) {
    ^bb0(%a: f32, %s: bf16, %z: bf16):
      %s32 = arith.extf %s : bf16 to f32
      %p = arith.mulf %a, %s32 : f32
      %t = arith.truncf %p : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<?x8x512xbf16>
  return %q : tensor<?x8x512xbf16>
}


// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP

// Norm of q on a slice of packed qkv, rotation by halves: cos and sin [T, N/2]
// beside rows of [T, H], the halves of a row are values of one thread.
// ULP: {{^qk_rope .* sim:[a-z0-9_]+ +[01] }}
// CHECK: rmsnorm.rows sizes [%{{.*}}, 32] columns [2, 64]
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x32x128xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<128xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x64xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x64xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x2x64xbf16>, memref<?x32x128xbf16, strided<[?, ?, 1]>>
func.func @qk_rope(%qkv: tensor<?x48x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> tensor<?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %e = tensor.empty(%m) : tensor<?x32x128xf32>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x32x128xf32>) eps = 1.0e-05 -> tensor<?x32x128xf32>
  %y1 = tensor.extract_slice %y[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %y2 = tensor.extract_slice %y[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %e2 = tensor.empty(%m) : tensor<?x32x64xbf16>
  %o1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%e2 : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.subf %p, %r : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x32x64xbf16>
  %o2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%e2 : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %b, %c : f32
    %r = arith.mulf %a, %s : f32
    %d = arith.addf %p, %r : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x32x64xbf16>
  %o = tensor.empty(%m) : tensor<?x32x128xbf16>
  %i1 = tensor.insert_slice %o1 into %o[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %i2 = tensor.insert_slice %o2 into %i1[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  return %i2 : tensor<?x32x128xbf16>
}

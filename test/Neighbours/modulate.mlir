// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// AdaLN: a scale and a shift for each batch, [B, N] beside rows of [B, T].
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x256xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x?x256xbf16, strided<[?, ?, 1]>>
func.func @modulate(%x: tensor<?x?x256xbf16>, %w: tensor<256xbf16>, %scale: tensor<?x256xbf16>, %shift: tensor<?x256xbf16>) -> tensor<?x?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x?x256xf32>) eps = 1.0e-05 -> tensor<?x?x256xf32>
  %o = tensor.empty(%b, %t) : tensor<?x?x256xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %scale, %shift : tensor<?x?x256xf32>, tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%o : tensor<?x?x256xbf16>) {
  ^bb0(%a: f32, %s: bf16, %h: bf16, %z: bf16):
    %s32 = arith.extf %s : bf16 to f32
    %h32 = arith.extf %h : bf16 to f32
    %one = arith.constant 1.0 : f32
    %s1 = arith.addf %one, %s32 : f32
    %p = arith.mulf %a, %s1 : f32
    %r = arith.addf %p, %h32 : f32
    %v = arith.truncf %r : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x256xbf16>
  return %q : tensor<?x?x256xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP

// As exporters write it: y * cos + rotate_half(y) * sin with whole rows of cos
// and sin, [B, T, N] beside rows of [B, T, H], in the type of the model. Of a
// head's 128 columns the first 64 are rotated, the others pass.
// ULP: {{^rotate_half .* sim:[a-z0-9_]+ +[01] }}
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 8] columns [4, 32]
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x8x128xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<128xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r1, c) : memref<?x?x64xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r1, c) : memref<?x?x64xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x4x32xbf16>, memref<?x?x8x128xbf16, strided<[?, ?, ?, 1]>>
func.func @rotate_half(%x: tensor<?x?x8x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x?x64xbf16>, %sin: tensor<?x?x64xbf16>) -> tensor<?x?x8x128xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8x128xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x8x128xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x8x128xbf16>
  %e64 = tensor.empty(%b, %t) : tensor<?x?x8x64xbf16>
  %e32 = tensor.empty(%b, %t) : tensor<?x?x8x32xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x?x8x128xbf16>) eps = 1.0e-05 -> tensor<?x?x8x128xbf16>
  %r = tensor.extract_slice %y[0, 0, 0, 0] [%b, %t, 8, 64] [1, 1, 1, 1] : tensor<?x?x8x128xbf16> to tensor<?x?x8x64xbf16>
  %pass = tensor.extract_slice %y[0, 0, 0, 64] [%b, %t, 8, 64] [1, 1, 1, 1] : tensor<?x?x8x128xbf16> to tensor<?x?x8x64xbf16>
  %lo = tensor.extract_slice %r[0, 0, 0, 0] [%b, %t, 8, 32] [1, 1, 1, 1] : tensor<?x?x8x64xbf16> to tensor<?x?x8x32xbf16>
  %hi = tensor.extract_slice %r[0, 0, 0, 32] [%b, %t, 8, 32] [1, 1, 1, 1] : tensor<?x?x8x64xbf16> to tensor<?x?x8x32xbf16>
  %neg = linalg.negf ins(%hi : tensor<?x?x8x32xbf16>) outs(%e32 : tensor<?x?x8x32xbf16>) -> tensor<?x?x8x32xbf16>
  %h1 = tensor.insert_slice %neg into %e64[0, 0, 0, 0] [%b, %t, 8, 32] [1, 1, 1, 1] : tensor<?x?x8x32xbf16> into tensor<?x?x8x64xbf16>
  %half = tensor.insert_slice %lo into %h1[0, 0, 0, 32] [%b, %t, 8, 32] [1, 1, 1, 1] : tensor<?x?x8x32xbf16> into tensor<?x?x8x64xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r, %half, %cos, %sin : tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x64xbf16>, tensor<?x?x64xbf16>) outs(%e64 : tensor<?x?x8x64xbf16>) {
  ^bb0(%a: bf16, %h: bf16, %c: bf16, %s: bf16, %z: bf16):
    %p = arith.mulf %a, %c : bf16
    %q = arith.mulf %h, %s : bf16
    %v = arith.addf %p, %q : bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x8x64xbf16>
  %i1 = tensor.insert_slice %o into %e[0, 0, 0, 0] [%b, %t, 8, 64] [1, 1, 1, 1] : tensor<?x?x8x64xbf16> into tensor<?x?x8x128xbf16>
  %i2 = tensor.insert_slice %pass into %i1[0, 0, 0, 64] [%b, %t, 8, 64] [1, 1, 1, 1] : tensor<?x?x8x64xbf16> into tensor<?x?x8x128xbf16>
  return %i2 : tensor<?x?x8x128xbf16>
}

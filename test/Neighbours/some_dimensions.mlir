// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// Rows of [B, T, H]: a value a head, a row a token, a row for two dimensions
// that do not lie side by side, a scalar.
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 6] columns(128)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x6x128xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2) -> (r2) : memref<6xf32>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r1, c) : memref<?x?x128xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r2, c) : memref<?x6x128xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}} : memref<f32>
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}} : memref<f32>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x128xbf16>, memref<?x?x6x128xbf16, strided<[?, ?, ?, 1]>>
func.func @some_dimensions(%x: tensor<?x?x6x128xbf16>, %head: tensor<6xf32>, %token: tensor<?x?x128xbf16>, %other: tensor<?x6x128xbf16>, %scalar: tensor<f32>, %one: tensor<1xf32>) -> tensor<?x?x6x128xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x6x128xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x6x128xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x6x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x6x128xbf16>) output(%e : tensor<?x?x6x128xf32>) eps = 1.0e-05 -> tensor<?x?x6x128xf32>
  %o = tensor.empty(%b, %t) : tensor<?x?x6x128xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %head, %token, %other, %scalar, %one : tensor<?x?x6x128xf32>, tensor<6xf32>, tensor<?x?x128xbf16>, tensor<?x6x128xbf16>, tensor<f32>, tensor<1xf32>) outs(%o : tensor<?x?x6x128xbf16>) {
  ^bb0(%a: f32, %h: f32, %k: bf16, %m: bf16, %s: f32, %u: f32, %z: bf16):
    %k32 = arith.extf %k : bf16 to f32
    %m32 = arith.extf %m : bf16 to f32
    %p0 = arith.mulf %a, %h : f32
    %p1 = arith.mulf %p0, %k32 : f32
    %p2 = arith.mulf %p1, %m32 : f32
    %p3 = arith.mulf %p2, %s : f32
    %p4 = arith.mulf %p3, %u : f32
    %v = arith.truncf %p4 : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x6x128xbf16>
  return %q : tensor<?x?x6x128xbf16>
}

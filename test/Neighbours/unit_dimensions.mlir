// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// A batch of one, and operands that have it or not.
// CHECK: rmsnorm.rows sizes [%{{[a-z0-9_]*}}, 8] columns(64)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x8x64xf32, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x64xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x64xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<64xf32, strided<[1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x64xf32>, memref<?x8x64xf32, strided<[?, ?, 1]>>
func.func @unit_dimensions(%x: tensor<1x?x8x64xf32>, %cos: tensor<?x64xf32>, %sin: tensor<1x?x1x64xf32>, %weight: tensor<1x1x64xf32>) -> tensor<1x?x8x64xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<1x?x8x64xf32>
  %e = tensor.empty(%t) : tensor<1x?x8x64xf32>
  %y = rmsnorm.forward input(%x : tensor<1x?x8x64xf32>) output(%e : tensor<1x?x8x64xf32>) eps = 1.0e-05 -> tensor<1x?x8x64xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %cos, %sin, %weight : tensor<1x?x8x64xf32>, tensor<?x64xf32>, tensor<1x?x1x64xf32>, tensor<1x1x64xf32>) outs(%e : tensor<1x?x8x64xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32, %w: f32, %z: f32):
    %p = arith.mulf %a, %c : f32
    %r = arith.addf %p, %s : f32
    %v = arith.mulf %r, %w : f32
    linalg.yield %v : f32
  } -> tensor<1x?x8x64xf32>
  return %q : tensor<1x?x8x64xf32>
}

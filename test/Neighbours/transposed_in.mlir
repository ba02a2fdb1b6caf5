// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67 --dim=s0=19 --dim=s1=23

// x and a scale come in another order of their leading dimensions, of two and of
// three, and are read where they are.
// CHECK: memref.transpose
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x256xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x?x256xbf16, strided<[?, ?, 1]>>
// CHECK: memref.transpose %{{.*}} to memref<?x7x3x256x
// CHECK: memref.transpose %{{.*}} to memref<?x7x3x256x
// CHECK: rmsnorm.rows sizes [%{{.*}}, 7, 3] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x7x3x256xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x7x3x256xf32, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x7x3x256xbf16, strided<[?, ?, ?, 1]>>
func.func @transposed_in(%x: tensor<?x?x256xbf16>, %w: tensor<256xbf16>, %scale: tensor<7x?x3x256xf32>, %h: tensor<3x7x?x256xbf16>) -> (tensor<?x7x3x256xbf16>, tensor<?x?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %m = tensor.dim %scale, %c1 : tensor<7x?x3x256xf32>
  %et = tensor.empty(%t, %b) : tensor<?x?x256xbf16>
  %xt = linalg.transpose ins(%x : tensor<?x?x256xbf16>) outs(%et : tensor<?x?x256xbf16>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%xt : tensor<?x?x256xbf16>) weight(%w : tensor<256xbf16>) output(%et : tensor<?x?x256xbf16>) eps = 1.0e-05 -> tensor<?x?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x7x3x256xbf16>
  %ht = linalg.transpose ins(%h : tensor<3x7x?x256xbf16>) outs(%e : tensor<?x7x3x256xbf16>) permutation = [2, 1, 0, 3]
  %n = rmsnorm.forward input(%ht : tensor<?x7x3x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x7x3x256xbf16>) eps = 1.0e-05 -> tensor<?x7x3x256xbf16>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%n, %scale : tensor<?x7x3x256xbf16>, tensor<7x?x3x256xf32>) outs(%e : tensor<?x7x3x256xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %u = arith.extf %p : bf16 to f32
    %c = arith.mulf %u, %q : f32
    %v = arith.truncf %c : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x7x3x256xbf16>
  return %g, %y : tensor<?x7x3x256xbf16>, tensor<?x?x256xbf16>
}

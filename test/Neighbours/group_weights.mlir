// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// Groups of columns with operands of their own: for each column, a value for
// each group, what is the same in all groups, a value for a group of a batch.
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns [16, 16]
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x256xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load group %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, g) -> (r0, g) : memref<?x16xf32, strided<[?, 1]>> -> vector<1x16x1xf32>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x256xbf16>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_load group %{{[a-z0-9]*}} : memref<16xf32> -> vector<1x16x1xf32>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<16xf32> -> vector<1x1x16xf32>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x16x16xbf16>, memref<?x?x256xbf16, strided<[?, ?, 1]>>
#e = affine_map<(b, t, k, g) -> (b, t, k, g)>
#w = affine_map<(b, t, k, g) -> (k, g)>
#k = affine_map<(b, t, k, g) -> (k)>
#g = affine_map<(b, t, k, g) -> (g)>
#bk = affine_map<(b, t, k, g) -> (b, k)>
#bkg = affine_map<(b, t, k, g) -> (b, k, g)>
func.func @group_weights(%x: tensor<?x?x256xbf16>, %w: tensor<16x16xbf16>, %k: tensor<16xf32>, %g: tensor<16xf32>, %bk: tensor<?x16xf32>, %bkg: tensor<?x16x16xbf16>) -> tensor<?x?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x256xbf16>) output(%e : tensor<?x?x256xf32>) eps = 1.0e-05 -> tensor<?x?x256xf32>
  %h = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 16, 16] : tensor<?x?x256xf32> into tensor<?x?x16x16xf32>
  %o = tensor.empty(%b, %t) : tensor<?x?x16x16xbf16>
  %r = linalg.generic {indexing_maps = [#e, #w, #k, #g, #bk, #bkg, #e], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%h, %w, %k, %g, %bk, %bkg : tensor<?x?x16x16xf32>, tensor<16x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<?x16xf32>, tensor<?x16x16xbf16>) outs(%o : tensor<?x?x16x16xbf16>) {
  ^bb0(%a: f32, %sw: bf16, %sk: f32, %sg: f32, %sbk: f32, %sbkg: bf16, %z: bf16):
    %w32 = arith.extf %sw : bf16 to f32
    %s32 = arith.extf %sbkg : bf16 to f32
    %p0 = arith.mulf %a, %w32 : f32
    %p1 = arith.mulf %p0, %sk : f32
    %p2 = arith.addf %p1, %sg : f32
    %p3 = arith.mulf %p2, %sbk : f32
    %p4 = arith.addf %p3, %s32 : f32
    %v = arith.truncf %p4 : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x16x16xbf16>
  %c = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<?x?x16x16xbf16> into tensor<?x?x256xbf16>
  return %c : tensor<?x?x256xbf16>
}

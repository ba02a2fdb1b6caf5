// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// SGLang's indexed modulation: scale and shift of a token are the rows of two
// tables that its index says, which are read in the body of what uses them. An
// adapter's own weight likewise.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x1024xbf16, strided<[?, 1]>>
// CHECK: %[[ID:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] : memref<?xi32> -> vector<1x1xi32>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : vector<1x1xi32> to vector<1x1xindex>
// CHECK-COUNT-3: rmsnorm.tile_load tile %{{[a-z0-9]*}} at(%[[ROW]] : vector<1x1xindex>) : memref<?x1024xbf16, strided<[?, 1]>> -> vector<1x1024xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x1024xbf16>, memref<?x1024xbf16, strided<[?, 1]>>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @indexed_scale_shift(%x: tensor<?x1024xbf16>, %weights: tensor<?x1024xbf16>, %scale: tensor<?x1024xbf16>, %shift: tensor<?x1024xbf16>, %index: tensor<?xi32>, %y: tensor<?x1024xbf16>) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %e = tensor.empty(%m) : tensor<?x1024xf32>
  %n = rmsnorm.forward input(%x : tensor<?x1024xbf16>) output(%e : tensor<?x1024xf32>) eps = 1.0e-06 -> tensor<?x1024xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %index : tensor<?x1024xf32>, tensor<?xi32>) outs(%y : tensor<?x1024xbf16>) {
  ^bb0(%a: f32, %k: i32, %z: bf16):
    %i = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %one = arith.constant 1.0 : f32
    %w = tensor.extract %weights[%i, %j] : tensor<?x1024xbf16>
    %w32 = arith.extf %w : bf16 to f32
    %p = arith.mulf %a, %w32 : f32
    %s = tensor.extract %scale[%i, %j] : tensor<?x1024xbf16>
    %s32 = arith.extf %s : bf16 to f32
    %s1 = arith.addf %s32, %one : f32
    %q = arith.mulf %p, %s1 : f32
    %h = tensor.extract %shift[%i, %j] : tensor<?x1024xbf16>
    %h32 = arith.extf %h : bf16 to f32
    %r = arith.addf %q, %h32 : f32
    %v = arith.truncf %r : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x1024xbf16>
  return %o : tensor<?x1024xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=1000 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=1000

// As vLLM does it: q's slice of packed qkv is normed by heads and rotated, NeoX's
// way, by the cos and the sin that stand side by side in the row of a table that
// the token's position says.
// CHECK-DAG: memref.subview %[[TABLE:.*]][0, 0] [%{{.*}}, 64] [1, 1]
// CHECK-DAG: memref.subview %[[TABLE]][0, 64] [%{{.*}}, 64] [1, 1]
// CHECK: rmsnorm.rows sizes [%{{.*}}, 32] columns [2, 64]
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x32x128xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<128xbf16>
// CHECK: %[[ID:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1) -> (r0) : memref<?xi64, strided<[?]>> -> vector<1x1x1xi64>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : vector<1x1x1xi64> to vector<1x1x1xindex>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}} at(%[[ROW]] : vector<1x1x1xindex>) : memref<?x64xbf16, strided<[?, 1], offset: 64>> -> vector<1x1x64xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}} at(%[[ROW]] : vector<1x1x1xindex>) : memref<?x64xbf16, strided<[?, 1]>> -> vector<1x1x64xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x2x64xbf16>, memref<?x32x128xbf16, strided<[?, ?, 1]>>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#token = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @rope_by_position(%qkv: tensor<?x48x128xbf16>, %positions: tensor<?x1xi64>, %table: tensor<?x128xbf16>, %w: tensor<128xbf16>) -> tensor<?x32x128xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%t, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %e = tensor.empty(%t) : tensor<?x32x128xf32>
  %y = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %cos_sin = tensor.gather %table[%positions] gather_dims([0]) : (tensor<?x128xbf16>, tensor<?x1xi64>) -> tensor<?x128xbf16>
  %cos = tensor.extract_slice %cos_sin[0, 0] [%t, 64] [1, 1] : tensor<?x128xbf16> to tensor<?x64xbf16>
  %sin = tensor.extract_slice %cos_sin[0, 64] [%t, 64] [1, 1] : tensor<?x128xbf16> to tensor<?x64xbf16>
  %y1 = tensor.extract_slice %y[0, 0, 0] [%t, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %y2 = tensor.extract_slice %y[0, 0, 64] [%t, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %half = tensor.empty(%t) : tensor<?x32x64xbf16>
  %o1 = linalg.generic {indexing_maps = [#id, #id, #token, #token, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%half : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c16: bf16, %s16: bf16, %z: bf16):
    %c = arith.extf %c16 : bf16 to f32
    %s = arith.extf %s16 : bf16 to f32
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.subf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x32x64xbf16>
  %o2 = linalg.generic {indexing_maps = [#id, #id, #token, #token, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %y2, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%half : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c16: bf16, %s16: bf16, %z: bf16):
    %c = arith.extf %c16 : bf16 to f32
    %s = arith.extf %s16 : bf16 to f32
    %p = arith.mulf %b, %c : f32
    %r = arith.mulf %a, %s : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x32x64xbf16>
  %o = tensor.empty(%t) : tensor<?x32x128xbf16>
  %i1 = tensor.insert_slice %o1 into %o[0, 0, 0] [%t, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %i2 = tensor.insert_slice %o2 into %i1[0, 0, 64] [%t, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  return %i2 : tensor<?x32x128xbf16>
}

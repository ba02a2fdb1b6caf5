// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=linalg
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=256 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=256

// Layouts that no program of ours or of a library has: no pass knows of them.

// Scales in tiles of 64 rows and 8 groups.
// CHECK-LABEL: func.func @tiles_of_64x8(
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (r floordiv 64, g floordiv 8, r mod 64, g mod 8)
func.func @tiles_of_64x8(%x: tensor<?x512xbf16>) -> tensor<?x2x64x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 32] : tensor<?x512xf32> into tensor<?x16x32xf32>
  %f = tensor.empty(%m) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x16x32xf32>) outs(%zeros : tensor<?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x16xf32>
  %c64 = arith.constant 64 : index
  %u = arith.divui %m, %c64 : index
  %tiles = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [%u, 64, 2, 8] : tensor<?x16xf32> into tensor<?x64x2x8xf32>
  %te = tensor.empty(%u) : tensor<?x2x64x8xf32>
  %tr = linalg.transpose ins(%tiles : tensor<?x64x2x8xf32>) outs(%te : tensor<?x2x64x8xf32>) permutation = [0, 2, 1, 3]
  return %tr : tensor<?x2x64x8xf32>
}

// Heads interleaved by pairs of heads: in come the even pairs of all, then the
// odd ones; out go the pairs, the two of a pair far apart.
// CHECK-LABEL: func.func @pairs_of_heads(
// CHECK: rmsnorm.tile_load tile %{{.*}} : memref<?x4x2x2x64xbf16, strided<{{.*}}>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x64xbf16>, memref<?x4x2x2x64xbf16, strided<{{.*}}>>
func.func @pairs_of_heads(%x: tensor<?x2x4x2x64xbf16>) -> tensor<?x2x8x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x2x4x2x64xbf16>
  %ie = tensor.empty(%m) : tensor<?x4x2x2x64xbf16>
  %in = linalg.transpose ins(%x : tensor<?x2x4x2x64xbf16>) outs(%ie : tensor<?x4x2x2x64xbf16>) permutation = [0, 2, 1, 3, 4]
  %e = tensor.empty(%m) : tensor<?x4x2x2x64xbf16>
  %y = rmsnorm.forward input(%in : tensor<?x4x2x2x64xbf16>) output(%e : tensor<?x4x2x2x64xbf16>) eps = 1.0e-05 -> tensor<?x4x2x2x64xbf16>
  %heads = tensor.collapse_shape %y [[0], [1, 2], [3], [4]] : tensor<?x4x2x2x64xbf16> into tensor<?x8x2x64xbf16>
  %oe = tensor.empty(%m) : tensor<?x2x8x64xbf16>
  %out = linalg.transpose ins(%heads : tensor<?x8x2x64xbf16>) outs(%oe : tensor<?x2x8x64xbf16>) permutation = [0, 2, 1, 3]
  return %out : tensor<?x2x8x64xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=256 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=256

// Groups of a row in another order.
// CHECK-LABEL: func.func @groups_out_of_order(
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g mod 4, r, g floordiv 4)
func.func @groups_out_of_order(%x: tensor<?x512xbf16>) -> tensor<4x?x4xf32> {
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
  %x3 = tensor.expand_shape %s [[0], [1, 2]] output_shape [%m, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %te = tensor.empty(%m) : tensor<4x?x4xf32>
  %tr = linalg.transpose ins(%x3 : tensor<?x4x4xf32>) outs(%te : tensor<4x?x4xf32>) permutation = [2, 0, 1]
  return %tr : tensor<4x?x4xf32>
}

// Tiles of 128 rows of each batch, of which only a call knows how many there are.
// CHECK-LABEL: func.func @tiles_of_batches(
// CHECK: rmsnorm.tile_store group %{{.*}} map(r0, r1, g) -> (r0, r1 floordiv 128, g floordiv 4, r1 mod 32, (r1 floordiv 32) mod 4, g mod 4)
func.func @tiles_of_batches(%x: tensor<?x?x512xbf16>) -> tensor<?x?x4x32x4x4xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x512xbf16>
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<?x?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b, %t) : tensor<?x?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x512xbf16>) output(%e : tensor<?x?x512xf32>) eps = 1.0e-05 -> tensor<?x?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 16, 32] : tensor<?x?x512xf32> into tensor<?x?x16x32xf32>
  %f = tensor.empty(%b, %t) : tensor<?x?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x?x16x32xf32>) outs(%zeros : tensor<?x?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x?x16xf32>
  %c128 = arith.constant 128 : index
  %u = arith.divui %t, %c128 : index
  %x6 = tensor.expand_shape %s [[0], [1, 2, 3], [4, 5]] output_shape [%b, %u, 4, 32, 4, 4] : tensor<?x?x16xf32> into tensor<?x?x4x32x4x4xf32>
  %te = tensor.empty(%b, %u) : tensor<?x?x4x32x4x4xf32>
  %tr = linalg.transpose ins(%x6 : tensor<?x?x4x32x4x4xf32>) outs(%te : tensor<?x?x4x32x4x4xf32>) permutation = [0, 1, 4, 3, 2, 5]
  return %tr : tensor<?x?x4x32x4x4xf32>
}

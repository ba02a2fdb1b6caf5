// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=0,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 --strided
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=67
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0

#row = affine_map<(i, j) -> (i, j)>

// The scales of groups as vLLM and DeepGEMM read them, [N / 128, M]: the store of
// a group is that of a transposed row, beside the main output as wide as it was.
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [4, 128] buffers(read {{.*}}, write %{{.*}} : memref<4x?xf32, strided<[?, 1]>>, write %{{.*}} : memref<?x512xf8E4M3FN, strided<[?, 1]>>)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_store group %{{.*}}, %{{.*}}[%[[T:.*]]] map(r, g) -> (g, r) : vector<1x4x1xf32>, memref<4x?xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%[[T]]] : vector<1x4x128xf8E4M3FN>
#row1 = affine_map<(i, j) -> (i, j)>
#group1 = affine_map<(i, j, k) -> (i, j)>
#element1 = affine_map<(i, j, k) -> (i, j, k)>
func.func @transposed(%x: tensor<?x512xbf16>, %w: tensor<512xbf16>) -> (tensor<?x512xf8E4M3FN>, tensor<4x?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %f = tensor.empty(%m) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %largest = linalg.generic {indexing_maps = [#element1, #group1], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x128xf32>) outs(%zeros : tensor<?x4xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x4xf32>
  %se = tensor.empty(%m) : tensor<?x4xf32>
  %scale = linalg.generic {indexing_maps = [#row1, #row1], iterator_types = ["parallel", "parallel"]}
      ins(%largest : tensor<?x4xf32>) outs(%se : tensor<?x4xf32>) {
  ^bb0(%size: f32, %out: f32):
    %floor = arith.constant 1.0e-12 : f32
    %share = arith.constant 2.23214296e-03 : f32 // 1 / 448
    %part = arith.mulf %size, %share : f32
    %positive = arith.maximumf %part, %floor : f32
    linalg.yield %positive : f32
  } -> tensor<?x4xf32>
  %qe = tensor.empty(%m) : tensor<?x4x128xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#element1, #group1, #element1], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x4x128xf32>, tensor<?x4xf32>) outs(%qe : tensor<?x4x128xf8E4M3FN>) {
  ^bb0(%value: f32, %s: f32, %out: f8E4M3FN):
    %quotient = arith.divf %value, %s : f32
    %byte = arith.truncf %quotient : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x4x128xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]] : tensor<?x4x128xf8E4M3FN> into tensor<?x512xf8E4M3FN>
  %te = tensor.empty(%m) : tensor<4x?xf32>
  %t = linalg.transpose ins(%scale : tensor<?x4xf32>) outs(%te : tensor<4x?xf32>) permutation = [1, 0]
  return %whole, %t : tensor<?x512xf8E4M3FN>, tensor<4x?xf32>
}

// As exporters write it: in the order of the reduction's map,
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x4x1xf32>, memref<4x?xf32, strided<[?, 1]>>
func.func @reduced_transposed(%x: tensor<?x512xbf16>) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %f = tensor.empty(%m) : tensor<4x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<4x?xf32>) -> tensor<4x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x128xf32>) outs(%zeros : tensor<4x?xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<4x?xf32>
  return %s : tensor<4x?xf32>
}

// rounded after the transpose, and stored as they are, too;
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} : vector<1x4x1xf32>, memref<?x4xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x4x1xf8E8M0FNU>, memref<4x?xf8E8M0FNU, strided<[?, 1]>>
func.func @rounded_behind(%x: tensor<?x512xbf16>) -> (tensor<4x?xf8E8M0FNU>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %f = tensor.empty(%m) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x128xf32>) outs(%zeros : tensor<?x4xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x4xf32>
  %te = tensor.empty(%m) : tensor<4x?xf32>
  %t = linalg.transpose ins(%s : tensor<?x4xf32>) outs(%te : tensor<4x?xf32>) permutation = [1, 0]
  %be = tensor.empty(%m) : tensor<4x?xf8E8M0FNU>
  %bytes = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4x?xf32>) outs(%be : tensor<4x?xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %byte = arith.truncf %size upward : f32 to f8E8M0FNU
    linalg.yield %byte : f8E8M0FNU
  } -> tensor<4x?xf8E8M0FNU>
  return %bytes, %s : tensor<4x?xf8E8M0FNU>, tensor<?x4xf32>
}

// rounded by a generic that writes them transposed.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x4x1xf8E8M0FNU>, memref<4x?xf8E8M0FNU, strided<[?, 1]>>
func.func @written_transposed(%x: tensor<?x512xbf16>) -> tensor<4x?xf8E8M0FNU> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %f = tensor.empty(%m) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x128xf32>) outs(%zeros : tensor<?x4xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x4xf32>
  %be = tensor.empty(%m) : tensor<4x?xf8E8M0FNU>
  %bytes = linalg.generic {indexing_maps = [#row, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x4xf32>) outs(%be : tensor<4x?xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %byte = arith.truncf %size upward : f32 to f8E8M0FNU
    linalg.yield %byte : f8E8M0FNU
  } -> tensor<4x?xf8E8M0FNU>
  return %bytes : tensor<4x?xf8E8M0FNU>
}

// In each batch, rows counted over the first and the last dimension;
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r0, r1, g) -> (r0, g, r1) : vector<1x8x1xf32>, memref<?x8x?xf32, strided<[?, ?, 1]>>
func.func @batches(%x: tensor<?x?x512xbf16>) -> tensor<?x8x?xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x512xbf16>
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<?x?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b, %t) : tensor<?x?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x512xbf16>) output(%e : tensor<?x?x512xf32>) eps = 1.0e-05 -> tensor<?x?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 8, 64] : tensor<?x?x512xf32> into tensor<?x?x8x64xf32>
  %f = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x?x8x64xf32>) outs(%zeros : tensor<?x?x8xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x?x8xf32>
  %te = tensor.empty(%b, %t) : tensor<?x8x?xf32>
  %tr = linalg.transpose ins(%s : tensor<?x?x8xf32>) outs(%te : tensor<?x8x?xf32>) permutation = [0, 2, 1]
  return %tr : tensor<?x8x?xf32>
}

// batches after groups, as well.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r0, r1, g) -> (r1, g, r0) : vector<1x8x1xf32>, memref<?x8x?xf32, strided<[?, ?, 1]>>
func.func @batches_behind(%x: tensor<?x?x512xbf16>) -> tensor<?x8x?xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x512xbf16>
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<?x?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b, %t) : tensor<?x?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x512xbf16>) output(%e : tensor<?x?x512xf32>) eps = 1.0e-05 -> tensor<?x?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 8, 64] : tensor<?x?x512xf32> into tensor<?x?x8x64xf32>
  %f = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x?x8x64xf32>) outs(%zeros : tensor<?x?x8xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x?x8xf32>
  %te = tensor.empty(%t, %b) : tensor<?x8x?xf32>
  %tr = linalg.transpose ins(%s : tensor<?x?x8xf32>) outs(%te : tensor<?x8x?xf32>) permutation = [1, 2, 0]
  return %tr : tensor<?x8x?xf32>
}

// Several groups of one thread's vector lie apart.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x128x1xf32>, memref<128x?xf32, strided<[?, 1]>>
func.func @small_groups(%x: tensor<?x512xbf16>) -> tensor<128x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 128, 4] : tensor<?x512xf32> into tensor<?x128x4xf32>
  %f = tensor.empty(%m) : tensor<?x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x128xf32>) -> tensor<?x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x128x4xf32>) outs(%zeros : tensor<?x128xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x128xf32>
  %te = tensor.empty(%m) : tensor<128x?xf32>
  %tr = linalg.transpose ins(%s : tensor<?x128xf32>) outs(%te : tensor<128x?xf32>) permutation = [1, 0]
  return %tr : tensor<128x?xf32>
}

// The bytes of four groups side by side, as the words that DeepGEMM reads on sm_100.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g floordiv 4, r, g mod 4) : vector<1x16x1xf8E8M0FNU>, memref<4x?x4xf8E8M0FNU
func.func @words(%x: tensor<?x512xbf16>) -> tensor<4x?x4xf8E8M0FNU> {
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
  %be = tensor.empty(%m) : tensor<?x16xf8E8M0FNU>
  %bytes = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x16xf32>) outs(%be : tensor<?x16xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %byte = arith.truncf %size upward : f32 to f8E8M0FNU
    linalg.yield %byte : f8E8M0FNU
  } -> tensor<?x16xf8E8M0FNU>
  %words = tensor.expand_shape %bytes [[0], [1, 2]] output_shape [%m, 4, 4] : tensor<?x16xf8E8M0FNU> into tensor<?x4x4xf8E8M0FNU>
  %te = tensor.empty(%m) : tensor<4x?x4xf8E8M0FNU>
  %tr = linalg.transpose ins(%words : tensor<?x4x4xf8E8M0FNU>) outs(%te : tensor<4x?x4xf8E8M0FNU>) permutation = [1, 0, 2]
  return %tr : tensor<4x?x4xf8E8M0FNU>
}

// Upstream's op divides by the scale and rounds, as mxfp8 in SGLang does, [N / 32, M].
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x16x1xf8E8M0FNU>, memref<16x?xf8E8M0FNU, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x16x32xf8E4M3FN>
#element3 = affine_map<(i, j, k) -> (i, j, k)>
#group3 = affine_map<(i, j, k) -> (i, j)>
func.func @scaling(%x: tensor<?x512xbf16>) -> (tensor<?x512xf8E4M3FN>, tensor<16x?xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 32] : tensor<?x512xf32> into tensor<?x16x32xf32>
  %f = tensor.empty(%m) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [#element3, #group3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x16x32xf32>) outs(%zeros : tensor<?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x16xf32>
  %be = tensor.empty(%m) : tensor<?x16xf8E8M0FNU>
  %bytes = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x16xf32>) outs(%be : tensor<?x16xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %share = arith.constant 2.23214296e-03 : f32
    %part = arith.mulf %size, %share : f32
    %byte = arith.truncf %part upward : f32 to f8E8M0FNU
    linalg.yield %byte : f8E8M0FNU
  } -> tensor<?x16xf8E8M0FNU>
  %qe = tensor.empty(%m) : tensor<?x16x32xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#element3, #group3, #element3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %bytes : tensor<?x16x32xf32>, tensor<?x16xf8E8M0FNU>) outs(%qe : tensor<?x16x32xf8E4M3FN>) {
  ^bb0(%value: f32, %scale: f8E8M0FNU, %out: f8E4M3FN):
    %byte = arith.scaling_truncf %value, %scale : f32, f8E8M0FNU to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x16x32xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1, 2]] : tensor<?x16x32xf8E4M3FN> into tensor<?x512xf8E4M3FN>
  %te = tensor.empty(%m) : tensor<16x?xf8E8M0FNU>
  %t = linalg.transpose ins(%bytes : tensor<?x16xf8E8M0FNU>) outs(%te : tensor<16x?xf8E8M0FNU>) permutation = [1, 0]
  return %whole, %t : tensor<?x512xf8E4M3FN>, tensor<16x?xf8E8M0FNU>
}

// One row that the types know.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (g, r) : vector<1x4x1xf32>, memref<4x1xf32, strided<[?, 1]>>
func.func @one_row(%x: tensor<1x512xbf16>) -> tensor<4x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x512xf32>
  %y = rmsnorm.forward input(%x : tensor<1x512xbf16>) output(%e : tensor<1x512xf32>) eps = 1.0e-05 -> tensor<1x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [1, 4, 128] : tensor<1x512xf32> into tensor<1x4x128xf32>
  %f = tensor.empty() : tensor<1x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<1x4xf32>) -> tensor<1x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<1x4x128xf32>) outs(%zeros : tensor<1x4xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<1x4xf32>
  %te = tensor.empty() : tensor<4x1xf32>
  %tr = linalg.transpose ins(%s : tensor<1x4xf32>) outs(%te : tensor<4x1xf32>) permutation = [1, 0]
  return %tr : tensor<4x1xf32>
}

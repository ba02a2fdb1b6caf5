// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=2000
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=2000 --strided

// In tiles of 128 rows and 4 groups, as tensor cores read them: that of row r and
// group k at [r / 128, k / 4, r % 32, r / 32 % 4, k % 4] (cuBLAS, "1D Block Scaling
// Factors Layout": https://docs.nvidia.com/cuda/cublas/index.html#d-block-scaling-factors-layout).
// CHECK: rmsnorm.rows sizes [%{{.*}}, 128] columns [32, 32]
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_store group %{{.*}}, %{{.*}}[%[[T:.*]]] map(r0, r1, g) -> (r0, g floordiv 4, r1 mod 32, r1 floordiv 32, g mod 4) : vector<1x32x1xf8E8M0FNU>, memref<?x8x32x4x4xf8E8M0FNU, strided<[?, ?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%[[T]]] : vector<1x32x32xf8E4M3FN>
#row2 = affine_map<(i, j, k) -> (i, j, k)>
#group2 = affine_map<(i, j, k, l) -> (i, j, k)>
#element2 = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @blocks(%x: tensor<?x128x1024xbf16>, %w: tensor<1024xbf16>) -> (tensor<?x128x1024xf8E4M3FN>, tensor<?x8x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x128x1024xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b) : tensor<?x128x1024xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128x1024xbf16>) weight(%w : tensor<1024xbf16>) output(%e : tensor<?x128x1024xf32>) eps = 1.0e-05 -> tensor<?x128x1024xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, 128, 32, 32] : tensor<?x128x1024xf32> into tensor<?x128x32x32xf32>
  %f = tensor.empty(%b) : tensor<?x128x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x128x32xf32>) -> tensor<?x128x32xf32>
  %largest = linalg.generic {indexing_maps = [#element2, #group2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x128x32x32xf32>) outs(%zeros : tensor<?x128x32xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x128x32xf32>
  %se = tensor.empty(%b) : tensor<?x128x32xf8E8M0FNU>
  %scale = linalg.generic {indexing_maps = [#row2, #row2], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%largest : tensor<?x128x32xf32>) outs(%se : tensor<?x128x32xf8E8M0FNU>) {
  ^bb0(%size: f32, %out: f8E8M0FNU):
    %floor = arith.constant 1.0e-12 : f32
    %share = arith.constant 2.23214296e-03 : f32 // 1 / 448
    %part = arith.mulf %size, %share : f32
    %positive = arith.maximumf %part, %floor : f32
    %byte = arith.truncf %positive upward : f32 to f8E8M0FNU
    linalg.yield %byte : f8E8M0FNU
  } -> tensor<?x128x32xf8E8M0FNU>
  %qe = tensor.empty(%b) : tensor<?x128x32x32xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#element2, #group2, #element2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%groups, %scale : tensor<?x128x32x32xf32>, tensor<?x128x32xf8E8M0FNU>) outs(%qe : tensor<?x128x32x32xf8E4M3FN>) {
  ^bb0(%value: f32, %s: f8E8M0FNU, %out: f8E4M3FN):
    %sf = arith.extf %s : f8E8M0FNU to f32
    %quotient = arith.divf %value, %sf : f32
    %byte = arith.truncf %quotient : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x128x32x32xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1], [2, 3]] : tensor<?x128x32x32xf8E4M3FN> into tensor<?x128x1024xf8E4M3FN>
  %x5 = tensor.expand_shape %scale [[0], [1, 2], [3, 4]] output_shape [%b, 4, 32, 8, 4] : tensor<?x128x32xf8E8M0FNU> into tensor<?x4x32x8x4xf8E8M0FNU>
  %te = tensor.empty(%b) : tensor<?x8x32x4x4xf8E8M0FNU>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x8x4xf8E8M0FNU>) outs(%te : tensor<?x8x32x4x4xf8E8M0FNU>) permutation = [0, 3, 2, 1, 4]
  return %whole, %t : tensor<?x128x1024xf8E4M3FN>, tensor<?x8x32x4x4xf8E8M0FNU>
}

// to_blocked of torchao: two transposes with reshapes between, flat in the end; and
// as they are, too.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} : vector<1x16x1xf32>, memref<384x16xf32, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x16x1xf32>, memref<3x4x32x4x4xf32>
func.func @to_blocked(%x: tensor<384x512xbf16>) -> (tensor<6144xf32>, tensor<384x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384x512xf32>
  %y = rmsnorm.forward input(%x : tensor<384x512xbf16>) output(%e : tensor<384x512xf32>) eps = 1.0e-05 -> tensor<384x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [384, 16, 32] : tensor<384x512xf32> into tensor<384x16x32xf32>
  %f = tensor.empty() : tensor<384x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<384x16xf32>) -> tensor<384x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<384x16x32xf32>) outs(%zeros : tensor<384x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<384x16xf32>
  %x4 = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [3, 128, 4, 4] : tensor<384x16xf32> into tensor<3x128x4x4xf32>
  %e4 = tensor.empty() : tensor<3x4x128x4xf32>
  %t4 = linalg.transpose ins(%x4 : tensor<3x128x4x4xf32>) outs(%e4 : tensor<3x4x128x4xf32>) permutation = [0, 2, 1, 3]
  %f4 = tensor.collapse_shape %t4 [[0, 1], [2], [3]] : tensor<3x4x128x4xf32> into tensor<12x128x4xf32>
  %x5 = tensor.expand_shape %f4 [[0], [1, 2], [3]] output_shape [12, 4, 32, 4] : tensor<12x128x4xf32> into tensor<12x4x32x4xf32>
  %e5 = tensor.empty() : tensor<12x32x4x4xf32>
  %t5 = linalg.transpose ins(%x5 : tensor<12x4x32x4xf32>) outs(%e5 : tensor<12x32x4x4xf32>) permutation = [0, 2, 1, 3]
  %t = tensor.collapse_shape %t5 [[0, 1, 2, 3]] : tensor<12x32x4x4xf32> into tensor<6144xf32>
  return %t, %s : tensor<6144xf32>, tensor<384x16xf32>
}

// Fewer rows than their tiles have: what the others hold stays.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x16x1xf32>, memref<?x4x32x4x4xf32, strided<[?, ?, ?, ?, 1]>>
func.func @fewer(%x: tensor<?x512xbf16>, %old: tensor<?x4x32x4x4xf32>) -> tensor<?x4x32x4x4xf32> {
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
  %b = tensor.dim %old, %c0 : tensor<?x4x32x4x4xf32>
  %ue = tensor.empty(%b) : tensor<?x4x32x4x4xf32>
  %u = linalg.transpose ins(%old : tensor<?x4x32x4x4xf32>) outs(%ue : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  %all = tensor.collapse_shape %u [[0, 1, 2], [3, 4]] : tensor<?x4x32x4x4xf32> into tensor<?x16xf32>
  %some = tensor.insert_slice %s into %all[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
  %x5 = tensor.expand_shape %some [[0, 1, 2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x16xf32> into tensor<?x4x32x4x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x4x4xf32>) outs(%old : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %t : tensor<?x4x32x4x4xf32>
}

// All rows of all batches, with no more than they need of a tile.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r0, r1, g) -> (g floordiv 4, r1, r0, g mod 4) : vector<1x16x1xf32>, memref<4x32x2x4xf32, strided<[?, ?, ?, 1]>>
func.func @all_batches(%x: tensor<2x32x512xbf16>) -> tensor<1x4x32x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32x512xf32>
  %y = rmsnorm.forward input(%x : tensor<2x32x512xbf16>) output(%e : tensor<2x32x512xf32>) eps = 1.0e-05 -> tensor<2x32x512xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [2, 32, 16, 32] : tensor<2x32x512xf32> into tensor<2x32x16x32xf32>
  %f = tensor.empty() : tensor<2x32x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<2x32x16x32xf32>) outs(%zeros : tensor<2x32x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<2x32x16xf32>
  %flat = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x32x16xf32> into tensor<64x16xf32>
  %x5 = tensor.expand_shape %flat [[0, 1, 2], [3, 4]] output_shape [1, 2, 32, 4, 4] : tensor<64x16xf32> into tensor<1x2x32x4x4xf32>
  %te = tensor.empty() : tensor<1x4x32x2x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<1x2x32x4x4xf32>) outs(%te : tensor<1x4x32x2x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %t : tensor<1x4x32x2x4xf32>
}

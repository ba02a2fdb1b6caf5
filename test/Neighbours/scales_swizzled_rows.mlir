// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=130,256 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=256
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=130 | FileCheck %s --check-prefix=NEXT
// RUN: not norm-run %s --device=sim:sm_90 --dim=s0=256 --dim=s1=4 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not norm-run %s --device=sim:sm_90 --dim=s0=300 2>&1 | FileCheck %s --check-prefix=REST
// NEXT: rows 8x32x16 {{.*}} ok
// SMALL: entry 'rows': argument 'result0': expected size 8 in dimension 0, {{.*}}, got 4
// REST: entry 'rows': argument 'input': expected size 256 in dimension 0, {{.*}}, got 300

// A number of rows that is known to be a multiple of 128 at the call only.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x16x1xf32>, memref<?x4x32x4x4xf32
func.func @rows(%x: tensor<?x512xbf16>) -> tensor<?x32x16xf32> {
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
  %c128 = arith.constant 128 : index
  %b = arith.divui %m, %c128 : index
  %x5 = tensor.expand_shape %s [[0, 1, 2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x16xf32> into tensor<?x4x32x4x4xf32>
  %te = tensor.empty(%b) : tensor<?x4x32x4x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x4x4xf32>) outs(%te : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  %flat = tensor.collapse_shape %t [[0, 1], [2], [3, 4]] : tensor<?x4x32x4x4xf32> into tensor<?x32x16xf32>
  return %flat : tensor<?x32x16xf32>
}

// The same as torchao's to_blocked says it.
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_store group %{{.*}} map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x16x1xf32>, memref<?x4x32x4x4xf32
func.func @to_blocked_rows(%x: tensor<?x512xbf16>) -> tensor<?x32x16xf32> {
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
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %b = arith.divui %m, %c128 : index
  %b4 = arith.muli %b, %c4 : index
  %x4 = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [%b, 128, 4, 4] : tensor<?x16xf32> into tensor<?x128x4x4xf32>
  %e4 = tensor.empty(%b) : tensor<?x4x128x4xf32>
  %t4 = linalg.transpose ins(%x4 : tensor<?x128x4x4xf32>) outs(%e4 : tensor<?x4x128x4xf32>) permutation = [0, 2, 1, 3]
  %f4 = tensor.collapse_shape %t4 [[0, 1], [2], [3]] : tensor<?x4x128x4xf32> into tensor<?x128x4xf32>
  %x5 = tensor.expand_shape %f4 [[0], [1, 2], [3]] output_shape [%b4, 4, 32, 4] : tensor<?x128x4xf32> into tensor<?x4x32x4xf32>
  %e5 = tensor.empty(%b4) : tensor<?x32x4x4xf32>
  %t5 = linalg.transpose ins(%x5 : tensor<?x4x32x4xf32>) outs(%e5 : tensor<?x32x4x4xf32>) permutation = [0, 2, 1, 3]
  %t = tensor.collapse_shape %t5 [[0], [1], [2, 3]] : tensor<?x32x4x4xf32> into tensor<?x32x16xf32>
  return %t : tensor<?x32x16xf32>
}

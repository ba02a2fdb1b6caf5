// Found by an attack on scatters: what is scattered into is filled, sizes that only
// the cache says, a cache that is returned in another shape, positions of a batch.
// RUN: norm-run %s --device=sim:sm_90,sim:gfx942 --rows=9
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %S/Inputs/scattered_into_fill.mlir | FileCheck %s --check-prefix=SAME
// SAME: {{^}}1 results, 0 wrong

// Two scatters into one tensor would store in an order.
// RUN: not norm-compile %S/Inputs/scattered_twice.mlir --target=sm_90 -o %t.rmsn 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}rmsnorm.scatter{{.*}}: it writes where another result is written, too
// TWICE-NOT: error
func.func @dest_fill(%x: tensor<?x128xf32>, %s: tensor<?xi64>) -> (tensor<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %z0 = arith.constant 0.0 : f32
  %c_ = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%z0 : f32) outs(%c_ : tensor<64x128xf32>) -> tensor<64x128xf32>
  %e_y = tensor.empty(%n) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e_y : tensor<?x128xf32>) eps = 1.0e-3 -> tensor<?x128xf32>
  %r = rmsnorm.scatter %y into %c at(%s : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
func.func @mm_heads(%x: tensor<?x?x64xf32>, %c: tensor<?x4x64xf32>, %s: tensor<?xi64>) -> (tensor<?x4x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %k0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %k0 : tensor<?x?x64xf32>
  %k1 = arith.constant 1 : index
  %m1 = tensor.dim %x, %k1 : tensor<?x?x64xf32>
  %ey = tensor.empty(%m0, %m1) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x64xf32>) output(%ey : tensor<?x?x64xf32>) eps = 1.0e-3 -> tensor<?x?x64xf32>
  %r = rmsnorm.scatter %y into %c at(%s : tensor<?xi64>) dims [0] : tensor<?x?x64xf32> into tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>
}
func.func @e1(%a0: tensor<1x16xbf16>, %a1: tensor<?x16xbf16>, %a2: tensor<1xi64>) -> (tensor<?x4x4xbf16>) {
  %v3 = tensor.expand_shape %a0 [[0], [1, 2]] output_shape [1, 4, 4] : tensor<1x16xbf16> into tensor<1x4x4xbf16>
  %ids4 = arith.constant 0 : index
  %ds4 = tensor.dim %a1, %ids4 : tensor<?x16xbf16>
  %v5 = tensor.expand_shape %a1 [[0], [1, 2]] output_shape [%ds4, 4, 4] : tensor<?x16xbf16> into tensor<?x4x4xbf16>
  %v9 = tensor.empty() : tensor<1x4x4xbf16>
  %v10 = rmsnorm.forward input(%v3 : tensor<1x4x4xbf16>) output(%v9 : tensor<1x4x4xbf16>) eps = 1.0e-03 -> tensor<1x4x4xbf16>
  %v12 = rmsnorm.scatter %v10 into %v5 at(%a2 : tensor<1xi64>) dims [0] : tensor<1x4x4xbf16> into tensor<?x4x4xbf16>
  return %v12 : tensor<?x4x4xbf16>
}
func.func @batch_own_cache(%x: tensor<2x?x128xf32>, %c: tensor<2x?x128xf32>, %s: tensor<2xi64>, %p: tensor<?xi64>) -> (tensor<2x?x128xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x128xf32>
  %ey = tensor.empty(%n) : tensor<2x?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<2x?x128xf32>) output(%ey : tensor<2x?x128xf32>) eps = 1.0e-3 -> tensor<2x?x128xf32>
  %eb = tensor.empty(%n) : tensor<2x?xi64>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2xi64>) outs(%eb : tensor<2x?xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<2x?xi64>
  %ef = tensor.empty(%n) : tensor<2x?xi64>
  %f = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?xi64>) outs(%ef : tensor<2x?xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<2x?xi64>
  %r = rmsnorm.scatter %y into %c at(%b, %f : tensor<2x?xi64>, tensor<2x?xi64>) dims [0, 1] : tensor<2x?x128xf32> into tensor<2x?x128xf32>
  return %r : tensor<2x?x128xf32>
}

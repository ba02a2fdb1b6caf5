// Rows go into caches at slots that the host computes, some negative: k is normed,
// v is only stored, which is a kernel, too, as nobody else has one for it.
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %s | FileCheck %s --check-prefix=SAME
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:gfx942,gpu %s | FileCheck %s --check-prefix=SAME
// SAME: {{^}}4 results, 0 wrong
#one = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @rows(
// CHECK:         linalg.generic
// CHECK:         rmsnorm.rows {{.*}} columns(64)
// CHECK:         rmsnorm.tile_store tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) map(r0, r1, c)[i] -> (i, r1, c) skip_negative
// CHECK:         rmsnorm.rows {{.*}} columns(64)
// CHECK:         rmsnorm.tile_store tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) map(r0, r1, c)[i] -> (i, r1, c) skip_negative
// CHECK-NOT:     rmsnorm.scatter
func.func @rows(%k: tensor<?x8x64xbf16>, %v: tensor<?x8x64xbf16>, %w: tensor<64xbf16>, %keys: tensor<16x8x64xbf16>, %values: tensor<16x8x64xbf16>) -> (tensor<16x8x64xbf16>, tensor<16x8x64xbf16>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %k, %c0 : tensor<?x8x64xbf16>
  %none = tensor.empty(%t) : tensor<?xi64>
  %slots = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%none : tensor<?xi64>) {
  ^bb0(%z: i64):
    %i = linalg.index 0 : index
    %c5 = arith.constant 5 : index
    %c2 = arith.constant 2 : index
    %c13 = arith.constant 13 : index
    %a = arith.muli %i, %c5 : index
    %b = arith.remui %a, %c13 : index
    %c = arith.subi %b, %c2 : index
    %d = arith.index_cast %c : index to i64
    linalg.yield %d : i64
  } -> tensor<?xi64>
  %e = tensor.empty(%t) : tensor<?x8x64xbf16>
  %n = rmsnorm.forward input(%k : tensor<?x8x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x8x64xbf16>) eps = 1.0e-06 -> tensor<?x8x64xbf16>
  %newk = rmsnorm.scatter %n into %keys at(%slots : tensor<?xi64>) dims [0] skip_negative : tensor<?x8x64xbf16> into tensor<16x8x64xbf16>
  %newv = rmsnorm.scatter %v into %values at(%slots : tensor<?xi64>) dims [0] skip_negative : tensor<?x8x64xbf16> into tensor<16x8x64xbf16>
  return %newk, %newv : tensor<16x8x64xbf16>, tensor<16x8x64xbf16>
}

// A scatter of columns is in no kernel; it is loops on the host. The cache is read
// beside: its rows are those that were there.
// CHECK-LABEL: func.func @rest(
// CHECK:         rmsnorm.rows
// CHECK:         scf.for
// CHECK:         tensor.insert_slice
// CHECK-NOT:     scatter
func.func @rest(%x: tensor<8x64xf32>, %cache: tensor<64x9xf32>, %rows: tensor<9x64xf32>) -> (tensor<64x9xf32>, tensor<9x64xf32>) {
  %slots = arith.constant dense<[3, 1, 8, 0, 4, 6, 2, 5]> : tensor<8xi64>
  %at = arith.constant dense<[[2], [0], [7], [3], [8], [1], [6], [4]]> : tensor<8x1xi64>
  %e = tensor.empty() : tensor<8x64xf32>
  %old = tensor.extract_slice %rows[1, 0] [8, 64] [1, 1] : tensor<9x64xf32> to tensor<8x64xf32>
  %y = rmsnorm.forward input(%old : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-06 -> tensor<8x64xf32>
  %columns = rmsnorm.scatter %y into %cache at(%slots : tensor<8xi64>) dims [1] : tensor<8x64xf32> into tensor<64x9xf32>
  %y1 = tensor.expand_shape %y [[0], [1, 2]] output_shape [8, 1, 64] : tensor<8x64xf32> into tensor<8x1x64xf32>
  %new = tensor.scatter %y1 into %rows[%at] scatter_dims([0]) unique : (tensor<8x1x64xf32>, tensor<9x64xf32>, tensor<8x1xi64>) -> tensor<9x64xf32>
  return %columns, %new : tensor<64x9xf32>, tensor<9x64xf32>
}

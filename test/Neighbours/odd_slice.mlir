// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// A slice that begins where no vector does: element by element, whatever the
// alignment of the rows, and so is the row of a weight that has fewer.
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1], offset: 3>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16, strided<[1], offset: ?>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
func.func @odd_slice(%x: tensor<?x264xbf16>, %ws: tensor<3x256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x264xbf16>
  %a = tensor.extract_slice %x[0, 3] [%m, 256] [1, 1] : tensor<?x264xbf16> to tensor<?x256xbf16>
  %w = tensor.extract_slice %ws[1, 0] [1, 256] [1, 1] : tensor<3x256xbf16> to tensor<256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%a : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

// The first columns of heads that begin in the middle of a row: the last one
// has others after them, too.
// CHECK: rmsnorm.rows sizes [2] columns(3)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<2x3xf16, strided<[6, 1], offset: 12>>
// CHECK: rmsnorm.tile_store
func.func @heads_in_the_middle(%x: tensor<1x24xf16>) -> tensor<1x2x3xf16> {
  %middle = tensor.extract_slice %x[0, 12] [1, 12] [1, 1] : tensor<1x24xf16> to tensor<1x12xf16>
  %heads = tensor.expand_shape %middle [[0], [1, 2]] output_shape [1, 2, 6] : tensor<1x12xf16> into tensor<1x2x6xf16>
  %first = tensor.extract_slice %heads[0, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<1x2x6xf16> to tensor<1x2x3xf16>
  %empty = tensor.empty() : tensor<1x2x3xf16>
  %y = rmsnorm.forward input(%first : tensor<1x2x3xf16>) output(%empty : tensor<1x2x3xf16>) eps = 1.0e-03 -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}

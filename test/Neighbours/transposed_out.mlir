// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// Heads in front of positions: rows are written in another order.
// CHECK: %[[Y:.*]] = memref.transpose %{{[a-z0-9]*}} (d0, d1, d2, d3) -> (d0, d2, d1, d3) : memref<?x8x?x64xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 8] columns(64) buffers({{.*}}, write %[[Y]] : memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<64xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x64xbf16>, memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>
func.func @transposed_out(%x: tensor<?x?x8x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x8x?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8x64xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x8x64xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x8x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x8x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x?x8x64xbf16>) eps = 1.0e-05 -> tensor<?x?x8x64xbf16>
  %eh = tensor.empty(%b, %t) : tensor<?x8x?x64xbf16>
  %q = linalg.transpose ins(%y : tensor<?x?x8x64xbf16>) outs(%eh : tensor<?x8x?x64xbf16>) permutation = [0, 2, 1, 3]
  return %q : tensor<?x8x?x64xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// As exporters write Qwen's q: normed by heads of a token, which are transposed,
// then rotated. One kernel in the order of the tokens writes the other order.
// CHECK: %[[Y:.*]] = memref.transpose %{{.*}} (d0, d1, d2, d3) -> (d0, d2, d1, d3)
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 8] columns [2, 32] buffers({{.*}}, write %[[Y]] :
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<64xbf16>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r1, c) : memref<?x?x64xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, r2, c) -> (r0, r1, c) : memref<?x?x64xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x2x32xbf16>, memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#position = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
func.func @rope_heads(%x: tensor<?x?x8x64xbf16>, %w: tensor<64xbf16>, %cos: tensor<?x?x64xbf16>, %sin: tensor<?x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8x64xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x8x64xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x8x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x8x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x?x8x64xbf16>) eps = 1.0e-05 -> tensor<?x?x8x64xbf16>
  %eh = tensor.empty(%b, %t) : tensor<?x8x?x64xbf16>
  %e32 = tensor.empty(%b, %t) : tensor<?x8x?x32xbf16>
  %q = linalg.transpose ins(%y : tensor<?x?x8x64xbf16>) outs(%eh : tensor<?x8x?x64xbf16>) permutation = [0, 2, 1, 3]
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [%b, 8, %t, 32] [1, 1, 1, 1] : tensor<?x8x?x64xbf16> to tensor<?x8x?x32xbf16>
  %hi = tensor.extract_slice %q[0, 0, 0, 32] [%b, 8, %t, 32] [1, 1, 1, 1] : tensor<?x8x?x64xbf16> to tensor<?x8x?x32xbf16>
  %neg = linalg.negf ins(%hi : tensor<?x8x?x32xbf16>) outs(%e32 : tensor<?x8x?x32xbf16>) -> tensor<?x8x?x32xbf16>
  %h1 = tensor.insert_slice %neg into %eh[0, 0, 0, 0] [%b, 8, %t, 32] [1, 1, 1, 1] : tensor<?x8x?x32xbf16> into tensor<?x8x?x64xbf16>
  %half = tensor.insert_slice %lo into %h1[0, 0, 0, 32] [%b, 8, %t, 32] [1, 1, 1, 1] : tensor<?x8x?x32xbf16> into tensor<?x8x?x64xbf16>
  %o = linalg.generic {indexing_maps = [#id, #id, #position, #position, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %half, %cos, %sin : tensor<?x8x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x?x64xbf16>, tensor<?x?x64xbf16>) outs(%eh : tensor<?x8x?x64xbf16>) {
  ^bb0(%a: bf16, %h: bf16, %c: bf16, %s: bf16, %z: bf16):
    %p = arith.mulf %a, %c : bf16
    %r = arith.mulf %h, %s : bf16
    %v = arith.addf %p, %r : bf16
    linalg.yield %v : bf16
  } -> tensor<?x8x?x64xbf16>
  return %o : tensor<?x8x?x64xbf16>
}

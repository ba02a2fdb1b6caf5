// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate|row_reduce}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=0,1,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=1
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0

// The gradients of AdaLN's scale and shift, which are a batch's own: sums over
// the tokens of each, beside dx.
// CHECK-LABEL: func.func @adaln_backward(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(256)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<?x256xbf16
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, c) -> (r0, c) : vector<1x256xf32> into memref<?x256xf32
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, c) -> (r0, c) : vector<1x256xf32> into memref<?x256xf32
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#batch = affine_map<(d0, d1, d2) -> (d0, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @adaln_backward(%dy: tensor<?x?x256xbf16>, %x: tensor<?x?x256xbf16>, %scale: tensor<?x256xbf16>) -> (tensor<?x?x256xbf16>, tensor<?x256xf32>, tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  // dy of the norm: dy * (1 + scale).
  %e = tensor.empty(%b, %t) : tensor<?x?x256xf32>
  %g = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dy, %scale : tensor<?x?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x?x256xf32>) {
  ^bb0(%d: bf16, %s: bf16, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %s32 = arith.extf %s : bf16 to f32
    %one = arith.constant 1.0 : f32
    %s1 = arith.addf %one, %s32 : f32
    %r = arith.mulf %d32, %s1 : f32
    linalg.yield %r : f32
  } -> tensor<?x?x256xf32>
  %xe = tensor.empty(%b, %t) : tensor<?x?x256xbf16>
  %dx = rmsnorm.backward dy(%g : tensor<?x?x256xf32>) input(%x : tensor<?x?x256xbf16>) dx(%xe : tensor<?x?x256xbf16>) eps = 1.0e-05 -> tensor<?x?x256xbf16>
  %he = tensor.empty(%b, %t) : tensor<?x?x256xf32>
  %xhat = rmsnorm.forward input(%x : tensor<?x?x256xbf16>) output(%he : tensor<?x?x256xf32>) eps = 1.0e-05 -> tensor<?x?x256xf32>
  %de = tensor.empty(%b) : tensor<?x256xf32>
  %df = linalg.fill ins(%zero : f32) outs(%de : tensor<?x256xf32>) -> tensor<?x256xf32>
  %dscale = linalg.generic {indexing_maps = [#id, #id, #batch], iterator_types = ["parallel", "reduction", "parallel"]} ins(%dy, %xhat : tensor<?x?x256xbf16>, tensor<?x?x256xf32>) outs(%df : tensor<?x256xf32>) {
  ^bb0(%d: bf16, %h: f32, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %p = arith.mulf %d32, %h : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  %dshift = linalg.generic {indexing_maps = [#id, #batch], iterator_types = ["parallel", "reduction", "parallel"]} ins(%dy : tensor<?x?x256xbf16>) outs(%df : tensor<?x256xf32>) {
  ^bb0(%d: bf16, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %r = arith.addf %o, %d32 : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  return %dx, %dscale, %dshift : tensor<?x?x256xbf16>, tensor<?x256xf32>, tensor<?x256xf32>
}

// Each head's weight has a gradient of its own, added to what is there; a sum
// over all rows beside it.
// CHECK-LABEL: func.func @heads(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] segments [1] columns(64)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %[[DW:.*]] init(%[[DW]] : memref<4x64xf32, strided<[?, 1]>>) map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x64xf32> into memref<64xf32>
#head = affine_map<(d0, d1, d2) -> (d1, d2)>
#col = affine_map<(d0, d1, d2) -> (d2)>
func.func @heads(%dy: tensor<?x4x64xbf16>, %x: tensor<?x4x64xbf16>, %dw: tensor<4x64xf32>) -> (tensor<?x4x64xbf16>, tensor<4x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %xe = tensor.empty(%t) : tensor<?x4x64xbf16>
  %dx = rmsnorm.backward dy(%dy : tensor<?x4x64xbf16>) input(%x : tensor<?x4x64xbf16>) dx(%xe : tensor<?x4x64xbf16>) eps = 1.0e-05 -> tensor<?x4x64xbf16>
  %he = tensor.empty(%t) : tensor<?x4x64xf32>
  %xhat = rmsnorm.forward input(%x : tensor<?x4x64xbf16>) output(%he : tensor<?x4x64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #head], iterator_types = ["reduction", "parallel", "parallel"]} ins(%dy, %xhat : tensor<?x4x64xbf16>, tensor<?x4x64xf32>) outs(%dw : tensor<4x64xf32>) {
  ^bb0(%d: bf16, %h: f32, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %p = arith.mulf %d32, %h : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %be = tensor.empty() : tensor<64xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<64xf32>) -> tensor<64xf32>
  %db = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "reduction", "parallel"]} ins(%dy : tensor<?x4x64xbf16>) outs(%bf : tensor<64xf32>) {
  ^bb0(%d: bf16, %o: f32):
    %d32 = arith.extf %d : bf16 to f32
    %r = arith.addf %o, %d32 : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %dx, %s, %db : tensor<?x4x64xbf16>, tensor<4x64xf32>, tensor<64xf32>
}

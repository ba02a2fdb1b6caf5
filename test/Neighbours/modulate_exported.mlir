// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// As exporters write it: scale + 1 and the shift's type are computed apart, and
// a batch's row is broadcast from [B, 1, N].
// CHECK: rmsnorm.rows sizes [2, %{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<2x?x256xbf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<2x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<2x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<2x?x256xbf16, strided<[?, ?, 1]>>
func.func @modulate_exported(%x: tensor<2x?x256xbf16>, %scale: tensor<2x256xbf16>, %shift: tensor<2x256xbf16>) -> tensor<2x?x256xbf16> {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %t = tensor.dim %x, %c1 : tensor<2x?x256xbf16>
  %e = tensor.empty(%t) : tensor<2x?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<2x?x256xbf16>) output(%e : tensor<2x?x256xf32>) eps = 1.0e-05 -> tensor<2x?x256xf32>
  %e1 = tensor.empty() : tensor<2x1x256xf32>
  %scale1 = tensor.expand_shape %scale [[0], [1, 2]] output_shape [2, 1, 256] : tensor<2x256xbf16> into tensor<2x1x256xbf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scale1 : tensor<2x1x256xbf16>) outs(%e1 : tensor<2x1x256xf32>) {
  ^bb0(%a: bf16, %z: f32):
    %a32 = arith.extf %a : bf16 to f32
    %v = arith.addf %a32, %one : f32
    linalg.yield %v : f32
  } -> tensor<2x1x256xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<2x?x256xf32>, tensor<2x1x256xf32>) outs(%e : tensor<2x?x256xf32>) {
  ^bb0(%a: f32, %f: f32, %z: f32):
    %v = arith.mulf %a, %f : f32
    linalg.yield %v : f32
  } -> tensor<2x?x256xf32>
  %eh = tensor.empty() : tensor<2x256xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%shift : tensor<2x256xbf16>) outs(%eh : tensor<2x256xf32>) {
  ^bb0(%a: bf16, %z: f32):
    %v = arith.extf %a : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<2x256xf32>
  %h1 = tensor.expand_shape %h [[0], [1, 2]] output_shape [2, 1, 256] : tensor<2x256xf32> into tensor<2x1x256xf32>
  %o = tensor.empty(%t) : tensor<2x?x256xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scaled, %h1 : tensor<2x?x256xf32>, tensor<2x1x256xf32>) outs(%o : tensor<2x?x256xbf16>) {
  ^bb0(%a: f32, %f: f32, %z: bf16):
    %r = arith.addf %a, %f : f32
    %v = arith.truncf %r : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<2x?x256xbf16>
  return %q : tensor<2x?x256xbf16>
}

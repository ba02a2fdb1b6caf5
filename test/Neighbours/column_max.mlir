// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate|row_reduce}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=0,1,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %s --device=sim:sm_90 --rows=67 --schedule=cache=registers,column_operands=awaited
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=1
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0

// The largest magnitude of each column (SmoothQuant's statistics), the least
// value, combined by a later op with what they were before, and a sum of all
// elements.
// CHECK-LABEL: func.func @column_max(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce add(
// CHECK: rmsnorm.tile_load column
// CHECK: rmsnorm.tile_store tile
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} kind(maximumf) start(0.000000e+00) : vector<1x256xf32> into memref<256xf32>
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<256xbf16>) kind(minimumf) : vector<1x256xf32> into memref<256xbf16>
// CHECK: rmsnorm.row_reduce add(
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x1xf32> into memref<f32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0, d1) -> ()>
func.func @column_max(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %before: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<256xf32>, tensor<256xbf16>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 0x7F800000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %e1 = tensor.empty() : tensor<256xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256xf32>) -> tensor<256xf32>
  %max = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x256xbf16>) outs(%f1 : tensor<256xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %v32 = arith.extf %v : bf16 to f32
    %a = math.absf %v32 : f32
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %f2 = linalg.fill ins(%most : f32) outs(%e1 : tensor<256xf32>) -> tensor<256xf32>
  %min = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x256xbf16>) outs(%f2 : tensor<256xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %v32 = arith.extf %v : bf16 to f32
    %r = arith.minimumf %o, %v32 : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %e3 = tensor.empty() : tensor<256xbf16>
  %all = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%before, %min : tensor<256xbf16>, tensor<256xf32>) outs(%e3 : tensor<256xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %u = arith.extf %p : bf16 to f32
    %v = arith.minimumf %u, %q : f32
    %r = arith.truncf %v : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<256xbf16>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<?x256xbf16>) outs(%f0 : tensor<f32>) {
  ^bb0(%v: bf16, %o: f32):
    %v32 = arith.extf %v : bf16 to f32
    %r = arith.addf %o, %v32 : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %y, %max, %all, %sum : tensor<?x256xbf16>, tensor<256xf32>, tensor<256xbf16>, tensor<f32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate|row_reduce}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=19 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=19

// A maximum over all rows, of those of each: the output is stored with the pass
// over the columns that reduces them.
// CHECK-LABEL: func.func @amax_two_steps(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{.*}} : memref<?x?x256xf16, strided<[?, ?, 1]>>
// CHECK: rmsnorm.row_reduce add(
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xf16>
// CHECK: %[[MAX:.*]] = rmsnorm.row_reduce maximumf(%{{.*}}) : vector<1x256xf32> -> vector<1x1xf32>
// CHECK: rmsnorm.accumulate %[[MAX]] into %{{.*}} kind(maximumf) : vector<1x1xf32> into memref<f32>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#own = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @amax_two_steps(%x: tensor<?x?x256xf16>) -> (tensor<?x?x256xf16>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFF800000 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x256xf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x256xf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x256xf16>) output(%e : tensor<?x?x256xf16>) eps = 1.0e-05 -> tensor<?x?x256xf16>
  %e2 = tensor.empty(%b, %t) : tensor<?x?xf32>
  %f2 = linalg.fill ins(%least : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %rows = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<?x?x256xf16>) outs(%f2 : tensor<?x?xf32>) {
  ^bb0(%v: f16, %o: f32):
    %v32 = arith.extf %v : f16 to f32
    %a = math.absf %v32 : f32
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %amax = linalg.generic {indexing_maps = [#own, #none], iterator_types = ["reduction", "reduction"]} ins(%rows : tensor<?x?xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %o, %v : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %y, %amax : tensor<?x?x256xf16>, tensor<f32>
}

// The same of each row is wanted, too.
// CHECK-LABEL: func.func @and_rows(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.row_reduce add(
// CHECK: rmsnorm.tile_store tile
// CHECK: %[[MAX:.*]] = rmsnorm.row_reduce maximumf(
// CHECK: rmsnorm.tile_store row %[[MAX]], %{{.*}} : vector<1x1xf32>, memref<?xf32
// CHECK: rmsnorm.accumulate %[[MAX]] into %{{.*}} kind(maximumf)
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row2 = affine_map<(d0, d1) -> (d0)>
#own1 = affine_map<(d0) -> (d0)>
#none1 = affine_map<(d0) -> ()>
func.func @and_rows(%x: tensor<?x256xf16>) -> (tensor<?x256xf16>, tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%m) : tensor<?x256xf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xf16>) output(%e : tensor<?x256xf16>) eps = 1.0e-05 -> tensor<?x256xf16>
  %e2 = tensor.empty(%m) : tensor<?xf32>
  %f2 = linalg.fill ins(%least : f32) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x256xf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%v: f16, %o: f32):
    %v32 = arith.extf %v : f16 to f32
    %a = math.absf %v32 : f32
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %amax = linalg.generic {indexing_maps = [#own1, #none1], iterator_types = ["reduction"]} ins(%rows : tensor<?xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %o, %v : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %y, %rows, %amax : tensor<?x256xf16>, tensor<?xf32>, tensor<f32>
}

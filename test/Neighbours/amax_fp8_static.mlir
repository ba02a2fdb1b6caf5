// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate|row_reduce}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=0,1,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=1
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0

// fp8 with delayed scaling: the quantised output, and the largest magnitude of
// what was quantised, which the next step's scale is made of. One pass, and a
// value a block for a second launch to reduce.
// The maximum of x * w times what the norm multiplies it with is that of the
// products: it is taken where the row is summed.
// CHECK-LABEL: func.func @amax_fp8_static(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
// CHECK: rmsnorm.tile_load tile %{{.*}} : memref<?x512xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{.*}} : memref<512xbf16>
// CHECK: rmsnorm.row_reduce add(%{{.*}}), maximumf(%{{.*}}) : vector<1x512xf32>, vector<1x512xf32>
// CHECK: rmsnorm.tile_load row %{{.*}} : memref<f32> -> vector<1x1xf32>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x512xf8E4M3FN>
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} kind(maximumf) start(0.000000e+00) : vector<1x1xf32> into memref<f32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
#unit = affine_map<(d0, d1) -> (0)>
func.func @amax_fp8_static(%x: tensor<?x512xbf16>, %w: tensor<512xbf16>, %scale: tensor<f32>) -> (tensor<?x512xf8E4M3FN>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %e8 = tensor.empty(%m) : tensor<?x512xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %scale : tensor<?x512xf32>, tensor<f32>) outs(%e8 : tensor<?x512xf8E4M3FN>) {
  ^bb0(%v: f32, %s: f32, %o: f8E4M3FN):
    %least = arith.constant -448.0 : f32
    %most = arith.constant 448.0 : f32
    %scaled = arith.mulf %v, %s : f32
    %low = arith.maximumf %scaled, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x512xf8E4M3FN>
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %amax = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<?x512xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %a = math.absf %v : f32
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %q, %amax : tensor<?x512xf8E4M3FN>, tensor<f32>
}

// An entry of a history of maxima, of one element, updated in place; of what is
// rounded. A maximum that takes NaN for nothing begins with it.
// CHECK-LABEL: func.func @history(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
// CHECK: rmsnorm.tile_load tile %{{.*}} : memref<?x512xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.row_reduce add(
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x512xbf16>
// CHECK: %[[MAX:.*]]:2 = rmsnorm.row_reduce maxnumf(%{{.*}}), minnumf(%{{.*}}) : vector<1x512xf32>, vector<1x512xf32>
// CHECK: rmsnorm.accumulate %[[MAX]]#0 into %[[H:.*]] init(%[[H]] : memref<1xf32>) kind(maxnumf) : vector<1x1xf32> into memref<1xf32>
// CHECK: rmsnorm.accumulate %[[MAX]]#1 into %{{.*}} kind(minnumf) : vector<1x1xf32> into memref<1xf32>
func.func @history(%x: tensor<?x512xbf16>, %history: tensor<1xf32>) -> (tensor<?x512xbf16>, tensor<1xf32>, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %nan = arith.constant 0x7FC00000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x512xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xbf16>) eps = 1.0e-05 -> tensor<?x512xbf16>
  %amax = linalg.generic {indexing_maps = [#id, #unit], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<?x512xbf16>) outs(%history : tensor<1xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %v32 = arith.extf %v : bf16 to f32
    %a = math.absf %v32 : f32
    %r = arith.maxnumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<1xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %f1 = linalg.fill ins(%nan : f32) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %least = linalg.generic {indexing_maps = [#id, #unit], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<?x512xbf16>) outs(%f1 : tensor<1xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %v32 = arith.extf %v : bf16 to f32
    %r = arith.minnumf %o, %v32 : f32
    linalg.yield %r : f32
  } -> tensor<1xf32>
  return %y, %amax, %least : tensor<?x512xbf16>, tensor<1xf32>, tensor<1xf32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67,200,400 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=200 --dim=s1=2
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=67 --dim=s1=1

// Scales are padded to whole tiles of 128 rows with what is left undefined. The
// kernel writes only the others, and nothing else is compared.
// CHECK-LABEL: func @padded_scales
// CHECK-COUNT-1: rmsnorm.rows
// CHECK-NOT: rmsnorm.rows
func.func @padded_scales(%x: tensor<?x512xbf16>, %sf: tensor<?x8x32x4x4xf8E4M3FN>) -> (tensor<?x512xf4E2M1FN>, tensor<?x8x32x4x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %mt = tensor.dim %sf, %c0 : tensor<?x8x32x4x4xf8E4M3FN>
  %v1 = tensor.empty(%m) : tensor<?x512xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%v1 : tensor<?x512xf32>) eps = 1.000000000e-06 -> tensor<?x512xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [%m, 32, 16] : tensor<?x512xf32> into tensor<?x32x16xf32>
  %v4 = tensor.empty(%m) : tensor<?x32xf32>
  %v5 = arith.constant 0.000000000e+00 : f32
  %v6 = linalg.fill ins(%v5 : f32) outs(%v4 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(m, g, k) -> (m, g, k)>, affine_map<(m, g, k) -> (m, g)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v3 : tensor<?x32x16xf32>) outs(%v6 : tensor<?x32xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x32xf32>
  %v8 = tensor.empty(%m) : tensor<?x32xf8E4M3FN>
  %v9 = linalg.generic {indexing_maps = [affine_map<(m, g) -> (m, g)>, affine_map<(m, g) -> (m, g)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<?x32xf32>) outs(%v8 : tensor<?x32xf8E4M3FN>) {
  ^bb0(%i0: f32, %o0: f8E4M3FN):
    %b1 = arith.constant 1.666666667e-01 : f32
    %b2 = arith.mulf %i0, %b1 : f32
    %b3 = arith.constant 4.480000000e+02 : f32
    %b4 = arith.minimumf %b2, %b3 : f32
    %b5 = arith.truncf %b4 : f32 to f8E4M3FN
    linalg.yield %b5 : f8E4M3FN
  } -> tensor<?x32xf8E4M3FN>
  %v10 = tensor.empty(%m) : tensor<?x32x16xf4E2M1FN>
  %v11 = linalg.generic {indexing_maps = [affine_map<(m, g, k) -> (m, g, k)>, affine_map<(m, g, k) -> (m, g)>, affine_map<(m, g, k) -> (m, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v9 : tensor<?x32x16xf32>, tensor<?x32xf8E4M3FN>) outs(%v10 : tensor<?x32x16xf4E2M1FN>) {
  ^bb0(%i0: f32, %i1: f8E4M3FN, %o0: f4E2M1FN):
    %b1 = arith.extf %i1 : f8E4M3FN to f32
    %b2 = arith.constant 1.000000000e+00 : f32
    %b3 = arith.divf %b2, %b1 : f32
    %b5 = arith.constant 0.000000000e+00 : f32
    %b4 = arith.cmpf oeq, %b1, %b5 : f32
    %b6 = arith.select %b4, %b5, %b3 : f32
    %b7 = arith.mulf %i0, %b6 : f32
    %b8 = arith.truncf %b7 : f32 to f4E2M1FN
    linalg.yield %b8 : f4E2M1FN
  } -> tensor<?x32x16xf4E2M1FN>
  %v12 = tensor.collapse_shape %v11 [[0], [1, 2]] : tensor<?x32x16xf4E2M1FN> into tensor<?x512xf4E2M1FN>
  %c128x = arith.constant 128 : index
  %mp = arith.muli %mt, %c128x : index
  %v13 = tensor.empty(%mp) : tensor<?x32xf8E4M3FN>
  %v14 = tensor.insert_slice %v9 into %v13[0, 0] [%m, 32] [1, 1] : tensor<?x32xf8E4M3FN> into tensor<?x32xf8E4M3FN>
  %v15 = tensor.expand_shape %v14 [[0, 1, 2], [3, 4]] output_shape [%mt, 4, 32, 8, 4] : tensor<?x32xf8E4M3FN> into tensor<?x4x32x8x4xf8E4M3FN>
  %v16 = linalg.generic {indexing_maps = [affine_map<(t, g, i, k, j) -> (t, k, i, g, j)>, affine_map<(t, g, i, k, j) -> (t, g, i, k, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v15 : tensor<?x4x32x8x4xf8E4M3FN>) outs(%sf : tensor<?x8x32x4x4xf8E4M3FN>) {
  ^bb0(%i0: f8E4M3FN, %o0: f8E4M3FN):
    linalg.yield %i0 : f8E4M3FN
  } -> tensor<?x8x32x4x4xf8E4M3FN>
  return %v12, %v16 : tensor<?x512xf4E2M1FN>, tensor<?x8x32x4x4xf8E4M3FN>
}

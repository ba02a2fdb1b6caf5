// Groups of columns beside halves or pairs of rows: a rotation, then values that are quantised with a scale for each group.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37 --strided
// RUN: norm-compile %s --target=sim:sm_90,oracle --schedule=vector_width=4,threads_per_row=16 --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=37
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED --implicit-check-not=linalg.
// EMBED-COUNT-3: rmsnorm.rows

// mxfp8 after a rotation of halves.
// CHECK-LABEL: func.func @rope_mxfp8(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 8] columns [2, 2, 32]
// CHECK:         group_reduce maximumf
// CHECK:         tile_store group
func.func @rope_mxfp8(%q: tensor<?x8x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x8x128xf8E4M3FN>, tensor<?x8x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x8x128xbf16>
  %v1 = tensor.empty(%m) : tensor<?x8x128xf32>
  %v2 = rmsnorm.forward input(%q : tensor<?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%v1 : tensor<?x8x128xf32>) eps = 1.000000000e-06 -> tensor<?x8x128xf32>
  %v3 = tensor.extract_slice %v2[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v4 = tensor.extract_slice %v2[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %v5 = tensor.empty(%m) : tensor<?x8x64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v4, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v5 : tensor<?x8x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x8x64xf32>
  %v7 = tensor.empty(%m) : tensor<?x8x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v4, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v7 : tensor<?x8x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i1, %i2 : f32
    %b2 = arith.mulf %i0, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x8x64xf32>
  %v9 = tensor.empty(%m) : tensor<?x8x128xf32>
  %v10 = tensor.insert_slice %v6 into %v9[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v11 = tensor.insert_slice %v8 into %v10[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> into tensor<?x8x128xf32>
  %v12 = tensor.expand_shape %v11 [[0], [1], [2, 3]] output_shape [%m, 8, 4, 32] : tensor<?x8x128xf32> into tensor<?x8x4x32xf32>
  %v13 = tensor.empty(%m) : tensor<?x8x4xf32>
  %v14 = arith.constant 0.000000000e+00 : f32
  %v15 = linalg.fill ins(%v14 : f32) outs(%v13 : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v12 : tensor<?x8x4x32xf32>) outs(%v15 : tensor<?x8x4xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x8x4xf32>
  %v17 = tensor.empty(%m) : tensor<?x8x4xf8E8M0FNU>
  %v18 = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v16 : tensor<?x8x4xf32>) outs(%v17 : tensor<?x8x4xf8E8M0FNU>) {
  ^bb0(%i0: f32, %o0: f8E8M0FNU):
    %b1 = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %b1 : f32
    %b3 = arith.truncf %b2 upward : f32 to f8E8M0FNU
    linalg.yield %b3 : f8E8M0FNU
  } -> tensor<?x8x4xf8E8M0FNU>
  %v19 = tensor.empty(%m) : tensor<?x8x4x32xf8E4M3FN>
  %v20 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v12, %v18 : tensor<?x8x4x32xf32>, tensor<?x8x4xf8E8M0FNU>) outs(%v19 : tensor<?x8x4x32xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f8E8M0FNU, %o0: f8E4M3FN):
    %b1 = arith.extf %i1 : f8E8M0FNU to f32
    %b2 = arith.constant 1.000000000e+00 : f32
    %b3 = arith.divf %b2, %b1 : f32
    %b4 = arith.mulf %i0, %b3 : f32
    %b5 = arith.constant -4.480000000e+02 : f32
    %b6 = arith.maximumf %b4, %b5 : f32
    %b7 = arith.constant 4.480000000e+02 : f32
    %b8 = arith.minimumf %b6, %b7 : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x8x4x32xf8E4M3FN>
  %v21 = tensor.collapse_shape %v20 [[0], [1], [2, 3]] : tensor<?x8x4x32xf8E4M3FN> into tensor<?x8x128xf8E4M3FN>
  return %v21, %v18 : tensor<?x8x128xf8E4M3FN>, tensor<?x8x4xf8E8M0FNU>
}

// Pairs, with a factor for each group, the rotated rows returned, too.
// CHECK-LABEL: func.func @pairs(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 3] columns [8, 8, 2]
// CHECK:         tile_load group
func.func @pairs(%q: tensor<?x3x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>, %gn: tensor<?x3x8xf32>) -> (tensor<?x3x128xf8E4M3FN>, tensor<?x3x8xf32>, tensor<?x3x128xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x3x128xbf16>
  %e = tensor.empty(%m) : tensor<?x3x128xf32>
  %y = rmsnorm.forward input(%q : tensor<?x3x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x3x128xf32>) eps = 1.0e-6 -> tensor<?x3x128xf32>
  %a = tensor.extract_slice %y[0, 0, 0] [%m, 3, 64] [1, 1, 2] : tensor<?x3x128xf32> to tensor<?x3x64xf32>
  %b = tensor.extract_slice %y[0, 0, 1] [%m, 3, 64] [1, 1, 2] : tensor<?x3x128xf32> to tensor<?x3x64xf32>
  %eh = tensor.empty(%m) : tensor<?x3x64xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x3x64xf32>, tensor<?x3x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%eh : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %a, %cos, %sin : tensor<?x3x64xf32>, tensor<?x3x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%eh : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x64xf32>
  %z0 = tensor.insert_slice %u into %e[0, 0, 0] [%m, 3, 64] [1, 1, 2] : tensor<?x3x64xf32> into tensor<?x3x128xf32>
  %z = tensor.insert_slice %v into %z0[0, 0, 1] [%m, 3, 64] [1, 1, 2] : tensor<?x3x64xf32> into tensor<?x3x128xf32>
  %x4 = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [%m, 3, 8, 16] : tensor<?x3x128xf32> into tensor<?x3x8x16xf32>
  %zero = arith.constant 0.0 : f32
  %egs = tensor.empty(%m) : tensor<?x3x8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%egs : tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %am = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x4 : tensor<?x3x8x16xf32>) outs(%fill : tensor<?x3x8xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x3x8xf32>
  %esc = tensor.empty(%m) : tensor<?x3x8xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%am, %gn : tensor<?x3x8xf32>, tensor<?x3x8xf32>) outs(%esc : tensor<?x3x8xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f32):
    %k = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %k : f32
    %b3 = arith.mulf %b2, %i1 : f32
    %b4 = arith.addf %b3, %k : f32
    linalg.yield %b4 : f32
  } -> tensor<?x3x8xf32>
  %eq = tensor.empty(%m) : tensor<?x3x8x16xf8E4M3FN>
  %q4 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x4, %sc : tensor<?x3x8x16xf32>, tensor<?x3x8xf32>) outs(%eq : tensor<?x3x8x16xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f8E4M3FN):
    %o = arith.constant 1.0 : f32 %s = arith.mulf %i1, %o : f32
    %b4 = arith.divf %i0, %s : f32
    %lo = arith.constant -448.0 : f32
    %b6 = arith.maximumf %b4, %lo : f32
    %hi = arith.constant 448.0 : f32
    %b8 = arith.minimumf %b6, %hi : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x3x8x16xf8E4M3FN>
  %r = tensor.collapse_shape %q4 [[0], [1], [2, 3]] : tensor<?x3x8x16xf8E4M3FN> into tensor<?x3x128xf8E4M3FN>
  %yb = arith.truncf %z : tensor<?x3x128xf32> to tensor<?x3x128xbf16>
  return %r, %sc, %yb : tensor<?x3x128xf8E4M3FN>, tensor<?x3x8xf32>, tensor<?x3x128xbf16>
}

// Halves that no power of two of threads shares out.
// CHECK-LABEL: func.func @halves_of_40(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 5, 8]
func.func @halves_of_40(%q: tensor<?x3x80xbf16>, %w: tensor<80xbf16>, %cos: tensor<?x40xf32>, %sin: tensor<?x40xf32>) -> (tensor<?x3x80xf8E4M3FN>, tensor<?x3x10xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x3x80xbf16>
  %e = tensor.empty(%m) : tensor<?x3x80xf32>
  %y = rmsnorm.forward input(%q : tensor<?x3x80xbf16>) weight(%w : tensor<80xbf16>) output(%e : tensor<?x3x80xf32>) eps = 1.0e-6 -> tensor<?x3x80xf32>
  %a = tensor.extract_slice %y[0, 0, 0] [%m, 3, 40] [1, 1, 1] : tensor<?x3x80xf32> to tensor<?x3x40xf32>
  %b = tensor.extract_slice %y[0, 0, 40] [%m, 3, 40] [1, 1, 1] : tensor<?x3x80xf32> to tensor<?x3x40xf32>
  %eh = tensor.empty(%m) : tensor<?x3x40xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x3x40xf32>, tensor<?x3x40xf32>, tensor<?x40xf32>, tensor<?x40xf32>) outs(%eh : tensor<?x3x40xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x40xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %a, %cos, %sin : tensor<?x3x40xf32>, tensor<?x3x40xf32>, tensor<?x40xf32>, tensor<?x40xf32>) outs(%eh : tensor<?x3x40xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x40xf32>
  %z0 = tensor.insert_slice %u into %e[0, 0, 0] [%m, 3, 40] [1, 1, 1] : tensor<?x3x40xf32> into tensor<?x3x80xf32>
  %z = tensor.insert_slice %v into %z0[0, 0, 40] [%m, 3, 40] [1, 1, 1] : tensor<?x3x40xf32> into tensor<?x3x80xf32>
  %x4 = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [%m, 3, 10, 8] : tensor<?x3x80xf32> into tensor<?x3x10x8xf32>
  %zero = arith.constant 0.0 : f32
  %egs = tensor.empty(%m) : tensor<?x3x10xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%egs : tensor<?x3x10xf32>) -> tensor<?x3x10xf32>
  %am = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x4 : tensor<?x3x10x8xf32>) outs(%fill : tensor<?x3x10xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x3x10xf32>
  %esc = tensor.empty(%m) : tensor<?x3x10xf8E8M0FNU>
  %sc = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%am : tensor<?x3x10xf32>) outs(%esc : tensor<?x3x10xf8E8M0FNU>) {
  ^bb0(%i0: f32, %o0: f8E8M0FNU):
    %k = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %k : f32
    
    %b4 = arith.truncf %b2 upward : f32 to f8E8M0FNU
    linalg.yield %b4 : f8E8M0FNU
  } -> tensor<?x3x10xf8E8M0FNU>
  %eq = tensor.empty(%m) : tensor<?x3x10x8xf8E4M3FN>
  %q4 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x4, %sc : tensor<?x3x10x8xf32>, tensor<?x3x10xf8E8M0FNU>) outs(%eq : tensor<?x3x10x8xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f8E8M0FNU, %o0: f8E4M3FN):
    %s = arith.extf %i1 : f8E8M0FNU to f32
    %b4 = arith.divf %i0, %s : f32
    %lo = arith.constant -448.0 : f32
    %b6 = arith.maximumf %b4, %lo : f32
    %hi = arith.constant 448.0 : f32
    %b8 = arith.minimumf %b6, %hi : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x3x10x8xf8E4M3FN>
  %r = tensor.collapse_shape %q4 [[0], [1], [2, 3]] : tensor<?x3x10x8xf8E4M3FN> into tensor<?x3x80xf8E4M3FN>
  return %r, %sc : tensor<?x3x80xf8E4M3FN>, tensor<?x3x10xf8E8M0FNU>
}

// As many groups as a half has columns.
// CHECK-LABEL: func.func @as_many_groups(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 32, 2]
func.func @as_many_groups(%q: tensor<?x3x128xbf16>, %w: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x3x128xf8E4M3FN>, tensor<?x3x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x3x128xbf16>
  %e = tensor.empty(%m) : tensor<?x3x128xf32>
  %y = rmsnorm.forward input(%q : tensor<?x3x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x3x128xf32>) eps = 1.0e-6 -> tensor<?x3x128xf32>
  %a = tensor.extract_slice %y[0, 0, 0] [%m, 3, 64] [1, 1, 1] : tensor<?x3x128xf32> to tensor<?x3x64xf32>
  %b = tensor.extract_slice %y[0, 0, 64] [%m, 3, 64] [1, 1, 1] : tensor<?x3x128xf32> to tensor<?x3x64xf32>
  %eh = tensor.empty(%m) : tensor<?x3x64xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x3x64xf32>, tensor<?x3x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%eh : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %a, %cos, %sin : tensor<?x3x64xf32>, tensor<?x3x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%eh : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    linalg.yield %b3 : f32
  } -> tensor<?x3x64xf32>
  %z0 = tensor.insert_slice %u into %e[0, 0, 0] [%m, 3, 64] [1, 1, 1] : tensor<?x3x64xf32> into tensor<?x3x128xf32>
  %z = tensor.insert_slice %v into %z0[0, 0, 64] [%m, 3, 64] [1, 1, 1] : tensor<?x3x64xf32> into tensor<?x3x128xf32>
  %x4 = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [%m, 3, 64, 2] : tensor<?x3x128xf32> into tensor<?x3x64x2xf32>
  %zero = arith.constant 0.0 : f32
  %egs = tensor.empty(%m) : tensor<?x3x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%egs : tensor<?x3x64xf32>) -> tensor<?x3x64xf32>
  %am = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x4 : tensor<?x3x64x2xf32>) outs(%fill : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x3x64xf32>
  %esc = tensor.empty(%m) : tensor<?x3x64xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(m, h, g) -> (m, h, g)>, affine_map<(m, h, g) -> (m, h, g)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%am : tensor<?x3x64xf32>) outs(%esc : tensor<?x3x64xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %k = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %k : f32
    
    %b4 = arith.addf %b2, %k : f32
    linalg.yield %b4 : f32
  } -> tensor<?x3x64xf32>
  %eq = tensor.empty(%m) : tensor<?x3x64x2xf8E4M3FN>
  %q4 = linalg.generic {indexing_maps = [affine_map<(m, h, g, k) -> (m, h, g, k)>, affine_map<(m, h, g, k) -> (m, h, g)>, affine_map<(m, h, g, k) -> (m, h, g, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x4, %sc : tensor<?x3x64x2xf32>, tensor<?x3x64xf32>) outs(%eq : tensor<?x3x64x2xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f8E4M3FN):
    %o = arith.constant 1.0 : f32 %s = arith.mulf %i1, %o : f32
    %b4 = arith.divf %i0, %s : f32
    %lo = arith.constant -448.0 : f32
    %b6 = arith.maximumf %b4, %lo : f32
    %hi = arith.constant 448.0 : f32
    %b8 = arith.minimumf %b6, %hi : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x3x64x2xf8E4M3FN>
  %r = tensor.collapse_shape %q4 [[0], [1], [2, 3]] : tensor<?x3x64x2xf8E4M3FN> into tensor<?x3x128xf8E4M3FN>
  return %r, %sc : tensor<?x3x128xf8E4M3FN>, tensor<?x3x64xf32>
}

// Heads that are normed together: one row of all, and in it what each head has
// of its own, a rotation, a scale, a table that is the same for all heads.
// Their columns are written in digits. One kernel each, also among others'
// work.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="rmsnorm.rows "
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37 --strided --unaligned | FileCheck %s --check-prefix=RESULT
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %s | FileCheck %s --check-prefix=EMBEDDED
// RESULT-COUNT-14: {{^[a-z_0-9]+ .*}} ok
// EMBEDDED: {{^}}10 results, 0 wrong

#r = affine_map<(t, h, j) -> (t, h, j)>
#j = affine_map<(t, h, j) -> (t, j)>
#s = affine_map<(t, h, j) -> (t, h)>

// CHECK-LABEL: func.func @halves(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [4, 2, 32]
func.func @halves(%x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %ye = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%ye : tensor<?x256xbf16>) eps = 1.0e-06 -> tensor<?x256xbf16>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 64] : tensor<?x256xbf16> into tensor<?x4x64xbf16>
  %qa = tensor.extract_slice %p[0, 0, 0] [%m, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %qb = tensor.extract_slice %p[0, 0, 32] [%m, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %qel = tensor.empty(%m) : tensor<?x4x32xbf16>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x4x32xbf16>, tensor<?x4x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qel : tensor<?x4x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x4x32xbf16>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x4x32xbf16>, tensor<?x4x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qel : tensor<?x4x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x4x32xbf16>
  %qe2 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0] [%m, 4, 32] [1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x64xbf16>
  %q = tensor.insert_slice %qd into %qi[0, 0, 32] [%m, 4, 32] [1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x64xbf16>
  return %q : tensor<?x4x64xbf16>
}

// Pairs of 12 columns, of which a table is repeated for each head: 6 pairs,
// whatever a vector has.
// CHECK-LABEL: func.func @pairs(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [5, 6, 2]
func.func @pairs(%x: tensor<?x60xbf16>, %w: tensor<60xbf16>, %cos: tensor<?x6xf32>, %sin: tensor<?x6xf32>) -> tensor<?x5x12xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x60xbf16>
  %ye = tensor.empty(%m) : tensor<?x60xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x60xbf16>) weight(%w : tensor<60xbf16>) output(%ye : tensor<?x60xbf16>) eps = 1.0e-06 -> tensor<?x60xbf16>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 5, 12] : tensor<?x60xbf16> into tensor<?x5x12xbf16>
  %qp = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [%m, 5, 6, 2] : tensor<?x5x12xbf16> into tensor<?x5x6x2xbf16>
  %qa = tensor.extract_slice %qp[0, 0, 0, 0] [%m, 5, 6, 1] [1, 1, 1, 1] : tensor<?x5x6x2xbf16> to tensor<?x5x6xbf16>
  %qb = tensor.extract_slice %qp[0, 0, 0, 1] [%m, 5, 6, 1] [1, 1, 1, 1] : tensor<?x5x6x2xbf16> to tensor<?x5x6xbf16>
  %qel = tensor.empty(%m) : tensor<?x5x6xbf16>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x5x6xbf16>, tensor<?x5x6xbf16>, tensor<?x6xf32>, tensor<?x6xf32>) outs(%qel : tensor<?x5x6xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x5x6xbf16>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x5x6xbf16>, tensor<?x5x6xbf16>, tensor<?x6xf32>, tensor<?x6xf32>) outs(%qel : tensor<?x5x6xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x5x6xbf16>
  %qe2 = tensor.empty(%m) : tensor<?x5x6x2xbf16>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0, 0] [%m, 5, 6, 1] [1, 1, 1, 1] : tensor<?x5x6xbf16> into tensor<?x5x6x2xbf16>
  %qk = tensor.insert_slice %qd into %qi[0, 0, 0, 1] [%m, 5, 6, 1] [1, 1, 1, 1] : tensor<?x5x6xbf16> into tensor<?x5x6x2xbf16>
  %q = tensor.collapse_shape %qk [[0], [1], [2, 3]] : tensor<?x5x6x2xbf16> into tensor<?x5x12xbf16>
  return %q : tensor<?x5x12xbf16>
}

// A scale for each head: both halves of it, and the threads that share them.
// CHECK-LABEL: func.func @halves_fp8(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [3, 2, 48]
func.func @halves_fp8(%x: tensor<?x288xbf16>, %w: tensor<288xbf16>, %cos: tensor<?x48xf32>, %sin: tensor<?x48xf32>) -> (tensor<?x3x96xf8E4M3FN>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x288xbf16>
  %ye = tensor.empty(%m) : tensor<?x288xf32>
  %y = rmsnorm.forward input(%x : tensor<?x288xbf16>) weight(%w : tensor<288xbf16>) output(%ye : tensor<?x288xf32>) eps = 1.0e-06 -> tensor<?x288xf32>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 3, 96] : tensor<?x288xf32> into tensor<?x3x96xf32>
  %qa = tensor.extract_slice %p[0, 0, 0] [%m, 3, 48] [1, 1, 1] : tensor<?x3x96xf32> to tensor<?x3x48xf32>
  %qb = tensor.extract_slice %p[0, 0, 48] [%m, 3, 48] [1, 1, 1] : tensor<?x3x96xf32> to tensor<?x3x48xf32>
  %qel = tensor.empty(%m) : tensor<?x3x48xf32>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x3x48xf32>, tensor<?x3x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>) outs(%qel : tensor<?x3x48xf32>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %o: f32):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.subf %3, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x3x48xf32>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x3x48xf32>, tensor<?x3x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>) outs(%qel : tensor<?x3x48xf32>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %o: f32):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.addf %3, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x3x48xf32>
  %qe2 = tensor.empty(%m) : tensor<?x3x96xf32>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0] [%m, 3, 48] [1, 1, 1] : tensor<?x3x48xf32> into tensor<?x3x96xf32>
  %q = tensor.insert_slice %qd into %qi[0, 0, 48] [%m, 3, 48] [1, 1, 1] : tensor<?x3x48xf32> into tensor<?x3x96xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty(%m) : tensor<?x3xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x3xf32>) -> tensor<?x3xf32>
  %am = linalg.generic {indexing_maps = [#r, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q : tensor<?x3x96xf32>) outs(%fs : tensor<?x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<?x3xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(t, h) -> (t, h)>, affine_map<(t, h) -> (t, h)>], iterator_types = ["parallel", "parallel"]} ins(%am : tensor<?x3xf32>) outs(%es : tensor<?x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %k = arith.constant 2.232142857e-03 : f32
    %least = arith.constant 1.0e-12 : f32
    %1 = arith.mulf %a, %k : f32
    %2 = arith.maximumf %1, %least : f32
    linalg.yield %2 : f32
  } -> tensor<?x3xf32>
  %eq = tensor.empty(%m) : tensor<?x3x96xf8E4M3FN>
  %z = linalg.generic {indexing_maps = [#r, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %sc : tensor<?x3x96xf32>, tensor<?x3xf32>) outs(%eq : tensor<?x3x96xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f32, %o: f8E4M3FN):
    %1 = arith.divf %a, %b : f32
    %lo = arith.constant -448.0 : f32
    %2 = arith.maximumf %1, %lo : f32
    %hi = arith.constant 448.0 : f32
    %3 = arith.minimumf %2, %hi : f32
    %4 = arith.truncf %3 : f32 to f8E4M3FN
    linalg.yield %4 : f8E4M3FN
  } -> tensor<?x3x96xf8E4M3FN>
  return %z, %sc : tensor<?x3x96xf8E4M3FN>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @pairs_fp8(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [5, 16, 2]
func.func @pairs_fp8(%x: tensor<?x160xbf16>, %w: tensor<160xbf16>, %cos: tensor<?x16xf32>, %sin: tensor<?x16xf32>) -> (tensor<?x5x32xf8E4M3FN>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x160xbf16>
  %ye = tensor.empty(%m) : tensor<?x160xf32>
  %y = rmsnorm.forward input(%x : tensor<?x160xbf16>) weight(%w : tensor<160xbf16>) output(%ye : tensor<?x160xf32>) eps = 1.0e-06 -> tensor<?x160xf32>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 5, 32] : tensor<?x160xf32> into tensor<?x5x32xf32>
  %qp = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [%m, 5, 16, 2] : tensor<?x5x32xf32> into tensor<?x5x16x2xf32>
  %qa = tensor.extract_slice %qp[0, 0, 0, 0] [%m, 5, 16, 1] [1, 1, 1, 1] : tensor<?x5x16x2xf32> to tensor<?x5x16xf32>
  %qb = tensor.extract_slice %qp[0, 0, 0, 1] [%m, 5, 16, 1] [1, 1, 1, 1] : tensor<?x5x16x2xf32> to tensor<?x5x16xf32>
  %qel = tensor.empty(%m) : tensor<?x5x16xf32>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x5x16xf32>, tensor<?x5x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) outs(%qel : tensor<?x5x16xf32>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %o: f32):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.subf %3, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x5x16xf32>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x5x16xf32>, tensor<?x5x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) outs(%qel : tensor<?x5x16xf32>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %o: f32):
    %3 = arith.mulf %u, %c : f32
    %4 = arith.mulf %v, %s : f32
    %5 = arith.addf %3, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x5x16xf32>
  %qe2 = tensor.empty(%m) : tensor<?x5x16x2xf32>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0, 0] [%m, 5, 16, 1] [1, 1, 1, 1] : tensor<?x5x16xf32> into tensor<?x5x16x2xf32>
  %qk = tensor.insert_slice %qd into %qi[0, 0, 0, 1] [%m, 5, 16, 1] [1, 1, 1, 1] : tensor<?x5x16xf32> into tensor<?x5x16x2xf32>
  %q = tensor.collapse_shape %qk [[0], [1], [2, 3]] : tensor<?x5x16x2xf32> into tensor<?x5x32xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty(%m) : tensor<?x5xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x5xf32>) -> tensor<?x5xf32>
  %am = linalg.generic {indexing_maps = [#r, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q : tensor<?x5x32xf32>) outs(%fs : tensor<?x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<?x5xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(t, h) -> (t, h)>, affine_map<(t, h) -> (t, h)>], iterator_types = ["parallel", "parallel"]} ins(%am : tensor<?x5xf32>) outs(%es : tensor<?x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %k = arith.constant 2.232142857e-03 : f32
    %least = arith.constant 1.0e-12 : f32
    %1 = arith.mulf %a, %k : f32
    %2 = arith.maximumf %1, %least : f32
    linalg.yield %2 : f32
  } -> tensor<?x5xf32>
  %eq = tensor.empty(%m) : tensor<?x5x32xf8E4M3FN>
  %z = linalg.generic {indexing_maps = [#r, #s, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %sc : tensor<?x5x32xf32>, tensor<?x5xf32>) outs(%eq : tensor<?x5x32xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f32, %o: f8E4M3FN):
    %1 = arith.divf %a, %b : f32
    %lo = arith.constant -448.0 : f32
    %2 = arith.maximumf %1, %lo : f32
    %hi = arith.constant 448.0 : f32
    %3 = arith.minimumf %2, %hi : f32
    %4 = arith.truncf %3 : f32 to f8E4M3FN
    linalg.yield %4 : f8E4M3FN
  } -> tensor<?x5x32xf8E4M3FN>
  return %z, %sc : tensor<?x5x32xf8E4M3FN>, tensor<?x5xf32>
}

// CHECK-LABEL: func.func @table_per_head(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [4, 64]
func.func @table_per_head(%x: tensor<?x256xf32>, %t: tensor<?x64xf32>) -> (tensor<?x4x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %v1 = tensor.empty(%m) : tensor<?x256xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%v1 : tensor<?x256xf32>) eps = 1.000000000e-06 -> tensor<?x256xf32>
  %v3 = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [%m, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %v4 = tensor.empty(%m) : tensor<?x4x64xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %t : tensor<?x4x64xf32>, tensor<?x64xf32>) outs(%v4 : tensor<?x4x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i1 : f32
    linalg.yield %b1 : f32
  } -> tensor<?x4x64xf32>
  return %v5 : tensor<?x4x64xf32>
}

// Scales of the first 448 of 512 columns.
// CHECK-LABEL: func.func @quantised_part(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [8, 2, 32]
func.func @quantised_part(%x: tensor<?x512xf32>) -> (tensor<?x448xf8E4M3FN>, tensor<?x14xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %v1 = tensor.empty(%m) : tensor<?x512xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x512xf32>) output(%v1 : tensor<?x512xf32>) eps = 1.000000000e-06 -> tensor<?x512xf32>
  %v3 = tensor.extract_slice %v2[0, 0] [%m, 448] [1, 1] : tensor<?x512xf32> to tensor<?x448xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 14, 32] : tensor<?x448xf32> into tensor<?x14x32xf32>
  %v5 = tensor.empty(%m) : tensor<?x14xf32>
  %v6 = arith.constant 0.000000000e+00 : f32
  %v7 = linalg.fill ins(%v6 : f32) outs(%v5 : tensor<?x14xf32>) -> tensor<?x14xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(m, g, k) -> (m, g, k)>, affine_map<(m, g, k) -> (m, g)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v4 : tensor<?x14x32xf32>) outs(%v7 : tensor<?x14xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = math.absf %i0 : f32
    %b2 = arith.maximumf %b1, %o0 : f32
    linalg.yield %b2 : f32
  } -> tensor<?x14xf32>
  %v9 = tensor.empty(%m) : tensor<?x14xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(m, g) -> (m, g)>, affine_map<(m, g) -> (m, g)>], iterator_types = ["parallel", "parallel"]} ins(%v8 : tensor<?x14xf32>) outs(%v9 : tensor<?x14xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = arith.constant 2.232142857e-03 : f32
    %b2 = arith.mulf %i0, %b1 : f32
    %least = arith.constant 1.0e-12 : f32
    %b3 = arith.maximumf %b2, %least : f32
    linalg.yield %b3 : f32
  } -> tensor<?x14xf32>
  %v11 = tensor.empty(%m) : tensor<?x14x32xf8E4M3FN>
  %v12 = linalg.generic {indexing_maps = [affine_map<(m, g, k) -> (m, g, k)>, affine_map<(m, g, k) -> (m, g)>, affine_map<(m, g, k) -> (m, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %v10 : tensor<?x14x32xf32>, tensor<?x14xf32>) outs(%v11 : tensor<?x14x32xf8E4M3FN>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f8E4M3FN):
    %b2 = arith.constant 1.000000000e+00 : f32
    %b3 = arith.divf %b2, %i1 : f32
    %b4 = arith.mulf %i0, %b3 : f32
    %b5 = arith.constant -4.480000000e+02 : f32
    %b6 = arith.maximumf %b4, %b5 : f32
    %b7 = arith.constant 4.480000000e+02 : f32
    %b8 = arith.minimumf %b6, %b7 : f32
    %b9 = arith.truncf %b8 : f32 to f8E4M3FN
    linalg.yield %b9 : f8E4M3FN
  } -> tensor<?x14x32xf8E4M3FN>
  %v13 = tensor.collapse_shape %v12 [[0], [1, 2]] : tensor<?x14x32xf8E4M3FN> into tensor<?x448xf8E4M3FN>
  return %v13, %v10 : tensor<?x448xf8E4M3FN>, tensor<?x14xf32>
}

// Put together to two dimensions in front of a norm: halves, not pairs.
// CHECK-LABEL: func.func @halves_in_front(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 4]
func.func @halves_in_front(%a0: tensor<?x4xf32>, %a1: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a0, %c0 : tensor<?x4xf32>
  %v3 = tensor.empty(%m) : tensor<?x4xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<?x4xf32>) outs(%v3 : tensor<?x4xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %z = arith.negf %x0 : f32
    linalg.yield %z : f32
  } -> tensor<?x4xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<?x4xf32>) outs(%v3 : tensor<?x4xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %z = arith.addf %x0, %x0 : f32
    linalg.yield %z : f32
  } -> tensor<?x4xf32>
  %v8 = tensor.empty(%m) : tensor<?x2x4xf32>
  %v9 = tensor.insert_slice %v4 into %v8[0, 0, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x2x4xf32>
  %v10 = tensor.insert_slice %v6 into %v9[0, 1, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x2x4xf32>
  %v11 = tensor.collapse_shape %v10 [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %v18 = rmsnorm.forward input(%v11 : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-3 -> tensor<?x8xf32>
  return %v18 : tensor<?x8xf32>
}

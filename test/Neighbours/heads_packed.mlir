// All of a layer's projections in one row: q and k are normed over all heads
// and rotated, v is copied. A norm of the first of a row's columns, and the
// rest beside it. One launch each, also among others' work.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="rmsnorm.rows "
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37 --strided --unaligned | FileCheck %s --check-prefix=RESULT
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %s | FileCheck %s --check-prefix=EMBEDDED
// RESULT-COUNT-6: {{^[a-z_0-9]+ .*}} ok
// EMBEDDED: {{^}}6 results, 0 wrong

#r = affine_map<(t, h, j) -> (t, h, j)>
#j = affine_map<(t, h, j) -> (t, j)>

// CHECK-LABEL: func.func @heads_packed(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [8, 2, 32]
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [8, 2, 32]
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
func.func @heads_packed(%x: tensor<?x1536xbf16>, %wq: tensor<512xbf16>, %wk: tensor<512xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> (tensor<?x8x64xbf16>, tensor<?x8x64xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1536xbf16>
  %qx = tensor.extract_slice %x[0, 0] [%m, 512] [1, 1] : tensor<?x1536xbf16> to tensor<?x512xbf16>
  %qye = tensor.empty(%m) : tensor<?x512xbf16>
  %qy = rmsnorm.forward input(%qx : tensor<?x512xbf16>) weight(%wq : tensor<512xbf16>) output(%qye : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  %q3 = tensor.expand_shape %qy [[0], [1, 2]] output_shape [%m, 8, 64] : tensor<?x512xbf16> into tensor<?x8x64xbf16>
  %qa = tensor.extract_slice %q3[0, 0, 0] [%m, 8, 32] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x8x32xbf16>
  %qb = tensor.extract_slice %q3[0, 0, 32] [%m, 8, 32] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x8x32xbf16>
  %qel = tensor.empty(%m) : tensor<?x8x32xbf16>
  %qc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cos, %sin : tensor<?x8x32xbf16>, tensor<?x8x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qel : tensor<?x8x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x8x32xbf16>
  %qd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cos, %sin : tensor<?x8x32xbf16>, tensor<?x8x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qel : tensor<?x8x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x8x32xbf16>
  %qe2 = tensor.empty(%m) : tensor<?x8x64xbf16>
  %qi = tensor.insert_slice %qc into %qe2[0, 0, 0] [%m, 8, 32] [1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x64xbf16>
  %q = tensor.insert_slice %qd into %qi[0, 0, 32] [%m, 8, 32] [1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x64xbf16>
  %kx = tensor.extract_slice %x[0, 512] [%m, 512] [1, 1] : tensor<?x1536xbf16> to tensor<?x512xbf16>
  %kye = tensor.empty(%m) : tensor<?x512xbf16>
  %ky = rmsnorm.forward input(%kx : tensor<?x512xbf16>) weight(%wk : tensor<512xbf16>) output(%kye : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  %k3 = tensor.expand_shape %ky [[0], [1, 2]] output_shape [%m, 8, 64] : tensor<?x512xbf16> into tensor<?x8x64xbf16>
  %ka = tensor.extract_slice %k3[0, 0, 0] [%m, 8, 32] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x8x32xbf16>
  %kb = tensor.extract_slice %k3[0, 0, 32] [%m, 8, 32] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x8x32xbf16>
  %kel = tensor.empty(%m) : tensor<?x8x32xbf16>
  %kc = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ka, %kb, %cos, %sin : tensor<?x8x32xbf16>, tensor<?x8x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%kel : tensor<?x8x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.subf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x8x32xbf16>
  %kd = linalg.generic {indexing_maps = [#r, #r, #j, #j, #r], iterator_types = ["parallel", "parallel", "parallel"]} ins(%kb, %ka, %cos, %sin : tensor<?x8x32xbf16>, tensor<?x8x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%kel : tensor<?x8x32xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %c: f32, %s: f32, %o: bf16):
    %1 = arith.extf %u : bf16 to f32
    %2 = arith.extf %v : bf16 to f32
    %3 = arith.mulf %1, %c : f32
    %4 = arith.mulf %2, %s : f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x8x32xbf16>
  %ke2 = tensor.empty(%m) : tensor<?x8x64xbf16>
  %ki = tensor.insert_slice %kc into %ke2[0, 0, 0] [%m, 8, 32] [1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x64xbf16>
  %k = tensor.insert_slice %kd into %ki[0, 0, 32] [%m, 8, 32] [1, 1, 1] : tensor<?x8x32xbf16> into tensor<?x8x64xbf16>
  %vx = tensor.extract_slice %x[0, 1024] [%m, 512] [1, 1] : tensor<?x1536xbf16> to tensor<?x512xbf16>
  %ve = tensor.empty(%m) : tensor<?x512xbf16>
  %v = linalg.copy ins(%vx : tensor<?x512xbf16>) outs(%ve : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %q, %k, %v : tensor<?x8x64xbf16>, tensor<?x8x64xbf16>, tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @latent(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64)
func.func @latent(%x: tensor<?x576xbf16>, %w: tensor<512xbf16>) -> (tensor<?x512xbf16>, tensor<?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x576xbf16>
  %a = tensor.extract_slice %x[0, 0] [%m, 512] [1, 1] : tensor<?x576xbf16> to tensor<?x512xbf16>
  %ye = tensor.empty(%m) : tensor<?x512xbf16>
  %y = rmsnorm.forward input(%a : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%ye : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  %b = tensor.extract_slice %x[0, 512] [%m, 64] [1, 1] : tensor<?x576xbf16> to tensor<?x64xbf16>
  %be = tensor.empty(%m) : tensor<?x64xbf16>
  %v = linalg.copy ins(%b : tensor<?x64xbf16>) outs(%be : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %v : tensor<?x512xbf16>, tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @latent_row(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(512)
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64)
func.func @latent_row(%x: tensor<?x576xbf16>, %w: tensor<512xbf16>) -> tensor<?x576xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x576xbf16>
  %a = tensor.extract_slice %x[0, 0] [%m, 512] [1, 1] : tensor<?x576xbf16> to tensor<?x512xbf16>
  %ye = tensor.empty(%m) : tensor<?x512xbf16>
  %y = rmsnorm.forward input(%a : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%ye : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  %b = tensor.extract_slice %x[0, 512] [%m, 64] [1, 1] : tensor<?x576xbf16> to tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x576xbf16>
  %i = tensor.insert_slice %y into %e[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> into tensor<?x576xbf16>
  %k = tensor.insert_slice %b into %i[0, 512] [%m, 64] [1, 1] : tensor<?x64xbf16> into tensor<?x576xbf16>
  return %k : tensor<?x576xbf16>
}

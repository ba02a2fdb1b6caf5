// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=3,24,300,2400 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=24
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=1 --order=reverse
// RUN: env LIBDIR=%libdir LLVM_LIBDIR=%llvm_libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct --size=4 --magnitude=64,16

// Sums over all rows beside those of each batch: one kernel, whose blocks have
// rows of one batch. The sums over all rows are no block's own.
// CHECK-LABEL: func.func @beside_batch(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(128)
// CHECK-DAG: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x128xf32> into memref<128xf32>
// CHECK-DAG: rmsnorm.accumulate %{{.*}} map(r0, r1, c) -> (r0, c)
func.func @beside_batch(%dy: tensor<?x?x128xf32>, %x: tensor<?x?x128xf32>, %w: tensor<128xf32>, %scale: tensor<?x128xf32>, %rstd: tensor<?x?xf32>) -> (tensor<?x?x128xf32>, tensor<128xf32>, tensor<?x128xf32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %b = tensor.dim %dy, %c0 : tensor<?x?x128xf32>
  %t = tensor.dim %dy, %c1 : tensor<?x?x128xf32>
  %v1 = tensor.empty(%b, %t) : tensor<?x?x128xf32>
  %v2 = tensor.empty() : tensor<128xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x?x128xf32>) input(%x : tensor<?x?x128xf32>) weight(%w : tensor<128xf32>) rstd(%rstd : tensor<?x?xf32>) dx(%v1 : tensor<?x?x128xf32>) dweight(%v2 : tensor<128xf32>) eps = 1.0e-06 -> tensor<?x?x128xf32>, tensor<128xf32>
  %v3 = tensor.empty(%b) : tensor<?x128xf32>
  %v4 = arith.constant 0.000000000e+00 : f32
  %v5 = linalg.fill ins(%v4 : f32) outs(%v3 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(b, k, t) -> (b, t, k)>, affine_map<(b, k, t) -> (b, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%dy : tensor<?x?x128xf32>) outs(%v5 : tensor<?x128xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = arith.addf %o0, %i0 : f32
    linalg.yield %b1 : f32
  } -> tensor<?x128xf32>
  return %dx, %dw, %v6 : tensor<?x?x128xf32>, tensor<128xf32>, tensor<?x128xf32>
}

// The weight's gradient alone needs no reduction along rows, so blocks may own
// columns. Sums of each batch and maxima of each token have kernels of their own.
// CHECK-LABEL: func.func @weight_only(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(128)
// CHECK-DAG: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x128xf32> into memref<128xf32>
// CHECK-DAG: rmsnorm.accumulate %{{.*}} map(r0, r1, c) -> (r0, c)
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [1] columns(128)
// CHECK: rmsnorm.accumulate %{{.*}} kind(maximumf) {{.*}} map(r0, r1, c) -> (r1, c)
func.func @weight_only(%dy: tensor<?x?x128xbf16>, %x: tensor<?x?x128xbf16>, %w: tensor<128xbf16>, %rstd: tensor<?x?xf32>) -> (tensor<128xf32>, tensor<?x128xf32>, tensor<?x128xf32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %dy, %c0 : tensor<?x?x128xbf16>
  %t = tensor.dim %dy, %c1 : tensor<?x?x128xbf16>
  %e = tensor.empty() : tensor<128xf32>
  %xe = tensor.empty(%b, %t) : tensor<?x?x128xbf16>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x?x128xbf16>) input(%x : tensor<?x?x128xbf16>) weight(%w : tensor<128xbf16>) rstd(%rstd : tensor<?x?xf32>) dx(%xe : tensor<?x?x128xbf16>) dweight(%e : tensor<128xf32>) eps = 1.0e-06 -> tensor<?x?x128xbf16>, tensor<128xf32>
  %be = tensor.empty(%b) : tensor<?x128xf32>
  %bf = linalg.fill ins(%zero : f32) outs(%be : tensor<?x128xf32>) -> tensor<?x128xf32>
  %bs = linalg.generic {indexing_maps = [affine_map<(b, t, c) -> (b, t, c)>, affine_map<(b, t, c) -> (b, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%dy : tensor<?x?x128xbf16>) outs(%bf : tensor<?x128xf32>) {
  ^bb0(%i: bf16, %o: f32):
    %f = arith.extf %i : bf16 to f32
    %r = arith.addf %o, %f : f32
    linalg.yield %r : f32
  } -> tensor<?x128xf32>
  %te = tensor.empty(%t) : tensor<?x128xf32>
  %tf = linalg.fill ins(%zero : f32) outs(%te : tensor<?x128xf32>) -> tensor<?x128xf32>
  %ts = linalg.generic {indexing_maps = [affine_map<(b, t, c) -> (b, t, c)>, affine_map<(b, t, c) -> (t, c)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%dy : tensor<?x?x128xbf16>) outs(%tf : tensor<?x128xf32>) {
  ^bb0(%i: bf16, %o: f32):
    %f = arith.extf %i : bf16 to f32
    %r = arith.maximumf %o, %f : f32
    linalg.yield %r : f32
  } -> tensor<?x128xf32>
  return %dw, %bs, %ts : tensor<128xf32>, tensor<?x128xf32>, tensor<?x128xf32>
}

// Of three dimensions the last two, and the first.
// CHECK-LABEL: func.func @of_heads(
// CHECK: rmsnorm.rows {{.*}} segments [1, 2] columns(128)
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.accumulate
// CHECK: rmsnorm.rows {{.*}} segments [0] columns(128)
// CHECK: rmsnorm.accumulate
func.func @of_heads(%x: tensor<?x?x?x128xbf16>, %dy: tensor<?x?x?x128xbf16>, %w: tensor<128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<128xf32>, tensor<?x?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x?x128xbf16>
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<?x?x?x128xbf16>
  %c2 = arith.constant 2 : index
  %h = tensor.dim %x, %c2 : tensor<?x?x?x128xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%b, %t, %h) : tensor<?x?x?x128xbf16>
  %we = tensor.empty() : tensor<128xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x?x?x128xbf16>) input(%x : tensor<?x?x?x128xbf16>) weight(%w : tensor<128xbf16>) dx(%e : tensor<?x?x?x128xbf16>) dweight(%we : tensor<128xf32>) eps = 1.0e-05 -> tensor<?x?x?x128xbf16>, tensor<128xf32>
  %s0e = tensor.empty(%t, %h) : tensor<?x?x128xf32>
  %s0f = linalg.fill ins(%zero : f32) outs(%s0e : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  %s0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%dx, %dy : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%s0f : tensor<?x?x128xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %af = arith.extf %a : bf16 to f32
    %cf = arith.extf %c : bf16 to f32
    %p = arith.mulf %af, %cf : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?x128xf32>
  %s1e = tensor.empty(%b) : tensor<?x128xf32>
  %s1f = linalg.fill ins(%zero : f32) outs(%s1e : tensor<?x128xf32>) -> tensor<?x128xf32>
  %s1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%x, %dy : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%s1f : tensor<?x128xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %af = arith.extf %a : bf16 to f32
    %cf = arith.extf %c : bf16 to f32
    %p = arith.mulf %af, %cf : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x128xf32>
  %s2e = tensor.empty() : tensor<128xf32>
  %s2f = linalg.fill ins(%zero : f32) outs(%s2e : tensor<128xf32>) -> tensor<128xf32>
  %s2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%dx, %dy : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%s2f : tensor<128xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %af = arith.extf %a : bf16 to f32
    %cf = arith.extf %c : bf16 to f32
    %p = arith.mulf %af, %cf : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  return %dx, %dw, %s0, %s1, %s2 : tensor<?x?x?x128xbf16>, tensor<128xf32>, tensor<?x?x128xf32>, tensor<?x128xf32>, tensor<128xf32>
}

// What blocks that own columns add up of all rows keeps no segments of those that
// a number of each batch has: no launch without work is left, embedded neither.
// CHECK-LABEL: func.func @over_all_beside_number(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(64)
// CHECK-COUNT-2: rmsnorm.accumulate
func.func @over_all_beside_number(%x: tensor<?x?x64xf32>) -> (tensor<64xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x64xf32>) output(%e : tensor<?x?x64xf32>) eps = 1.0e-5 -> tensor<?x?x64xf32>
  %e0 = tensor.empty() : tensor<64xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<64xf32>) -> tensor<64xf32>
  %r0 = linalg.generic {indexing_maps = [affine_map<(b,s,k)->(b,s,k)>, affine_map<(b,s,k)->(k)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%x : tensor<?x?x64xf32>) outs(%f0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %e1 = tensor.empty(%b) : tensor<?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %r1 = linalg.generic {indexing_maps = [affine_map<(b,s,k)->(b,s,k)>, affine_map<(b,s,k)->(b)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%y : tensor<?x?x64xf32>) outs(%f1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %r0, %r1 : tensor<64xf32>, tensor<?xf32>
}

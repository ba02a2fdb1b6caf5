// RUN: norm-opt %s --rmsnorm-raise=roundings=exact --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=EXACT --implicit-check-not=remark:
// RUN: norm-opt %s --rmsnorm-raise=roundings=fewer --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=FEWER --implicit-check-not=remark:
// Another power of rstd, another sign and another factor are no gradient with
// fewer roundings either. Without anything like dx, dweight is one for itself.
// RUN: sed '/CUBE/s/%r2, %r/%r2, %one/' %s | norm-opt --rmsnorm-raise=roundings=fewer --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: sed '/MEAN/s/-96.0/96.0/' %s | norm-opt --rmsnorm-raise=roundings=fewer --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: sed '/TERMS/s/addf/subf/' %s | norm-opt --rmsnorm-raise=roundings=fewer --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: sed '/MEAN/s/-96.0/-48.0/' %s | norm-opt --rmsnorm-raise=roundings=fewer --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=LEFT

// The gradient of T5's norm in bf16: x is converted to f32 twice, so dx is added
// from two rounded terms; dy * w is rounded, and dweight is summed in bf16.
// Either both gradients are raised, or neither is.

// EXACT: remark: not raised to rmsnorm.backward: a term of dx is rounded to bf16
// EXACT-LABEL: func.func @t5(
// EXACT-NOT: rmsnorm.backward
// EXACT: return
// FEWER-LABEL: func.func @t5(
// FEWER: %[[D:.*]]:2 = rmsnorm.backward dy(%{{.*}} : tensor<8x96xbf16>) input({{.*}}) weight({{.*}} : tensor<96xbf16>) dx({{.*}} : tensor<8x96xbf16>) dweight({{.*}} : tensor<96xbf16>)
// FEWER-NOT: linalg.generic
// FEWER: return %[[D]]#0, %[[D]]#1
// WEIGHT: = rmsnorm.backward {{.*}} dweight({{.*}} : tensor<96xbf16>)
// WEIGHT-NOT: = rmsnorm.backward
// WEIGHT: return
// LEFT-NOT: = rmsnorm.backward
// LEFT: return

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @t5(%x: tensor<8x96xbf16>, %dy: tensor<8x96xbf16>, %w: tensor<96xbf16>) -> (tensor<8x96xbf16>, tensor<96xbf16>) {
  %zero = arith.constant 0.0 : f32
  %zerob = arith.constant 0.0 : bf16
  %one = arith.constant 1.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %k = arith.constant -96.0 : f32 // MEAN
  %er = tensor.empty() : tensor<8xf32>
  %ec = tensor.empty() : tensor<96xbf16>
  %e = tensor.empty() : tensor<8x96xbf16>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %zc = linalg.fill ins(%zerob : bf16) outs(%ec : tensor<96xbf16>) -> tensor<96xbf16>
  %g = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %w : tensor<8x96xbf16>, tensor<96xbf16>) outs(%e : tensor<8x96xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16):
    %0 = arith.mulf %a, %b : bf16
    linalg.yield %0 : bf16
  } -> tensor<8x96xbf16>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %products = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %g : tensor<8x96xbf16>, tensor<8x96xbf16>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %out, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  %dx, %terms = linalg.generic {indexing_maps = [#id, #id, #id, #row, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g, %dy, %squares, %products : tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8xf32>, tensor<8xf32>)
      outs(%e, %e : tensor<8x96xbf16>, tensor<8x96xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %d: bf16, %s: f32, %p: f32, %out: bf16, %out2: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.divf %s, %n : f32
    %3 = arith.addf %2, %eps : f32
    %r = math.rsqrt %3 : f32
    %r2 = arith.mulf %r, %r : f32
    %r3 = arith.mulf %r2, %r : f32 // CUBE
    %4 = arith.mulf %1, %r : f32
    %first = arith.truncf %4 : f32 to bf16
    %5 = arith.divf %p, %k : f32
    %6 = arith.mulf %5, %r3 : f32
    %7 = arith.mulf %0, %6 : f32
    %second = arith.truncf %7 : f32 to bf16
    %8 = arith.addf %first, %second : bf16 // TERMS
    %9 = arith.mulf %0, %r : f32
    %10 = arith.truncf %9 : f32 to bf16
    %11 = arith.mulf %d, %10 : bf16
    linalg.yield %8, %11 : bf16, bf16
  } -> (tensor<8x96xbf16>, tensor<8x96xbf16>)
  %dw = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%terms : tensor<8x96xbf16>) outs(%zc : tensor<96xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.addf %out, %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<96xbf16>
  return %dx, %dw : tensor<8x96xbf16>, tensor<96xbf16>
}

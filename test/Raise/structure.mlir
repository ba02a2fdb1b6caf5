// RUN: norm-opt %s --allow-unregistered-dialect --rmsnorm-raise --canonicalize --cse | FileCheck %s

// What stands around norms: other users of rstd, other work in the same body,
// regions, blocks and foreign ops.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#line = affine_map<(d0) -> (d0)>

// rstd is returned: the op's second result.
// CHECK-LABEL: func.func @rstd_returned(
// CHECK: %[[Y:.*]]:2 = rmsnorm.forward {{.*}} rstd(%{{.*}} : tensor<8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @rstd_returned(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>)
    -> (tensor<8x96xbf16>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8x96xbf16>
  return %y, %rstd : tensor<8x96xbf16>, tensor<8xf32>
}

// With a dimension of size 1, used in front of the norm, too.
// CHECK-LABEL: func.func @rstd_reshaped(
// CHECK: %[[Y:.*]]:2 = rmsnorm.forward {{.*}} rstd(
// CHECK: %[[R:.*]] = tensor.expand_shape %[[Y]]#1 {{.*}} into tensor<8x1xf32>
// CHECK: %[[U:.*]] = "foreign.use"(%[[R]])
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]#0, %[[U]]
func.func @rstd_reshaped(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>)
    -> (tensor<8x96xbf16>, tensor<8x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %column = tensor.expand_shape %rstd [[0, 1]] output_shape [8, 1]
      : tensor<8xf32> into tensor<8x1xf32>
  %used = "foreign.use"(%column) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8x96xbf16>
  return %y, %used : tensor<8x96xbf16>, tensor<8x1xf32>
}

// Two norms share a sum of squares and rstd has a third user: one returns it.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[A:.*]]:2 = rmsnorm.forward {{.*}} weight(%[[W1:.*]] : {{.*}} rstd(
// CHECK: %[[B:.*]] = rmsnorm.forward {{.*}} weight(
// CHECK-NOT: linalg.generic
// CHECK: return %[[A]]#0, %[[B]], %[[A]]#1
func.func @shared(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>, %w2: tensor<96xbf16>)
    -> (tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8x96xbf16>
  %y2 = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w2 : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8x96xbf16>
  return %y, %y2, %rstd : tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8xf32>
}

// Gate and residual in the body of the norm stay there.
// CHECK-LABEL: func.func @gate_in_body(
// CHECK: %[[Y:.*]] = rmsnorm.forward {{.*}} -> tensor<8x96xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[Y]] :
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: arith.truncf %[[P]]
func.func @gate_in_body(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>, %gate: tensor<8x96xf32>)
    -> tensor<8x96xbf16> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w, %gate : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>, tensor<8x96xf32>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %g: f32, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<8x96xbf16>
  return %y : tensor<8x96xbf16>
}

// The norm's element is read by a reduction: of its largest magnitude.
// CHECK-LABEL: func.func @in_reduction(
// CHECK: %[[Y:.*]] = rmsnorm.forward
// CHECK: linalg.generic {{.*}} "reduction"]} ins(%[[Y]] :
// CHECK: math.absf
// CHECK-NOT: rsqrt
// CHECK: return
func.func @in_reduction(%x: tensor<8x96xbf16>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %amax = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %rstd : tensor<8x96xbf16>, tensor<8xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %r: f32, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = math.absf %1 : f32
    %3 = arith.maximumf %2, %out : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %amax : tensor<8xf32>
}

// A result that is transposed on its way out.
// CHECK-LABEL: func.func @transposed(
// CHECK: rmsnorm.forward {{.*}} -> tensor<8x96xbf16>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<96x8xbf16>)
// CHECK-NOT: rsqrt
// CHECK: return
func.func @transposed(%x: tensor<8x96xbf16>) -> tensor<96x8xbf16> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %et = tensor.empty() : tensor<96x8xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #transposed], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<8x96xbf16>, tensor<8xf32>) outs(%et : tensor<96x8xbf16>) {
  ^bb0(%in: bf16, %r: f32, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<96x8xbf16>
  return %y : tensor<96x8xbf16>
}

// The body of a loop; x is the loop's, and what a foreign op made of it.
// CHECK-LABEL: func.func @in_loop(
// CHECK: scf.for
// CHECK: %[[X:.*]] = "foreign.attention"
// CHECK: %[[Y:.*]] = rmsnorm.forward input(%[[X]] :
// CHECK-NOT: linalg.generic
// CHECK: scf.yield %[[Y]]
func.func @in_loop(%x0: tensor<8x96xbf16>, %w: tensor<96xbf16>, %k: index) -> tensor<8x96xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %result = scf.for %i = %c0 to %k step %c1 iter_args(%h = %x0) -> tensor<8x96xbf16> {
    %x = "foreign.attention"(%h) : (tensor<8x96xbf16>) -> tensor<8x96xbf16>
    %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %0 = arith.extf %in : bf16 to f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %out, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<8xf32>
    %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
        ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.divf %in, %n : f32
      %1 = arith.addf %0, %eps : f32
      %2 = math.rsqrt %1 : f32
      linalg.yield %2 : f32
    } -> tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
        outs(%eb : tensor<8x96xbf16>) {
    ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
      %0 = arith.extf %in : bf16 to f32
      %1 = arith.mulf %0, %r : f32
      %2 = arith.extf %weight : bf16 to f32
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.truncf %3 : f32 to bf16
      linalg.yield %4 : bf16
    } -> tensor<8x96xbf16>
    scf.yield %y : tensor<8x96xbf16>
  }
  return %result : tensor<8x96xbf16>
}

// rstd is computed in front of the branch, the product in a block after it; a
// branch that returns rstd is not dominated by the norm, so it stays.
// CHECK-LABEL: func.func @blocks(
// CHECK: math.rsqrt
// CHECK: cf.cond_br
// CHECK: rmsnorm.forward {{.*}} weight(
// CHECK: return
func.func @blocks(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>, %cond: i1) -> tensor<8x96xbf16> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  cf.cond_br %cond, ^bb1, ^bb2
^bb1:
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<8x96xbf16>
  return %y : tensor<8x96xbf16>
^bb2:
  "foreign.use"(%rstd) : (tensor<8xf32>) -> ()
  return %x : tensor<8x96xbf16>
}

// A region in the body hides what it computes, not what stands beside it.
// CHECK-LABEL: func.func @region_in_body(
// CHECK: rmsnorm.forward {{.*}} -> tensor<8x96xf32>
// CHECK: arith.select
// CHECK-NOT: rsqrt
// CHECK: return
func.func @region_in_body(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>, %cond: i1) -> tensor<8x96xbf16> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 96.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %eb = tensor.empty() : tensor<8x96xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd, %w : tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>)
      outs(%eb : tensor<8x96xbf16>) {
  ^bb0(%in: bf16, %r: f32, %weight: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.mulf %0, %r : f32
    %2 = arith.extf %weight : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = scf.if %cond -> f32 {
      scf.yield %3 : f32
    } else {
      scf.yield %zero : f32
    }
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<8x96xbf16>
  return %y : tensor<8x96xbf16>
}

// Nothing of this is a norm; it comes out as it is.
// CHECK-LABEL: func.func @no_norm(
// CHECK: %[[A:.*]] = "foreign.op"
// CHECK: linalg.generic {{.*}} ins(%[[A]] :
// CHECK: arith.mulf %[[IN:.*]], %[[IN]] : f64
// CHECK: linalg.index
// CHECK: return
func.func @no_norm(%x: tensor<8x96xf64>) -> (tensor<8x96xf64>, tensor<8x96xindex>) {
  %a = "foreign.op"(%x) : (tensor<8x96xf64>) -> tensor<8x96xf64>
  %e = tensor.empty() : tensor<8x96xf64>
  %ei = tensor.empty() : tensor<8x96xindex>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x96xf64>) outs(%e : tensor<8x96xf64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = arith.mulf %in, %in : f64
    linalg.yield %1 : f64
  } -> tensor<8x96xf64>
  %2 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%ei : tensor<8x96xindex>) {
  ^bb0(%out: index):
    %3 = linalg.index 1 : index
    linalg.yield %3 : index
  } -> tensor<8x96xindex>
  return %0, %2 : tensor<8x96xf64>, tensor<8x96xindex>
}

// No body, no norm.
// CHECK-LABEL: func.func private @external(
func.func private @external(tensor<8x96xbf16>) -> tensor<8x96xbf16>

// One op sums up x and its squares. The norm needed the latter alone: they go.
// CHECK-LABEL: func.func @two_sums(
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK-NOT:     mulf
// CHECK:         %[[Y:.*]] = rmsnorm.forward
// CHECK:         return %[[Y]], %[[SUM]]
func.func @two_sums(%x: tensor<8x96xf32>) -> (tensor<8x96xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%re : tensor<8xf32>) -> tensor<8xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%init, %init : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %e = tensor.empty() : tensor<8x96xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums#1 : tensor<8x96xf32>, tensor<8xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %q: f32, %o: f32):
    %n = arith.constant 96.0 : f32
    %eps = arith.constant 1.0e-05 : f32
    %0 = arith.divf %q, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x96xf32>
  return %y, %sums#0 : tensor<8x96xf32>, tensor<8xf32>
}

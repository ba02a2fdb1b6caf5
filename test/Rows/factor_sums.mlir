// RUN: norm-opt %s --rmsnorm-factor-sums | FileCheck %s

// sum(a * (b * r)) is sum(a * b) * r where f16 proves that a * b stays in range.
// CHECK-LABEL: func.func @f16(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xf16>, %[[G:[^:]*]]: vector<1x64xf16>, %[[R:[^:]*]]: vector<1x1xf32>)
// CHECK-DAG:     %[[XF:.*]] = arith.extf %[[X]]
// CHECK-DAG:     %[[GF:.*]] = arith.extf %[[G]]
// CHECK:         %[[P:.*]] = arith.mulf %[[GF]], %[[XF]]
// CHECK-NEXT:    %[[S:.*]] = rmsnorm.row_reduce add(%[[P]])
// CHECK-NEXT:    %[[C:.*]] = arith.mulf %[[S]], %[[R]]
// CHECK-NEXT:    return %[[C]]
func.func @f16(%x: vector<1x64xf16>, %g: vector<1x64xf16>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %xf = arith.extf %x : vector<1x64xf16> to vector<1x64xf32>
  %gf = arith.extf %g : vector<1x64xf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %p = arith.mulf %gf, %xhat : vector<1x64xf32>
  %s = rmsnorm.row_reduce add(%p) : vector<1x64xf32> -> vector<1x1xf32>
  return %s : vector<1x1xf32>
}

// The factors in the other order, with a weight, an offset and the most columns.
// CHECK-LABEL: func.func @weight(
// CHECK:         %[[G:.*]] = arith.mulf
// CHECK:         %[[P:.*]] = arith.mulf %[[G]], %{{.*}} : vector<1x1073741824xf32>
// CHECK-NEXT:    %[[S:.*]] = rmsnorm.row_reduce add(%[[P]])
// CHECK-NEXT:    arith.mulf %[[S]], %{{.*}} : vector<1x1xf32>
func.func @weight(%x: vector<1x1073741824xf16>, %dy: vector<1x1073741824xf16>, %w: vector<1x1073741824xf16>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %one = arith.constant dense<1.0> : vector<1x1073741824xf32>
  %xf = arith.extf %x : vector<1x1073741824xf16> to vector<1x1073741824xf32>
  %dyf = arith.extf %dy : vector<1x1073741824xf16> to vector<1x1073741824xf32>
  %wf = arith.extf %w : vector<1x1073741824xf16> to vector<1x1073741824xf32>
  %w1 = arith.addf %wf, %one : vector<1x1073741824xf32>
  %g = arith.mulf %dyf, %w1 : vector<1x1073741824xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x1073741824xf32>
  %xhat = arith.mulf %rb, %xf : vector<1x1073741824xf32>
  %p = arith.mulf %xhat, %g : vector<1x1073741824xf32>
  %s = rmsnorm.row_reduce add(%p) : vector<1x1073741824xf32> -> vector<1x1xf32>
  return %s : vector<1x1xf32>
}

// bf16 has the range of f32, but is factored for its speed.
// CHECK-LABEL: func.func @bf16(
// CHECK:         %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}}
// CHECK-NEXT:    %[[S:.*]] = rmsnorm.row_reduce add(%[[P]])
// CHECK-NEXT:    %[[C:.*]] = arith.mulf %[[S]], %{{.*}}
// CHECK-NEXT:    return %[[C]]
func.func @bf16(%x: vector<1x64xbf16>, %g: vector<1x64xbf16>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %xf = arith.extf %x : vector<1x64xbf16> to vector<1x64xf32>
  %gf = arith.extf %g : vector<1x64xbf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %p = arith.mulf %gf, %xhat : vector<1x64xf32>
  %s = rmsnorm.row_reduce add(%p) : vector<1x64xf32> -> vector<1x1xf32>
  return %s : vector<1x1xf32>
}

// CHECK-LABEL: func.func @mixed(
// CHECK:         %[[S:.*]] = rmsnorm.row_reduce
// CHECK-NEXT:    return %[[S]]
func.func @mixed(%x: vector<1x64xf16>, %g: vector<1x64xf32>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %xf = arith.extf %x : vector<1x64xf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %p = arith.mulf %g, %xhat : vector<1x64xf32>
  %s = rmsnorm.row_reduce add(%p) : vector<1x64xf32> -> vector<1x1xf32>
  return %s : vector<1x1xf32>
}

// A constant that makes products too large, one that makes them too small.
// CHECK-LABEL: func.func @constants(
// CHECK:         %[[S:.*]]:2 = rmsnorm.row_reduce
// CHECK-NEXT:    return %[[S]]#0, %[[S]]#1
func.func @constants(%x: vector<1x64xf16>, %r: vector<1x1xf32>) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %large = arith.constant dense<1.0e+32> : vector<1x64xf32>
  %small = arith.constant dense<1.0e-32> : vector<1x64xf32>
  %xf = arith.extf %x : vector<1x64xf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %p = arith.mulf %large, %xhat : vector<1x64xf32>
  %q = arith.mulf %small, %xhat : vector<1x64xf32>
  %s:2 = rmsnorm.row_reduce add(%p), add(%q) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
  return %s#0, %s#1 : vector<1x1xf32>, vector<1x1xf32>
}

// A maximum, and a factor that varies along the row.
// CHECK-LABEL: func.func @others(
// CHECK:         %[[S:.*]]:2 = rmsnorm.row_reduce
// CHECK-NEXT:    return %[[S]]#0, %[[S]]#1
func.func @others(%x: vector<1x64xf16>, %w: vector<1x64xf16>, %r: vector<1x1xf32>) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %xf = arith.extf %x : vector<1x64xf16> to vector<1x64xf32>
  %wf = arith.extf %w : vector<1x64xf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %p = arith.mulf %wf, %xhat : vector<1x64xf32>
  %xw = arith.mulf %xf, %wf : vector<1x64xf32>
  %q = arith.mulf %wf, %xw : vector<1x64xf32>
  %s:2 = rmsnorm.row_reduce maximumf(%p), add(%q) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
  return %s#0, %s#1 : vector<1x1xf32>, vector<1x1xf32>
}

// The largest |x * r * w| of a row does not wait for r, either.
// CHECK-LABEL: func.func @maximum(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xbf16>, %[[W:[^:]*]]: vector<1x64xbf16>, %[[R:[^:]*]]: vector<1x1xf32>)
// CHECK-DAG:     %[[XF:.*]] = arith.extf %[[X]]
// CHECK-DAG:     %[[WF:.*]] = arith.extf %[[W]]
// CHECK:         %[[P:.*]] = arith.mulf %[[XF]], %[[WF]]
// CHECK:         %[[A:.*]] = math.absf %[[P]]
// CHECK:         %[[M:.*]] = rmsnorm.row_reduce maximumf(%[[A]])
// CHECK:         %[[F:.*]] = math.absf %[[R]]
// CHECK:         %[[Y:.*]] = arith.mulf %[[M]], %[[F]]
// CHECK:         return %[[Y]]
func.func @maximum(%x: vector<1x64xbf16>, %w: vector<1x64xbf16>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %xf = arith.extf %x : vector<1x64xbf16> to vector<1x64xf32>
  %wf = arith.extf %w : vector<1x64xbf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %y = arith.mulf %xhat, %wf : vector<1x64xf32>
  %a = math.absf %y : vector<1x64xf32>
  %m = rmsnorm.row_reduce maximumf(%a) : vector<1x64xf32> -> vector<1x1xf32>
  return %m : vector<1x1xf32>
}

// Who divides by the maximum takes the same product, |x * w| of which is in it.
// CHECK-LABEL: func.func @divided(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xbf16>, %[[W:[^:]*]]: vector<1x64xbf16>, %[[R:[^:]*]]: vector<1x1xf32>)
// CHECK-DAG:     %[[XF:.*]] = arith.extf %[[X]]
// CHECK-DAG:     %[[WF:.*]] = arith.extf %[[W]]
// CHECK:         %[[P:.*]] = arith.mulf %[[XF]], %[[WF]]
// CHECK:         %[[A:.*]] = math.absf %[[P]]
// CHECK:         rmsnorm.row_reduce maximumf(%[[A]])
// CHECK:         %[[B:.*]] = vector.broadcast %[[R]]
// CHECK:         %[[Y:.*]] = arith.mulf %[[P]], %[[B]]
// CHECK:         arith.divf %[[Y]],
func.func @divided(%x: vector<1x64xbf16>, %w: vector<1x64xbf16>, %r: vector<1x1xf32>) -> vector<1x64xf32> {
  %xf = arith.extf %x : vector<1x64xbf16> to vector<1x64xf32>
  %wf = arith.extf %w : vector<1x64xbf16> to vector<1x64xf32>
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x64xf32>
  %y = arith.mulf %xhat, %wf : vector<1x64xf32>
  %a = math.absf %y : vector<1x64xf32>
  %m = rmsnorm.row_reduce maximumf(%a) : vector<1x64xf32> -> vector<1x1xf32>
  %mb = vector.broadcast %m : vector<1x1xf32> to vector<1x64xf32>
  %q = arith.divf %y, %mb : vector<1x64xf32>
  return %q : vector<1x64xf32>
}

// Nor do the largest of groups wait for it: they are there before the sum is.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x4x16xbf16>, %[[W:[^:]*]]: vector<1x4x16xbf16>)
// CHECK-DAG:     %[[XF:.*]] = arith.extf %[[X]]
// CHECK-DAG:     %[[WF:.*]] = arith.extf %[[W]]
// CHECK:         %[[P:.*]] = arith.mulf %[[XF]], %[[WF]]
// CHECK:         %[[A:.*]] = math.absf %[[P]]
// CHECK:         %[[M:.*]] = rmsnorm.group_reduce maximumf(%[[A]])
// CHECK:         %[[S:.*]] = rmsnorm.row_reduce add
// CHECK:         %[[R:.*]] = math.rsqrt %[[S]]
// CHECK:         %[[F:.*]] = math.absf %[[R]]
// CHECK:         %[[B:.*]] = vector.broadcast %[[F]] : vector<1x1x1xf32> to vector<1x4x1xf32>
// CHECK:         %[[Y:.*]] = arith.mulf %[[M]], %[[B]]
// CHECK:         return %[[Y]]
func.func @groups(%x: vector<1x4x16xbf16>, %w: vector<1x4x16xbf16>) -> vector<1x4x1xf32> {
  %xf = arith.extf %x : vector<1x4x16xbf16> to vector<1x4x16xf32>
  %q = arith.mulf %xf, %xf : vector<1x4x16xf32>
  %s = rmsnorm.row_reduce add(%q) : vector<1x4x16xf32> -> vector<1x1x1xf32>
  %r = math.rsqrt %s : vector<1x1x1xf32>
  %wf = arith.extf %w : vector<1x4x16xbf16> to vector<1x4x16xf32>
  %rb = vector.broadcast %r : vector<1x1x1xf32> to vector<1x4x16xf32>
  %xhat = arith.mulf %xf, %rb : vector<1x4x16xf32>
  %y = arith.mulf %xhat, %wf : vector<1x4x16xf32>
  %a = math.absf %y : vector<1x4x16xf32>
  %m = rmsnorm.group_reduce maximumf(%a) : vector<1x4x16xf32> -> vector<1x4x1xf32>
  return %m : vector<1x4x1xf32>
}

// Without another factor there is no product that could leave the range.
// CHECK-LABEL: func.func @maximum_f32(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xf32>
// CHECK:         %[[A:.*]] = math.absf %[[X]]
// CHECK:         rmsnorm.row_reduce maxnumf(%[[A]])
func.func @maximum_f32(%x: vector<1x64xf32>, %r: vector<1x1xf32>) -> vector<1x1xf32> {
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %y = arith.mulf %x, %rb : vector<1x64xf32>
  %a = math.absf %y : vector<1x64xf32>
  %m = rmsnorm.row_reduce maxnumf(%a) : vector<1x64xf32> -> vector<1x1xf32>
  return %m : vector<1x1xf32>
}

// A product of f32 could, a maximum of the values themselves has a sign, and
// what is rounded between is another number.
// CHECK-LABEL: func.func @maximum_stays(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xf32>
// CHECK:         %[[H:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK:         %[[Y:.*]] = arith.mulf %[[H]], %{{.*}}
// CHECK:         %[[A:.*]] = math.absf %[[Y]]
// CHECK:         rmsnorm.row_reduce maximumf(%[[A]]), maximumf(%[[H]]), maximumf(%{{.*}})
func.func @maximum_stays(%x: vector<1x64xf32>, %w: vector<1x64xf32>, %r: vector<1x1xf32>) -> (vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>) {
  %rb = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
  %xhat = arith.mulf %x, %rb : vector<1x64xf32>
  %y = arith.mulf %xhat, %w : vector<1x64xf32>
  %a = math.absf %y : vector<1x64xf32>
  %t = arith.truncf %xhat : vector<1x64xf32> to vector<1x64xbf16>
  %e = arith.extf %t : vector<1x64xbf16> to vector<1x64xf32>
  %b = math.absf %e : vector<1x64xf32>
  %m:3 = rmsnorm.row_reduce maximumf(%a), maximumf(%xhat), maximumf(%b) : vector<1x64xf32>, vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>
  return %m#0, %m#1, %m#2 : vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>
}

// RUN: norm-opt %s --rmsnorm-fuse-reductions --split-input-file | FileCheck %s

// Independent: one traversal. The second one's inputs move up, in order.
// CHECK-LABEL: func.func @independent(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x64xf32>, %[[Y:[^:]*]]: vector<1x64xf32>)
// CHECK:         %[[SX:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:         %[[AY:.*]] = math.absf %[[Y]]
// CHECK:         %[[BY:.*]] = arith.addf %[[AY]], %[[X]]
// CHECK:         %[[R:.*]]:2 = rmsnorm.row_reduce add(%[[SX]]), maximumf(%[[BY]])
// CHECK-NOT:     rmsnorm.row_reduce
// CHECK:         %[[S:.*]] = math.rsqrt %[[R]]#0
// CHECK:         return %[[S]], %[[R]]#1
func.func @independent(%x: vector<1x64xf32>, %y: vector<1x64xf32>) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %sx = arith.mulf %x, %x : vector<1x64xf32>
  %a = rmsnorm.row_reduce add(%sx) : vector<1x64xf32> -> vector<1x1xf32>
  %s = math.rsqrt %a : vector<1x1xf32>
  %ay = math.absf %y : vector<1x64xf32>
  %by = arith.addf %ay, %x : vector<1x64xf32>
  %b = rmsnorm.row_reduce maximumf(%by) : vector<1x64xf32> -> vector<1x1xf32>
  return %s, %b : vector<1x1xf32>, vector<1x1xf32>
}

// -----

// The second depends on the first: two traversals. The third joins the first,
// the fourth, which needs the third, the second.
// CHECK-LABEL: func.func @chain(
// CHECK:         rmsnorm.row_reduce add(%{{.*}}), add(%{{.*}}) :
// CHECK:         rmsnorm.row_reduce maximumf(%{{.*}}), maximumf(%{{.*}}) :
// CHECK-NOT:     rmsnorm.row_reduce
func.func @chain(%x: vector<1x64xf32>, %y: vector<1x64xf32>) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %a = rmsnorm.row_reduce add(%x) : vector<1x64xf32> -> vector<1x1xf32>
  %ab = vector.broadcast %a : vector<1x1xf32> to vector<1x64xf32>
  %xa = arith.mulf %x, %ab : vector<1x64xf32>
  %b = rmsnorm.row_reduce maximumf(%xa) : vector<1x64xf32> -> vector<1x1xf32>
  %c = rmsnorm.row_reduce add(%y) : vector<1x64xf32> -> vector<1x1xf32>
  %cb = vector.broadcast %c : vector<1x1xf32> to vector<1x64xf32>
  %yc = arith.mulf %y, %cb : vector<1x64xf32>
  %d = rmsnorm.row_reduce maximumf(%yc) : vector<1x64xf32> -> vector<1x1xf32>
  return %b, %d : vector<1x1xf32>, vector<1x1xf32>
}

// -----

// Equal reductions, of inputs computed twice, are one; a sum and a maximum of
// one input are two.
// CHECK-LABEL: func.func @equal(
// CHECK:         %[[SQUARE:.*]] = arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         %[[R:.*]]:2 = rmsnorm.row_reduce add(%[[SQUARE]]), maximumf(%[[SQUARE]])
// CHECK:         return %[[R]]#0, %[[R]]#0, %[[R]]#1
func.func @equal(%x: vector<1x64xf32>) -> (vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>) {
  %s = arith.mulf %x, %x : vector<1x64xf32>
  %a = rmsnorm.row_reduce add(%s) : vector<1x64xf32> -> vector<1x1xf32>
  %t = arith.mulf %x, %x : vector<1x64xf32>
  %b, %c = rmsnorm.row_reduce add(%t), maximumf(%t) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
  return %a, %b, %c : vector<1x1xf32>, vector<1x1xf32>, vector<1x1xf32>
}

// -----

// Dead results go, and what only they needed.
// CHECK-LABEL: func.func @dead(
// CHECK-NOT:     math.absf
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK-NOT:     rmsnorm.row_reduce
func.func @dead(%x: vector<1x64xf32>) -> vector<1x1xf32> {
  %y = math.absf %x : vector<1x64xf32>
  %a, %b = rmsnorm.row_reduce add(%x), maximumf(%y) : vector<1x64xf32>, vector<1x64xf32> -> vector<1x1xf32>, vector<1x1xf32>
  %bb = vector.broadcast %b : vector<1x1xf32> to vector<1x64xf32>
  %c = rmsnorm.row_reduce add(%bb) : vector<1x64xf32> -> vector<1x1xf32>
  return %a : vector<1x1xf32>
}

// -----

// Other shapes: apart.
// CHECK-LABEL: func.func @different(
// CHECK-COUNT-2: rmsnorm.row_reduce add(%{{[^)]*}}) : vector
func.func @different(%x: vector<1x1073741824xf32>, %y: vector<1x64xf32>) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %a = rmsnorm.row_reduce add(%x) : vector<1x1073741824xf32> -> vector<1x1xf32>
  %c = rmsnorm.row_reduce add(%y) : vector<1x64xf32> -> vector<1x1xf32>
  return %a, %c : vector<1x1xf32>, vector<1x1xf32>
}

// -----

// A load of memory does not move over what may write it.
// CHECK-LABEL: func.func @memory(
// CHECK:         rmsnorm.row_reduce add
// CHECK:         rmsnorm.tile_store
// CHECK:         rmsnorm.tile_load
// CHECK:         rmsnorm.row_reduce maximumf
func.func @memory(%x: vector<1x64xf32>, %m: memref<?x64xf32>, %row: index) -> (vector<1x1xf32>, vector<1x1xf32>) {
  %a = rmsnorm.row_reduce add(%x) : vector<1x64xf32> -> vector<1x1xf32>
  rmsnorm.tile_store tile %x, %m[%row] : vector<1x64xf32>, memref<?x64xf32>
  %y = rmsnorm.tile_load tile %m[%row] : memref<?x64xf32> -> vector<1x64xf32>
  %b = rmsnorm.row_reduce maximumf(%y) : vector<1x64xf32> -> vector<1x1xf32>
  return %a, %b : vector<1x1xf32>, vector<1x1xf32>
}

// RUN: norm-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @take_of_take(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x8x2x16xf32>
// CHECK:         %[[T:.*]] = rmsnorm.take %[[X]] at [5, 1, 0] : vector<1x8x2x16xf32> -> vector<1x2x1x16xf32>
// CHECK:         return %[[T]]
func.func @take_of_take(%x: vector<1x8x2x16xf32>) -> vector<1x2x1x16xf32> {
  %a = rmsnorm.take %x at [4, 0, 0] : vector<1x8x2x16xf32> -> vector<1x4x2x16xf32>
  %b = rmsnorm.take %a at [1, 1, 0] : vector<1x4x2x16xf32> -> vector<1x2x1x16xf32>
  return %b : vector<1x2x1x16xf32>
}

// What was put there, a part of it, or what it was put into.
// CHECK-LABEL: func.func @take_of_put(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x8x16xf32>, %[[P:[^:]*]]: vector<1x2x16xf32>
// CHECK-DAG:     %[[IN:.*]] = rmsnorm.take %[[P]] at [1, 0] : vector<1x2x16xf32> -> vector<1x1x16xf32>
// CHECK-DAG:     %[[BESIDE:.*]] = rmsnorm.take %[[X]] at [1, 0] : vector<1x8x16xf32> -> vector<1x2x16xf32>
// CHECK-DAG:     %[[PUT:.*]] = rmsnorm.put %[[P]], %[[X]] at [3, 0]
// CHECK-DAG:     %[[ACROSS:.*]] = rmsnorm.take %[[PUT]] at [2, 0] : vector<1x8x16xf32> -> vector<1x2x16xf32>
// CHECK:         return %[[P]], %[[IN]], %[[BESIDE]], %[[ACROSS]]
func.func @take_of_put(%x: vector<1x8x16xf32>, %p: vector<1x2x16xf32>) -> (vector<1x2x16xf32>, vector<1x1x16xf32>, vector<1x2x16xf32>, vector<1x2x16xf32>) {
  %y = rmsnorm.put %p, %x at [3, 0] : vector<1x2x16xf32>, vector<1x8x16xf32>
  %a = rmsnorm.take %y at [3, 0] : vector<1x8x16xf32> -> vector<1x2x16xf32>
  %b = rmsnorm.take %y at [4, 0] : vector<1x8x16xf32> -> vector<1x1x16xf32>
  %c = rmsnorm.take %y at [1, 0] : vector<1x8x16xf32> -> vector<1x2x16xf32>
  %d = rmsnorm.take %y at [2, 0] : vector<1x8x16xf32> -> vector<1x2x16xf32>
  return %a, %b, %c, %d : vector<1x2x16xf32>, vector<1x1x16xf32>, vector<1x2x16xf32>, vector<1x2x16xf32>
}

// CHECK-LABEL: func.func @splats(
// CHECK-DAG:     %[[A:.*]] = arith.constant dense<1.500000e+00> : vector<1x2x16xf32>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<1.500000e+00> : vector<1x1x16xf32>
// CHECK:         return %[[B]], %[[A]]
func.func @splats() -> (vector<1x1x16xf32>, vector<1x2x16xf32>) {
  %x = arith.constant dense<1.5> : vector<1x2x16xf32>
  %a = rmsnorm.take %x at [1, 0] : vector<1x2x16xf32> -> vector<1x1x16xf32>
  %b = rmsnorm.put %a, %x at [0, 0] : vector<1x1x16xf32>, vector<1x2x16xf32>
  return %a, %b : vector<1x1x16xf32>, vector<1x2x16xf32>
}

// CHECK-LABEL: func.func @put_back(
// CHECK-SAME:    %[[X:[^:]*]]: vector<1x2x16xf32>
// CHECK-NEXT:    %[[T:.*]] = rmsnorm.take %[[X]] at [1, 0]
// CHECK-NEXT:    %[[Z:.*]] = rmsnorm.put %[[T]], %[[X]] at [0, 0]
// CHECK-NEXT:    return %[[X]], %[[Z]]
func.func @put_back(%x: vector<1x2x16xf32>) -> (vector<1x2x16xf32>, vector<1x2x16xf32>) {
  %a = rmsnorm.take %x at [1, 0] : vector<1x2x16xf32> -> vector<1x1x16xf32>
  %y = rmsnorm.put %a, %x at [1, 0] : vector<1x1x16xf32>, vector<1x2x16xf32>
  %z = rmsnorm.put %a, %x at [0, 0] : vector<1x1x16xf32>, vector<1x2x16xf32>
  return %y, %z : vector<1x2x16xf32>, vector<1x2x16xf32>
}

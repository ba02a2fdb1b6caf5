// RUN: norm-opt %s --rmsnorm-generalize-elementwise=restorable | FileCheck %s --check-prefix=MADE
// RUN: norm-opt %s --rmsnorm-generalize-elementwise=restorable --rmsnorm-restore-elementwise | FileCheck %s

// What was made of arith and math is marked and put back; what is linalg stays.
// MADE-LABEL: func.func @f(
// MADE-COUNT-2: attrs = {{.*}}rmsnorm.elementwise
// MADE:         linalg.exp
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xf32>, %[[Y:[^:]*]]: tensor<?x64xf32>, %[[D:[^:]*]]: tensor<?x64xf32>)
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[X]], %[[Y]] fastmath<contract> : tensor<?x64xf32>
// CHECK-NEXT:    %[[T:.*]] = math.tanh %[[S]] {theirs} : tensor<?x64xf32>
// CHECK-NEXT:    %[[E:.*]] = linalg.exp ins(%[[T]] :
// CHECK-NEXT:    return %[[E]]
func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %s = arith.addf %x, %y fastmath<contract> : tensor<?x64xf32>
  %t = math.tanh %s {theirs} : tensor<?x64xf32>
  %e = linalg.exp ins(%t : tensor<?x64xf32>) outs(%d : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %e : tensor<?x64xf32>
}

// So is a concatenation of static parts, which is insertions in between. One
// that is of parts whose sizes only a call knows stays.
// MADE-LABEL: func.func @concat(
// MADE-COUNT-3: tensor.insert_slice {{.*}}{rmsnorm.elementwise = "tensor.concat"}
// MADE-NOT:     insert_slice
// MADE:         tensor.concat dim(0)
// CHECK-LABEL: func.func @concat(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x16xf32>, %[[Y:[^:]*]]: tensor<?x8xf32>)
// CHECK-NEXT:    %[[A:.*]] = tensor.concat dim(1) %[[Y]], %[[X]], %[[Y]] :
// CHECK-NEXT:    %[[B:.*]] = tensor.concat dim(0) %[[A]], %[[A]] :
// CHECK-NEXT:    return %[[B]]
func.func @concat(%x: tensor<?x16xf32>, %y: tensor<?x8xf32>) -> tensor<?x32xf32> {
  %a = tensor.concat dim(1) %y, %x, %y : (tensor<?x8xf32>, tensor<?x16xf32>, tensor<?x8xf32>) -> tensor<?x32xf32>
  %b = tensor.concat dim(0) %a, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %b : tensor<?x32xf32>
}

// A concatenation of concatenations.
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    %[[A:.*]] = tensor.concat dim(0)
// CHECK-NEXT:    %[[B:.*]] = tensor.concat dim(1) %[[A]]
// CHECK-NEXT:    return %[[B]], %[[A]]
func.func @nested(%x: tensor<4x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x32xf32>, tensor<8x16xf32>) {
  %a = tensor.concat dim(0) %x, %x : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %b = tensor.concat dim(1) %a, %y : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %b, %a : tensor<8x32xf32>, tensor<8x16xf32>
}

// A padding by a constant that begins at a known place is an insertion into what
// is filled with it.
// MADE-LABEL: func.func @pad(
// MADE:         %[[F:.*]] = linalg.fill
// MADE:         tensor.insert_slice %{{.*}} into %[[F]][0, 8] [%{{.*}}, 16] [1, 1] {rmsnorm.elementwise = "tensor.pad"}
// MADE:         tensor.pad
// MADE:         %[[G:.*]] = linalg.fill
// MADE:         tensor.insert_slice %{{.*}} into %[[G]][1, 0] [%{{.*}}, 16] [1, 1] {rmsnorm.elementwise = "tensor.pad"}
// CHECK-LABEL: func.func @pad(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x16xf32>, %[[N:[^:]*]]: index)
// CHECK-NEXT:    %[[Z:.*]] = arith.constant
// CHECK-NEXT:    %[[A:.*]] = tensor.pad %[[X]] low[0, 8] high[0, 4] {
// CHECK:           tensor.yield %[[Z]]
// CHECK-NEXT:    } : tensor<?x16xf32> to tensor<?x28xf32>
// CHECK-NEXT:    %[[B:.*]] = tensor.pad %[[X]] low[%[[N]], 0] high[0, 0] {
// CHECK-NOT:     tensor.empty
// CHECK:         %[[C:.*]] = tensor.pad %[[X]] low[1, 0] high[%[[N]], 0] {
// CHECK-NOT:     tensor.empty
// CHECK:         return %[[A]], %[[B]], %[[C]]
func.func @pad(%x: tensor<?x16xf32>, %n: index) -> (tensor<?x28xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %z = arith.constant 1.0 : f32
  %a = tensor.pad %x low[0, 8] high[0, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x16xf32> to tensor<?x28xf32>
  %b = tensor.pad %x low[%n, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x16xf32> to tensor<?x16xf32>
  %c = tensor.pad %x low[1, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x16xf32> to tensor<?x16xf32>
  return %a, %b, %c : tensor<?x28xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// RUN: norm-opt %s --rmsnorm-generalize-elementwise | FileCheck %s

// Into a tensor of its own: neither operand is what the sum is computed into.
// CHECK-LABEL: func.func @add(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xbf16>, %[[R:[^:]*]]: tensor<?x64xbf16>)
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x64xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[R]] : {{.*}}) outs(%[[E]] :
// CHECK:           arith.addf
func.func @add(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %h = arith.addf %x, %r : tensor<?x64xbf16>
  return %h : tensor<?x64xbf16>
}

// What is linalg already keeps its destination.
// CHECK-LABEL: func.func @theirs(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xf32>, %[[Y:[^:]*]]: tensor<?x64xf32>)
// CHECK-NOT:     tensor.empty
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[Y]] :
// CHECK:         %[[E:.*]] = tensor.empty(
// CHECK:         linalg.generic {{.*}} outs(%[[E]] :
// CHECK:           math.absf
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @theirs(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  } -> tensor<?x64xf32>
  %1 = math.absf %x : tensor<?x64xf32>
  return %0, %1 : tensor<?x64xf32>, tensor<?x64xf32>
}

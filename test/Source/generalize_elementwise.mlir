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

// Divided by the scale and rounded, as upstream expands it, in bodies as well.
// CHECK-LABEL: func.func @scaling(
// CHECK-NOT:     arith.scaling_truncf
// CHECK:         arith.extf %{{.*}} : f8E8M0FNU to f32
// CHECK:         arith.divf %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to f4E2M1FN
// CHECK:         linalg.generic
// CHECK:         %[[S:.*]] = arith.extf %{{.*}} : f8E8M0FNU to f32
// CHECK-NEXT:    %[[Q:.*]] = arith.divf %{{.*}}, %[[S]] : f32
// CHECK-NEXT:    arith.truncf %[[Q]] : f32 to f8E4M3FN
func.func @scaling(%x: tensor<?x64xf32>, %s: tensor<?x64xf8E8M0FNU>, %o: tensor<?x64xf8E4M3FN>) -> (tensor<?x64xf4E2M1FN>, tensor<?x64xf8E4M3FN>) {
  %q = arith.scaling_truncf %x, %s : tensor<?x64xf32>, tensor<?x64xf8E8M0FNU> to tensor<?x64xf4E2M1FN>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x64xf32>, tensor<?x64xf8E8M0FNU>) outs(%o : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f8E8M0FNU, %c: f8E4M3FN):
    %d = arith.scaling_truncf %a, %b : f32, f8E8M0FNU to f8E4M3FN
    linalg.yield %d : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q, %r : tensor<?x64xf4E2M1FN>, tensor<?x64xf8E4M3FN>
}

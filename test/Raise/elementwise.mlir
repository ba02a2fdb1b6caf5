// A norm in arith and math on tensors is raised; what else is on tensors stays as it was.
// RUN: norm-opt %s --rmsnorm-raise > %t
// RUN: FileCheck %s < %t
// RUN: norm-opt %s | sed -n '/@theirs/,/^  }/p' > %t.before
// RUN: sed -n '/@theirs/,/^  }/p' %t > %t.after
// RUN: FileCheck %s --check-prefix=THEIRS < %t.before && diff %t.before %t.after

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @norm(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x96xf32>, %[[R:[^:]*]]: tensor<8x96xf32>, %[[W:[^:]*]]: tensor<96xf32>)
// CHECK-NOT:     linalg
// CHECK:         %[[H:.*]] = arith.addf %[[X]], %[[R]] fastmath<contract> : tensor<8x96xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[H]] : {{.*}}) weight(%[[W]] :
// CHECK-NOT:     linalg
// CHECK:         %[[Z:.*]] = math.tanh %[[Y]] : tensor<8x96xf32>
// CHECK:         return %[[Z]]
func.func @norm(%x: tensor<8x96xf32>, %r: tensor<8x96xf32>, %w: tensor<96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant dense<1.0e-05> : tensor<8xf32>
  %n = arith.constant dense<96.0> : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x96xf32>
  %h = arith.addf %x, %r fastmath<contract> : tensor<8x96xf32>
  %square = arith.mulf %h, %h : tensor<8x96xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%square : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %mean = arith.divf %sum, %n : tensor<8xf32>
  %more = arith.addf %mean, %eps : tensor<8xf32>
  %rstd = math.rsqrt %more : tensor<8xf32>
  %rows:2 = linalg.generic {indexing_maps = [#row, #column, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%rstd, %w : tensor<8xf32>, tensor<96xf32>) outs(%e, %e : tensor<8x96xf32>, tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32):
    linalg.yield %a, %b : f32, f32
  } -> (tensor<8x96xf32>, tensor<8x96xf32>)
  %scaled = arith.mulf %h, %rows#0 : tensor<8x96xf32>
  %y = arith.mulf %scaled, %rows#1 : tensor<8x96xf32>
  %z = math.tanh %y : tensor<8x96xf32>
  return %z : tensor<8x96xf32>
}

// THEIRS: arith.mulf
// THEIRS: arith.scaling_truncf
func.func @theirs(%x: tensor<?x?xf32>, %c: i1, %s: tensor<?x?xf8E8M0FNU>) -> (tensor<?x?xf32>, tensor<?x?xf4E2M1FN>) {
  %a = arith.mulf %x, %x : tensor<?x?xf32>
  %b = arith.select %c, %a, %x : tensor<?x?xf32>
  %q = arith.scaling_truncf %b, %s : tensor<?x?xf32>, tensor<?x?xf8E8M0FNU> to tensor<?x?xf4E2M1FN>
  return %b, %q : tensor<?x?xf32>, tensor<?x?xf4E2M1FN>
}

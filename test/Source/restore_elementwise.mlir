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

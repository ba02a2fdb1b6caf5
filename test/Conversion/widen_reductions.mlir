// RUN: norm-opt %s --rmsnorm-widen-reductions | FileCheck %s

// The sum is f64; what is summed, and the result, keep their types.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[X:.*]]: tensor<4x?xbf16>, %[[INIT:.*]]: tensor<4xf32>)
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4xf64>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[INIT]] : tensor<4xf32>) outs(%[[EMPTY]] : tensor<4xf64>)
// CHECK: arith.extf
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x?xbf16>) outs(%[[WIDE]] : tensor<4xf64>)
// CHECK: ^bb0(%[[IN:.*]]: bf16, %[[ACC:.*]]: f64):
// CHECK: %[[F:.*]] = arith.extf %[[IN]] : bf16 to f32
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[F]], %[[F]] : f32
// CHECK: %[[D:.*]] = arith.extf %[[SQUARE]] : f32 to f64
// CHECK: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[D]] : f64
// CHECK: linalg.yield %[[NEXT]] : f64
// CHECK: %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4xf64>) outs(%[[INIT]] : tensor<4xf32>)
// CHECK: arith.truncf
// CHECK: return %[[RESULT]]
func.func @sum(%x: tensor<4x?xbf16>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xbf16>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: bf16, %acc: f32):
    %f = arith.extf %in : bf16 to f32
    %square = arith.mulf %f, %f : f32
    %next = arith.addf %acc, %square : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A named reduction is one as well.
// CHECK-LABEL: func.func @named
// CHECK: arith.addf %{{.*}} : f64
func.func @named(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}

// A maximum is exact, an elementwise op sums nothing, f64 is wide.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: arith.extf
// CHECK: return
func.func @stay(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %d: tensor<4x8xf64>, %s: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4xf64>) {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>) outs(%m : tensor<4xf32>) dimensions = [1]
  %1 = linalg.add ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.reduce { arith.addf } ins(%d : tensor<4x8xf64>) outs(%s : tensor<4xf64>) dimensions = [1]
  return %0, %1, %2 : tensor<4xf32>, tensor<4x8xf32>, tensor<4xf64>
}

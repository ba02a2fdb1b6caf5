// RUN: norm-opt %s --rmsnorm-expand-oracle-math | FileCheck %s

// Rounding once: to f32 and to odd, then to the narrow type.

// CHECK-LABEL: func.func @truncate(
// CHECK-SAME:    %[[A:.*]]: f64
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:         %[[F:.*]] = arith.truncf %[[A]] : f64 to f32
// CHECK:         %[[B:.*]] = arith.extf %[[F]] : f32 to f64
// CHECK:         %[[NE:.*]] = arith.cmpf one, %[[B]], %[[A]]
// CHECK:         %[[GT:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}}
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[F]] : f32 to i32
// CHECK:         %[[STEP:.*]] = arith.extui %[[GT]]
// CHECK:         %[[ZERO:.*]] = arith.subi %[[BITS]], %[[STEP]]
// CHECK:         %[[ODD:.*]] = arith.ori %[[ZERO]], %[[ONE]]
// CHECK:         %[[SEL:.*]] = arith.select %[[NE]], %[[ODD]], %[[BITS]]
// CHECK:         %[[G:.*]] = arith.bitcast %[[SEL]] : i32 to f32
// CHECK:         arith.truncf %[[G]] : f32 to bf16
func.func @truncate(%a: f64) -> bf16 {
  %0 = arith.truncf %a : f64 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @other_truncations(
// CHECK-NEXT:    arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT:    arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:    return
func.func @other_truncations(%a: f64, %b: f32) -> (f32, f16) {
  %0 = arith.truncf %a : f64 to f32
  %1 = arith.truncf %b : f32 to f16
  return %0, %1 : f32, f16
}

// Math on bf16 is f32 math; no call of a library is left, and instructions stay.

// CHECK-LABEL: func.func @functions(
// CHECK-NOT:     math.{{exp|tanh|rsqrt|powf|erf}}
// CHECK:         math.sqrt %{{.*}} : f64
// CHECK-NOT:     math.{{exp|tanh|rsqrt|powf|erf}}
// CHECK:         return
func.func @functions(%a: bf16, %b: f32, %c: f64)
    -> (bf16, f32, f32, f32, f64) {
  %0 = math.exp %a : bf16
  %1 = math.tanh %b : f32
  %2 = math.erf %b : f32
  %3 = math.powf %b, %b : f32
  %4 = math.rsqrt %c : f64
  return %0, %1, %2, %3, %4 : bf16, f32, f32, f32, f64
}

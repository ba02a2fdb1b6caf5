// RUN: norm-opt %s --rmsnorm-add-magnitudes --canonicalize --split-input-file | FileCheck %s

// Absolute values of what is read, sums for differences, no rounding on the way;
// the function itself stays as it is and loses the attribute.

#e = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @difference(
// CHECK-NOT:     attributes
// CHECK:         arith.subf
// CHECK-LABEL: func.func @difference.magnitudes(
// CHECK:       ^bb0(%[[G:[^:]*]]: bf16, %[[C:[^:]*]]: f32, %[[W:[^:]*]]: bf16
// CHECK-DAG:     %[[AG:.*]] = math.absf %[[G]] : bf16
// CHECK-DAG:     %[[AC:.*]] = math.absf %[[C]] : f32
// CHECK-DAG:     %[[EG:.*]] = arith.extf %[[AG]] : bf16 to f32
// CHECK-DAG:     %[[P:.*]] = arith.mulf %[[EG]], %[[AC]] : f32
// A sum of an element and a constant has its own absolute value.
// CHECK-DAG:     %[[EW:.*]] = arith.extf %[[W]] : bf16 to f32
// CHECK-DAG:     %[[W1:.*]] = arith.addf %[[EW]], %{{.*}} : f32
// CHECK-DAG:     %[[AW:.*]] = math.absf %[[W1]] : f32
// CHECK:         %[[D:.*]] = arith.addf %[[P]], %[[AW]] : f32
// CHECK:         %[[T:.*]] = arith.truncf %[[D]] : f32 to bf16
// CHECK:         linalg.yield %[[T]] : bf16
func.func @difference(%g: memref<?x8xbf16>, %c: memref<?xf32>, %w: memref<?x8xbf16>, %y: memref<?x8xbf16>)
    attributes {rmsnorm.magnitudes} {
  %minus = arith.constant -1.0 : f32
  linalg.generic {indexing_maps = [#e, #r, #e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%g, %c, %w : memref<?x8xbf16>, memref<?xf32>, memref<?x8xbf16>) outs(%y : memref<?x8xbf16>) {
  ^bb0(%a: bf16, %b: f32, %v: bf16, %out: bf16):
    %ea = arith.extf %a : bf16 to f32
    %p = arith.mulf %ea, %b : f32
    %rounded = arith.truncf %p : f32 to bf16
    %back = arith.extf %rounded : bf16 to f32
    %n = arith.negf %back : f32
    %ev = arith.extf %v : bf16 to f32
    %v1 = arith.addf %ev, %minus : f32
    %d = arith.subf %n, %v1 : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  }
  return
}

// -----

// What a buffer of the function holds is a magnitude already, so a difference
// with that is a sum; one of two arguments is exact. A function without the
// attribute has no companion.

// CHECK-LABEL: func.func @through_a_buffer.magnitudes(
// CHECK:         memref.alloc
// CHECK:         arith.subf
// CHECK-NEXT:    math.absf
// CHECK-NEXT:    linalg.yield
// CHECK-COUNT-2: math.absf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    linalg.yield
// CHECK-NOT:   magnitudes
func.func @through_a_buffer(%x: memref<8xf64>, %y: memref<8xf64>) attributes {rmsnorm.magnitudes} {
  %t = memref.alloc() : memref<8xf64>
  linalg.sub ins(%x, %x : memref<8xf64>, memref<8xf64>) outs(%t : memref<8xf64>)
  linalg.sub ins(%t, %x : memref<8xf64>, memref<8xf64>) outs(%y : memref<8xf64>)
  memref.dealloc %t : memref<8xf64>
  return
}
func.func @plain(%x: memref<8xf64>) {
  return
}

// -----

// An argument that was written holds a magnitude, too: no element of it is
// exact, and a difference with it adds.

// CHECK-LABEL: func.func @through_an_argument.magnitudes(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<8xf64>, %[[Y:[a-z0-9]*]]: memref<8xf64>
// CHECK:         linalg.generic
// CHECK:         linalg.generic {{.*}} ins(%[[Y]], %[[X]] :
// CHECK-NEXT:    ^bb0(%[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64,
// CHECK-DAG:       %[[MA:.*]] = math.absf %[[A]]
// CHECK-DAG:       %[[MB:.*]] = math.absf %[[B]]
// CHECK:           %[[S:.*]] = arith.addf %[[MA]], %[[MB]]
// CHECK-NEXT:      linalg.yield %[[S]]
func.func @through_an_argument(%x: memref<8xf64>, %y: memref<8xf64>) attributes {rmsnorm.magnitudes} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf64>) outs(%y : memref<8xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = arith.mulf %a, %a : f64
    linalg.yield %p : f64
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%y, %x : memref<8xf64>, memref<8xf64>) outs(%y : memref<8xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %d = arith.subf %a, %b : f64
    linalg.yield %d : f64
  }
  return
}

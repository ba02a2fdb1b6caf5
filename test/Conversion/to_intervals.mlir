// RUN: norm-opt %s --rmsnorm-to-intervals --split-input-file | FileCheck %s

// Scalars are calls; what is narrower than f32 is rounded to its type, an exact
// conversion is nothing.

// CHECK-DAG:   func.func private @rmsnorm_oracle_round(complex<f64>, i64, i64, f64, i64) -> complex<f64>
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %{{[^:]*}}: memref<?x8xcomplex<f64>>, %{{[^:]*}}: memref<?x8xcomplex<f64>, strided<[?, 1]>>)
// CHECK:         linalg.generic
// CHECK:         ^bb0(%[[X:.*]]: complex<f64>, %{{.*}}: complex<f64>):
// CHECK-DAG:       %[[P:.*]] = arith.constant 8 : i64
// CHECK-DAG:       %[[E:.*]] = arith.constant -126 : i64
// CHECK-DAG:       %[[L:.*]] = arith.constant 3.38{{[0-9]*}}E+38 : f64
// CHECK-DAG:       %[[S:.*]] = func.call @rmsnorm_oracle_square(%[[X]])
// CHECK-DAG:       %[[D:.*]] = func.call @rmsnorm_oracle_div(%[[S]], %{{.*}})
// CHECK:           %[[R:.*]] = func.call @rmsnorm_oracle_round(%[[D]], %[[P]], %[[E]], %[[L]], %{{.*}})
// CHECK:           linalg.yield %[[R]] : complex<f64>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @elementwise(%x: memref<?x8xbf16>, %y: memref<?x8xbf16, strided<[?, 1]>>) {
  %three = arith.constant 3.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x8xbf16>) outs(%y : memref<?x8xbf16, strided<[?, 1]>>) {
  ^bb0(%a: bf16, %o: bf16):
    %e = arith.extf %a : bf16 to f32
    %s = arith.mulf %e, %e : f32
    %d = arith.divf %s, %three : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  }
  return
}

// -----

// A sum, whose depth is 8 + sqrt(16). It begins with what is there, and is
// rounded in the end, not on the way.

// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x16xcomplex<f64>>, %[[Y:[^:]*]]: memref<?xcomplex<f64>>)
// CHECK:         %[[DEPTH:.*]] = arith.constant 1.200000e+01 : f64
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%[[Y]]
// CHECK:           call @rmsnorm_oracle_sum_begin(%{{.*}}, %[[DEPTH]])
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] {{.*}} outs(%[[Y]]
// CHECK:         ^bb0(%[[A:.*]]: complex<f64>, %[[O:.*]]: complex<f64>):
// CHECK-NEXT:      %[[S:.*]] = func.call @rmsnorm_oracle_sum(%[[O]], %[[A]], %[[DEPTH]])
// CHECK-NEXT:      linalg.yield %[[S]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%[[Y]]
// CHECK:           %[[F:.*]] = func.call @rmsnorm_oracle_sum_finish(%{{.*}}, %[[DEPTH]])
// CHECK:           %[[R:.*]] = func.call @rmsnorm_oracle_round(%[[F]],
// CHECK:           linalg.yield %[[R]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sum(%x: memref<?x16xf16>, %y: memref<?xf16>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x16xf16>) outs(%y : memref<?xf16>) {
  ^bb0(%a: f16, %o: f16):
    %s = arith.addf %a, %o : f16
    linalg.yield %s : f16
  }
  return
}

// -----

// A fill is nothing to begin with; a maximum and a product are no sums. Of an
// unknown number of terms the depth is computed.

// CHECK-LABEL: func.func @reductions(
// CHECK:         linalg.fill
// CHECK-NOT:     sum_begin
// CHECK:         math.sqrt %{{.*}} : f64
// CHECK:         func.call @rmsnorm_oracle_mul(
// CHECK:         func.call @rmsnorm_oracle_sum(
// CHECK:         func.call @rmsnorm_oracle_max(
// CHECK:         func.call @rmsnorm_oracle_factor(
// CHECK:         call @rmsnorm_oracle_sum_finish(
// CHECK-NOT:     sum_finish
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @reductions(%x: memref<?x?xf32>, %s: memref<?xf32>, %m: memref<?xf32>, %p: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%s, %m, %p : memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %o0: f32, %o1: f32, %o2: f32):
    %0 = math.fma %a, %a, %o0 : f32
    %1 = arith.maximumf %a, %o1 : f32
    %2 = arith.mulf %o2, %a : f32
    linalg.yield %0, %1, %2 : f32, f32, f32
  }
  return
}

// -----

// Comparisons, integers, sizes and positions; a gather.

// CHECK-LABEL: func.func @integers(
// CHECK:         %[[LESS:.*]] = arith.constant 4 : i64
// CHECK:         %[[C:.*]] = func.call @rmsnorm_oracle_compare(%{{.*}}, %{{.*}}, %[[LESS]])
// CHECK:         %[[S:.*]] = func.call @rmsnorm_oracle_select(%[[C]],
// CHECK:         func.call @rmsnorm_oracle_to_integer(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK:         %[[RE:.*]] = complex.re %{{.*}} : complex<f64>
// CHECK:         %[[I64:.*]] = arith.fptosi %[[RE]] : f64 to i64
// CHECK:         %[[I:.*]] = arith.index_cast %[[I64]] : i64 to index
// CHECK:         %[[SIZE:.*]] = memref.dim %[[T:.*]], %{{.*}} : memref<?xcomplex<f64>>
// CHECK:         %[[LAST:.*]] = arith.subi %[[SIZE]],
// CHECK:         %[[LOW:.*]] = arith.minsi %[[I]], %[[LAST]]
// CHECK:         %[[IN:.*]] = arith.maxsi %[[LOW]],
// CHECK:         memref.load %[[T]][%[[IN]]] : memref<?xcomplex<f64>>
// CHECK:         func.call @rmsnorm_oracle_integer(
#id1 = affine_map<(d0) -> (d0)>
func.func @integers(%x: memref<?xf32>, %at: memref<?xi32>, %t: memref<?xi8>, %y: memref<?xi8>) {
  linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]} ins(%x, %at : memref<?xf32>, memref<?xi32>) outs(%y : memref<?xi8>) {
  ^bb0(%a: f32, %b: i32, %o: i8):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %c = arith.cmpf olt, %a, %f : f32
    %s = arith.select %c, %a, %f : f32
    %k = arith.fptosi %s : f32 to i8
    %p = arith.index_cast %b : i32 to index
    %l = memref.load %t[%p] : memref<?xi8>
    %r = arith.addi %k, %l : i8
    linalg.yield %r : i8
  }
  return
}

// -----

// Powers of two: the one above, in the range that the type has.

// CHECK-LABEL: func.func @powers(
// CHECK:         %[[ABOVE:.*]] = arith.constant 25 : i64
// CHECK:         %[[P:.*]] = func.call @rmsnorm_oracle_unary(%{{.*}}, %[[ABOVE]])
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i64
// CHECK:         func.call @rmsnorm_oracle_round(%[[P]], %[[ONE]],
#id1 = affine_map<(d0) -> (d0)>
func.func @powers(%x: memref<?xf32>, %y: memref<?xf8E8M0FNU>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf8E8M0FNU>) {
  ^bb0(%a: f32, %o: f8E8M0FNU):
    %r = arith.truncf %a upward : f32 to f8E8M0FNU
    linalg.yield %r : f8E8M0FNU
  }
  return
}

// -----

// Comparisons with NaN, of which MLIR numbers the predicates in its own way;
// the bits of floats, numbers written in f64, divisions.

// CHECK-LABEL: func.func @rare(
// CHECK:         %[[UNO:.*]] = arith.constant 8 : i64
// CHECK:         func.call @rmsnorm_oracle_compare(%{{.*}}, %{{.*}}, %[[UNO]])
// CHECK:         %[[UNE:.*]] = arith.constant 14 : i64
// CHECK:         func.call @rmsnorm_oracle_compare(%{{.*}}, %{{.*}}, %[[UNE]])
// CHECK:         %[[S:.*]] = func.call @rmsnorm_oracle_unary(
// CHECK:         %[[C:.*]] = func.call @rmsnorm_oracle_unary(
// CHECK:         func.call @rmsnorm_oracle_div(%[[S]], %[[C]])
// CHECK:         func.call @rmsnorm_oracle_rem(
// CHECK:         %[[WIDTH:.*]] = arith.constant 32 : i64
// CHECK:         func.call @rmsnorm_oracle_to_bits(%{{.*}}, %{{.*}}, %{{.*}}, %[[WIDTH]])
// CHECK:         %[[DIVUI:.*]] = arith.constant 13 : i64
// CHECK:         func.call @rmsnorm_oracle_integer(%{{.*}}, %{{.*}}, %[[DIVUI]], %{{.*}})
// CHECK:         func.call @rmsnorm_oracle_from_bits(
#id1 = affine_map<(d0) -> (d0)>
func.func @rare(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %third = arith.constant 0.33333333333333333 : f64
    %three = arith.constant 3 : i32
    %k = arith.truncf %third : f64 to f32
    %n = arith.cmpf uno, %a, %k : f32
    %s = arith.select %n, %k, %a : f32
    %m = arith.cmpf une, %s, %k : f32
    %t = arith.select %m, %s, %k : f32
    %u = math.tan %t : f32
    %r = arith.remf %u, %k : f32
    %i = arith.bitcast %r : f32 to i32
    %d = arith.divui %i, %three : i32
    %f = arith.bitcast %d : i32 to f32
    linalg.yield %f : f32
  }
  return
}

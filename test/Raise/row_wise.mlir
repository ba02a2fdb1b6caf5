// RUN: norm-opt %s --rmsnorm-raise=row-wise=all --mlir-print-op-on-diagnostic=false --mlir-print-local-scope 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=row_wise}
// RUN: norm-opt %s --rmsnorm-raise=row-wise=none 2>&1 | FileCheck %s --check-prefix=OFF --implicit-check-not=remark:
// RUN: not norm-opt %s --rmsnorm-raise=row-wise=2 2>&1 | FileCheck %s --check-prefix=OPTION
// OFF-COUNT-1: row_wise}
// OFF-NOT: row_wise}
// OPTION: for the --row-wise option: Cannot find option named '2'

// What the examples mark is found: one kernel each.
// RUN: sed 's/ attrs = {rmsnorm.row_wise}//' %examples/linalg/layer_norm.mlir | norm-opt --rmsnorm-raise=row-wise=all -o %t.layer_norm.mlir
// RUN: sed 's/ attrs = {rmsnorm.row_wise}//' %examples/linalg/softmax.mlir | norm-opt --rmsnorm-raise=row-wise=all -o %t.softmax.mlir
// RUN: sed 's/ attrs = {rmsnorm.row_wise}//' %examples/linalg/l2_norm.mlir | norm-opt --rmsnorm-raise=row-wise=all -o %t.l2_norm.mlir
// RUN: norm-run %t.layer_norm.mlir --device=sim:sm_90 --rows=5 | FileCheck %s --check-prefix=KERNEL
// RUN: norm-run %t.softmax.mlir --device=sim:sm_90 --rows=5 | FileCheck %s --check-prefix=KERNEL
// RUN: norm-run %t.l2_norm.mlir --device=sim:sm_90 | FileCheck %s --check-prefix=KERNEL

// KERNEL: {{ok$}}
// KERNEL-NOT: {{ok$}}

// CHECK-COUNT-4: remark: marked rmsnorm.row_wise, as it reduces rows: a kernel may begin with it

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @sum(
// CHECK: attrs = {rmsnorm.row_wise}
func.func @sum(%x: tensor<8x96xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @named(
// CHECK: dimensions = [1] {rmsnorm.row_wise}
func.func @named(%x: tensor<8x96xbf16>, %o: tensor<8xbf16>) -> tensor<8xbf16> {
  %y = linalg.reduce {arith.maximumf} ins(%x : tensor<8x96xbf16>) outs(%o : tensor<8xbf16>) dimensions = [1]
  return %y : tensor<8xbf16>
}

// The logarithm of a sum of exponentials.
// CHECK-LABEL: func.func @keepdims(
// CHECK: attrs = {rmsnorm.row_wise}
func.func @keepdims(%x: tensor<?x96xf32>, %m: tensor<?xf32>, %o: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<?x96xf32>, tensor<?xf32>) outs(%o : tensor<?x1xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// No second remark.
// CHECK-LABEL: func.func @marked(
// CHECK: dimensions = [1] {rmsnorm.row_wise}
func.func @marked(%x: tensor<8x96xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<8x96xf32>) outs(%o : tensor<8xf32>) dimensions = [1] {rmsnorm.row_wise}
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @of_columns(
func.func @of_columns(%x: tensor<8x96xf32>, %o: tensor<96xf32>) -> tensor<96xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<8x96xf32>) outs(%o : tensor<96xf32>) dimensions = [0]
  return %y : tensor<96xf32>
}

// CHECK-LABEL: func.func @of_all(
func.func @of_all(%x: tensor<8x96xf32>, %o: tensor<f32>) -> tensor<f32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<8x96xf32>) outs(%o : tensor<f32>) dimensions = [0, 1]
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @of_one_row(
func.func @of_one_row(%x: tensor<96xf32>, %o: tensor<f32>) -> tensor<f32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<96xf32>) outs(%o : tensor<f32>) dimensions = [0]
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @contraction(
func.func @contraction(%x: tensor<8x96xf32>, %w: tensor<96xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<8x96xf32>, tensor<96xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<8x96xf32>, %o: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %y = linalg.exp ins(%x : tensor<8x96xf32>) outs(%o : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

// Kernels have no sincos.
// CHECK-LABEL: func.func @no_kernel(
func.func @no_kernel(%x: tensor<8x96xf32>, %n: i32, %o: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #none, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<8x96xf32>, i32) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: i32, %out: f32):
    %0, %2 = math.sincos %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// PyTorch's maximum, with the index of it, which softmax has no use for.
// CHECK-LABEL: func.func @maximum(
// CHECK: attrs = {rmsnorm.row_wise}
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: linalg.yield %{{.*}} : f32
func.func @maximum(%x: tensor<8x96xf32>, %o: tensor<8xf32>, %p: tensor<8xi64>) -> tensor<8xf32> {
  %y:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%o, %p : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %out: f32, %at: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %a, %out : f32
    %3 = arith.cmpf ogt, %a, %out : f32
    %4 = arith.select %3, %1, %at : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %y#0 : tensor<8xf32>
}

// Somebody uses this one.
// CHECK-LABEL: func.func @index_of_maximum(
// CHECK: linalg.index
func.func @index_of_maximum(%x: tensor<8x96xf32>, %o: tensor<8xf32>, %p: tensor<8xi64>) -> tensor<8xi64> {
  %y:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%o, %p : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %out: f32, %at: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %a, %out : f32
    %3 = arith.cmpf ogt, %a, %out : f32
    %4 = arith.select %3, %1, %at : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %y#1 : tensor<8xi64>
}

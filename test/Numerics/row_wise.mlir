// What is rmsnorm.row_wise begins a kernel, whatever its last loop does:
// elementwise work alone, sums over rows alone, rows in another order.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=15 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=15 | FileCheck %s
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED

// CHECK: elementwise {{ *}}15x64 {{.*}} ok
// EMBED-LABEL: func.func @elementwise(
// EMBED: rmsnorm.rows sizes
func.func @elementwise(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = linalg.exp {rmsnorm.row_wise} ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK: one_row {{ *}}64 {{.*}} ok
// EMBED-LABEL: func.func @one_row(
// EMBED: rmsnorm.rows sizes
func.func @one_row(%x: tensor<64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  %y = linalg.exp {rmsnorm.row_wise} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The result has no rows to count.
// CHECK: sum_over_rows {{ *}}15x64 {{.*}} ok
// EMBED-LABEL: func.func @sum_over_rows(
// EMBED: rmsnorm.rows sizes
func.func @sum_over_rows(%x: tensor<?x64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<?x64xf32>) outs(%e : tensor<64xf32>) dimensions = [0] {rmsnorm.row_wise}
  return %y : tensor<64xf32>
}

// The result has their sizes in another order.
// CHECK: other_order {{ *}}2x8x64 {{.*}} ok
// EMBED-LABEL: func.func @other_order(
// EMBED: rmsnorm.rows sizes [%{{.*}}, %{{.*}}]
func.func @other_order(%x: tensor<?x?x64xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, t, d) -> (b, t, d)>, affine_map<(b, t, d) -> (t, b)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x64xf32>) outs(%e : tensor<?x?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

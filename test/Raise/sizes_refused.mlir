// RUN: norm-opt %s --canonicalize --cse --rmsnorm-raise --verify-diagnostics | FileCheck %s

// Sums over a row whose length is not proven to be what they are divided by, or
// that are over other columns than those of x.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#line = affine_map<(d0) -> (d0)>

// Divided by the number of rows.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: rmsnorm.
// CHECK: return
func.func @rows(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %i = arith.index_cast %m : index to i64
  %f = arith.sitofp %i : i64 to f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %ey = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%ey : tensor<?x?xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %f : f32
    %1 = arith.addf %0, %eps : f32
    // expected-remark @+1 {{the divisor is not proven to be the size of the dimension that is summed}}
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %in, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// x is 96 columns from the second on of 97, the sum is over the first 95 of
// them and a mean by its own length.
// CHECK-LABEL: func.func @fewer_columns(
// CHECK-NOT: rmsnorm.
// CHECK: return
func.func @fewer_columns(%x: tensor<8x97xf32>, %like: tensor<8x95xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %n = arith.constant 95.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 1)>, #id, #row],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %like : tensor<8x97xf32>, tensor<8x95xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %ey = tensor.empty() : tensor<8x96xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 1)>, #row, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x97xf32>, tensor<8xf32>) outs(%ey : tensor<8x96xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    // expected-remark @+1 {{is not the x whose squares are summed}}
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %in, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

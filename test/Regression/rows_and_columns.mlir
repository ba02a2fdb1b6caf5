// One buffer is read as a value of each row and as the columns of all: it was
// read as rows both times.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:gfx942 | FileCheck %s
// CHECK: causal{{.*}}ok
#rows = affine_map<(t, c) -> (t)>
#columns = affine_map<(t, c) -> (c)>
#id = affine_map<(t, c) -> (t, c)>
func.func @causal(%s: tensor<16x16xf32>, %positions: tensor<16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %re = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%re : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.generic {indexing_maps = [#id, #rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %positions, %positions : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %row: f32, %column: f32, %o: f32):
    %none = arith.constant -1.0e+04 : f32
    %0 = arith.cmpf ogt, %column, %row : f32
    %1 = arith.select %0, %none, %a : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<16x16xf32>) outs(%f : tensor<16xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sum : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %d: f32, %o: f32):
    %0 = arith.divf %a, %d : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// A result that is put into an argument with rows of its own, beside an operand
// whose last size is the number of rows: --rows is for the rows that are normed.
// RUN: norm-run %s --device=sim:sm_90 --rows=12 | FileCheck %s
// CHECK: {{^into_larger +}}2x5x24 {{.*}} ok
func.func @into_larger(%x: tensor<?x5x24xf32>, %b: tensor<5x?xf32>, %into: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?x5x24xf32>
  %rows = arith.muli %n, %c5 : index
  %e = tensor.empty(%n) : tensor<?x5x24xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, c) -> (n, h, c)>, affine_map<(n, h, c) -> (h, n)>, affine_map<(n, h, c) -> (n, h, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %b : tensor<?x5x24xf32>, tensor<5x?xf32>) outs(%e : tensor<?x5x24xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %sum = arith.addf %l, %r : f32
    linalg.yield %sum : f32
  } -> tensor<?x5x24xf32>
  %flat = tensor.collapse_shape %s [[0, 1], [2]] : tensor<?x5x24xf32> into tensor<?x24xf32>
  %d = tensor.empty(%rows) : tensor<?x24xf32>
  %y = rmsnorm.forward input(%flat : tensor<?x24xf32>) output(%d : tensor<?x24xf32>) eps = 1.0e-03 -> tensor<?x24xf32>
  %z = tensor.insert_slice %y into %into[0, 0] [%rows, 24] [1, 1] : tensor<?x24xf32> into tensor<?x48xf32>
  return %z : tensor<?x48xf32>
}

// More rows than an argument that has to have as many usually has.
// RUN: norm-run %s --device=sim:sm_90 --entry=rows_given --rows=5000 | FileCheck %s --check-prefix=GIVEN
// GIVEN: {{^rows_given +}}5000x8 {{.*}} ok
func.func @rows_given(%x: tensor<?x8xf32>, %full: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %n = tensor.dim %full, %c0 : tensor<?x8xf32>
  %more = arith.subi %n, %m : index
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  %p = tensor.pad %y low[0, 0] high[%more, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}

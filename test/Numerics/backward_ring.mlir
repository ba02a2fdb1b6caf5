// The backward with rows that two blocks share, copied ahead: the bits do not depend on
// where rows are kept nor how far ahead they are copied (of rows of one block
// generate_backward.py's ring_modules say so). 35 rows, dx in place, rstd given and
// recomputed, reductions that depend on one another, a residual's gradient, tails of a row
// and of the rows.
// RUN: norm-run %s --device=sim:sm_90 --multiprocessors=4 --rows=35 --csv --schedule=cluster=2,threads_per_row=64,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=registers | awk -F, '{print $1, $2, $(NF-1)}' > %t.cluster
// RUN: norm-run %s --device=sim:sm_90 --multiprocessors=4 --rows=35 --csv --order=shuffled --schedule=cluster=2,threads_per_row=64,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=shared,stages=3 | awk -F, '{print $1, $2, $(NF-1)}' | diff %t.cluster -
// RUN: norm-run %s --device=sim:sm_90 --multiprocessors=4 --rows=35 --csv --order=reverse --schedule=cluster=2,threads_per_row=64,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=shared,stages=2 | awk -F, '{print $1, $2, $(NF-1)}' | diff %t.cluster -

// As the selector has it, few rows and none.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=0,1,35 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=35 --order=shuffled --csv | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=1 --csv | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0 --csv | FileCheck %s
// CHECK: entry,
// CHECK-NEXT: given,{{.*}},ok
// CHECK-NEXT: recomputed,{{.*}},ok
// CHECK-NEXT: dependent,{{.*}},ok
// CHECK-NEXT: no_weight,{{.*}},ok
// CHECK-NEXT: residual,{{.*}},ok

func.func @given(%dy: tensor<?x2056xbf16>, %x: tensor<?x2056xbf16>, %w: tensor<2056xbf16>, %r: tensor<?xf32>, %dx0: tensor<?x2056xbf16>, %dw0: tensor<2056xf32>) -> (tensor<?x2056xbf16>, tensor<2056xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x2056xbf16>) input(%x : tensor<?x2056xbf16>) weight(%w : tensor<2056xbf16>) rstd(%r : tensor<?xf32>) dx(%dx0 : tensor<?x2056xbf16>) dweight(%dw0 : tensor<2056xf32>) eps = 1.0e-5 -> tensor<?x2056xbf16>, tensor<2056xf32>
  return %g#0, %g#1 : tensor<?x2056xbf16>, tensor<2056xf32>
}

func.func @recomputed(%dy: tensor<?x2048xf16>, %x: tensor<?x2048xf16>, %w: tensor<2048xf32>, %dw0: tensor<2048xf32>) -> (tensor<?x2048xf16>, tensor<2048xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x2048xf16>) input(%x : tensor<?x2048xf16>) weight(%w : tensor<2048xf32>) dx(%dy : tensor<?x2048xf16>) dweight(%dw0 : tensor<2048xf32>) eps = 1.0e-5 offset = 1.0 casting = llama -> tensor<?x2048xf16>, tensor<2048xf32>
  return %g#0, %g#1 : tensor<?x2048xf16>, tensor<2048xf32>
}

func.func @dependent(%dy: tensor<?x2056xbf16>, %x: tensor<?x2056xbf16>, %w: tensor<2056xbf16>, %dx0: tensor<?x2056xbf16>, %dw0: tensor<2056xbf16>) -> (tensor<?x2056xbf16>, tensor<2056xbf16>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x2056xbf16>) input(%x : tensor<?x2056xbf16>) weight(%w : tensor<2056xbf16>) dx(%dx0 : tensor<?x2056xbf16>) dweight(%dw0 : tensor<2056xbf16>) eps = 1.0e-5 casting = none -> tensor<?x2056xbf16>, tensor<2056xbf16>
  return %g#0, %g#1 : tensor<?x2056xbf16>, tensor<2056xbf16>
}

func.func @no_weight(%dy: tensor<?x1000xf32>, %x: tensor<?x1000xf32>, %dx0: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %g = rmsnorm.backward dy(%dy : tensor<?x1000xf32>) input(%x : tensor<?x1000xf32>) dx(%dx0 : tensor<?x1000xf32>) eps = 1.0e-5 -> tensor<?x1000xf32>
  return %g : tensor<?x1000xf32>
}

func.func @residual(%dy: tensor<?x2048xbf16>, %x: tensor<?x2048xbf16>, %w: tensor<2048xbf16>, %r: tensor<?xf32>, %more: tensor<?x2048xbf16>, %dx0: tensor<?x2048xbf16>, %dw0: tensor<2048xf32>) -> (tensor<?x2048xbf16>, tensor<2048xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x2048xbf16>
  %e = tensor.empty(%m) : tensor<?x2048xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x2048xbf16>) input(%x : tensor<?x2048xbf16>) weight(%w : tensor<2048xbf16>) rstd(%r : tensor<?xf32>) dx(%e : tensor<?x2048xbf16>) dweight(%dw0 : tensor<2048xf32>) eps = 1.0e-5 -> tensor<?x2048xbf16>, tensor<2048xf32>
  %s = linalg.add ins(%g#0, %more : tensor<?x2048xbf16>, tensor<?x2048xbf16>) outs(%dx0 : tensor<?x2048xbf16>) -> tensor<?x2048xbf16>
  return %s, %g#1 : tensor<?x2048xbf16>, tensor<2048xf32>
}

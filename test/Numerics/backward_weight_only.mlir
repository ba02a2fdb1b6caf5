// Nothing but dw is wanted: no store of a row, and where rows come through a ring
// no load of one either. As the selector has it (a ring on sm_90), in strips, in
// each place to keep rows, and with rows that two blocks share.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=0,17 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=17 --csv | FileCheck %s
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=17 -o %t.gfx942.rmsn
// RUN: norm-run %t.gfx942.rmsn --device=sim:gfx942 --rows=17 --order=shuffled --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=17 --csv --schedule=column_sums=strips | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=17 --multiprocessors=3 --csv --schedule=threads_per_row=128,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=reload | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=17 --multiprocessors=3 --csv --schedule=threads_per_row=128,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=shared,stages=2 | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=17 --multiprocessors=3 --csv --order=reverse --schedule=cluster=2,threads_per_row=64,row_groups=1,rows_per_group=1,blocks_per_sm=1,cache=shared,stages=3 | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0 --csv | FileCheck %s
// CHECK: entry,
// CHECK-NEXT: f,{{.*}},ok{{$}}
// CHECK-NEXT: g,{{.*}},ok{{$}}
func.func @f(%dy: tensor<?x1128xf32>, %x: tensor<?x1128xf32>, %w: tensor<1128xf32>, %dw0: tensor<1128xf32>) -> tensor<1128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1128xf32>
  %e = tensor.empty(%m) : tensor<?x1128xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x1128xf32>) input(%x : tensor<?x1128xf32>) weight(%w : tensor<1128xf32>) dx(%e : tensor<?x1128xf32>) dweight(%dw0 : tensor<1128xf32>) eps = 1.0e-5 -> tensor<?x1128xf32>, tensor<1128xf32>
  return %g#1 : tensor<1128xf32>
}
func.func @g(%dy: tensor<?x1128xf32>, %x: tensor<?x1128xf32>, %w: tensor<1128xf32>, %r: tensor<?xf32>, %dw0: tensor<1128xf32>) -> tensor<1128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1128xf32>
  %e = tensor.empty(%m) : tensor<?x1128xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x1128xf32>) input(%x : tensor<?x1128xf32>) weight(%w : tensor<1128xf32>) rstd(%r : tensor<?xf32>) dx(%e : tensor<?x1128xf32>) dweight(%dw0 : tensor<1128xf32>) eps = 1.0e-5 -> tensor<?x1128xf32>, tensor<1128xf32>
  return %g#1 : tensor<1128xf32>
}

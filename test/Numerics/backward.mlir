// The backward on the simulator, beside the oracle: in f32 from rstd recomputed,
// where the worst absolute error stays small; sums over rows in registers and in
// strips, rows packed, wide, of one column and of dynamic size, dx in place.
// RUN: norm-run %s --device=sim:sm_90 --order=shuffled --csv | FileCheck %s
// RUN: norm-run %s --device=sim:gfx942 --rows=37 --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --schedule=column_sums=strips --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=0 --csv | FileCheck %s
// CHECK: entry,
// CHECK-NEXT: one,{{.*}},{{[0-9.]+e[+-]0[03-9]}},none,
// CHECK-NEXT: packed,{{.*}},{{[0-9.]+e[+-]0[03-9]}},none,
// CHECK-NEXT: wide,{{.*}},{{[0-9.]+e[+-]0[03-9]}},none,
// CHECK-NEXT: dynamic,{{.*}},{{[0-9.]+e[+-]0[03-9]}},none,

// The same bits in any order of threads.
// RUN: norm-run %s --device=sim:sm_90 --order=forward --csv | awk -F, '{print $1, $2, $(NF-1)}' > %t.forward
// RUN: norm-run %s --device=sim:sm_90 --order=shuffled --csv | awk -F, '{print $1, $2, $(NF-1)}' > %t.shuffled
// RUN: diff %t.forward %t.shuffled
func.func @one(%dy: tensor<?x1xf32>, %x: tensor<?x1xf32>, %w: tensor<1xf32>, %dx0: tensor<?x1xf32>, %dw0: tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x1xf32>) input(%x : tensor<?x1xf32>) weight(%w : tensor<1xf32>) dx(%dx0 : tensor<?x1xf32>) dweight(%dw0 : tensor<1xf32>) eps = 1.0e-5 -> tensor<?x1xf32>, tensor<1xf32>
  return %g#0, %g#1 : tensor<?x1xf32>, tensor<1xf32>
}
func.func @packed(%dy: tensor<?x128xf32>, %x: tensor<?x128xf32>, %w: tensor<128xf32>, %dw0: tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x128xf32>) input(%x : tensor<?x128xf32>) weight(%w : tensor<128xf32>) dx(%dy : tensor<?x128xf32>) dweight(%dw0 : tensor<128xf32>) eps = 1.0e-5 offset = 1.0 -> tensor<?x128xf32>, tensor<128xf32>
  return %g#0, %g#1 : tensor<?x128xf32>, tensor<128xf32>
}
func.func @wide(%dy: tensor<?x4097xf32>, %x: tensor<?x4097xf32>, %w: tensor<4097xf32>, %dx0: tensor<?x4097xf32>, %dw0: tensor<4097xf32>) -> (tensor<?x4097xf32>, tensor<4097xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x4097xf32>) input(%x : tensor<?x4097xf32>) weight(%w : tensor<4097xf32>) dx(%dx0 : tensor<?x4097xf32>) dweight(%dw0 : tensor<4097xf32>) eps = 1.0e-5 casting = llama -> tensor<?x4097xf32>, tensor<4097xf32>
  return %g#0, %g#1 : tensor<?x4097xf32>, tensor<4097xf32>
}
func.func @dynamic(%dy: tensor<?x?xf32>, %x: tensor<?x?xf32>, %w: tensor<?xf32>, %dw0: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x?xf32>) input(%x : tensor<?x?xf32>) weight(%w : tensor<?xf32>) dx(%dy : tensor<?x?xf32>) dweight(%dw0 : tensor<?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>, tensor<?xf32>
  return %g#0, %g#1 : tensor<?x?xf32>, tensor<?xf32>
}

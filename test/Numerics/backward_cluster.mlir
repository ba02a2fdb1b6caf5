// The backward with rows that clusters share: each block adds up its own
// columns. The sums in registers, and in strips after rows of clusters.
// RUN: norm-compile %s --target=sim:sm_90,oracle --schedule=cluster=4,threads_per_row=64 --rows=0,37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=37 --multiprocessors=6 --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --schedule=cluster=2,threads_per_row=128,cache=reload --rows=5 --order=reverse --multiprocessors=3 --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --schedule=cluster=16,threads_per_row=32 --rows=7 --order=shuffled --unaligned --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --schedule=column_sums=strips,cluster=8,threads_per_row=32 --rows=9 --order=shuffled --csv | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=0 --csv | FileCheck %s
// CHECK: entry,
// CHECK-NEXT: odd,{{.*}}cluster {{.*}},ok{{$}}
// CHECK-NEXT: even,{{.*}}cluster {{.*}},ok{{$}}

// As the selector has them: the part of a row in registers, or read again.
// RUN: %python %source/test/Target/Inputs/norm_shapes.py bf16 backward 24580 65536 262144 > %t.wide.mlir
// RUN: norm-run %t.wide.mlir --device=sim:sm_90 --rows=5 --order=shuffled --csv | FileCheck %s --check-prefix=WIDE
// WIDE: entry,
// WIDE-NEXT: b24580,{{.*}}cluster {{.*}},ok{{$}}
// WIDE-NEXT: b65536,{{.*}}cluster {{.*}},ok{{$}}
// WIDE-NEXT: b262144,{{.*}}cluster {{.*}},ok{{$}}

// The same bits in any order of threads.
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=37 --multiprocessors=6 --order=forward --csv | awk -F, '{print $1, $2, $(NF-1)}' > %t.forward
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=37 --multiprocessors=6 --order=shuffled --csv | awk -F, '{print $1, $2, $(NF-1)}' > %t.shuffled
// RUN: diff %t.forward %t.shuffled
func.func @odd(%dy: tensor<?x4097xf32>, %x: tensor<?x4097xf32>, %w: tensor<4097xf32>, %dx0: tensor<?x4097xf32>, %dw0: tensor<4097xf32>) -> (tensor<?x4097xf32>, tensor<4097xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x4097xf32>) input(%x : tensor<?x4097xf32>) weight(%w : tensor<4097xf32>) dx(%dx0 : tensor<?x4097xf32>) dweight(%dw0 : tensor<4097xf32>) eps = 1.0e-5 -> tensor<?x4097xf32>, tensor<4097xf32>
  return %g#0, %g#1 : tensor<?x4097xf32>, tensor<4097xf32>
}
func.func @even(%dy: tensor<?x4096xf32>, %x: tensor<?x4096xf32>, %w: tensor<4096xf32>, %dw0: tensor<4096xf32>) -> (tensor<?x4096xf32>, tensor<4096xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x4096xf32>) input(%x : tensor<?x4096xf32>) weight(%w : tensor<4096xf32>) dx(%dy : tensor<?x4096xf32>) dweight(%dw0 : tensor<4096xf32>) eps = 1.0e-5 offset = 1.0 -> tensor<?x4096xf32>, tensor<4096xf32>
  return %g#0, %g#1 : tensor<?x4096xf32>, tensor<4096xf32>
}

// dw over many rows. Its interval is 2^-24 (8 + sqrt(M)) of its terms' absolute
// values wide on each side beside what the terms have: a hundred times the rows
// give ten times that part, and the sums stay in it, whether blocks add them up in registers or
// in strips, few blocks with many rows each or more of them.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=20000 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=20000 --multiprocessors=2 --csv | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=20000 --multiprocessors=5 --order=shuffled --csv | FileCheck %s
// RUN: norm-run %s --device=sim:sm_90 --rows=20000 --multiprocessors=3 --order=reverse --csv --schedule=column_sums=strips,cache=reload | FileCheck %s
// CHECK: entry,
// CHECK-NEXT: narrow,{{.*}},ok{{$}}
// CHECK-NEXT: rounded,{{.*}},ok{{$}}
func.func @narrow(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xf32>, %r: tensor<?xf32>, %dx0: tensor<?x64xf32>, %dw0: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) rstd(%r : tensor<?xf32>) dx(%dx0 : tensor<?x64xf32>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xf32>
  return %g#0, %g#1 : tensor<?x64xf32>, tensor<64xf32>
}
// Terms that are rounded to bf16, rstd recomputed.
func.func @rounded(%dy: tensor<?x72xbf16>, %x: tensor<?x72xbf16>, %w: tensor<72xbf16>, %dx0: tensor<?x72xbf16>, %dw0: tensor<72xf32>) -> (tensor<?x72xbf16>, tensor<72xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x72xbf16>) input(%x : tensor<?x72xbf16>) weight(%w : tensor<72xbf16>) dx(%dx0 : tensor<?x72xbf16>) dweight(%dw0 : tensor<72xf32>) eps = 1.0e-5 casting = llama -> tensor<?x72xbf16>, tensor<72xf32>
  return %g#0, %g#1 : tensor<?x72xbf16>, tensor<72xf32>
}

// What kernels read through a transposed view must be aligned, too: as large
// accesses as of other arguments were made of any address, and of slices that
// begin in between.
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=12 | FileCheck %s
// CHECK: whole {{.*}} ok
// CHECK: slice {{.*}} ok
// RUN: norm-inspect %t.rmsn | FileCheck %s --check-prefix=GUARDS
// GUARDS: entry whole
// GUARDS: variant 0 {{.*}}arg0 aligned to 16,{{.*}} stride(arg0, 1) a multiple of 8

func.func @whole(%x: tensor<?x4x64xbf16>) -> tensor<4x?x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %e = tensor.empty(%n) : tensor<4x?x64xbf16>
  %z = linalg.transpose ins(%x : tensor<?x4x64xbf16>) outs(%e : tensor<4x?x64xbf16>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%z : tensor<4x?x64xbf16>) output(%e : tensor<4x?x64xbf16>) eps = 1.0e-05 -> tensor<4x?x64xbf16>
  return %y : tensor<4x?x64xbf16>
}

func.func @slice(%x: tensor<?x4x72xbf16>) -> tensor<4x?x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x72xbf16>
  %s = tensor.extract_slice %x[0, 0, 4] [%n, 4, 64] [1, 1, 1] : tensor<?x4x72xbf16> to tensor<?x4x64xbf16>
  %e = tensor.empty(%n) : tensor<4x?x64xbf16>
  %z = linalg.transpose ins(%s : tensor<?x4x64xbf16>) outs(%e : tensor<4x?x64xbf16>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%z : tensor<4x?x64xbf16>) output(%e : tensor<4x?x64xbf16>) eps = 1.0e-05 -> tensor<4x?x64xbf16>
  return %y : tensor<4x?x64xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=16,40 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=16
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=40 --unaligned
// RUN: env LIBDIR=%libdir LLVM_LIBDIR=%llvm_libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct --size=8

// Of rows that are counted in two dimensions some that are no whole number of
// the inner one: the buffer is cut to them once it has one dimension.
// CHECK-LABEL: func.func @fifteen_of_two_by_eight(
// CHECK: memref.collapse_shape
// CHECK-NEXT: memref.subview {{.*}}[0, 0] [15, 64] [1, 1]
// CHECK: rmsnorm.rows sizes [15] columns(64)
func.func @fifteen_of_two_by_eight(%x: tensor<2x8x64xf32>) -> tensor<15x64xf32> {
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x8x64xf32> into tensor<16x64xf32>
  %s = tensor.extract_slice %c[0, 0] [15, 64] [1, 1] : tensor<16x64xf32> to tensor<15x64xf32>
  %o = tensor.empty() : tensor<15x64xf32>
  %y = rmsnorm.forward input(%s : tensor<15x64xf32>) output(%o : tensor<15x64xf32>) eps = 1.0e-06 -> tensor<15x64xf32>
  return %y : tensor<15x64xf32>
}

// CHECK-LABEL: func.func @of_unknown(
// CHECK: rmsnorm.rows sizes [15] columns(64)
func.func @of_unknown(%x: tensor<?x8x64xf32>) -> tensor<15x64xf32> {
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x8x64xf32> into tensor<?x64xf32>
  %s = tensor.extract_slice %c[0, 0] [15, 64] [1, 1] : tensor<?x64xf32> to tensor<15x64xf32>
  %o = tensor.empty() : tensor<15x64xf32>
  %y = rmsnorm.forward input(%s : tensor<15x64xf32>) output(%o : tensor<15x64xf32>) eps = 1.0e-06 -> tensor<15x64xf32>
  return %y : tensor<15x64xf32>
}

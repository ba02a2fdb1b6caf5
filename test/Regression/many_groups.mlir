// The size of rows that a reshape of more than four groups puts together: the
// groups were read after their memory was free.
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle --rows=2 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=2 | FileCheck %s
// CHECK: collapsed {{.*}} ok

func.func @collapsed(%x: tensor<?x5x5x?x4x2xf32>, %rest: tensor<?x5x?x8x2xf32>) -> tensor<?x5x?x8x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %a = tensor.dim %x, %c0 : tensor<?x5x5x?x4x2xf32>
  %b = tensor.dim %x, %c3 : tensor<?x5x5x?x4x2xf32>
  %rows = arith.muli %a, %c5 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2], [3], [4], [5]] : tensor<?x5x5x?x4x2xf32> into tensor<?x5x?x4x2xf32>
  %e = tensor.empty(%rows, %b) : tensor<?x5x?x4x2xf32>
  %y = rmsnorm.forward input(%flat : tensor<?x5x?x4x2xf32>) output(%e : tensor<?x5x?x4x2xf32>) eps = 1.0e-05 -> tensor<?x5x?x4x2xf32>
  %z = tensor.insert_slice %y into %rest[0, 0, 0, 1, 0] [%rows, 5, %b, 4, 2] [1, 1, 1, 2, 1] : tensor<?x5x?x4x2xf32> into tensor<?x5x?x8x2xf32>
  return %z : tensor<?x5x?x8x2xf32>
}

// Of a result whose size follows from others, as many elements count as there are.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct --size=8 --magnitude=64,16 --share=0.05 %s | FileCheck %s
// CHECK: result 0: {{[0-9]+}} of 2048 f16 differ, 0 by more than a step{{$}}
// CHECK: 1 results, 0 wrong

func.func @merged(%a0: tensor<?x?x32xf16>, %a1: tensor<32xf16>) -> (tensor<?x?x2xf16>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x?x32xf16>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %a0, %i1 : tensor<?x?x32xf16>
  %v1 = tensor.empty(%d0, %d1) : tensor<?x?x32xf16>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x?x32xf16>) output(%v1 : tensor<?x?x32xf16>) eps = 1.0e-03 -> tensor<?x?x32xf16>
  %v3 = tensor.empty(%d0, %d1) : tensor<?x?x32xf16>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x?x32xf16>) weight(%a1 : tensor<32xf16>) output(%v3 : tensor<?x?x32xf16>) eps = 1.0e-03 -> tensor<?x?x32xf16>
  %v5 = tensor.empty(%d0, %d1) : tensor<?x?x32xf16>
  %v6 = rmsnorm.forward input(%v4 : tensor<?x?x32xf16>) output(%v5 : tensor<?x?x32xf16>) eps = 1.0e-03 -> tensor<?x?x32xf16>
  %v7 = tensor.expand_shape %v6 [[0], [1], [2, 3]] output_shape [%d0, %d1, 16, 2] : tensor<?x?x32xf16> into tensor<?x?x16x2xf16>
  %v8 = arith.constant 16 : index
  %v9 = arith.muli %d1, %v8 : index
  %v10 = tensor.collapse_shape %v7 [[0], [1, 2], [3]] : tensor<?x?x16x2xf16> into tensor<?x?x2xf16>
  return %v10 : tensor<?x?x2xf16>
}

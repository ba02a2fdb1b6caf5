// The columns of pairs in another order than those of halves: a program that has
// both is refused. In a larger program its norm is a kernel.
// RUN: norm-opt %s --split-input-file --rmsnorm-tensor-half --verify-diagnostics
// RUN: sed '/^\/\/ -----/d' %s > %t.mlir
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %t.mlir --embed=sim:sm_90,direct | FileCheck %s
// CHECK-COUNT-5: launched
// CHECK: {{^}}4 results, 0 wrong

// The even columns, then the odd ones.
func.func @deinterleave(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 32, 2] : tensor<?x64xf32> into tensor<?x32x2xf32>
  %a = tensor.extract_slice %p[0, 0, 0] [%m, 32, 1] [1, 1, 1] : tensor<?x32x2xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %p[0, 0, 1] [%m, 32, 1] [1, 1, 1] : tensor<?x32x2xf32> to tensor<?x32xf32>
  %s = tensor.empty(%m) : tensor<?x64xf32>
  // expected-error-re @below {{'tensor.insert_slice' op is in no kernel{{.*}}: it has columns in another order than what is computed with it}}
  %i = tensor.insert_slice %a into %s[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %j = tensor.insert_slice %b into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  return %j : tensor<?x64xf32>
}

// -----

func.func @interleave(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %a = tensor.extract_slice %y[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %y[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %s = tensor.empty(%m) : tensor<?x32x2xf32>
  // expected-error-re @below {{'tensor.insert_slice' op is in no kernel{{.*}}writes columns in an order of their own: expected them side by side in the innermost indices, got (r, c0, c1) -> (r, c1, c0)}}
  %i = tensor.insert_slice %a into %s[0, 0, 0] [%m, 32, 1] [1, 1, 1] : tensor<?x32xf32> into tensor<?x32x2xf32>
  %j = tensor.insert_slice %b into %i[0, 0, 1] [%m, 32, 1] [1, 1, 1] : tensor<?x32xf32> into tensor<?x32x2xf32>
  %c = tensor.collapse_shape %j [[0], [1, 2]] : tensor<?x32x2xf32> into tensor<?x64xf32>
  return %c : tensor<?x64xf32>
}

// -----

func.func @f(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %p = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 32, 2] : tensor<?x64xf32> into tensor<?x32x2xf32>
  %a = tensor.extract_slice %p[0, 0, 0] [%m, 32, 1] [1, 1, 1] : tensor<?x32x2xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %y[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %s = tensor.empty(%m) : tensor<?x32x2xf32>
  %i = tensor.insert_slice %a into %s[0, 0, 1] [%m, 32, 1] [1, 1, 1] : tensor<?x32xf32> into tensor<?x32x2xf32>
  // expected-error-re @below {{'tensor.insert_slice' op is in no kernel{{.*}}: it uses a part of a row: expected columns in their order, got (r, c) -> (r, c + 32)}}
  %j = tensor.insert_slice %b into %i[0, 0, 0] [%m, 32, 1] [1, 1, 1] : tensor<?x32xf32> into tensor<?x32x2xf32>
  %c = tensor.collapse_shape %j [[0], [1, 2]] : tensor<?x32x2xf32> into tensor<?x64xf32>
  return %c : tensor<?x64xf32>
}

// -----

// The norm of half a row, and of the row that it is put into.
func.func @halves(%x: tensor<7x16xf32>, %w: tensor<8xf32>) -> tensor<7x16xf32> {
  %a = tensor.extract_slice %x[0, 8] [7, 8] [1, 1] : tensor<7x16xf32> to tensor<7x8xf32>
  %e = tensor.empty() : tensor<7x8xf32>
  // expected-error @below {{expected what one kernel computes for another to be returned, or computed into an argument, and arguments to be read before they are written, got a new 'memref<7x16xf32>'}}
  // expected-note @below {{expected no copy, got one of argument 'arg0' to a new memref<7x16xf32>}}
  %n = rmsnorm.forward input(%a : tensor<7x8xf32>) weight(%w : tensor<8xf32>) output(%e : tensor<7x8xf32>) eps = 1.0e-05 -> tensor<7x8xf32>
  %z = tensor.insert_slice %n into %x[0, 8] [7, 8] [1, 1] : tensor<7x8xf32> into tensor<7x16xf32>
  %e2 = tensor.empty() : tensor<7x16xf32>
  %y = rmsnorm.forward input(%z : tensor<7x16xf32>) output(%e2 : tensor<7x16xf32>) eps = 1.0e-05 -> tensor<7x16xf32>
  return %y : tensor<7x16xf32>
}

// What a program leaves undefined is not compared: columns and rows around what is put into an empty tensor.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %s
// RUN: %{compare} | FileCheck %s
// CHECK: 2 results, 0 wrong
// What it defines is.
// RUN: not %{compare} --drop=offset | FileCheck %s --check-prefix=DROPPED
// DROPPED: 2 results, 2 wrong

func.func @columns(%x: tensor<?x64xf32>) -> tensor<?x96xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %w = arith.constant dense<1.0> : tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-6 offset = 1.0 -> tensor<?x64xf32>
  %q = arith.truncf %y : tensor<?x64xf32> to tensor<?x64xf8E4M3FN>
  %p = tensor.empty(%m) : tensor<?x96xf8E4M3FN>
  %r = tensor.insert_slice %q into %p[0, 16] [%m, 64] [1, 1] : tensor<?x64xf8E4M3FN> into tensor<?x96xf8E4M3FN>
  return %r : tensor<?x96xf8E4M3FN>
}
func.func @rows(%x: tensor<?x64xf32>, %like: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %more = tensor.dim %like, %c0 : tensor<?x64xbf16>
  %all = arith.addi %more, %c5 : index
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %w = arith.constant dense<1.0> : tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-6 offset = 1.0 -> tensor<?x64xf32>
  %q = arith.truncf %y : tensor<?x64xf32> to tensor<?x64xbf16>
  %p = tensor.empty(%all) : tensor<?x64xbf16>
  %r = tensor.insert_slice %q into %p[3, 0] [%m, 64] [1, 1] : tensor<?x64xbf16> into tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

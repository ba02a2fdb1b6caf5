// A million launches of nothing in a loop, and three of something: the stack
// does not grow with them, nor does a grid of no blocks reach a driver. Upstream
// allocates the parameters of each launch anew.
// DEFINE: %{passes} = rmsnorm-embed-tensors,one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,canonicalize,rmsnorm-embed-memrefs{target=sim},rmsnorm-embed-host,convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-vector-to-llvm,convert-to-llvm,reconcile-unrealized-casts
// RUN: norm-opt %s --pass-pipeline='builtin.module(%{passes})' -o %t.mlir
// RUN: env RMSNORM_GPU_TRACE=1 mlir-runner %t.mlir -e main --entry-point-result=void -O0 --shared-libs=%libdir/librmsnorm_runtime.so,%llvm_libdir/libmlir_c_runner_utils.so 2>&1 | FileCheck %s
// CHECK-COUNT-3: rmsnorm: launch of repeat
// CHECK-NOT: launch
// CHECK: 1000000

// What a tool without our dialect makes of it: the runtime's tables.
// RUN: mlir-translate --mlir-to-llvmir %t.mlir | FileCheck %s --check-prefix=LLVM
// LLVM: @rmsnorm_kernels_object = internal global { i64, ptr, i64, ptr, ptr } { i64 1, ptr @rmsnorm_kernels_code, i64 {{[0-9]+}}, ptr @rmsnorm_kernels_target, ptr null }
// LLVM: declare void @rmsnorm_gpu_launch(ptr, ptr, ptr)

func.func @repeat(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %n: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?x64xf32> {
    %y = rmsnorm.forward input(%t : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%t : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    scf.yield %y : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %many = arith.constant 1000000 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %w = linalg.fill ins(%one : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %e3 = tensor.empty(%c3) : tensor<?x64xf32>
  %x3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e3 : tensor<?x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %g = arith.addf %f, %one : f32
    linalg.yield %g : f32
  } -> tensor<?x64xf32>
  %y3 = call @repeat(%x3, %w, %c3) : (tensor<?x64xf32>, tensor<64xf32>, index) -> tensor<?x64xf32>
  %e0 = tensor.empty(%c0) : tensor<?x64xf32>
  %y0 = call @repeat(%e0, %w, %many) : (tensor<?x64xf32>, tensor<64xf32>, index) -> tensor<?x64xf32>
  vector.print %many : index
  return
}

// DEFINE: %{compare} = env RMSNORM_GPU_TRACE=1 LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py
// RUN: %{compare} --embed=sim:sm_90,direct %s | FileCheck %s
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=STORED

// A forward whose gradient, or another user, needs x in f32 or x times its rstd after a product of matrices: they compute it
// from x, and from one number a row. Nothing in f32 is written but that.
// CHECK: 2 results, 0 wrong
// STORED-LABEL: func.func @converted(
// STORED:         rmsnorm.rows {{.*}} buffers(read %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?x64xbf16>)
// STORED-LABEL: func.func @of_rows(
// STORED:         rmsnorm.rows {{.*}} buffers(read %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?xf32>)

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @converted(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %k: tensor<64x64xbf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %y = tensor.empty(%m) : tensor<?x64xbf16>
  %f = tensor.empty(%m) : tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xbf16>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %1 = arith.extf %a : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %wf = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64xbf16>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %1 = arith.extf %a : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %n = rmsnorm.forward input(%xf : tensor<?x64xf32>) output(%y : tensor<?x64xbf16>) eps = 1.0e-06 -> tensor<?x64xbf16>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%n, %k : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %xf, %wf : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

func.func @of_rows(%x: tensor<?x64xbf16>, %k: tensor<64x64xbf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %y = tensor.empty(%m) : tensor<?x64xbf16>
  %f = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.empty(%m) : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %n, %rstd = rmsnorm.forward input(%x : tensor<?x64xbf16>) output(%y : tensor<?x64xbf16>) rstd(%r : tensor<?xf32>) eps = 1.0e-06 -> tensor<?x64xbf16>, tensor<?xf32>
  %xhat = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.mulf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  %twice = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%xhat : tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%n, %k : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %twice : tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// Norms of heads beside one of whole tokens: each function is one launch, whatever
// comes first, and computes what it did.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=64,8 --embed=sim:sm_90,direct | FileCheck %s --implicit-check-not=launched
// CHECK-DAG: launched heads_then_layer_raised_{{.*}} 1 times
// CHECK-DAG: launched heads_then_norm_raised_{{.*}} 1 times
// CHECK-DAG: launched layer_then_heads_raised_{{.*}} 1 times
// CHECK: {{^}}4 results, 0 wrong

#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>

func.func @heads_then_layer(%x: tensor<6x8x64xf32>, %w: tensor<64xf32>) -> tensor<6x512xf32> {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  %le = tensor.empty() : tensor<6x512xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<6x512xf32>) outs(%rf, %rf : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %sums#0, %sums#1 : tensor<6x512xf32>, tensor<6xf32>, tensor<6xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x512xf32>
  return %y : tensor<6x512xf32>
}

func.func @layer_then_heads(%x: tensor<6x512xf32>, %w: tensor<64xf32>) -> tensor<6x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<6xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<6xf32>) -> tensor<6xf32>
  %le = tensor.empty() : tensor<6x512xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x512xf32>) outs(%rf, %rf : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums#0, %sums#1 : tensor<6x512xf32>, tensor<6xf32>, tensor<6xf32>) outs(%le : tensor<6x512xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x512xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 8, 64] : tensor<6x512xf32> into tensor<6x8x64xf32>
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%h : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  return %n : tensor<6x8x64xf32>
}

func.func @heads_then_norm(%x: tensor<6x8x64xf32>, %w: tensor<64xf32>, %v: tensor<512xf32>) -> (tensor<6x8x64xf32>, tensor<6x512xf32>) {
  %he = tensor.empty() : tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x8x64xf32>) weight(%w : tensor<64xf32>) output(%he : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %f = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x8x64xf32> into tensor<6x512xf32>
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%f : tensor<6x512xf32>) weight(%v : tensor<512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-06 -> tensor<6x512xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x512xf32>
}

// LayerNorms, softmaxes and others beside a norm are part of its kernel, which
// nothing asks for: each function is one launch, and computes what it did.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=8,8 --embed=sim:sm_90,direct | FileCheck %s --implicit-check-not=launched
// CHECK-DAG: launched layer_norm_raised_{{.*}} 1 times
// CHECK-DAG: launched softmax_raised_{{.*}} 1 times
// CHECK-DAG: launched log_softmax_raised_{{.*}} 1 times
// CHECK-DAG: launched l2_raised_{{.*}} 1 times
// CHECK-DAG: launched sum_of_one_raised_{{.*}} 1 times
// CHECK-DAG: launched projected_raised_{{.*}} 1 times
// CHECK: {{^}}9 results, 0 wrong
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=IR

#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
#keep = affine_map<(t, c) -> (t, 0)>
#column = affine_map<(t, c) -> (c)>

// Of a residual stream that a norm is added to, in two passes.
// IR-LABEL: func.func @layer_norm(
// IR-NOT:     linalg.
// IR:         return
func.func @layer_norm(%x: tensor<6x64xf32>, %y: tensor<6x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<6x64xf32>, tensor<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %r = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %norm = rmsnorm.forward input(%y : tensor<6x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %s = linalg.add ins(%x, %norm : tensor<6x64xf32>, tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%s : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  %squares = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%s, %sum : tensor<6x64xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %m: f32, %acc: f32):
    %0 = arith.divf %m, %n : f32
    %1 = arith.subf %a, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %2, %acc : f32
    linalg.yield %3 : f32
  } -> tensor<6xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %sum, %squares, %b : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>, tensor<64xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %q: f32, %bias: f32, %o: f32):
    %0 = arith.divf %m, %n : f32
    %1 = arith.divf %q, %n : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.subf %a, %0 : f32
    %5 = arith.mulf %4, %3 : f32
    %6 = arith.addf %5, %bias : f32
    linalg.yield %6 : f32
  } -> tensor<6x64xf32>
  return %s, %z : tensor<6x64xf32>, tensor<6x64xf32>
}

// IR-LABEL: func.func @softmax(
// IR-NOT:     linalg.
// IR:         return
func.func @softmax(%x: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %r = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%least : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %norm = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %max = linalg.reduce {arith.maximumf} ins(%norm : tensor<6x64xf32>) outs(%g : tensor<6xf32>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%norm, %max : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%exp : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<6x64xf32>
  return %z : tensor<6x64xf32>
}

// The largest magnitude is of the norm's input.
// IR-LABEL: func.func @log_softmax(
// IR-NOT:     linalg.
// IR:         return
func.func @log_softmax(%x: tensor<6x64xf32>) -> (tensor<6x64xf32>, tensor<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %r = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%least : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %norm = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %max = linalg.reduce {arith.maximumf} ins(%x : tensor<6x64xf32>) outs(%g : tensor<6xf32>) dimensions = [1]
  %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<6x64xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %m: f32, %acc: f32):
    %0 = arith.subf %a, %m : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %acc : f32
    linalg.yield %2 : f32
  } -> tensor<6xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max, %sum : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = math.log %s : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<6x64xf32>
  return %norm, %z : tensor<6x64xf32>, tensor<6x64xf32>
}

// With a dimension of size 1 in the place of the columns.
// IR-LABEL: func.func @l2(
// IR-NOT:     linalg.
// IR:         return
func.func @l2(%x: tensor<6x64xf32>, %y: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-12 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %r = tensor.empty() : tensor<6x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6x1xf32>) -> tensor<6x1xf32>
  %norm = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %squares = linalg.generic {indexing_maps = [#id, #keep], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<6x64xf32>) outs(%f : tensor<6x1xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %acc : f32
    linalg.yield %1 : f32
  } -> tensor<6x1xf32>
  %z = linalg.generic {indexing_maps = [#id, #keep, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %squares, %norm : tensor<6x64xf32>, tensor<6x1xf32>, tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %q: f32, %b: f32, %o: f32):
    %0 = math.sqrt %q : f32
    %1 = arith.maximumf %0, %least : f32
    %2 = arith.divf %a, %1 : f32
    %3 = arith.addf %2, %b : f32
    linalg.yield %3 : f32
  } -> tensor<6x64xf32>
  return %z : tensor<6x64xf32>
}

// Sums over a dimension of size 1, as JAX transposes a broadcast.
// IR-LABEL: func.func @sum_of_one(
// IR-NOT:     linalg.
// IR:         return
func.func @sum_of_one(%x: tensor<6x64xf32>, %b: tensor<6xf32>) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %k = tensor.empty() : tensor<6x1xf32>
  %r = tensor.empty() : tensor<6xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%k : tensor<6x1xf32>) -> tensor<6x1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #keep], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<6x64xf32>) outs(%fk : tensor<6x1xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6x1xf32>
  %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<6x1xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %v = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<6x1xf32>) outs(%b : tensor<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %u, %v : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %0 = arith.mulf %c, %d : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x64xf32>
  return %z : tensor<6x64xf32>
}

// Apart by a projection: the sum stays as it was, and so does one that no norm
// is near.
// IR-LABEL: func.func @projected(
// IR:         linalg.reduce
// IR:         linalg.matmul
// IR:         rmsnorm.rows
// IR:         linalg.reduce
// IR:         return
func.func @projected(%x: tensor<6x64xf32>, %y: tensor<6x64xf32>, %w: tensor<64x64xf32>) -> (tensor<6x64xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %r = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<6x64xf32>) -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.subf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<6x64xf32>
  %p = linalg.matmul ins(%c, %w : tensor<6x64xf32>, tensor<64x64xf32>) outs(%g : tensor<6x64xf32>) -> tensor<6x64xf32>
  %norm = rmsnorm.forward input(%p : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %other = linalg.reduce {arith.addf} ins(%y : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  return %norm, %other : tensor<6x64xf32>, tensor<6xf32>
}

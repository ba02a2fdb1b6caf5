// Named ops, as they are and generalized first: elementwise ones and linalg.map,
// as StableHLO's linalg with primitive ops has them, sums by contractions, and
// what looks like a norm of a square matrix or of another row.
// RUN: norm-opt %s --linalg-generalize-named-ops --canonicalize --cse --rmsnorm-raise --canonicalize --cse 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark: < %t.remarks
// RUN: norm-opt %s --rmsnorm-raise --canonicalize --cse 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark: < %t.remarks
// REMARK-COUNT-2: remark: not raised to rmsnorm.forward: what is multiplied with the root is not the x whose squares are summed
// REMARK: remark: not raised to rmsnorm.forward: unlike casting 'gemma', the mean is 1.010526 times what it should be

// CHECK-LABEL: func.func @map(
// CHECK-SAME: %[[X:.*]]: tensor<8x96xf32>
// CHECK-NOT: linalg.generic
// CHECK: rmsnorm.forward input(%[[X]] : tensor<8x96xf32>) weight(
func.func @map(%x: tensor<8x96xf32>, %w: tensor<96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8x96xf32>
  %sq = linalg.map { arith.mulf } ins(%x, %x : tensor<8x96xf32>, tensor<8x96xf32>) outs(%e : tensor<8x96xf32>)
  %r0 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%sq : tensor<8x96xf32>) outs(%r1 : tensor<8xf32>) dimensions = [1]
  %m = linalg.map ins(%s : tensor<8xf32>) outs(%r0 : tensor<8xf32>) (%in: f32, %o: f32) {
    %a = arith.divf %in, %n : f32
    %b = arith.addf %a, %eps : f32
    linalg.yield %b : f32
  }
  %r = linalg.map { math.rsqrt } ins(%m : tensor<8xf32>) outs(%r0 : tensor<8xf32>)
  %rb = linalg.broadcast ins(%r : tensor<8xf32>) outs(%e : tensor<8x96xf32>) dimensions = [1]
  %wb = linalg.broadcast ins(%w : tensor<96xf32>) outs(%e : tensor<8x96xf32>) dimensions = [0]
  %p = linalg.map { arith.mulf } ins(%x, %rb : tensor<8x96xf32>, tensor<8x96xf32>) outs(%e : tensor<8x96xf32>)
  %y = linalg.map { arith.mulf } ins(%p, %wb : tensor<8x96xf32>, tensor<8x96xf32>) outs(%e : tensor<8x96xf32>)
  return %y : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:.*]]: tensor<8x96xf32>
// CHECK-NOT: linalg.generic
// CHECK: rmsnorm.forward input(%[[X]] : tensor<8x96xf32>) weight(
func.func @elementwise(%x: tensor<8x96xf32>, %w: tensor<96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant dense<96.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x96xf32>
  %sq = linalg.square ins(%x : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r0 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%sq : tensor<8x96xf32>) outs(%r1 : tensor<8xf32>) dimensions = [1]
  %m = linalg.div ins(%s, %n : tensor<8xf32>, tensor<8xf32>) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %v = linalg.add ins(%m, %eps : tensor<8xf32>, tensor<8xf32>) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.sqrt ins(%v : tensor<8xf32>) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reciprocal ins(%q : tensor<8xf32>) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %p = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%x, %r : tensor<8x96xf32>, tensor<8xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %y = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%p, %w : tensor<8x96xf32>, tensor<96xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

// einsum("bn,bn->b", x, x).
// CHECK-LABEL: func.func @einsum(
// CHECK-SAME: %[[X:.*]]: tensor<8x96xf32>
// CHECK-NOT: linalg.generic
// CHECK: rmsnorm.forward input(%[[X]] : tensor<8x96xf32>) weight(
func.func @einsum(%x: tensor<8x96xf32>, %w: tensor<96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8x96xf32>
  %r0 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.contract indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] ins(%x, %x : tensor<8x96xf32>, tensor<8x96xf32>) outs(%r1 : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %w : tensor<8x96xf32>, tensor<8xf32>, tensor<96xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %a, %r : f32
    %q = arith.mulf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

// The mean as a product with a vector of 1/N.
// CHECK-LABEL: func.func @mean_matvec(
// CHECK-SAME: %[[X:.*]]: tensor<8x96xf32>
// CHECK-NOT: linalg.generic
// CHECK: rmsnorm.forward input(%[[X]] : tensor<8x96xf32>) output(
func.func @mean_matvec(%x: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %k = arith.constant dense<0.010416667> : tensor<96xf32>
  %e = tensor.empty() : tensor<8x96xf32>
  %sq = linalg.square ins(%x : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r0 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.matvec ins(%sq, %k : tensor<8x96xf32>, tensor<96xf32>) outs(%r1 : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x96xf32>, tensor<8xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %b, %eps : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %a, %r : f32
    linalg.yield %p : f32
  } -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

// x[i, j] with the statistics of row j.
// CHECK-LABEL: func.func @square_transposed(
// CHECK-NOT: rmsnorm.
// CHECK: math.rsqrt
func.func @square_transposed(%x: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<96x96xf32>
  %sq = linalg.square ins(%x : tensor<96x96xf32>) outs(%e : tensor<96x96xf32>) -> tensor<96x96xf32>
  %r0 = tensor.empty() : tensor<96xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.reduce { arith.addf } ins(%sq : tensor<96x96xf32>) outs(%r1 : tensor<96xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<96x96xf32>, tensor<96xf32>) outs(%e : tensor<96x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %a, %r : f32
    linalg.yield %p : f32
  } -> tensor<96x96xf32>
  return %y : tensor<96x96xf32>
}

// The statistics of the row before.
// CHECK-LABEL: func.func @shifted_rows(
// CHECK-NOT: rmsnorm.
// CHECK: math.rsqrt
func.func @shifted_rows(%x: tensor<9x96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %a0 = tensor.extract_slice %x[0, 0] [8, 96] [1, 1] : tensor<9x96xf32> to tensor<8x96xf32>
  %a1 = tensor.extract_slice %x[1, 0] [8, 96] [1, 1] : tensor<9x96xf32> to tensor<8x96xf32>
  %e = tensor.empty() : tensor<8x96xf32>
  %sq = linalg.square ins(%a0 : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r0 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%sq : tensor<8x96xf32>) outs(%r1 : tensor<8xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1, %s : tensor<8x96xf32>, tensor<8xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %a, %r : f32
    linalg.yield %p : f32
  } -> tensor<8x96xf32>
  return %y : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-NOT: rmsnorm.
// CHECK: math.rsqrt
func.func @twice(%x: tensor<8x96xf32>) -> (tensor<8x96xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 95.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8x96xf32>
  %r0 = tensor.empty() : tensor<8xf32>
  %sq = linalg.square ins(%x : tensor<8x96xf32>) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%sq : tensor<8x96xf32>) outs(%r1 : tensor<8xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x96xf32>, tensor<8xf32>) outs(%e : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %a, %r : f32
    linalg.yield %p : f32
  } -> tensor<8x96xf32>
  %rstd = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%r0 : tensor<8xf32>) {
  ^bb0(%b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y, %rstd : tensor<8x96xf32>, tensor<8xf32>
}

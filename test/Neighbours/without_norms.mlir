// In a module what is row-wise and in no other kernel begins one, without a norm
// and without a mark.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=6 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=6 2>&1 | FileCheck %s --implicit-check-not=WRONG --implicit-check-not=error:
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=6 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=6 2>&1 | FileCheck %s --implicit-check-not=WRONG --implicit-check-not=error:
// RUN: norm-opt %s --rmsnorm-tensor-half -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=KERNELS --input-file=%t.mlir --implicit-check-not="{{linalg|memref.copy|rmsnorm.rows sizes}}"
// Among other work they stay: embedding goes by norms and marks.
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A gate.
// CHECK: {{^}}silu_mul {{.*}} ok
// KERNELS-LABEL: func.func @silu_mul(
// KERNELS: rmsnorm.rows sizes
// EMBED-LABEL: func.func @silu_mul(
// EMBED-NOT: rmsnorm.rows
// EMBED: linalg.generic
func.func @silu_mul(%g: tensor<?x64xbf16>, %u: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %g, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %y = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %one = arith.constant 1.0 : f32
    %x = arith.extf %a : bf16 to f32
    %n = arith.negf %x : f32
    %ex = math.exp %n : f32
    %d = arith.addf %ex, %one : f32
    %s = arith.divf %x, %d : f32
    %v = arith.extf %b : bf16 to f32
    %p = arith.mulf %s, %v : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// A norm without a reduction, as of transformers without normalisation.
// CHECK: {{^}}dyt {{.*}} ok
// KERNELS-LABEL: func.func @dyt(
// KERNELS: rmsnorm.rows sizes
// EMBED: func.func @dyt(
func.func @dyt(%x: tensor<?x96xf32>, %alpha: f32, %w: tensor<96xf32>, %b: tensor<96xf32>) -> tensor<?x96xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %w, %b : tensor<?x96xf32>, tensor<96xf32>, tensor<96xf32>) outs(%e : tensor<?x96xf32>) {
  ^bb0(%i: f32, %wi: f32, %bi: f32, %o: f32):
    %a = arith.mulf %i, %alpha : f32
    %t = math.tanh %a : f32
    %p = arith.mulf %t, %wi : f32
    %s = arith.addf %p, %bi : f32
    linalg.yield %s : f32
  } -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// Elementwise ops on tensors, of sizes that only a call knows.
// CHECK: {{^}}arith_ops {{.*}} ok
// KERNELS-LABEL: func.func @arith_ops(
// KERNELS: rmsnorm.rows sizes
func.func @arith_ops(%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = arith.mulf %x, %z : tensor<?x?xf32>
  %1 = math.tanh %0 : tensor<?x?xf32>
  %2 = arith.addf %1, %x : tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// A reduction without a mark.
// CHECK: {{^}}softmax {{.*}} ok
// KERNELS-LABEL: func.func @softmax(
// KERNELS: rmsnorm.rows sizes
func.func @softmax(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Copies: an op, a slice, an argument, a result that is returned twice.
// CHECK: {{^}}copy_linalg {{.*}} ok
// KERNELS-LABEL: func.func @copy_linalg(
// KERNELS: rmsnorm.rows sizes
func.func @copy_linalg(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.copy ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK: {{^}}slice_returned {{.*}} ok
// KERNELS-LABEL: func.func @slice_returned(
// KERNELS: rmsnorm.rows sizes
func.func @slice_returned(%x: tensor<?x64xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %y = tensor.extract_slice %x[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: {{^}}argument_returned {{.*}} ok
// KERNELS-LABEL: func.func @argument_returned(
// KERNELS: rmsnorm.rows sizes
func.func @argument_returned(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  return %x : tensor<?x64xf32>
}

// CHECK: {{^}}twice {{.*}} ok
// KERNELS-LABEL: func.func @twice(
// KERNELS: rmsnorm.rows sizes
func.func @twice(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %y = arith.addf %x, %x : tensor<?x64xf32>
  return %y, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// What is inserted is copied, into a new tensor or an argument.
// CHECK: {{^}}concat {{.*}} ok
// KERNELS-LABEL: func.func @concat(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @concat(%x: tensor<?x64xf32>, %z: tensor<?x32xf32>) -> tensor<?x96xf32> {
  %y = tensor.concat dim(1) %x, %z : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// CHECK: {{^}}insert_copy {{.*}} ok
// KERNELS-LABEL: func.func @insert_copy(
// KERNELS: rmsnorm.rows sizes
func.func @insert_copy(%x: tensor<?x32xf32>, %into: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf32>
  %y = tensor.insert_slice %x into %into[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// v out of a packed qkv, beside norms of q and k.
// CHECK: {{^}}v_of_qkv {{.*}} ok
// KERNELS-LABEL: func.func @v_of_qkv(
// KERNELS-COUNT-3: rmsnorm.rows sizes
func.func @v_of_qkv(%qkv: tensor<?x12x64xbf16>, %wq: tensor<64xbf16>, %wk: tensor<64xbf16>) -> (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x12x64xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x8x64xbf16>
  %k = tensor.extract_slice %qkv[0, 8, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x2x64xbf16>
  %v = tensor.extract_slice %qkv[0, 10, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x2x64xbf16>
  %eq = tensor.empty(%m) : tensor<?x8x64xbf16>
  %ek = tensor.empty(%m) : tensor<?x2x64xbf16>
  %nq = rmsnorm.forward input(%q : tensor<?x8x64xbf16>) weight(%wq : tensor<64xbf16>) output(%eq : tensor<?x8x64xbf16>) eps = 1.0e-06 -> tensor<?x8x64xbf16>
  %nk = rmsnorm.forward input(%k : tensor<?x2x64xbf16>) weight(%wk : tensor<64xbf16>) output(%ek : tensor<?x2x64xbf16>) eps = 1.0e-06 -> tensor<?x2x64xbf16>
  %vc = linalg.copy ins(%v : tensor<?x2x64xbf16>) outs(%ek : tensor<?x2x64xbf16>) -> tensor<?x2x64xbf16>
  return %nq, %nk, %vc : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
}

// CHECK: {{^}}v_slice {{.*}} ok
// KERNELS-LABEL: func.func @v_slice(
// KERNELS-COUNT-3: rmsnorm.rows sizes
func.func @v_slice(%qkv: tensor<?x12x64xbf16>, %wq: tensor<64xbf16>, %wk: tensor<64xbf16>) -> (tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x12x64xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x8x64xbf16>
  %k = tensor.extract_slice %qkv[0, 8, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x2x64xbf16>
  %v = tensor.extract_slice %qkv[0, 10, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x12x64xbf16> to tensor<?x2x64xbf16>
  %eq = tensor.empty(%m) : tensor<?x8x64xbf16>
  %ek = tensor.empty(%m) : tensor<?x2x64xbf16>
  %nq = rmsnorm.forward input(%q : tensor<?x8x64xbf16>) weight(%wq : tensor<64xbf16>) output(%eq : tensor<?x8x64xbf16>) eps = 1.0e-06 -> tensor<?x8x64xbf16>
  %nk = rmsnorm.forward input(%k : tensor<?x2x64xbf16>) weight(%wk : tensor<64xbf16>) output(%ek : tensor<?x2x64xbf16>) eps = 1.0e-06 -> tensor<?x2x64xbf16>
  return %nq, %nk, %v : tensor<?x8x64xbf16>, tensor<?x2x64xbf16>, tensor<?x2x64xbf16>
}

// A rotation: of halves, of a row, of pairs.
// CHECK: {{^}}rope_halves {{.*}} ok
// KERNELS-LABEL: func.func @rope_halves(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @rope_halves(%x: tensor<?x4x64xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %a = tensor.extract_slice %x[0, 0, 0] [%m, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %b = tensor.extract_slice %x[0, 0, 32] [%m, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %e2 = tensor.empty(%m) : tensor<?x4x32xbf16>
  %o1 = linalg.generic {indexing_maps = [#id3, #id3, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xbf16>, tensor<?x4x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%e2 : tensor<?x4x32xbf16>) {
  ^bb0(%ab: bf16, %bb: bf16, %c: f32, %s: f32, %z: bf16):
    %a1 = arith.extf %ab : bf16 to f32
    %b1 = arith.extf %bb : bf16 to f32
    %p = arith.mulf %a1, %c : f32
    %r = arith.mulf %b1, %s : f32
    %d = arith.subf %p, %r : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x4x32xbf16>
  %o2 = linalg.generic {indexing_maps = [#id3, #id3, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xbf16>, tensor<?x4x32xbf16>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%e2 : tensor<?x4x32xbf16>) {
  ^bb0(%ab: bf16, %bb: bf16, %c: f32, %s: f32, %z: bf16):
    %a1 = arith.extf %ab : bf16 to f32
    %b1 = arith.extf %bb : bf16 to f32
    %p = arith.mulf %b1, %c : f32
    %r = arith.mulf %a1, %s : f32
    %d = arith.addf %p, %r : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x4x32xbf16>
  %o = tensor.empty(%m) : tensor<?x4x64xbf16>
  %i1 = tensor.insert_slice %o1 into %o[0, 0, 0] [%m, 4, 32] [1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x64xbf16>
  %i2 = tensor.insert_slice %o2 into %i1[0, 0, 32] [%m, 4, 32] [1, 1, 1] : tensor<?x4x32xbf16> into tensor<?x4x64xbf16>
  return %i2 : tensor<?x4x64xbf16>
}

// CHECK: {{^}}rope_rotate {{.*}} ok
// KERNELS-LABEL: func.func @rope_rotate(
// KERNELS: rmsnorm.rows sizes
func.func @rope_rotate(%n: tensor<?x64xf32>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %n, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %a = tensor.extract_slice %n[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %n[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %minus = arith.negf %b : tensor<?x32xf32>
  %half = tensor.concat dim(1) %minus, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%n, %half, %cos, %sin : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%p: f32, %r: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %p, %c : f32
    %1 = arith.mulf %r, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK: {{^}}rope_pairs {{.*}} ok
// KERNELS-LABEL: func.func @rope_pairs(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @rope_pairs(%x: tensor<?x4x64xf32>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %p = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%m, 4, 32, 2] : tensor<?x4x64xf32> into tensor<?x4x32x2xf32>
  %a = tensor.extract_slice %p[0, 0, 0, 0] [%m, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32x2xf32> to tensor<?x4x32xf32>
  %b = tensor.extract_slice %p[0, 0, 0, 1] [%m, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32x2xf32> to tensor<?x4x32xf32>
  %e2 = tensor.empty(%m) : tensor<?x4x32xf32>
  %o1 = linalg.generic {indexing_maps = [#id3, #id3, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xf32>, tensor<?x4x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%e2 : tensor<?x4x32xf32>) {
  ^bb0(%a1: f32, %b1: f32, %c: f32, %s: f32, %z: f32):
    %pp = arith.mulf %a1, %c : f32
    %r = arith.mulf %b1, %s : f32
    %d = arith.subf %pp, %r : f32
    linalg.yield %d : f32
  } -> tensor<?x4x32xf32>
  %o2 = linalg.generic {indexing_maps = [#id3, #id3, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xf32>, tensor<?x4x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%e2 : tensor<?x4x32xf32>) {
  ^bb0(%a1: f32, %b1: f32, %c: f32, %s: f32, %z: f32):
    %pp = arith.mulf %b1, %c : f32
    %r = arith.mulf %a1, %s : f32
    %d = arith.addf %pp, %r : f32
    linalg.yield %d : f32
  } -> tensor<?x4x32xf32>
  %o = tensor.empty(%m) : tensor<?x4x32x2xf32>
  %i1 = tensor.insert_slice %o1 into %o[0, 0, 0, 0] [%m, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32xf32> into tensor<?x4x32x2xf32>
  %i2 = tensor.insert_slice %o2 into %i1[0, 0, 0, 1] [%m, 4, 32, 1] [1, 1, 1, 1] : tensor<?x4x32xf32> into tensor<?x4x32x2xf32>
  %r = tensor.collapse_shape %i2 [[0], [1], [2, 3]] : tensor<?x4x32x2xf32> into tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>
}

// CHECK: {{^}}geglu_packed {{.*}} ok
// KERNELS-LABEL: func.func @geglu_packed(
// KERNELS: rmsnorm.rows sizes
func.func @geglu_packed(%gu: tensor<?x128xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %gu, %c0 : tensor<?x128xf32>
  %g = tensor.extract_slice %gu[0, 0] [%m, 64] [1, 1] : tensor<?x128xf32> to tensor<?x64xf32>
  %u = tensor.extract_slice %gu[0, 64] [%m, 64] [1, 1] : tensor<?x128xf32> to tensor<?x64xf32>
  %t = math.tanh %g : tensor<?x64xf32>
  %y = arith.mulf %t, %u : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Sums without marks: of rows, over rows, of all.
// CHECK: {{^}}row_sum {{.*}} ok
// KERNELS-LABEL: func.func @row_sum(
// KERNELS: rmsnorm.rows sizes
func.func @row_sum(%x: tensor<?x64xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<?x64xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %y : tensor<?xf32>
}

// CHECK: {{^}}col_sum {{.*}} ok
// KERNELS-LABEL: func.func @col_sum(
// KERNELS: rmsnorm.rows sizes
func.func @col_sum(%x: tensor<?x64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<?x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  return %y : tensor<64xf32>
}

// CHECK: {{^}}amax {{.*}} ok
// KERNELS-LABEL: func.func @amax(
// KERNELS: rmsnorm.rows sizes
func.func @amax(%x: tensor<?x64xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.reduce {arith.maximumf} ins(%x : tensor<?x64xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %y : tensor<f32>
}

// Rank 1 and 0: each element is a row.
// CHECK: {{^}}row_values {{.*}} ok
// KERNELS-LABEL: func.func @row_values(
// KERNELS: rmsnorm.rows sizes
func.func @row_values(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %z : tensor<?xf32>
  %1 = math.exp %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK: {{^}}scalars {{.*}} ok
// KERNELS-LABEL: func.func @scalars(
// KERNELS: rmsnorm.rows sizes
func.func @scalars(%x: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = arith.mulf %x, %z : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK: {{^}}scaled {{.*}} ok
// KERNELS-LABEL: func.func @scaled(
// KERNELS: rmsnorm.rows sizes
func.func @scaled(%x: tensor<?x64xf32>, %s: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %r = math.exp %s : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x64xf32>, tensor<?xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %y, %r : tensor<?x64xf32>, tensor<?xf32>
}

// Dimensions in another order.
// CHECK: {{^}}transpose_heads {{.*}} ok
// KERNELS-LABEL: func.func @transpose_heads(
// KERNELS: rmsnorm.rows sizes
func.func @transpose_heads(%x: tensor<?x8x64xf32>) -> tensor<8x?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  %e = tensor.empty(%m) : tensor<8x?x64xf32>
  %y = linalg.transpose ins(%x : tensor<?x8x64xf32>) outs(%e : tensor<8x?x64xf32>) permutation = [1, 0, 2]
  return %y : tensor<8x?x64xf32>
}

// CHECK: {{^}}transposed_copy {{.*}} ok
// KERNELS-LABEL: func.func @transposed_copy(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @transposed_copy(%x: tensor<?x48xf32>) -> (tensor<?x48xf32>, tensor<48x?xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x48xf32>
  %v1 = tensor.empty(%m) : tensor<?x48xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x48xf32>) output(%v1 : tensor<?x48xf32>) eps = 1.000000000e-06 -> tensor<?x48xf32>
  %v3 = tensor.empty(%m) : tensor<48x?xbf16>
  %v4 = linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%v2 : tensor<?x48xf32>) outs(%v3 : tensor<48x?xbf16>) {
  ^bb0(%i0: f32, %o0: bf16):
    %b1 = arith.truncf %i0 : f32 to bf16
    linalg.yield %b1 : bf16
  } -> tensor<48x?xbf16>
  return %v2, %v4 : tensor<?x48xf32>, tensor<48x?xbf16>
}

// A number everywhere.
// CHECK: {{^}}fill {{.*}} ok
// KERNELS-LABEL: func.func @fill(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @fill(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = arith.addf %x, %x : tensor<?x64xf32>
  return %f, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// Rows of a table.
// CHECK: {{^}}gather_rows {{.*}} ok
// KERNELS-LABEL: func.func @gather_rows(
// KERNELS: rmsnorm.rows sizes
func.func @gather_rows(%x: tensor<?x64xf32>, %i: tensor<?xi64>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi64>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %k = arith.index_cast %a : i64 to index
    %c = linalg.index 1 : index
    %p = tensor.extract %x[%k, %c] : tensor<?x64xf32>
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// An op with rows of its own between two norms.
// CHECK: {{^}}between_norms {{.*}} ok
// KERNELS-LABEL: func.func @between_norms(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @between_norms(%x: tensor<?x64xf32>, %z: tensor<?x32xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-06 -> tensor<?x64xf32>
  %t = math.tanh %z : tensor<?x32xf32>
  %y2 = rmsnorm.forward input(%y : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-06 -> tensor<?x64xf32>
  return %y, %t, %y2 : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x64xf32>
}

// Groups that no thread holds are rows of a kernel of their own.
// CHECK: {{^}}group_reduce_12 {{.*}} ok
// KERNELS-LABEL: func.func @group_reduce_12(
// KERNELS: rmsnorm.rows sizes
// KERNELS: rmsnorm.rows sizes
func.func @group_reduce_12(%x: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %y = rmsnorm.forward input(%x : tensor<?x96xf32>) output(%e : tensor<?x96xf32>) eps = 1.0e-05 -> tensor<?x96xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 8, 12] : tensor<?x96xf32> into tensor<?x8x12xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty(%m) : tensor<?x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x8x12xf32>) outs(%i : tensor<?x8xf32>) {
  ^bb0(%a: f32, %q: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %q, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x8xf32>
  return %y, %s : tensor<?x96xf32>, tensor<?x8xf32>
}

// The columns are the first loop.
// CHECK: {{^}}loops_swapped {{.*}} ok
// KERNELS-LABEL: func.func @loops_swapped(
// KERNELS: rmsnorm.rows sizes
func.func @loops_swapped(%x: tensor<?x256xf32>) -> (tensor<?x256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %v1 = tensor.empty(%m) : tensor<?xf32>
  %v2 = arith.constant 0.000000000e+00 : f32
  %v3 = linalg.fill ins(%v2 : f32) outs(%v1 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (m)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x256xf32>) outs(%v3 : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %v4 = tensor.empty(%m) : tensor<?x256xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x256xf32>, tensor<?xf32>) outs(%v4 : tensor<?x256xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f32):
    %b1 = arith.divf %i0, %i1 : f32
    linalg.yield %b1 : f32
  } -> tensor<?x256xf32>
  return %v5 : tensor<?x256xf32>
}

// Two values of a row in one tensor.
// CHECK: {{^}}row_values_side_by_side {{.*}} ok
// KERNELS-LABEL: func.func @row_values_side_by_side(
// KERNELS: rmsnorm.rows sizes
func.func @row_values_side_by_side(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %v1 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = tensor.empty(%m) : tensor<?xf32>
  %v2, %v4 = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%v1 : tensor<?x64xf32>) rstd(%v3 : tensor<?xf32>) eps = 1.000000000e-06 -> tensor<?x64xf32>, tensor<?xf32>
  %v5 = tensor.empty(%m) : tensor<?xf32>
  %v6 = arith.constant 0xFF800000 : f32
  %v7 = linalg.fill ins(%v6 : f32) outs(%v5 : tensor<?xf32>) -> tensor<?xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%v2 : tensor<?x64xf32>) outs(%v7 : tensor<?xf32>) {
  ^bb0(%i0: f32, %o0: f32):
    %b1 = arith.maximumf %i0, %o0 : f32
    linalg.yield %b1 : f32
  } -> tensor<?xf32>
  %v9 = tensor.empty(%m) : tensor<?x2xf32>
  %v10 = tensor.expand_shape %v4 [[0, 1]] output_shape [%m, 1] : tensor<?xf32> into tensor<?x1xf32>
  %v11 = tensor.insert_slice %v10 into %v9[0, 0] [%m, 1] [1, 1] : tensor<?x1xf32> into tensor<?x2xf32>
  %v12 = tensor.expand_shape %v8 [[0, 1]] output_shape [%m, 1] : tensor<?xf32> into tensor<?x1xf32>
  %v13 = tensor.insert_slice %v12 into %v11[0, 1] [%m, 1] [1, 1] : tensor<?x1xf32> into tensor<?x2xf32>
  return %v2, %v13 : tensor<?x64xf32>, tensor<?x2xf32>
}

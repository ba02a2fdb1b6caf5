// Norms that are no RMSNorms begin kernels in functions that hold one.
// RUN: norm-opt %s --rmsnorm-raise --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --implicit-check-not=remark: --implicit-check-not=row_wise}
// RUN: norm-opt %s --rmsnorm-raise=row-wise=none 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=row_wise
// RUN: norm-opt %s --rmsnorm-raise=row-wise=all --mlir-print-op-on-diagnostic=false 2>&1 | grep -c "remark: marked" | FileCheck %s --check-prefix=ALL
// RUN: norm-opt %s --rmsnorm-raise=roundings=fewer --mlir-print-op-on-diagnostic=false 2>&1 | grep -c "remark: marked" | FileCheck %s --check-prefix=FEWER
// RUN: norm-opt %s --rmsnorm-raise=roundings=fewer --mlir-print-op-on-diagnostic=false 2>&1 | not grep "roundings=fewer"
// NONE-COUNT-4: remark: not raised to rmsnorm.forward
// ALL: {{^}}7{{$}}
// FEWER: {{^}}3{{$}}

// CHECK: remark: not raised to rmsnorm.forward: what is under the root is a variance, as in a LayerNorm{{$}}
// CHECK-COUNT-2: remark: marked rmsnorm.row_wise, as it reduces rows: a kernel may begin with it
// CHECK: remark: not raised to rmsnorm.forward: no constant positive epsilon is added under the root{{$}}
// CHECK: remark: not raised to rmsnorm.forward: no constant positive epsilon is added under the root; roundings=fewer marks its narrow sums
// CHECK: remark: not raised to rmsnorm.forward: what is under the root is a variance, as in a LayerNorm{{$}}

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#each = affine_map<(d0) -> (d0)>

// The sums of a LayerNorm's fast variance, but not that of a softmax. The norm
// is of other rows and of no use to them.
// CHECK-LABEL: func.func @beside(
// CHECK: ins(%[[X:.*]] : tensor<8x96xf32>) {{.*}}{rmsnorm.row_wise}
// CHECK: ins(%[[X]] : tensor<8x96xf32>) {{.*}}{rmsnorm.row_wise}
// CHECK: math.exp
// CHECK: rmsnorm.forward
func.func @beside(%x: tensor<8x96xf32>, %h: tensor<32x64xf32>, %o: tensor<8xf32>, %oh: tensor<32x64xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 0.010416667 : f32
  %eps = arith.constant 1.0e-05 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %rstd = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
      ins(%sum, %squares : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %n : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %b, %n : f32
    %3 = arith.subf %2, %1 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8xf32>
  %exponentials = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %y = rmsnorm.forward input(%h : tensor<32x64xf32>) output(%oh : tensor<32x64xf32>) eps = 1.0e-05 -> tensor<32x64xf32>
  return %rstd, %exponentials, %y : tensor<8xf32>, tensor<8xf32>, tensor<32x64xf32>
}

// An L2 norm in a function without one of ours.
// CHECK-LABEL: func.func @alone(
func.func @alone(%x: tensor<8x96xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %root = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.sqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %root : tensor<8xf32>
}

// A kernel would not round the sum as the program does.
// CHECK-LABEL: func.func @narrow(
// CHECK: rmsnorm.forward
func.func @narrow(%x: tensor<8x96xbf16>, %o: tensor<8xbf16>, %h: tensor<32x64xf32>, %oh: tensor<32x64xf32>)
    -> (tensor<8xbf16>, tensor<32x64xf32>) {
  %zero = arith.constant 0.0 : bf16
  %zeros = linalg.fill ins(%zero : bf16) outs(%o : tensor<8xbf16>) -> tensor<8xbf16>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xbf16>) outs(%zeros : tensor<8xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.mulf %a, %a : bf16
    %1 = arith.addf %0, %out : bf16
    linalg.yield %1 : bf16
  } -> tensor<8xbf16>
  %root = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xbf16>) outs(%o : tensor<8xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = math.sqrt %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<8xbf16>
  %y = rmsnorm.forward input(%h : tensor<32x64xf32>) output(%oh : tensor<32x64xf32>) eps = 1.0e-05 -> tensor<32x64xf32>
  return %root, %y : tensor<8xbf16>, tensor<32x64xf32>
}

// Half of a LayerNorm's gradient as autodiff leaves it: it is no gradient of an
// RMSNorm of what is centred, and the LayerNorm has one remark.
// CHECK-LABEL: func.func @gradient(
func.func @gradient(%x: tensor<8x96xf32>, %dy: tensor<8x96xf32>, %o: tensor<8xf32>, %full: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %half = arith.constant -0.5 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x96xf32>, tensor<8xf32>) outs(%full : tensor<8x96xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x96xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centred, %dy : tensor<8x96xf32>, tensor<8x96xf32>) outs(%zeros, %zeros : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32, %out2: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %out : f32
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %2, %out2 : f32
    linalg.yield %1, %3 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %dc = linalg.generic {indexing_maps = [#id, #id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %dy, %sums#0, %sums#1 : tensor<8x96xf32>, tensor<8x96xf32>, tensor<8xf32>, tensor<8xf32>) outs(%full : tensor<8x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %t: f32, %out: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.addf %0, %eps : f32
    %r = math.rsqrt %1 : f32
    %r3 = arith.divf %r, %1 : f32
    %2 = arith.mulf %t, %r3 : f32
    %3 = arith.divf %2, %n : f32
    %4 = arith.mulf %3, %half : f32
    %5 = arith.mulf %a, %4 : f32
    %6 = arith.mulf %b, %r : f32
    %7 = arith.addf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<8x96xf32>
  return %dc : tensor<8x96xf32>
}

// Where all work has to be in kernels, what is row-wise and has no place in the
// kernel of a norm begins another.
// RUN: norm-opt %s --rmsnorm-tile-clusters --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s
// Among other work it stays.
// RUN: sed 's/expected-remark.*//' %s | norm-opt --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file 2>&1 | FileCheck %s --check-prefix=EMBED

// A norm of the heads of q, and a LayerNorm of those of k.
#id = affine_map<(t, h, c) -> (t, h, c)>
#row = affine_map<(t, h, c) -> (t, h)>
// CHECK-LABEL: func.func @heads(
// CHECK:         rmsnorm.rows sizes [6, 8] columns(64) buffers(read %{{.*}} : tensor<6x24x64xf32>, write %{{.*}} : tensor<6x8x64xf32>)
// CHECK:         rmsnorm.rows sizes [6, 8] columns(64) buffers(read %{{.*}} : tensor<6x24x64xf32>, write %{{.*}} : tensor<6x8x64xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
// EMBED-LABEL: func.func @heads(
// EMBED:         rmsnorm.rows
// EMBED-NOT:     rmsnorm.rows
// EMBED:         return
func.func @heads(%qkv: tensor<6x24x64xf32>, %qo: tensor<6x8x64xf32>, %ko: tensor<6x8x64xf32>) -> (tensor<6x8x64xf32>, tensor<6x8x64xf32>) {
  %q = tensor.extract_slice %qkv[0, 0, 0] [6, 8, 64] [1, 1, 1] : tensor<6x24x64xf32> to tensor<6x8x64xf32>
  %k = tensor.extract_slice %qkv[0, 8, 0] [6, 8, 64] [1, 1, 1] : tensor<6x24x64xf32> to tensor<6x8x64xf32>
  %n = rmsnorm.forward input(%q : tensor<6x8x64xf32>) output(%qo : tensor<6x8x64xf32>) eps = 1.0e-06 -> tensor<6x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%k : tensor<6x8x64xf32>) outs(%f, %f : tensor<6x8xf32>, tensor<6x8xf32>) {
  ^bb0(%a: f32, %s: f32, %q2: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q2 : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<6x8xf32>, tensor<6x8xf32>)
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k, %sums#0, %sums#1 : tensor<6x8x64xf32>, tensor<6x8xf32>, tensor<6x8xf32>) outs(%ko : tensor<6x8x64xf32>) {
  ^bb0(%a: f32, %s: f32, %q2: f32, %o: f32):
    %c = arith.constant 64.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q2, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    linalg.yield %7 : f32
  } -> tensor<6x8x64xf32>
  return %n, %y : tensor<6x8x64xf32>, tensor<6x8x64xf32>
}

// -----

// A softmax of the half of a norm's rows: the norm's kernel reduces whole rows.
#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @half(
// CHECK:         rmsnorm.rows sizes [6] columns(128)
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @half(%x: tensor<6x128xf32>, %no: tensor<6x128xf32>, %so: tensor<6x64xf32>) -> (tensor<6x128xf32>, tensor<6x64xf32>) {
  %n = rmsnorm.forward input(%x : tensor<6x128xf32>) output(%no : tensor<6x128xf32>) eps = 1.0e-06 -> tensor<6x128xf32>
  %h = tensor.extract_slice %n[0, 64] [6, 64] [1, 1] : tensor<6x128xf32> to tensor<6x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  // expected-remark @below {{begins another kernel: in the one next to it, it reduces a part of the columns}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<6x64xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %s : tensor<6x64xf32>, tensor<6xf32>) outs(%so : tensor<6x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = arith.divf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<6x64xf32>
  return %n, %y : tensor<6x128xf32>, tensor<6x64xf32>
}

// -----

// So does one of rows that are no norm's, and a product of rows and a vector.
// CHECK-LABEL: func.func @others(
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:         rmsnorm.rows sizes [6] columns(32)
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK-NOT:     linalg
// CHECK:         return
// EMBED-LABEL: func.func @others(
// EMBED:         rmsnorm.rows
// EMBED:         linalg.matvec
// EMBED:         linalg.reduce
func.func @others(%x: tensor<6x64xf32>, %no: tensor<6x64xf32>, %w: tensor<64xf32>, %z: tensor<6x64xf32>, %mo: tensor<6xf32>, %zo: tensor<6xf32>) -> (tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>) {
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%no : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %h = tensor.extract_slice %n[0, 0] [6, 32] [1, 1] : tensor<6x64xf32> to tensor<6x32xf32>
  %v = tensor.extract_slice %w[0] [32] [1] : tensor<64xf32> to tensor<32xf32>
  // expected-remark @below {{begins another kernel: in the one next to it, it reduces a part of the columns}}
  %m = linalg.matvec ins(%h, %v : tensor<6x32xf32>, tensor<32xf32>) outs(%mo : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.reduce {arith.addf} ins(%z : tensor<6x64xf32>) outs(%zo : tensor<6xf32>) dimensions = [1]
  return %n, %m, %r : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>
}

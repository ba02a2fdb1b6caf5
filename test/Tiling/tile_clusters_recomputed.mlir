// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s
// RUN: norm-opt %s --pass-pipeline="builtin.module(func.func(rmsnorm-tile-clusters{required=true remarks=false},canonicalize,cse))" --split-input-file | FileCheck %s --check-prefix=OWN

// What others compute from fewer bytes than they would read is left to them; where all code is ours, it is stored. The
// functions are private, as in a public one all work would have to be ours.

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// x in f32 is needed by both: the kernel computes it, and does not write it. The weight of each row is only needed outside.
// CHECK-LABEL: func.func private @converted(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?x64xbf16>)
// CHECK:         linalg.matmul
// CHECK:         return
// OWN-LABEL:   func.func private @converted(
// OWN:           rmsnorm.rows {{.*}} write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xbf16>)
func.func private @converted(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %k: tensor<64x64xbf16>, %y: tensor<?x64xbf16>, %f: tensor<?x64xf32>) -> tensor<?x64xf32> {
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
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %p = linalg.matmul ins(%n, %k : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %xf, %wf : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Of x times a value of its row, and of what follows from that, the values of the rows are stored.
// CHECK-LABEL: func.func private @of_rows(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?x64xbf16>, write %{{[^ ]*}} : tensor<?xf32>)
// CHECK:         %[[XHAT:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?xf32>)
// CHECK:         %[[TWICE:.*]] = linalg.generic {{.*}} ins(%[[XHAT]] : tensor<?x64xf32>)
// CHECK:         linalg.matmul
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[TWICE]] :
// CHECK:         return
// OWN-LABEL:   func.func private @of_rows(
// OWN:           rmsnorm.rows {{.*}} write %{{.*}} : tensor<?x64xf32>
func.func private @of_rows(%x: tensor<?x64xbf16>, %k: tensor<64x64xbf16>, %y: tensor<?x64xbf16>, %r: tensor<?xf32>, %f: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n, %rstd = rmsnorm.forward input(%x : tensor<?x64xbf16>) output(%y : tensor<?x64xbf16>) rstd(%r : tensor<?xf32>) eps = 1.0e-06 -> tensor<?x64xbf16>, tensor<?xf32>
  // expected-remark @below {{not tiled with the norm next to it: it moves fewer bytes where its result is used}}
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
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %p = linalg.matmul ins(%n, %k : tensor<?x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %twice : tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Stored: a sum of two tensors, which others would read instead of one; what a function outside of arithmetic computes; what a
// product of matrices reads.
// CHECK-LABEL: func.func private @stored(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{[^ ]*}} : tensor<?x64xf32>, read %{{[^ ]*}} : tensor<?x64xf32>,
// CHECK-SAME:      write %{{[^ ]*}} : tensor<?x64xf32>, write %{{[^ ]*}} : tensor<?x64xf32>, write %{{[^ ]*}} : tensor<?x64xf32>, write %{{[^ ]*}} : tensor<?x64xf32>)
// CHECK:         return
// OWN-LABEL:   func.func private @stored(
func.func private @stored(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %k: tensor<64x64xf32>, %y: tensor<?x64xf32>, %f: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %n = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y : tensor<?x64xf32>) eps = 1.0e-06 -> tensor<?x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %p = linalg.matmul ins(%n, %k : tensor<?x64xf32>, tensor<64x64xf32>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it multiplies rows by a matrix}}
  %t = linalg.matmul ins(%d, %k : tensor<?x64xf32>, tensor<64x64xf32>) outs(%i : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it uses what an op outside computes from the cluster}}
  %q = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %h, %e : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<?x64xf32>
  return %q, %t : tensor<?x64xf32>, tensor<?x64xf32>
}

// RUN: norm-opt %s --split-input-file --rmsnorm-embed-tensors --verify-diagnostics | FileCheck %s
// Twice is as once.
// RUN: norm-opt %s --split-input-file --rmsnorm-embed-tensors -o %t.once
// RUN: norm-opt %t.once --split-input-file --rmsnorm-embed-tensors | diff %t.once -
// RUN: norm-opt %s --split-input-file --rmsnorm-embed-tensors="decompose-rest=false remarks" 2>&1 | FileCheck %s --check-prefixes=KEEP

// The options: what no kernel is made of is decomposed, without a word; or it
// stays a norm, and remarks say why.
// CHECK-LABEL: func.func @options(
// CHECK-NOT:     rmsnorm.forward
// CHECK:         rmsnorm.rows sizes
// CHECK:           rmsnorm.tile_load
// CHECK:           rmsnorm.yield
// CHECK:           rmsnorm.yield
// CHECK-NOT:     rmsnorm.
// CHECK:         linalg.matmul
// CHECK:         scf.forall (%{{.*}}) in (1)
// CHECK-COUNT-3:   linalg.generic
// CHECK-NOT:     rmsnorm.
// CHECK:         return
// KEEP:        remark: 'rmsnorm.forward' op not made a kernel of: it stands in device code
// KEEP:        remark: {{.*}} op not tiled with the norm next to it: it multiplies rows by a matrix
// KEEP:        linalg.matmul
// KEEP:        scf.forall (%{{.*}}) in (1)
// KEEP:          rmsnorm.forward
func.func @options(%x: tensor<8x64xf32>, %k: tensor<64x64xf32>, %o: tensor<8x64xf32>, %o2: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %y = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %z = linalg.matmul ins(%y, %k : tensor<8x64xf32>, tensor<64x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%s = %o2) -> (tensor<8x64xf32>) {
    %q = rmsnorm.forward input(%z : tensor<8x64xf32>) output(%s : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32> }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<8x64xf32>
}

// -----

// Not only in a func.func: anywhere below what the pipeline runs on.
// CHECK-LABEL: module @inner
// CHECK:         func.func @nested(
// CHECK:           scf.while
// CHECK:             rmsnorm.rows sizes
// CHECK:               rmsnorm.tile_store
// CHECK:             scf.yield
module {
  module @inner {
    func.func @nested(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.while (%i = %c0, %h = %x) : (index, tensor<?x64xf32>) -> (index, tensor<?x64xf32>) {
        %c = arith.cmpi ult, %i, %n : index
        scf.condition(%c) %i, %h : index, tensor<?x64xf32>
      } do {
      ^bb0(%i: index, %h: tensor<?x64xf32>):
        %a = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
        %j = arith.addi %i, %c1 : index
        scf.yield %j, %a : index, tensor<?x64xf32>
      }
      return %r#1 : tensor<?x64xf32>
    }
  }
}

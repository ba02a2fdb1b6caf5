// RUN: norm-opt %s --rmsnorm-tile-rows --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @combines_rows(
// CHECK:         scf.forall
// CHECK:           rmsnorm.forward
// CHECK:         } {mapping
// CHECK:         linalg.reduce
func.func @combines_rows(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %s0: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it combines rows, and not those of all its dimensions, or all but the first or last ones, by arith.addf, a maximum or a minimum in f32}}
  %s = linalg.reduce {arith.mulf} ins(%y : tensor<?x64xf32>) outs(%s0 : tensor<64xf32>) dimensions = [0]
  return %y, %s : tensor<?x64xf32>, tensor<64xf32>
}

// -----

func.func @transposes(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: its operand #0 does not have the rows, or some of their dimensions, as its leading dimensions}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  return %y, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

func.func @matmul(%x: tensor<?x64xf32>, %b: tensor<64x32xf32>, %y0: tensor<?x64xf32>, %t0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it has 3 loops}}
  %t = linalg.matmul ins(%y, %b : tensor<?x64xf32>, tensor<64x32xf32>) outs(%t0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %t : tensor<?x32xf32>
}

// -----

// The rstd of 64 rows used as 64 columns.
func.func @rows_as_columns(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %r0: tensor<64xf32>, %z0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y:2 = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) rstd(%r0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>, tensor<64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it uses rows as columns}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y#0, %y#1 : tensor<64x64xf32>, tensor<64xf32>) outs(%z0 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// -----

// The weight of the second norm is rows of the first.
// CHECK-LABEL: func.func @rank_differs(
// CHECK-COUNT-2: scf.forall
func.func @rank_differs(%x: tensor<64xf32>, %z: tensor<?x64xf32>, %y0: tensor<64xf32>, %z0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<64xf32>) output(%y0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it has 1 row dimensions}}
  %v = rmsnorm.forward input(%z : tensor<?x64xf32>) weight(%y : tensor<64xf32>) output(%z0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %v : tensor<?x64xf32>
}

// -----

// The transposition of the norm's result comes back into the cluster: what
// follows it is another loop, and it stays between the two.
// CHECK-LABEL: func.func @split(
// CHECK:         %[[Y:.*]] = scf.forall
// CHECK:           rmsnorm.forward
// CHECK:         } {mapping
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[Y]] :
// CHECK:         scf.forall
// CHECK-DAG:       tensor.extract_slice %[[T]]
// CHECK-DAG:       tensor.extract_slice %[[Y]]
// CHECK:           linalg.add
// CHECK:           rmsnorm.forward
// CHECK:         } {mapping
func.func @split(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>, %h0: tensor<64x64xf32>, %z0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{uses the rows of a norm's cluster and feeds it; the cluster is split here}}
  // expected-remark @below {{not tiled with the norm next to it: its operand #0 does not have the rows, or some of their dimensions, as its leading dimensions}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  %h = linalg.add ins(%t, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%h0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = rmsnorm.forward input(%h : tensor<64x64xf32>) output(%z0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// -----

// What uses the cluster's first result stands before its last op: it moves
// behind the loop.
// CHECK-LABEL: func.func @follower(
// CHECK:         %[[LOOP:.*]]:2 = scf.forall
// CHECK:         } {mapping
// CHECK:         linalg.transpose ins(%[[LOOP]]#0 :
func.func @follower(%x: tensor<64x64xf32>, %y0: tensor<64x64xf32>, %t0: tensor<64x64xf32>, %z0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<64x64xf32>) output(%y0 : tensor<64x64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>
  // expected-remark @below {{not tiled with the norm next to it}}
  %t = linalg.transpose ins(%y : tensor<64x64xf32>) outs(%t0 : tensor<64x64xf32>) permutation = [1, 0]
  %z = linalg.exp ins(%y : tensor<64x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %t, %z : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Parts that no types tell, or that leave columns out.
func.func @dynamic_part(%x: tensor<?x64xf32>, %k: index, %y0: tensor<?x64xf32>, %z0: tensor<?x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y0, %c0 : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{its dimension 1 is neither all rows nor columns side by side, or every other of all, how many types say}}
  %p = tensor.extract_slice %y[0, %k] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %z = linalg.negf ins(%p : tensor<?x32xf32>) outs(%z0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x32xf32>
}

// -----

func.func @every_fourth(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %z0: tensor<?x16xf32>) -> (tensor<?x64xf32>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y0, %c0 : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-remark @below {{its dimension 1 is neither all rows nor columns side by side, or every other of all, how many types say}}
  %p = tensor.extract_slice %y[0, 0] [%m, 16] [1, 4] : tensor<?x64xf32> to tensor<?x16xf32>
  %z = linalg.negf ins(%p : tensor<?x16xf32>) outs(%z0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x16xf32>
}

// -----

// A gradient for each position: a sum over the first and the last dimension.
func.func @position_sum(%dy: tensor<?x?x8x64xf32>, %x: tensor<?x?x8x64xf32>, %dx0: tensor<?x?x8x64xf32>, %s0: tensor<?x64xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %dx = rmsnorm.backward dy(%dy : tensor<?x?x8x64xf32>) input(%x : tensor<?x?x8x64xf32>) dx(%dx0 : tensor<?x?x8x64xf32>) eps = 1.0e-5 -> tensor<?x?x8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{it combines rows, and not those of all its dimensions, or all but the first or last ones, by arith.addf, a maximum or a minimum in f32}}
  %s = linalg.reduce {arith.addf} ins(%dy : tensor<?x?x8x64xf32>) outs(%f : tensor<?x64xf32>) dimensions = [0, 2]
  return %dx, %s : tensor<?x?x8x64xf32>, tensor<?x64xf32>
}

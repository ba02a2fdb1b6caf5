// RUN: norm-opt %s --rmsnorm-tile-rows --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16>, %[[W:.*]]: tensor<64xbf16>, %[[Y0:.*]]: tensor<?x64xbf16>)
// CHECK:         %[[M:.*]] = tensor.dim %[[Y0]], %c0
// CHECK:         %[[LOOP:.*]] = scf.forall (%[[ROW:.*]]) in (%[[M]]) shared_outs(%[[OUT:.*]] = %[[Y0]]) -> (tensor<?x64xbf16>) {
// CHECK-DAG:       %[[X1:.*]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK-DAG:       %[[O1:.*]] = tensor.extract_slice %[[OUT]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK:           %[[Y1:.*]] = rmsnorm.forward input(%[[X1]] : tensor<1x64xbf16>) weight(%[[W]] : tensor<64xbf16>) output(%[[O1]] : tensor<1x64xbf16>)
// CHECK:           scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %[[Y1]] into %[[OUT]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK-NEXT:      }
// CHECK-NEXT:    } {mapping = [#gpu.block<x>], rmsnorm.rows = 1 : i64}
// CHECK-NEXT:    return %[[LOOP]]
func.func @forward(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) output(%y0 : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// Rows are flattened; one delinearisation gives the indices of all slices.
// CHECK-LABEL: func.func @rank_4(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x8x64xf32>, %[[Y0:.*]]: tensor<?x?x8x64xf32>, %[[R0:.*]]: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[A:.*]] = tensor.dim %[[Y0]], %c0
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[Y0]], %c1
// CHECK:         %[[AB:.*]] = arith.muli %[[A]], %[[B]]
// CHECK:         %[[M:.*]] = arith.muli %[[AB]], %c8
// CHECK:         scf.forall (%[[ROW:.*]]) in (%[[M]]) shared_outs(%[[Y:.*]] = %[[Y0]], %[[R:.*]] = %[[R0]])
// CHECK:           %[[I:.*]]:3 = affine.delinearize_index %[[ROW]] into (%[[A]], %[[B]], 8)
// CHECK-NOT:       affine.delinearize_index
// CHECK:           tensor.extract_slice %[[X]][%[[I]]#0, %[[I]]#1, %[[I]]#2, 0] [1, 1, 1, 64] [1, 1, 1, 1] : tensor<?x?x8x64xf32> to tensor<1x1x1x64xf32>
// CHECK:           tensor.parallel_insert_slice %{{.*}} into %[[Y]][%[[I]]#0, %[[I]]#1, %[[I]]#2, 0] [1, 1, 1, 64]
// CHECK:           tensor.parallel_insert_slice %{{.*}} into %[[R]][%[[I]]#0, %[[I]]#1, %[[I]]#2] [1, 1, 1] [1, 1, 1]
func.func @rank_4(%x: tensor<?x?x8x64xf32>, %y0: tensor<?x?x8x64xf32>, %r0: tensor<?x?x8xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x?x8xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<?x?x8x64xf32>) output(%y0 : tensor<?x?x8x64xf32>) rstd(%r0 : tensor<?x?x8xf32>) eps = 1.0e-5 -> tensor<?x?x8x64xf32>, tensor<?x?x8xf32>
  return %y#0, %y#1 : tensor<?x?x8x64xf32>, tensor<?x?x8xf32>
}

// -----

// A loop of one iteration stays a loop; of zero, too.
// CHECK-LABEL: func.func @rank_1(
// CHECK:         scf.forall (%{{.*}}) in (1)
// CHECK:           rmsnorm.forward
func.func @rank_1(%x: tensor<64xf32>, %y0: tensor<64xf32>) -> tensor<64xf32> {
  %y = rmsnorm.forward input(%x : tensor<64xf32>) output(%y0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @no_rows(
// CHECK:         scf.forall (%{{.*}}) in (0)
func.func @no_rows(%x: tensor<3x0x64xf32>, %y0: tensor<3x0x64xf32>) -> tensor<3x0x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<3x0x64xf32>) output(%y0 : tensor<3x0x64xf32>) eps = 1.0e-5 -> tensor<3x0x64xf32>
  return %y : tensor<3x0x64xf32>
}

// -----

// The sum is computed once although it is returned; nothing is left outside:
// not the fill, and no tensor.empty where nobody looks.
// CHECK-LABEL: func.func @residual_gate_amax(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xf32>, %[[R:[^:]*]]: tensor<?x64xf32>, %[[G:[^:]*]]: tensor<?x64xf32>,
// CHECK-SAME:    %[[H0:[^:]*]]: tensor<?x64xf32>, %[[Z0:[^:]*]]: tensor<?x64xf32>, %[[A0:[^:]*]]: tensor<?xf32>)
// CHECK-NOT:     linalg
// CHECK-NOT:     tensor.empty
// CHECK:         %[[LOOP:.*]]:3 = scf.forall (%[[ROW:.*]]) in (%{{.*}}) shared_outs(%[[H:.*]] = %[[H0]], %[[Z:.*]] = %[[Z0]], %[[A:.*]] = %[[A0]])
// CHECK:           %[[H1:.*]] = linalg.add
// CHECK-NOT:       linalg.add
// CHECK:           %[[Y1:.*]] = rmsnorm.forward input(%[[H1]] :
// CHECK:           %[[Z1:.*]] = linalg.mul ins(%[[Y1]],
// CHECK:           %[[F1:.*]] = linalg.fill
// CHECK:           %[[A1:.*]] = linalg.generic {{.*}} ins(%[[Z1]] : tensor<1x64xf32>) outs(%[[F1]] : tensor<1xf32>)
// CHECK-DAG:       tensor.parallel_insert_slice %[[H1]] into %[[H]][%[[ROW]], 0] [1, 64]
// CHECK-DAG:       tensor.parallel_insert_slice %[[Z1]] into %[[Z]][%[[ROW]], 0] [1, 64]
// CHECK-DAG:       tensor.parallel_insert_slice %[[A1]] into %[[A]][%[[ROW]]] [1]
// CHECK:         return %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#0
// CHECK-NOT:     linalg
func.func @residual_gate_amax(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<?x64xf32>,
    %h0: tensor<?x64xf32>, %z0: tensor<?x64xf32>, %a0: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%h0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = linalg.mul ins(%y, %g : tensor<?x64xf32>, tensor<?x64xf32>) outs(%z0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%a0 : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<?x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %p = arith.maximumf %i, %o : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %z, %a, %h : tensor<?x64xf32>, tensor<?xf32>, tensor<?x64xf32>
}

// -----

// In place: what is read is what the loop writes, through its block argument.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xf32>, %[[R:[^:]*]]: tensor<?x64xf32>,
// CHECK:         scf.forall (%[[ROW:.*]]) in (%{{.*}}) shared_outs(%[[H:.*]] = %[[R]], %{{.*}} = %{{.*}})
// CHECK-DAG:       %[[X1:.*]] = tensor.extract_slice %[[X]][%[[ROW]], 0]
// CHECK-DAG:       %[[R1:.*]] = tensor.extract_slice %[[H]][%[[ROW]], 0]
// CHECK:           linalg.add ins(%[[X1]], %[[R1]] : {{.*}}) outs(%[[R1]] :
func.func @in_place(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %h = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%r : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %h, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// An empty tensor that is read and written: nothing goes through the block
// argument, as there are no contents.
// CHECK-LABEL: func.func @empty(
// CHECK:         %[[E:.*]] = tensor.empty
// CHECK:         scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %[[E]])
// CHECK:           %[[H:.*]] = tensor.empty() : tensor<1x64xf32>
// CHECK:           linalg.exp {{.*}} outs(%[[H]] : tensor<1x64xf32>)
func.func @empty(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Two norms of one input, and a norm of a norm: one loop. Then another one,
// over other rows.
// CHECK-LABEL: func.func @several(
// CHECK-COUNT-1: scf.forall
// CHECK-COUNT-3: rmsnorm.forward
// CHECK:         } {mapping = [#gpu.block<x>], rmsnorm.rows = 1 : i64}
// CHECK:         scf.forall
// CHECK:           rmsnorm.forward
// CHECK:         } {mapping = [#gpu.block<x>], rmsnorm.rows = 1 : i64}
// CHECK-NOT:     scf.forall
func.func @several(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %a0: tensor<?x64xf32>, %b0: tensor<?x64xf32>, %c0: tensor<?x64xf32>, %d0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%a0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %b = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%b0 : tensor<?x64xf32>) eps = 1.0e-6 -> tensor<?x64xf32>
  %c = rmsnorm.forward input(%b : tensor<?x64xf32>) output(%c0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %d = rmsnorm.forward input(%z : tensor<?x64xf32>) output(%d0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %a, %b, %c, %d : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// The weight's preparation knows no rows: it is repeated in each iteration.
// CHECK-LABEL: func.func @uniform(
// CHECK-NOT:     linalg
// CHECK:         scf.forall
// CHECK:           %[[W1:.*]] = linalg.add
// CHECK:           rmsnorm.forward {{.*}} weight(%[[W1]] : tensor<64xf32>)
func.func @uniform(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %v: tensor<64xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %w1 = linalg.add ins(%w, %v : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w1 : tensor<64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Dynamic everything: no arithmetic is left but the product of the rows.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c2
// CHECK:         scf.forall
// CHECK:           %[[I:.*]]:2 = affine.delinearize_index
// CHECK-NOT:       affine
// CHECK-NOT:       arith
// CHECK:           tensor.extract_slice %{{.*}}[%[[I]]#0, %[[I]]#1, 0] [1, 1, %[[N]]] [1, 1, 1]
// CHECK:           linalg.add
func.func @dynamic(%x: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %r: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %h0: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %y0: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}) -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %h = linalg.add ins(%x, %r : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%h0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = rmsnorm.forward input(%h : tensor<?x?x?xf32>) output(%y0 : tensor<?x?x?xf32>) eps = 1.0e-5 -> tensor<?x?x?xf32>
  return %h, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

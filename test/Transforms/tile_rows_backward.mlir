// RUN: norm-opt %s --rmsnorm-tile-rows --split-input-file | FileCheck %s

// dx leaves by row, the weight's gradient as a sum over rows; what uses that is
// no part of the loop, even where N and M are the same.
// CHECK-LABEL: func.func @backward(
// CHECK-SAME:    %[[DYS:[^:]*]]: tensor<64x64xf32>, %[[XS:[^:]*]]: tensor<64x64xf32>, %[[WS:[^:]*]]: tensor<64xf32>, %[[DWS:[^:]*]]: tensor<64xf32>,
// CHECK:         %[[G:.*]]:2 = scf.forall (%[[ROW:.*]]) in (64) shared_outs(%[[DX:.*]] = %[[DYS]], %[[DW:.*]] = %[[DWS]])
// CHECK-DAG:       %[[DY:.*]] = tensor.extract_slice %[[DX]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK-DAG:       %[[X:.*]] = tensor.extract_slice %[[XS]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK-DAG:       %[[E:.*]] = tensor.empty() : tensor<64xf32>
// CHECK:           %[[G1:.*]]:2 = rmsnorm.backward dy(%[[DY]] : {{.*}} input(%[[X]] : {{.*}} weight(%[[WS]] : {{.*}} dweight(%[[E]] :
// CHECK:           scf.forall.in_parallel
// CHECK:             tensor.parallel_insert_slice %[[G1]]#0 into %[[DX]][%[[ROW]], 0]
// CHECK:             rmsnorm.column_sum %[[G1]]#1 into %[[DW]] : tensor<64xf32> into tensor<64xf32>
// CHECK:         linalg.exp ins(%[[G]]#1 :
func.func @backward(%dy: tensor<64x64xf32>, %x: tensor<64x64xf32>, %w: tensor<64xf32>, %dw0: tensor<64xf32>, %e: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<64x64xf32>) input(%x : tensor<64x64xf32>) weight(%w : tensor<64xf32>) dx(%dy : tensor<64x64xf32>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>, tensor<64xf32>
  %s = linalg.exp ins(%g#1 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %g#0, %s : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// What only adds to the sum, or rounds it, is part of it.
// CHECK-LABEL: func.func @added(
// CHECK-SAME:    %[[ACC:[a-z0-9]*]]: tensor<64xf32>, %[[OUT:[a-z0-9]*]]: tensor<64xbf16>) ->
// CHECK:         %[[R:.*]]:2 = scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[DW:.*]] = %[[OUT]])
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[DW]] init(%[[ACC]] : tensor<64xf32>) : tensor<64xf32> into tensor<64xbf16>
// CHECK-NOT:     linalg
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @added(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %acc: tensor<64xf32>, %out: tensor<64xbf16>) -> (tensor<?x64xf32>, tensor<64xbf16>) {
  %e = tensor.empty() : tensor<64xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%e : tensor<64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xf32>
  %a = linalg.add ins(%acc, %g#1 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%out : tensor<64xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64xbf16>
  return %g#0, %r : tensor<?x64xf32>, tensor<64xbf16>
}

// -----

// In place, and by the sum itself.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[ACC:[a-z0-9]*]]: tensor<64xf32>) ->
// CHECK:         shared_outs(%{{.*}} = %{{.*}}, %[[OUT:.*]] = %[[ACC]])
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[OUT]] init(%[[OUT]] : tensor<64xf32>) : tensor<64xf32> into tensor<64xf32>
func.func @in_place(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %acc: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<?x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
  return %y, %s : tensor<?x64xf32>, tensor<64xf32>
}

// -----

// A sum that is used twice, or rounded before something is added, stays one.
// CHECK-LABEL: func.func @others(
// CHECK:           rmsnorm.column_sum %{{[^ ]*}} into %{{[^ ]*}} : tensor<64xf32> into tensor<64xbf16>
// CHECK:           rmsnorm.column_sum %{{[^ ]*}} into %{{[^ ]*}} : tensor<64xf32> into tensor<64xf32>
// CHECK:         linalg.add
// CHECK:         linalg.add
func.func @others(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %acc: tensor<64xbf16>, %out: tensor<64xbf16>, %acc2: tensor<64xf32>, %out2: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xbf16>
  %e2 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64xf32>) -> tensor<64xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%e : tensor<64xbf16>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xbf16>
  %a = linalg.add ins(%acc, %g#1 : tensor<64xbf16>, tensor<64xbf16>) outs(%out : tensor<64xbf16>) -> tensor<64xbf16>
  %s = linalg.reduce {arith.addf} ins(%dy : tensor<?x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  %b = linalg.add ins(%acc2, %s : tensor<64xf32>, tensor<64xf32>) outs(%out2 : tensor<64xf32>) -> tensor<64xf32>
  return %g#0, %a, %s, %b : tensor<?x64xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Zeros to sum into are not needed.
// CHECK-LABEL: func.func @filled(
// CHECK-SAME:    %[[DW:[a-z0-9]*]]: tensor<64xbf16>) -> 
// CHECK:         scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[OUT:.*]] = %[[DW]])
// CHECK-NOT:       linalg.fill
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[OUT]] : tensor<64xf32> into tensor<64xbf16>
func.func @filled(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %dw: tensor<64xbf16>) -> (tensor<?x64xf32>, tensor<64xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%dw : tensor<64xbf16>) -> tensor<64xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%f : tensor<64xbf16>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xbf16>
  return %g#0, %g#1 : tensor<?x64xf32>, tensor<64xbf16>
}

// -----

// Maxima, of columns and of all elements, and a sum for each index of a leading
// dimension; the first begins with zero, the second with what there is, and
// NaN begins no maximum that takes it for nothing.
// CHECK-LABEL: func.func @others_than_sums(
// CHECK-SAME:    %[[HISTORY:[a-z0-9]*]]: tensor<f32>)
// CHECK:         scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %[[HISTORY]], %[[C:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}})
// CHECK:           %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:           %[[START:.*]] = linalg.fill ins(%[[LEAST]] : f32) outs(%{{.*}} : tensor<64xf32>)
// CHECK:           %[[S0:.*]] = linalg.reduce { arith.maximumf } ins(%{{.*}} : tensor<1x1x64xf32>) outs(%[[START]] : tensor<64xf32>) dimensions = [0, 1]
// CHECK:           linalg.fill ins(%[[LEAST]] : f32) outs(%{{.*}} : tensor<f32>)
// CHECK:           %[[NONE:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:           linalg.fill ins(%[[NONE]] : f32) outs(%{{.*}} : tensor<f32>)
// CHECK:           linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<1x64xf32>)
// CHECK:           rmsnorm.column_sum %[[S0]] into %[[A]] kind(maximumf) start(0.000000e+00) : tensor<64xf32> into tensor<64xf32>
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[B]] init(%[[B]] : tensor<f32>) kind(maximumf) : tensor<f32> into tensor<f32>
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[C]] kind(minnumf) : tensor<f32> into tensor<f32>
// CHECK:           rmsnorm.column_sum %{{.*}} into %[[D]] dims [0] : tensor<1x64xf32> into tensor<?x64xf32>
func.func @others_than_sums(%x: tensor<?x?x64xf32>, %y0: tensor<?x?x64xf32>, %a0: tensor<64xf32>, %c0: tensor<f32>, %d0: tensor<?x64xf32>, %history: tensor<f32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %y = rmsnorm.forward input(%x : tensor<?x?x64xf32>) output(%y0 : tensor<?x?x64xf32>) eps = 1.0e-5 -> tensor<?x?x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%a0 : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.reduce {arith.maximumf} ins(%y : tensor<?x?x64xf32>) outs(%af : tensor<64xf32>) dimensions = [0, 1]
  %b = linalg.reduce {arith.maximumf} ins(%y : tensor<?x?x64xf32>) outs(%history : tensor<f32>) dimensions = [0, 1, 2]
  %cf = linalg.fill ins(%nan : f32) outs(%c0 : tensor<f32>) -> tensor<f32>
  %c = linalg.reduce {arith.minnumf} ins(%y : tensor<?x?x64xf32>) outs(%cf : tensor<f32>) dimensions = [0, 1, 2]
  %df = linalg.fill ins(%zero : f32) outs(%d0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %d = linalg.reduce {arith.addf} ins(%y : tensor<?x?x64xf32>) outs(%df : tensor<?x64xf32>) dimensions = [1]
  return %y, %a, %b, %c, %d : tensor<?x?x64xf32>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<?x64xf32>
}

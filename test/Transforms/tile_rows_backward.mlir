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

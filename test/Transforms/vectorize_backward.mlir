// RUN: norm-opt %s --rmsnorm-tile-rows --canonicalize --cse --rmsnorm-decompose --rmsnorm-vectorize --canonicalize --rmsnorm-factor-sums --rmsnorm-fuse-reductions --split-input-file | FileCheck %s

// rstd recomputed, in f16: both sums in one traversal; c = sum(g * x) * rstd / N.
// CHECK-LABEL: func.func @gemma(
// CHECK-SAME:    %[[DYS:[^:]*]]: tensor<?x64xf16>, %[[XS:[^:]*]]: tensor<?x64xf16>, %[[WS:[^:]*]]: tensor<64xf16>, %[[DXS:[^:]*]]: tensor<?x64xf16>, %[[DWS:[^:]*]]: tensor<64xf32>)
// CHECK-DAG:     %[[OFFSET:.*]] = arith.constant dense<1.000000e+00> : vector<1x64xf32>
// CHECK-DAG:     %[[EPS:.*]] = arith.constant dense<9.99999974E-6> : vector<1x1xf32>
// CHECK-DAG:     %[[RECIPROCAL:.*]] = arith.constant dense<1.562500e-02> : vector<1x1xf32>
// CHECK:         scf.forall (%[[ROW:.*]]) in (%{{.*}}) shared_outs(%[[DX:.*]] = %[[DXS]], %[[DW:.*]] = %[[DWS]])
// CHECK-DAG:       %[[DY1:.*]] = tensor.extract_slice %[[DYS]]
// CHECK-DAG:       %[[X1:.*]] = tensor.extract_slice %[[XS]]
// CHECK-DAG:       %[[DY0:.*]] = rmsnorm.tile_load tile %[[DY1]][%c0]
// CHECK-DAG:       %[[X0:.*]] = rmsnorm.tile_load tile %[[X1]][%c0]
// CHECK-DAG:       %[[W0:.*]] = rmsnorm.tile_load column %[[WS]]
// CHECK-DAG:       %[[X:.*]] = arith.extf %[[X0]]
// CHECK-DAG:       %[[DY:.*]] = arith.extf %[[DY0]]
// CHECK-DAG:       %[[WF:.*]] = arith.extf %[[W0]]
// CHECK-DAG:       %[[W:.*]] = arith.addf %[[WF]], %[[OFFSET]]
// CHECK-DAG:       %[[G:.*]] = arith.mulf %[[DY]], %[[W]]
// CHECK-DAG:       %[[XX:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-DAG:       %[[GX:.*]] = arith.mulf %[[G]], %[[X]]
// CHECK:           %[[S:.*]]:2 = rmsnorm.row_reduce add(%[[XX]]), add(%[[GX]])
// CHECK-NOT:       rmsnorm.row_reduce
// CHECK:           %[[MEAN:.*]] = arith.mulf %[[S]]#0, %[[RECIPROCAL]]
// CHECK:           %[[MS:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK:           %[[R:.*]] = math.rsqrt %[[MS]]
// CHECK:           %[[SR:.*]] = arith.mulf %[[S]]#1, %[[R]]
// CHECK:           %[[C:.*]] = arith.mulf %[[SR]], %[[RECIPROCAL]]
// CHECK:           %[[RB:.*]] = vector.broadcast %[[R]]
// CHECK:           %[[XHAT:.*]] = arith.mulf %[[X]], %[[RB]]
// CHECK:           %[[CB:.*]] = vector.broadcast %[[C]]
// CHECK:           %[[ALONG:.*]] = arith.mulf %[[XHAT]], %[[CB]]
// CHECK:           %[[REST:.*]] = arith.subf %[[G]], %[[ALONG]]
// CHECK:           %[[DXF:.*]] = arith.mulf %[[REST]], %[[RB]]
// CHECK:           %[[DX1:.*]] = arith.truncf %[[DXF]] : vector<1x64xf32> to vector<1x64xf16>
// CHECK:           %[[P:.*]] = arith.mulf %[[DY]], %[[XHAT]]
// CHECK:           %[[STORED:.*]] = rmsnorm.tile_store tile %[[DX1]]
// CHECK:           scf.forall.in_parallel
// CHECK-NEXT:        tensor.parallel_insert_slice %[[STORED]] into %[[DX]][%[[ROW]], 0]
// CHECK-NEXT:        rmsnorm.column_sum %[[P]] into %[[DW]] : vector<1x64xf32> into tensor<64xf32>
func.func @gemma(%dy: tensor<?x64xf16>, %x: tensor<?x64xf16>, %w: tensor<64xf16>, %dx0: tensor<?x64xf16>, %dw0: tensor<64xf32>) -> (tensor<?x64xf16>, tensor<64xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf16>) input(%x : tensor<?x64xf16>) weight(%w : tensor<64xf16>) dx(%dx0 : tensor<?x64xf16>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 offset = 1.0 -> tensor<?x64xf16>, tensor<64xf32>
  return %g#0, %g#1 : tensor<?x64xf16>, tensor<64xf32>
}

// -----

// The weight's gradient uses the rounded xhat, dx the unrounded one; rstd is
// given, a dynamic number of columns goes along.
// CHECK-LABEL: func.func @llama(
// CHECK:           %[[R:.*]] = rmsnorm.tile_load row
// CHECK:           %[[X:.*]] = arith.extf
// CHECK:           %[[GX:.*]] = arith.mulf %{{.*}}, %[[X]]
// CHECK-NEXT:      %[[S:.*]] = rmsnorm.row_reduce add(%[[GX]]) columns(%{{.*}}) :
// CHECK-NOT:       math.rsqrt
// CHECK:           arith.mulf %[[S]], %[[R]]
// CHECK:           %[[RB:.*]] = vector.broadcast %[[R]]
// CHECK:           %[[XHAT:.*]] = arith.mulf %[[X]], %[[RB]]
// CHECK:           arith.mulf %[[XHAT]], %
// CHECK:           %[[T:.*]] = arith.truncf %[[XHAT]] : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
// CHECK:           %[[ROUNDED:.*]] = arith.extf %[[T]]
// CHECK:           %[[P:.*]] = arith.mulf %{{.*}}, %[[ROUNDED]]
// CHECK:           rmsnorm.column_sum %[[P]] into %{{.*}} columns(%{{.*}}) : vector<1x1073741824xf32> into tensor<?xbf16>
func.func @llama(%dy: tensor<?x?xbf16>, %x: tensor<?x?xbf16>, %w: tensor<?xbf16>, %r: tensor<?xf32>, %dx0: tensor<?x?xbf16>, %dw0: tensor<?xbf16>) -> (tensor<?x?xbf16>, tensor<?xbf16>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x?xbf16>) input(%x : tensor<?x?xbf16>) weight(%w : tensor<?xbf16>) rstd(%r : tensor<?xf32>) dx(%dx0 : tensor<?x?xbf16>) dweight(%dw0 : tensor<?xbf16>) eps = 1.0e-5 casting = llama -> tensor<?x?xbf16>, tensor<?xbf16>
  return %g#0, %g#1 : tensor<?x?xbf16>, tensor<?xbf16>
}

// -----

// Every elementwise step rounds: dy, which has another type, rstd, w', g, xhat,
// their product, c, and the three steps of dx and one of dweight. The sum takes
// rounded terms, so that it needs rstd.
// CHECK-LABEL: func.func @none(
// CHECK:           %[[R:.*]] = rmsnorm.tile_load row
// CHECK-DAG:       %[[DYT:.*]] = arith.truncf %{{.*}} : vector<1x64xf32> to vector<1x64xf16>
// CHECK-DAG:       %[[RT:.*]] = arith.truncf %[[R]] : vector<1x1xf32> to vector<1x1xf16>
// CHECK-DAG:       %[[RF:.*]] = arith.extf %[[RT]]
// CHECK-DAG:       %[[RB:.*]] = vector.broadcast %[[RF]]
// CHECK:           %[[XHAT0:.*]] = arith.mulf %{{.*}}, %[[RB]]
// CHECK-NEXT:      %[[XHAT1:.*]] = arith.truncf %[[XHAT0]]
// CHECK-NEXT:      %[[XHAT:.*]] = arith.extf %[[XHAT1]]
// CHECK-NEXT:      %[[P0:.*]] = arith.mulf %[[G:.*]], %[[XHAT]]
// CHECK-NEXT:      %[[P1:.*]] = arith.truncf %[[P0]]
// CHECK-NEXT:      %[[P:.*]] = arith.extf %[[P1]]
// CHECK-NEXT:      %[[S:.*]] = rmsnorm.row_reduce add(%[[P]])
// CHECK-NEXT:      %[[C0:.*]] = arith.mulf %[[S]],
// CHECK-NEXT:      %[[C1:.*]] = arith.truncf %[[C0]]
// CHECK-NEXT:      %[[C2:.*]] = arith.extf %[[C1]]
// CHECK-NEXT:      %[[C:.*]] = vector.broadcast %[[C2]]
// CHECK-NEXT:      %[[A0:.*]] = arith.mulf %[[XHAT]], %[[C]]
// CHECK-NEXT:      %[[A1:.*]] = arith.truncf %[[A0]]
// CHECK-NEXT:      %[[A:.*]] = arith.extf %[[A1]]
// CHECK-NEXT:      %[[REST0:.*]] = arith.subf %[[G]], %[[A]]
// CHECK-NEXT:      %[[REST1:.*]] = arith.truncf %[[REST0]]
// CHECK-NEXT:      %[[REST:.*]] = arith.extf %[[REST1]]
// CHECK-NEXT:      %[[DX0:.*]] = arith.mulf %[[REST]], %[[RB]]
// CHECK-NEXT:      %[[DX1:.*]] = arith.truncf %[[DX0]] : vector<1x64xf32> to vector<1x64xf16>
// CHECK-NEXT:      %[[DX:.*]] = arith.extf %[[DX1]]
// CHECK-NEXT:      %[[DW0:.*]] = arith.mulf %{{.*}}, %[[XHAT]]
// CHECK-NEXT:      %[[DW1:.*]] = arith.truncf %[[DW0]] : vector<1x64xf32> to vector<1x64xf16>
// CHECK-NEXT:      %[[DW:.*]] = arith.extf %[[DW1]]
// CHECK:           rmsnorm.tile_store tile %[[DX]],
// CHECK:           rmsnorm.column_sum %[[DW]]
func.func @none(%dy: tensor<?x64xf32>, %x: tensor<?x64xf16>, %w: tensor<64xf32>, %r: tensor<?xf32>, %dx0: tensor<?x64xf32>, %dw0: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf16>) weight(%w : tensor<64xf32>) rstd(%r : tensor<?xf32>) dx(%dx0 : tensor<?x64xf32>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 casting = none -> tensor<?x64xf32>, tensor<64xf32>
  return %g#0, %g#1 : tensor<?x64xf32>, tensor<64xf32>
}

// -----

// No weight: g is dy, nothing is summed over rows. The residual's gradient is
// added in the same loop.
// CHECK-LABEL: func.func @residual(
// CHECK:         scf.forall
// CHECK:           rmsnorm.row_reduce
// CHECK:           arith.subf
// CHECK-NEXT:      %[[DX:.*]] = arith.mulf
// CHECK:           %[[SUM:.*]] = arith.addf %[[DX]],
// CHECK:           rmsnorm.tile_store tile %[[SUM]]
// CHECK-NOT:       rmsnorm.tile_store
// CHECK-NOT:       rmsnorm.column_sum
// CHECK-NOT:     linalg
func.func @residual(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %res: tensor<?x64xf32>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %dx = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) dx(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %sum = linalg.add ins(%dx, %res : tensor<?x64xf32>, tensor<?x64xf32>) outs(%out : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %sum : tensor<?x64xf32>
}

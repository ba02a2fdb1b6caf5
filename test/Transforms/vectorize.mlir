// RUN: norm-opt %s --rmsnorm-tile-rows --canonicalize --cse --rmsnorm-decompose --rmsnorm-vectorize --canonicalize --cse --split-input-file | FileCheck %s

// Rounding once, at the end.
// CHECK-LABEL: func.func @gemma(
// CHECK-SAME:    %[[XS:[^:]*]]: tensor<?x64xbf16>, %[[WS:[^:]*]]: tensor<64xbf16>, %[[YS:[^:]*]]: tensor<?x64xbf16>)
// CHECK-DAG:     %[[OFFSET:.*]] = arith.constant dense<1.000000e+00> : vector<1x64xf32>
// CHECK-DAG:     %[[EPS:.*]] = arith.constant dense<9.99999974E-6> : vector<1x1xf32>
// CHECK-DAG:     %[[RECIPROCAL:.*]] = arith.constant dense<1.562500e-02> : vector<1x1xf32>
// CHECK:         scf.forall (%[[ROW:.*]]) in (%{{.*}}) shared_outs(%[[OUT:.*]] = %[[YS]])
// CHECK:           %[[X1:.*]] = tensor.extract_slice %[[XS]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK:           %[[X:.*]] = rmsnorm.tile_load tile %[[X1]][%c0] : tensor<1x64xbf16> -> vector<1x64xbf16>
// CHECK-NEXT:      %[[XF:.*]] = arith.extf %[[X]]
// CHECK-NEXT:      %[[SQUARE:.*]] = arith.mulf %[[XF]], %[[XF]]
// CHECK-NEXT:      %[[SUM:.*]] = rmsnorm.row_reduce add(%[[SQUARE]]) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK-NEXT:      %[[MEAN:.*]] = arith.mulf %[[SUM]], %[[RECIPROCAL]]
// CHECK-NEXT:      %[[MS:.*]] = arith.addf %[[MEAN]], %[[EPS]]
// CHECK-NEXT:      %[[RSTD:.*]] = math.rsqrt %[[MS]]
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %[[RSTD]] : vector<1x1xf32> to vector<1x64xf32>
// CHECK-NEXT:      %[[XHAT:.*]] = arith.mulf %[[XF]], %[[B]]
// CHECK-NEXT:      %[[W:.*]] = rmsnorm.tile_load column %[[WS]] : tensor<64xbf16> -> vector<1x64xbf16>
// CHECK-NEXT:      %[[WF:.*]] = arith.extf %[[W]]
// CHECK-NEXT:      %[[W1:.*]] = arith.addf %[[WF]], %[[OFFSET]]
// CHECK-NEXT:      %[[YF:.*]] = arith.mulf %[[XHAT]], %[[W1]]
// CHECK-NEXT:      %[[Y:.*]] = arith.truncf %[[YF]]
// CHECK:           %[[Y1:.*]] = tensor.extract_slice %[[OUT]][%[[ROW]], 0] [1, 64] [1, 1]
// CHECK-NEXT:      %[[STORED:.*]] = rmsnorm.tile_store tile %[[Y]], %[[Y1]][%c0]
// CHECK-NEXT:      scf.forall.in_parallel
// CHECK-NEXT:        tensor.parallel_insert_slice %[[STORED]] into %[[OUT]][%[[ROW]], 0] [1, 64] [1, 1]
func.func @gemma(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) output(%y0 : tensor<?x64xbf16>) eps = 1.0e-5 offset = 1.0 -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// x * rstd is rounded to the input's type before the weight; rstd is not.
// CHECK-LABEL: func.func @llama(
// CHECK:           %[[RSTD:.*]] = math.rsqrt
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %[[RSTD]]
// CHECK-NEXT:      %[[XHAT:.*]] = arith.mulf %{{.*}}, %[[B]]
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[XHAT]] : vector<1x64xf32> to vector<1x64xf16>
// CHECK-NEXT:      %[[BACK:.*]] = arith.extf %[[ROUNDED]]
// CHECK:           %[[W:.*]] = rmsnorm.tile_load column
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[BACK]], %[[W]]
// CHECK-NOT:       arith.truncf
// CHECK-DAG:       rmsnorm.tile_store tile %[[Y]]
// CHECK-DAG:       rmsnorm.tile_store row %[[RSTD]], %{{.*}}[%c0] : vector<1x1xf32>, tensor<1xf32> -> tensor<1xf32>
func.func @llama(%x: tensor<?x64xf16>, %w: tensor<64xf32>, %y0: tensor<?x64xf32>, %r0: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<?x64xf16>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x64xf32>) rstd(%r0 : tensor<?xf32>) eps = 1.0e-5 casting = llama -> tensor<?x64xf32>, tensor<?xf32>
  return %y#0, %y#1 : tensor<?x64xf32>, tensor<?xf32>
}

// -----

// Every elementwise step rounds, the sum does not, the mean once.
// CHECK-LABEL: func.func @none(
// CHECK-DAG:     %[[EPS:.*]] = arith.constant dense<9.99999974E-6> : vector<1x1xf32>
// CHECK:           %[[XF:.*]] = arith.extf
// CHECK-NEXT:      %[[SQUARE:.*]] = arith.mulf %[[XF]], %[[XF]]
// CHECK-NEXT:      %[[SQUARE_T:.*]] = arith.truncf %[[SQUARE]]
// CHECK-NEXT:      %[[SQUARE_F:.*]] = arith.extf %[[SQUARE_T]]
// CHECK-NEXT:      %[[SUM:.*]] = rmsnorm.row_reduce add(%[[SQUARE_F]])
// CHECK-NEXT:      %[[MEAN:.*]] = arith.mulf %[[SUM]],
// CHECK-NEXT:      %[[MEAN_T:.*]] = arith.truncf %[[MEAN]]
// CHECK-NEXT:      %[[MEAN_F:.*]] = arith.extf %[[MEAN_T]]
// CHECK-NEXT:      %[[MS:.*]] = arith.addf %[[MEAN_F]], %[[EPS]]
// CHECK-NEXT:      %[[MS_T:.*]] = arith.truncf %[[MS]]
// CHECK-NEXT:      %[[MS_F:.*]] = arith.extf %[[MS_T]]
// CHECK-NEXT:      %[[R:.*]] = math.rsqrt %[[MS_F]]
// CHECK-NEXT:      %[[R_T:.*]] = arith.truncf %[[R]]
// CHECK-NEXT:      %[[R_F:.*]] = arith.extf %[[R_T]]
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %[[R_F]]
// CHECK-NEXT:      %[[XHAT:.*]] = arith.mulf %[[XF]], %[[B]]
// CHECK-NEXT:      %[[XHAT_T:.*]] = arith.truncf %[[XHAT]]
// CHECK-NEXT:      %[[XHAT_F:.*]] = arith.extf %[[XHAT_T]]
// CHECK:           %[[W:.*]] = rmsnorm.tile_load column
// CHECK-NEXT:      %[[W_OFFSET:.*]] = arith.addf %[[W]],
// CHECK-NEXT:      %[[W_T:.*]] = arith.truncf %[[W_OFFSET]]
// CHECK-NEXT:      %[[W_F:.*]] = arith.extf %[[W_T]]
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[XHAT_F]], %[[W_F]]
// CHECK-NEXT:      %[[Y_T:.*]] = arith.truncf %[[Y]] : vector<1x64xf32> to vector<1x64xbf16>
// CHECK-NEXT:      %[[Y_F:.*]] = arith.extf %[[Y_T]]
// CHECK-NEXT:      %[[Y_Y:.*]] = arith.truncf %[[Y_F]] : vector<1x64xf32> to vector<1x64xf16>
// CHECK:           rmsnorm.tile_store tile %[[Y_Y]]
func.func @none(%x: tensor<?x64xbf16>, %w: tensor<64xf32>, %y0: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x64xf16>) eps = 1.0e-5 offset = 1.0 casting = none -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}

// -----

// In f32 there is nothing to round.
// CHECK-LABEL: func.func @none_f32(
// CHECK-NOT:     arith.truncf
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @none_f32(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 casting = none -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Who allows a reciprocal divides once a row; who does not, each column.
// CHECK-LABEL: func.func @reciprocal(
// CHECK:         %[[S:.*]] = rmsnorm.tile_load row
// CHECK:         %[[I:.*]] = arith.divf %{{.*}}, %[[S]] : vector<1x1xf32>
// CHECK:         %[[B:.*]] = vector.broadcast %[[I]]
// CHECK:         arith.mulf %{{.*}}, %[[B]] : vector<1x64xf32>
// CHECK:         arith.divf %{{.*}} : vector<1x64xf32>
#row = affine_map<(i, j) -> (i, j)>
#scale = affine_map<(i, j) -> (i)>
func.func @reciprocal(%x: tensor<?x64xf32>, %s: tensor<?xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#row, #scale, #row], iterator_types = ["parallel", "parallel"]}
      ins(%y, %s : tensor<?x64xf32>, tensor<?xf32>) outs(%y0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b fastmath<arcp> : f32
    %e = arith.divf %d, %b : f32
    linalg.yield %e : f32
  } -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// -----

// A row size that is not known: a bound in the types, the live columns beside
// it, a division by it.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK:         scf.forall
// CHECK:           %[[X:.*]] = rmsnorm.tile_load tile %{{.*}}[%c0] columns(%[[N]]) : tensor<1x?xf32> -> vector<1x1073741824xf32>
// CHECK:           %[[SUM:.*]] = rmsnorm.row_reduce add(%{{.*}}) columns(%[[N]])
// CHECK:           %[[I:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK:           %[[F:.*]] = arith.sitofp %[[I]] : i32 to f32
// CHECK:           %[[V:.*]] = vector.broadcast %[[F]] : f32 to vector<1x1xf32>
// CHECK:           arith.divf %[[SUM]], %[[V]]
// CHECK:           rmsnorm.tile_load column %{{.*}} columns(%[[N]]) : tensor<?xf32> -> vector<1x1073741824xf32>
// CHECK:           rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%c0] columns(%[[N]])
func.func @dynamic(%x: tensor<?x?xf32> {rmsnorm.dims = array<i64: -1, -2>}, %w: tensor<?xf32> {rmsnorm.dims = array<i64: -2>}, %y0: tensor<?x?xf32> {rmsnorm.dims = array<i64: -1, -2>}) -> tensor<?x?xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<?xf32>) output(%y0 : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// A row of rank 1 is row 0: no index, and its weight is another one.
// CHECK-LABEL: func.func @rank_1(
// CHECK:           rmsnorm.tile_load tile %{{[^\[]*}} : tensor<64xf32> -> vector<1x64xf32>
// CHECK:           rmsnorm.tile_load tile %{{[^\[]*}} : tensor<64xf32> -> vector<1x64xf32>
// CHECK:           rmsnorm.tile_store tile %{{.*}}, %{{[^\[]*}} : vector<1x64xf32>, tensor<64xf32> -> tensor<64xf32>
// CHECK:           rmsnorm.tile_store row %{{.*}}, %{{[^\[]*}} : vector<1x1xf32>, tensor<f32> -> tensor<f32>
func.func @rank_1(%x: tensor<64xf32>, %w: tensor<64xf32>, %y0: tensor<64xf32>, %r0: tensor<f32>) -> (tensor<64xf32>, tensor<f32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<64xf32>) weight(%w : tensor<64xf32>) output(%y0 : tensor<64xf32>) rstd(%r0 : tensor<f32>) eps = 1.0e-5 -> tensor<64xf32>, tensor<f32>
  return %y#0, %y#1 : tensor<64xf32>, tensor<f32>
}

// -----

// linalg around a norm. What does not vary along the row stays 1x1 as long as
// it can; scalars from outside are repeated; a reduction's start is combined
// with what the row gives unless it is the identity; a narrow sum accumulates
// in f32.
// CHECK-LABEL: func.func @around(
// CHECK-SAME:    %[[XS:[^:]*]]: tensor<?x64xbf16>, %[[SS:[^:]*]]: tensor<?xf32>, %[[TS:[^:]*]]: tensor<f32>, %[[BS:[^:]*]]: tensor<64xf32>, %[[LIMIT:[^:]*]]: f32,
// CHECK-DAG:     %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<1x1xf32>
// CHECK:         scf.forall
// CHECK:           %[[Y:.*]] = arith.truncf %{{.*}} : vector<1x64xf32> to vector<1x64xbf16>
// CHECK-DAG:       %[[YF:.*]] = arith.extf %[[Y]]
// CHECK-DAG:       %[[SUM:.*]] = rmsnorm.row_reduce add(%[[YF]]) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK-DAG:       %[[SUM_T:.*]] = arith.truncf %[[SUM]] : vector<1x1xf32> to vector<1x1xbf16>
// CHECK-DAG:       %[[S:.*]] = rmsnorm.tile_load row %{{.*}}[%c0] : tensor<1xf32> -> vector<1x1xf32>
// CHECK-DAG:       %[[T:.*]] = rmsnorm.tile_load row %[[TS]] : tensor<f32> -> vector<1x1xf32>
// CHECK:           %[[ST:.*]] = arith.mulf %[[S]], %[[T]] : vector<1x1xf32>
// CHECK:           %[[INV:.*]] = arith.divf %[[ONE]], %[[ST]] : vector<1x1xf32>
// CHECK:           %[[B:.*]] = rmsnorm.tile_load column %[[BS]]
// CHECK:           %[[INVS:.*]] = vector.broadcast %[[INV]] : vector<1x1xf32> to vector<1x64xf32>
// CHECK:           %[[BI:.*]] = arith.mulf %[[B]], %[[INVS]]
// CHECK:           %[[LIMITS:.*]] = vector.broadcast %[[LIMIT]] : f32 to vector<1x64xf32>
// CHECK:           %[[CMP:.*]] = arith.cmpf ogt, %[[BI]], %[[LIMITS]]
// CHECK:           %[[Q:.*]] = arith.select %[[CMP]], %[[LIMITS]], %[[BI]]
// CHECK:           %[[MAX:.*]] = rmsnorm.row_reduce maximumf(%[[Q]])
// CHECK:           arith.maximumf %[[MAX]], %{{.*}} : vector<1x1xf32>
func.func @around(%x: tensor<?x64xbf16>, %s: tensor<?xf32>, %t: tensor<f32>, %b: tensor<64xf32>, %limit: f32,
    %y0: tensor<?x64xbf16>, %q0: tensor<?x64xf32>, %a0: tensor<?xbf16>, %m0: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xbf16>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : bf16
  %start = arith.constant 0.0 : f32
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) output(%y0 : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%a0 : tensor<?xbf16>) -> tensor<?xbf16>
  %a = linalg.reduce {arith.addf} ins(%y : tensor<?x64xbf16>) outs(%f : tensor<?xbf16>) dimensions = [1]
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %s, %t, %b : tensor<?x64xbf16>, tensor<?xf32>, tensor<f32>, tensor<64xf32>) outs(%q0 : tensor<?x64xf32>) {
  ^bb0(%yi: bf16, %si: f32, %ti: f32, %bi: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %st = arith.mulf %si, %ti : f32
    %inv = arith.divf %one, %st : f32
    %p = arith.mulf %bi, %inv : f32
    %large = arith.cmpf ogt, %p, %limit : f32
    %clamped = arith.select %large, %limit, %p : f32
    linalg.yield %clamped : f32
  } -> tensor<?x64xf32>
  %g = linalg.fill ins(%start : f32) outs(%m0 : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.reduce {arith.maximumf} ins(%q : tensor<?x64xf32>) outs(%g : tensor<?xf32>) dimensions = [1]
  return %q, %a, %m : tensor<?x64xf32>, tensor<?xbf16>, tensor<?xf32>
}

// -----

// One value a row kept as a column of its own: N = 1.
// CHECK-LABEL: func.func @keep_dims(
// CHECK:           %[[S:.*]] = rmsnorm.tile_load tile %{{.*}}[%c0] : tensor<1x1xf32> -> vector<1x1xf32>
// CHECK:           vector.broadcast %[[S]] : vector<1x1xf32> to vector<1x64xf32>
func.func @keep_dims(%x: tensor<?x64xf32>, %s: tensor<?x1xf32>, %h0: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%h0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %h, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// A constant weight is a constant, not memory.
// CHECK-LABEL: func.func @splat(
// CHECK:         arith.constant dense<2.000000e+00> : vector<1x64xf32>
// CHECK-NOT:     rmsnorm.tile_load column
func.func @splat(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = arith.constant dense<2.0> : tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// One column: still a per-column weight.
// CHECK-LABEL: func.func @one_column(
// CHECK:           rmsnorm.tile_load tile %{{.*}}[%c0] : tensor<1x1xf32> -> vector<1x1xf32>
// CHECK:           rmsnorm.tile_load column %{{.*}} : tensor<1xf32> -> vector<1x1xf32>
// CHECK:           rmsnorm.tile_store tile %{{.*}}[%c0]
// CHECK:           rmsnorm.tile_store row %{{.*}}[%c0]
func.func @one_column(%x: tensor<?x1xf32>, %w: tensor<1xf32>, %y0: tensor<?x1xf32>, %r0: tensor<?xf32>) -> (tensor<?x1xf32>, tensor<?xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<?x1xf32>) weight(%w : tensor<1xf32>) output(%y0 : tensor<?x1xf32>) rstd(%r0 : tensor<?xf32>) eps = 1.0e-5 -> tensor<?x1xf32>, tensor<?xf32>
  return %y#0, %y#1 : tensor<?x1xf32>, tensor<?xf32>
}

// -----

// The weight is read twice, the second time as a slice of a size that a call
// knows: all of it, no part.
// CHECK-LABEL: func.func @whole_slice(
// CHECK:           rmsnorm.tile_load column %{{.*}} columns(
// CHECK-NOT:       vector.extract_strided_slice
// CHECK:           rmsnorm.tile_store row
func.func @whole_slice(%x: tensor<1x?x?xf32>, %w: tensor<?xf32>, %y0: tensor<1x?x?xf32>, %r0: tensor<1x?xf32>, %m0: tensor<1x?xf32>) -> (tensor<1x?xf32>, tensor<1x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %y:2 = rmsnorm.forward input(%x : tensor<1x?x?xf32>) weight(%w : tensor<?xf32>) output(%y0 : tensor<1x?x?xf32>) rstd(%r0 : tensor<1x?xf32>) eps = 1.0e-5 -> tensor<1x?x?xf32>, tensor<1x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%m0 : tensor<1x?xf32>) -> tensor<1x?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x?x?xf32>, tensor<?xf32>) outs(%init : tensor<1x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.maximumf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<1x?xf32>
  return %y#1, %m : tensor<1x?xf32>, tensor<1x?xf32>
}

// -----

// Groups stored in a layout: the store says which dimensions count rows.
// CHECK-LABEL: func.func @stored_groups(
// CHECK:           %[[S:.*]] = rmsnorm.group_reduce maximumf(%{{.*}}) : vector<1x512xf32> -> vector<1x16xf32>
// CHECK:           %[[D:.*]] = tensor.extract_slice %{{.*}}[%[[P:.*]]#0, 0, %[[P]]#2, %[[P]]#1, 0] [1, 4, 1, 1, 4] [1, 1, 1, 1, 1]
// CHECK:           rmsnorm.tile_store group %{{.*}}, %[[D]][%c0] map(r0, r1, r2, g) -> (r0, g floordiv 4, r2, r1, g mod 4) : vector<1x16xf32>, tensor<1x4x1x1x4xf32> -> tensor<1x4x1x1x4xf32>
func.func @stored_groups(%x: tensor<?x512xbf16>, %old: tensor<?x4x32x4x4xf32>) -> tensor<?x4x32x4x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%e : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 16, 32] : tensor<?x512xf32> into tensor<?x16x32xf32>
  %f = tensor.empty(%m) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x16x32xf32>) outs(%zeros : tensor<?x16xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x16xf32>
  %b = tensor.dim %old, %c0 : tensor<?x4x32x4x4xf32>
  %ue = tensor.empty(%b) : tensor<?x4x32x4x4xf32>
  %u = linalg.transpose ins(%old : tensor<?x4x32x4x4xf32>) outs(%ue : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  %all = tensor.collapse_shape %u [[0, 1, 2], [3, 4]] : tensor<?x4x32x4x4xf32> into tensor<?x16xf32>
  %some = tensor.insert_slice %s into %all[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
  %x5 = tensor.expand_shape %some [[0, 1, 2], [3, 4]] output_shape [%b, 4, 32, 4, 4] : tensor<?x16xf32> into tensor<?x4x32x4x4xf32>
  %t = linalg.transpose ins(%x5 : tensor<?x4x32x4x4xf32>) outs(%old : tensor<?x4x32x4x4xf32>) permutation = [0, 3, 2, 1, 4]
  return %t : tensor<?x4x32x4x4xf32>
}

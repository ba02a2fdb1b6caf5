// RUN: norm-opt %s --rmsnorm-tile-rows --canonicalize --cse --rmsnorm-decompose --rmsnorm-vectorize --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @index(%x: tensor<?x64xf32>, %h0: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // expected-remark @below {{not tiled with the norm next to it: it uses numbers of its loops for more than to count the columns of a table}}
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%h0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %p = arith.mulf %a, %f : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %h, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @control_flow(%x: tensor<?x64xf32>, %c: i1, %h0: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // expected-error @below {{expected elementwise arith and math ops in the body of a row-wise op, got 'scf.if'}}
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%h0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = scf.if %c -> f32 {
      %q = math.exp %a : f32
      scf.yield %q : f32
    } else {
      scf.yield %a : f32
    }
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %h, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @combiner(%x: tensor<?x64xf32>, %m0: tensor<?xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-error @below {{expected a reduction that combines its accumulator once, by arith.addf, mulf, maximumf, minimumf, maxnumf or minnumf, got 'arith.subf'}}
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x64xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.subf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %y, %m : tensor<?x64xf32>, tensor<?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f64(%x: tensor<?x64xf32>, %m0: tensor<?xf64>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?xf64>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-error @below {{expected a reduction in f16, bf16 or f32, got 'f64'}}
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x64xf32>) outs(%m0 : tensor<?xf64>) {
  ^bb0(%a: f32, %o: f64):
    %b = arith.extf %a : f32 to f64
    %p = arith.addf %b, %o : f64
    linalg.yield %p : f64
  } -> tensor<?xf64>
  return %y, %m : tensor<?x64xf32>, tensor<?xf64>
}

// -----

func.func @other_op(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %y = scf.forall (%row) in (%m) shared_outs(%out = %y0) -> (tensor<?x64xf32>) {
    %x1 = tensor.extract_slice %x[%row, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %o1 = tensor.extract_slice %out[%row, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    // expected-error @below {{'tensor.insert' op has no tile program: expected linalg ops and slices in a loop over rows}}
    %x2 = tensor.insert %f0 into %x1[%c0, %c0] : tensor<1x64xf32>
    %y1 = rmsnorm.forward input(%x2 : tensor<1x64xf32>) output(%o1 : tensor<1x64xf32>) eps = 1.0e-5 -> tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y1 into %out[%row, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
    }
  } {rmsnorm.rows = 1 : i64}
  return %y : tensor<?x64xf32>
}

// -----

#e = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#g = affine_map<(d0, d1, d2) -> (d2)>
// What all groups of columns share is read in whole vectors.
func.func @group_columns(%x: tensor<?x64xf32>, %s: tensor<8xf32>, %y0: tensor<?x64xf32>, %z0: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 8, 8] : tensor<?x64xf32> into tensor<?x8x8xf32>
  // expected-error @below {{expected operand #1, the same for all groups of columns, to have a multiple of 16 of them, got 8}}
  %z = linalg.generic {indexing_maps = [#e, #g, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%h, %s : tensor<?x8x8xf32>, tensor<8xf32>) outs(%z0 : tensor<?x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x8x8xf32>
  return %z : tensor<?x8x8xf32>
}

// Rows of which parts are replaced, in front of a norm or after it: one kernel, which neither fills nor copies anything.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED --implicit-check-not=linalg.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37
// RUN: not norm-compile %s --target=sim:sm_90 --schedule=vector_width=1 -o %t.rmsn 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: 'rmsnorm.rows' op schedule: expected vector_width >= 2 for f4E2M1FN, of which two are a byte, got 1
// WIDTH-NOT: error:

// Half of a norm beside a constant.
// CHECK-LABEL: func.func @half_into_constant(
// CHECK:         rmsnorm.rows
// CHECK:         tile_load
// CHECK-NOT:     tile_load
// CHECK:         rmsnorm.put
// CHECK-NEXT:    tile_store
// EMBED-LABEL: func.func @half_into_constant(
func.func @half_into_constant(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %fill = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %h = tensor.extract_slice %y[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %r = tensor.insert_slice %h into %fill[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// Some columns of x are those of another tensor.
// CHECK-LABEL: func.func @replaced_columns(
// CHECK:         rmsnorm.rows
// CHECK-COUNT-2: tile_load
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @replaced_columns(
func.func @replaced_columns(%x: tensor<?x64xf32>, %g: tensor<?x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.insert_slice %g into %x[0, 16] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%r : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// And returned beside the norm: they are put together once.
// CHECK-LABEL: func.func @replaced_columns_kept(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.rows
// EMBED-LABEL: func.func @replaced_columns_kept(
func.func @replaced_columns_kept(%x: tensor<?x64xf32>, %g: tensor<?x8xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.insert_slice %g into %x[0, 16] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%r : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y, %r : tensor<?x64xf32>, tensor<?x64xf32>
}

// Norms of slices of one tensor that go back there, in the order of the norms or in another one.
// CHECK-LABEL: func.func @put_back(
// CHECK-COUNT-2: rmsnorm.rows {{.*}} buffers(update
// EMBED-LABEL: func.func @put_back(
func.func @put_back(%x: tensor<?x192xf32>) -> tensor<?x192xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x192xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %q = tensor.extract_slice %x[0, 0] [%m, 64] [1, 1] : tensor<?x192xf32> to tensor<?x64xf32>
  %k = tensor.extract_slice %x[0, 64] [%m, 64] [1, 1] : tensor<?x192xf32> to tensor<?x64xf32>
  %a = rmsnorm.forward input(%q : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %b = rmsnorm.forward input(%k : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r = tensor.insert_slice %a into %x[0, 0] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x192xf32>
  %s = tensor.insert_slice %b into %r[0, 64] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x192xf32>
  return %s : tensor<?x192xf32>
}

// CHECK-LABEL: func.func @put_back_last_first(
// CHECK-COUNT-2: rmsnorm.rows {{.*}} buffers(update
// EMBED-LABEL: func.func @put_back_last_first(
func.func @put_back_last_first(%x: tensor<?x192xf32>) -> tensor<?x192xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x192xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %q = tensor.extract_slice %x[0, 0] [%m, 64] [1, 1] : tensor<?x192xf32> to tensor<?x64xf32>
  %k = tensor.extract_slice %x[0, 64] [%m, 64] [1, 1] : tensor<?x192xf32> to tensor<?x64xf32>
  %a = rmsnorm.forward input(%q : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %b = rmsnorm.forward input(%k : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r = tensor.insert_slice %b into %x[0, 64] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x192xf32>
  %s = tensor.insert_slice %a into %r[0, 0] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x192xf32>
  return %s : tensor<?x192xf32>
}

// A constant in place of some columns, whose number no other part has.
// CHECK-LABEL: func.func @constant_columns(
// CHECK:         rmsnorm.rows
// EMBED-LABEL: func.func @constant_columns(
func.func @constant_columns(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %c = arith.constant -2.0 : f32
  %e0 = tensor.empty() : tensor<2x32xf32>
  %f = linalg.fill ins(%c : f32) outs(%e0 : tensor<2x32xf32>) -> tensor<2x32xf32>
  %i = tensor.insert_slice %f into %x[0, 32] [2, 32] [1, 1] : tensor<2x32xf32> into tensor<2x128xf32>
  %e = tensor.empty() : tensor<2x128xf32>
  %y = rmsnorm.forward input(%i : tensor<2x128xf32>) output(%e : tensor<2x128xf32>) eps = 1.0e-03 -> tensor<2x128xf32>
  return %y : tensor<2x128xf32>
}

// The same beside two parts that are loaded.
// CHECK-LABEL: func.func @constant_beside_parts(
// CHECK:         rmsnorm.rows
// EMBED-LABEL: func.func @constant_beside_parts(
func.func @constant_beside_parts(%x: tensor<4x32xf32>, %y: tensor<4x32xf32>) -> tensor<4x128xf32> {
  %c = arith.constant -2.0 : f32
  %e0 = tensor.empty() : tensor<4x64xf32>
  %f = linalg.fill ins(%c : f32) outs(%e0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<4x128xf32>
  %i0 = tensor.insert_slice %x into %e1[0, 0] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<4x128xf32>
  %i1 = tensor.insert_slice %y into %i0[0, 32] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<4x128xf32>
  %i = tensor.insert_slice %f into %i1[0, 64] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<4x128xf32>
  %e = tensor.empty() : tensor<4x128xf32>
  %n = rmsnorm.forward input(%i : tensor<4x128xf32>) output(%e : tensor<4x128xf32>) eps = 1.0e-03 -> tensor<4x128xf32>
  return %n : tensor<4x128xf32>
}

// Two tensors in place of columns of x.
// CHECK-LABEL: func.func @two_parts_replaced(
// CHECK:         rmsnorm.rows
// CHECK-COUNT-2: rmsnorm.put
// EMBED-LABEL: func.func @two_parts_replaced(
func.func @two_parts_replaced(%x: tensor<?x64xf32>, %g: tensor<?x8xf32>, %h: tensor<?x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.insert_slice %g into %x[0, 16] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %s = tensor.insert_slice %h into %r[0, 40] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A reshape between what is replaced and the norm.
// CHECK-LABEL: func.func @view_between(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @view_between(
func.func @view_between(%x: tensor<?x64xf32>, %g: tensor<?x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.insert_slice %g into %x[0, 16] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %v = tensor.expand_shape %r [[0], [1, 2]] output_shape [%m, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x1x64xf32>
  %y = rmsnorm.forward input(%v : tensor<?x1x64xf32>) output(%e1 : tensor<?x1x64xf32>) eps = 1.0e-5 -> tensor<?x1x64xf32>
  %z = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x1x64xf32> into tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// A constant comes first where nothing else is: the rest is put into it.
// CHECK-LABEL: func.func @constant_first(
// CHECK:         rmsnorm.rows
// CHECK:         arith.constant dense<1.000000e+00> : vector<1x2x32xf32>
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @constant_first(
func.func @constant_first(%x: tensor<?x32xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%one : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %i = tensor.insert_slice %f into %e[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %j = tensor.insert_slice %x into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%j : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Two halves of which two numbers are a byte: no vector has one.
// CHECK-LABEL: func.func @f4_halves(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @f4_halves(
func.func @f4_halves(%x: tensor<?x32xf4E2M1FN>, %z: tensor<?x32xf4E2M1FN>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf4E2M1FN>
  %e4 = tensor.empty(%m) : tensor<?x64xf4E2M1FN>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %i = tensor.insert_slice %x into %e4[0, 0] [%m, 32] [1, 1] : tensor<?x32xf4E2M1FN> into tensor<?x64xf4E2M1FN>
  %j = tensor.insert_slice %z into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf4E2M1FN> into tensor<?x64xf4E2M1FN>
  %w = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%j : tensor<?x64xf4E2M1FN>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f4E2M1FN, %o: f32):
    %b = arith.extf %a : f4E2M1FN to f32
    linalg.yield %b : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%w : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A constant of one value: what stays of it is filled.
// CHECK-LABEL: func.func @into_splat(
// CHECK:         rmsnorm.rows {{.*}} columns(32)
// CHECK:         rmsnorm.rows {{.*}} columns(32)
// EMBED-LABEL: func.func @into_splat(
func.func @into_splat(%x: tensor<8x32xf32>) -> tensor<8x64xf32> {
  %c = arith.constant dense<1.5> : tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %y = rmsnorm.forward input(%x : tensor<8x32xf32>) output(%e : tensor<8x32xf32>) eps = 1.0e-5 -> tensor<8x32xf32>
  %i = tensor.insert_slice %y into %c[0, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<8x64xf32>
  return %i : tensor<8x64xf32>
}

// The other rows are those of a constant.
// CHECK-LABEL: func.func @rows_into_splat(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.rows
// EMBED-LABEL: func.func @rows_into_splat(
func.func @rows_into_splat(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c = arith.constant dense<1.5> : tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %h = tensor.extract_slice %x[0, 0] [4, 64] [1, 1] : tensor<8x64xf32> to tensor<4x64xf32>
  %e4 = tensor.empty() : tensor<4x64xf32>
  %y = rmsnorm.forward input(%h : tensor<4x64xf32>) output(%e4 : tensor<4x64xf32>) eps = 1.0e-5 -> tensor<4x64xf32>
  %i = tensor.insert_slice %y into %c[0, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<8x64xf32>
  return %i : tensor<8x64xf32>
}

// Two constants beside each other: folding makes a constant of different values of them, which is taken apart again.
// CHECK-LABEL: func.func @two_constants(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @two_constants(
func.func @two_constants(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%one : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %g = linalg.fill ins(%two : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %i = tensor.insert_slice %f into %e[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %j = tensor.insert_slice %g into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %n = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %y = linalg.add ins(%n, %j : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// And of a part that is taken out of a row again.
// CHECK-LABEL: func.func @constant_again(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @constant_again(
func.func @constant_again(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%one : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %f2 = linalg.fill ins(%two : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = tensor.insert_slice %f into %x[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %s = tensor.extract_slice %r[0, 0] [%m, 16] [1, 1] : tensor<?x64xf32> to tensor<?x16xf32>
  %j = tensor.insert_slice %s into %f2[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x64xf32>
  %n = rmsnorm.forward input(%r : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %y = linalg.add ins(%n, %j : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Numbers of four bits beside a constant.
// CHECK-LABEL: func.func @f4_beside_constant(
// CHECK:         rmsnorm.rows
// CHECK:         rmsnorm.put
// EMBED-LABEL: func.func @f4_beside_constant(
func.func @f4_beside_constant(%x: tensor<8x32xf4E2M1FN>, %z: tensor<8x64xf4E2M1FN>) -> tensor<8x64xf32> {
  %c = arith.constant 1.0 : f4E2M1FN
  %e4 = tensor.empty() : tensor<8x64xf4E2M1FN>
  %e = tensor.empty() : tensor<8x64xf32>
  %d = linalg.fill ins(%c : f4E2M1FN) outs(%e4 : tensor<8x64xf4E2M1FN>) -> tensor<8x64xf4E2M1FN>
  %j = tensor.insert_slice %x into %d[0, 0] [8, 32] [1, 1] : tensor<8x32xf4E2M1FN> into tensor<8x64xf4E2M1FN>
  %w = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%j : tensor<8x64xf4E2M1FN>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f4E2M1FN, %o: f32):
    %b = arith.extf %a : f4E2M1FN to f32
    linalg.yield %b : f32
  } -> tensor<8x64xf32>
  %y = rmsnorm.forward input(%w : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-5 -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

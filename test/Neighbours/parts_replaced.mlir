// Rows of which parts are replaced, in front of a norm or after it: one kernel, which neither fills nor copies anything.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED --implicit-check-not=linalg.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

// Half of a norm beside a constant.
// CHECK-LABEL: func.func @half_into_constant(
// CHECK:         rmsnorm.rows
// CHECK:         tile_load
// CHECK-NOT:     tile_load
// CHECK:         vector.insert_strided_slice
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
// CHECK:         vector.insert_strided_slice
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

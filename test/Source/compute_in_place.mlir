// RUN: norm-opt %s --rmsnorm-compute-in-place --split-input-file | FileCheck %s

// Into the slice that is read, and into one after it.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x12x128xf32>
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [%{{.*}}, 8, 128]
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[Q]] : {{.*}}) output(%[[Q]] :
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[Y]] into %[[X]][0, 0, 0]
// CHECK:         return %[[I]]
func.func @slices(%x: tensor<?x12x128xf32>) -> tensor<?x12x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x12x128xf32>
  %q = tensor.extract_slice %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x8x128xf32>
  %e = tensor.empty(%m) : tensor<?x8x128xf32>
  %y = rmsnorm.forward input(%q : tensor<?x8x128xf32>) output(%e : tensor<?x8x128xf32>) eps = 1.0e-5 -> tensor<?x8x128xf32>
  %r = tensor.insert_slice %y into %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x8x128xf32> into tensor<?x12x128xf32>
  return %r : tensor<?x12x128xf32>
}

// -----

// CHECK-LABEL: func.func @other_buffer(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x128xf32>, %[[O:[a-z0-9]*]]: tensor<?x256xf32>
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[O]][0, 128] [%{{.*}}, 128]
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[X]] : {{.*}}) output(%[[S]] :
// CHECK:         tensor.insert_slice %[[Y]] into %[[O]][0, 128]
func.func @other_buffer(%x: tensor<?x128xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-5 -> tensor<?x128xf32>
  %r = tensor.insert_slice %y into %o[0, 128] [%m, 128] [1, 1] : tensor<?x128xf32> into tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// -----

// What goes into a new tensor is none of it.
// CHECK-LABEL: func.func @new(
// CHECK-COUNT-2: tensor.empty
// CHECK-NOT:     extract_slice
func.func @new(%x: tensor<?x128xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %n = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-5 -> tensor<?x128xf32>
  %r = tensor.insert_slice %y into %n[0, 128] [%m, 128] [1, 1] : tensor<?x128xf32> into tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// -----

// Of q and k, side by side in one tensor, k is read after what q became; of
// slices that share something nothing is known.
// CHECK-LABEL: func.func @several(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x12x128xf32>
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[X]][0, 0, 0]
// CHECK:         %[[A:.*]] = rmsnorm.forward input(%[[Q]] : {{.*}}) output(%[[Q]] :
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[A]] into %[[X]][0, 0, 0]
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[I]][0, 8, 0]
// CHECK:         %[[B:.*]] = rmsnorm.forward input(%[[K]] : {{.*}}) output(%[[K]] :
// CHECK:         tensor.insert_slice %[[B]] into %[[I]][0, 8, 0]
func.func @several(%x: tensor<?x12x128xf32>) -> tensor<?x12x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x12x128xf32>
  %q = tensor.extract_slice %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x8x128xf32>
  %k = tensor.extract_slice %x[0, 8, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x4x128xf32>
  %e = tensor.empty(%m) : tensor<?x8x128xf32>
  %a = rmsnorm.forward input(%q : tensor<?x8x128xf32>) output(%e : tensor<?x8x128xf32>) eps = 1.0e-5 -> tensor<?x8x128xf32>
  %f = tensor.empty(%m) : tensor<?x4x128xf32>
  %b = rmsnorm.forward input(%k : tensor<?x4x128xf32>) output(%f : tensor<?x4x128xf32>) eps = 1.0e-5 -> tensor<?x4x128xf32>
  %i = tensor.insert_slice %a into %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x8x128xf32> into tensor<?x12x128xf32>
  %j = tensor.insert_slice %b into %i[0, 8, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x4x128xf32> into tensor<?x12x128xf32>
  return %j : tensor<?x12x128xf32>
}

// CHECK-LABEL: func.func @overlapping(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x12x128xf32>
// CHECK-DAG:     %[[Q:.*]] = tensor.extract_slice %[[X]][0, 0, 0]
// CHECK-DAG:     %[[K:.*]] = tensor.extract_slice %[[X]][0, 4, 0]
// CHECK:         rmsnorm.forward input(%[[Q]] : {{.*}}) output(%[[Q]] :
// CHECK:         rmsnorm.forward input(%[[K]] : {{.*}}) output(%[[K]] :
func.func @overlapping(%x: tensor<?x12x128xf32>) -> tensor<?x12x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x12x128xf32>
  %q = tensor.extract_slice %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x8x128xf32>
  %k = tensor.extract_slice %x[0, 4, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x4x128xf32>
  %e = tensor.empty(%m) : tensor<?x8x128xf32>
  %a = rmsnorm.forward input(%q : tensor<?x8x128xf32>) output(%e : tensor<?x8x128xf32>) eps = 1.0e-5 -> tensor<?x8x128xf32>
  %f = tensor.empty(%m) : tensor<?x4x128xf32>
  %b = rmsnorm.forward input(%k : tensor<?x4x128xf32>) output(%f : tensor<?x4x128xf32>) eps = 1.0e-5 -> tensor<?x4x128xf32>
  %i = tensor.insert_slice %a into %x[0, 0, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x8x128xf32> into tensor<?x12x128xf32>
  %j = tensor.insert_slice %b into %i[0, 4, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x4x128xf32> into tensor<?x12x128xf32>
  return %j : tensor<?x12x128xf32>
}

// The same of slices that are known to share something.
// CHECK-LABEL: func.func @overlapping_static(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<7x12x128xf32>
// CHECK-DAG:     tensor.extract_slice %[[X]][0, 0, 0]
// CHECK-DAG:     tensor.extract_slice %[[X]][0, 4, 0]
func.func @overlapping_static(%x: tensor<7x12x128xf32>) -> tensor<7x12x128xf32> {
  %q = tensor.extract_slice %x[0, 0, 0] [7, 8, 128] [1, 1, 1] : tensor<7x12x128xf32> to tensor<7x8x128xf32>
  %k = tensor.extract_slice %x[0, 4, 0] [7, 4, 128] [1, 1, 1] : tensor<7x12x128xf32> to tensor<7x4x128xf32>
  %e = tensor.empty() : tensor<7x8x128xf32>
  %a = rmsnorm.forward input(%q : tensor<7x8x128xf32>) output(%e : tensor<7x8x128xf32>) eps = 1.0e-5 -> tensor<7x8x128xf32>
  %f = tensor.empty() : tensor<7x4x128xf32>
  %b = rmsnorm.forward input(%k : tensor<7x4x128xf32>) output(%f : tensor<7x4x128xf32>) eps = 1.0e-5 -> tensor<7x4x128xf32>
  %i = tensor.insert_slice %a into %x[0, 0, 0] [7, 8, 128] [1, 1, 1] : tensor<7x8x128xf32> into tensor<7x12x128xf32>
  %j = tensor.insert_slice %b into %i[0, 4, 0] [7, 4, 128] [1, 1, 1] : tensor<7x4x128xf32> into tensor<7x12x128xf32>
  return %j : tensor<7x12x128xf32>
}

// -----

// Read at another place than written.
// CHECK-LABEL: func.func @another_place(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x12x128xf32>
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[X]][0, 8, 0]
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[X]][0, 0, 0]
// CHECK:         rmsnorm.forward input(%[[K]] : {{.*}}) output(%[[S]] :
func.func @another_place(%x: tensor<?x12x128xf32>) -> tensor<?x12x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x12x128xf32>
  %k = tensor.extract_slice %x[0, 8, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x12x128xf32> to tensor<?x4x128xf32>
  %e = tensor.empty(%m) : tensor<?x4x128xf32>
  %y = rmsnorm.forward input(%k : tensor<?x4x128xf32>) output(%e : tensor<?x4x128xf32>) eps = 1.0e-5 -> tensor<?x4x128xf32>
  %r = tensor.insert_slice %y into %x[0, 0, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x4x128xf32> into tensor<?x12x128xf32>
  return %r : tensor<?x12x128xf32>
}

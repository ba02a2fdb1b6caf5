// RUN: norm-opt %s --rmsnorm-embed-tensors --split-input-file | FileCheck %s
// RUN: norm-opt %s --rmsnorm-embed-tensors=remarks --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Threads of a subgroup hold a group of up to 128 columns.
// CHECK-LABEL: func.func @of_128(
// CHECK:         rmsnorm.rows sizes
// CHECK:           rmsnorm.group_reduce maximumf({{.*}}) : vector<1x4x128xf32> -> vector<1x4x1xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return
#element = affine_map<(i, j, k) -> (i, j, k)>
#group = affine_map<(i, j, k) -> (i, j)>
func.func @of_128(%x: tensor<?x512xf32>, %w: tensor<512xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %o = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xf32>) weight(%w : tensor<512xf32>) output(%o : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 128] : tensor<?x512xf32> into tensor<?x4x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %most = linalg.generic {indexing_maps = [#element, #group], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x4x128xf32>) outs(%f : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x4xf32>
  return %most : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @of_256(
// CHECK:         rmsnorm.rows sizes
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<?x2x256xf32>)
// WHY: it divides columns into groups of 256, not of 2, 4, 8, ... 128
#element = affine_map<(i, j, k) -> (i, j, k)>
#group = affine_map<(i, j, k) -> (i, j)>
func.func @of_256(%x: tensor<?x512xf32>, %w: tensor<512xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %o = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xf32>) weight(%w : tensor<512xf32>) output(%o : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 2, 256] : tensor<?x512xf32> into tensor<?x2x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %most = linalg.generic {indexing_maps = [#element, #group], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x2x256xf32>) outs(%f : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x2xf32>
  return %most : tensor<?x2xf32>
}

// -----

// What others compute of groups is computed for each row.
// CHECK-LABEL: func.func @put_together(
// CHECK-NOT:     linalg.exp
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(512) buffers(read %arg0 : {{[^,]*}}, read %arg1 : {{[^,]*}}, read %arg2 : tensor<?x4x128xf32>
// CHECK:           math.exp
func.func @put_together(%x: tensor<?x512xf32>, %w: tensor<512xf32>, %others: tensor<?x4x128xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %o = tensor.empty(%m) : tensor<?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x512xf32>) weight(%w : tensor<512xf32>) output(%o : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %eg = tensor.empty(%m) : tensor<?x4x128xf32>
  %e = linalg.exp ins(%others : tensor<?x4x128xf32>) outs(%eg : tensor<?x4x128xf32>) -> tensor<?x4x128xf32>
  %row = tensor.collapse_shape %e [[0], [1, 2]] : tensor<?x4x128xf32> into tensor<?x512xf32>
  %sum = linalg.add ins(%y, %row : tensor<?x512xf32>, tensor<?x512xf32>) outs(%o : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %sum : tensor<?x512xf32>
}

// A linalg.generic that fills is a fill, as linalg-generalize-named-ops leaves
// it: each kernel knows the value, and none stores it for another.
// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file | FileCheck %s
// In modules each result has a destination of its own.
// RUN: sed '/linalg.matmul ins/d; s/.product :/%%y :/' %s | norm-opt --rmsnorm-tensor-half --split-input-file | FileCheck %s --check-prefix=MODULE

#scalar = affine_map<(t) -> ()>
#all = affine_map<(t) -> (t)>
// CHECK-LABEL: func.func @operand(
// CHECK-NOT:     linalg.generic
// CHECK:         %[[S:.*]] = tensor.empty() : tensor<6xf32>
// CHECK:         rmsnorm.rows sizes [6] columns(64) buffers(read %{{[^,]*}}, write %{{[^,]*}} : tensor<6x64xf32>, write %[[S]] : tensor<6xf32>)
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows sizes [6] columns(64) buffers(read %{{[^,]*}}, write %{{[^,]*}} : tensor<6x64xf32>, write %[[S]] : tensor<6xf32>)
// MODULE-LABEL: func.func @operand(
// MODULE:         rmsnorm.rows sizes [6] columns(64) buffers(read {{.*}}, write {{.*}}, write %{{.*}} : memref<6xf32>)
// MODULE:         rmsnorm.rows sizes [6] columns(64) buffers(read {{.*}}, write {{.*}}, write %{{.*}} : memref<6xf32>)
func.func @operand(%x: tensor<6x64xf32>, %y: tensor<6x64xf32>, %w: tensor<64x64xf32>) -> (tensor<6x64xf32>, tensor<6xf32>, tensor<6x64xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<6xf32>
  %f = linalg.generic {indexing_maps = [#scalar, #all], iterator_types = ["parallel"]} ins(%zero : f32) outs(%r : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6xf32>
  %e = tensor.empty() : tensor<6x64xf32>
  %d = tensor.empty() : tensor<6x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %s = linalg.reduce {arith.addf} ins(%n : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  %product = linalg.matmul ins(%n, %w : tensor<6x64xf32>, tensor<64x64xf32>) outs(%y : tensor<6x64xf32>) -> tensor<6x64xf32>
  %m = rmsnorm.forward input(%product : tensor<6x64xf32>) output(%d : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %t = linalg.reduce {arith.addf} ins(%m : tensor<6x64xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
  return %n, %s, %m, %t : tensor<6x64xf32>, tensor<6xf32>, tensor<6x64xf32>, tensor<6xf32>
}

// -----

// Of a sum over rows, with the constant in the body.
#all = affine_map<(c) -> (c)>
// CHECK-LABEL: func.func @captured(
// CHECK-NOT:     linalg.generic
// CHECK:         %[[O:.*]] = tensor.empty() : tensor<64xf32>
// CHECK:         rmsnorm.rows sizes [6] columns(64) buffers({{.*}}, write %[[O]] : tensor<64xf32>)
// MODULE-LABEL: func.func @captured(
// MODULE:         rmsnorm.rows sizes [6] columns(64) buffers({{.*}}, write %{{.*}} : memref<64xf32>)
func.func @captured(%x: tensor<6x64xf32>) -> (tensor<6x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<64xf32>
  %f = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%o : tensor<64xf32>) {
  ^bb0(%a: f32):
    linalg.yield %zero : f32
  } -> tensor<64xf32>
  %e = tensor.empty() : tensor<6x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %s = linalg.reduce {arith.addf} ins(%n : tensor<6x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  return %n, %s : tensor<6x64xf32>, tensor<64xf32>
}

// -----

// A broadcast of the rows' values is none.
#row = affine_map<(t, c) -> (t)>
#id = affine_map<(t, c) -> (t, c)>
// CHECK-LABEL: func.func @broadcast(
// CHECK:         rmsnorm.rows sizes [6] columns(64) buffers(read %{{[^,]*}} : tensor<6xf32>, read
func.func @broadcast(%x: tensor<6x64xf32>, %v: tensor<6xf32>) -> tensor<6x64xf32> {
  %e = tensor.empty() : tensor<6x64xf32>
  %b = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6x64xf32>
  %d = tensor.empty() : tensor<6x64xf32>
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %y = linalg.add ins(%n, %b : tensor<6x64xf32>, tensor<6x64xf32>) outs(%d : tensor<6x64xf32>) -> tensor<6x64xf32>
  return %y : tensor<6x64xf32>
}

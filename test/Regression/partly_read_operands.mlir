// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// A map to column 0 of a wider tensor was taken for all columns.
// CHECK-LABEL: func.func @column(
// CHECK: memref.subview %{{.*}}[0, 0] [%{{.*}}, 1] [1, 1] : memref<?x64xf32, strided<[?, 1]>> to memref<?xf32, strided<[?]>>
// CHECK: rmsnorm.tile_load row
func.func @column(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// One element of a weight.
// CHECK-LABEL: func.func @weight(
// CHECK: memref.subview %{{.*}}[0] [1] [1] : memref<64xf32> to memref<f32
// CHECK: rmsnorm.tile_load row
func.func @weight(%x: tensor<?x64xf32>, %r: tensor<64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x64xf32>, tensor<64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Of unknown size: it may have more than one column.
// CHECK-LABEL: func.func @dynamic(
// CHECK: rmsnorm.tile_load row
func.func @dynamic(%x: tensor<?x64xf32>, %r: tensor<?x?xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x64xf32>, tensor<?x?xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// In an op without rows, too.
// CHECK-LABEL: func.func @uniform(
// CHECK: rmsnorm.tile_load row
func.func @uniform(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w0 = tensor.empty() : tensor<64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : tensor<64xf32>) outs(%w0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%v : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// What has effects uses the norm, and a number that is loaded after it is used with the norm: that stays outside.
// RUN: norm-opt %s --allow-unregistered-dialect --rmsnorm-embed-tensors=remarks 2>&1 | FileCheck %s
// CHECK: remark: 'test.print' op not tiled
// CHECK: remark: 'linalg.generic' op not tiled with the norm next to it: it would be moved over 'test.print', which has effects
// CHECK: rmsnorm.rows
// CHECK: "test.print"
// CHECK: memref.load
// CHECK: linalg.generic
func.func @effect(%x: tensor<?x64xf32>, %p: memref<f32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %o = tensor.empty(%m) : tensor<?x64xf32>
  %o2 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  "test.print"(%a) : (tensor<?x64xf32>) -> ()
  %s = memref.load %p[] : memref<f32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) {
  ^bb0(%i: f32, %z: f32):
    %v = arith.mulf %i, %s : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// Numbers as arguments, an operand and a captured one: tensors of rank 0.
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}} : memref<f32>
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}} : memref<f32>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
func.func @scalar_arguments(%x: tensor<?x256xbf16>, %alpha: f32, %beta: f32) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%e : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %o = tensor.empty(%m) : tensor<?x256xbf16>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y, %alpha : tensor<?x256xf32>, f32) outs(%o : tensor<?x256xbf16>) {
  ^bb0(%a: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %s : f32
    %r = arith.addf %p, %beta : f32
    %v = arith.truncf %r : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x256xbf16>
  return %q : tensor<?x256xbf16>
}

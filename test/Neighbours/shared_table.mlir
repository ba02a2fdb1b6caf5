// Two norms that share no more than a table: each is a kernel with its own product, in one launch.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not=rmsnorm.rows
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 | FileCheck %s --check-prefix=RESULT
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=1 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=1 | FileCheck %s --check-prefix=RESULT
// RESULT-COUNT-2: {{^[a-z_]+ .*}} ok

// CHECK-LABEL: func.func @half_and_narrow(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 128] buffers(read %{{.*}}, read %{{.*}}, write %{{.*}})
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(128) buffers(read %{{.*}}, read %{{.*}}, write %{{.*}})
func.func @half_and_narrow(%x: tensor<?x256xf32>, %y: tensor<?x128xf32>, %t: tensor<?x128xf32>) -> (tensor<?x128xf32>, tensor<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %v1 = tensor.empty(%m) : tensor<?x256xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%v1 : tensor<?x256xf32>) eps = 1.000000000e-06 -> tensor<?x256xf32>
  %v3 = tensor.extract_slice %v2[0, 0] [%m, 128] [1, 1] : tensor<?x256xf32> to tensor<?x128xf32>
  %v4 = tensor.empty(%m) : tensor<?x128xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%v3, %t : tensor<?x128xf32>, tensor<?x128xf32>) outs(%v4 : tensor<?x128xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i1 : f32
    linalg.yield %b1 : f32
  } -> tensor<?x128xf32>
  %v6 = tensor.empty(%m) : tensor<?x128xf32>
  %v7 = rmsnorm.forward input(%y : tensor<?x128xf32>) output(%v6 : tensor<?x128xf32>) eps = 1.000000000e-06 -> tensor<?x128xf32>
  %v8 = tensor.empty(%m) : tensor<?x128xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%v7, %t : tensor<?x128xf32>, tensor<?x128xf32>) outs(%v8 : tensor<?x128xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o0: f32):
    %b1 = arith.mulf %i0, %i1 : f32
    linalg.yield %b1 : f32
  } -> tensor<?x128xf32>
  return %v5, %v9 : tensor<?x128xf32>, tensor<?x128xf32>
}

// The second norm's product is computed in two steps, of which only the last one reads the table.
// CHECK-LABEL: func.func @two_steps(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 128] buffers(read %{{.*}}, read %{{.*}}, write %{{.*}})
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(128) buffers(read %{{.*}}, read %{{.*}}, write %{{.*}})
func.func @two_steps(%x: tensor<?x256xf32>, %y: tensor<?x128xf32>, %t: tensor<?x128xf32>) -> (tensor<?x128xf32>, tensor<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %a0 = tensor.empty(%m) : tensor<?x256xf32>
  %a = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%a0 : tensor<?x256xf32>) eps = 1.0e-06 -> tensor<?x256xf32>
  %h = tensor.extract_slice %a[0, 128] [%m, 128] [1, 1] : tensor<?x256xf32> to tensor<?x128xf32>
  %p = arith.mulf %h, %t : tensor<?x128xf32>
  %b0 = tensor.empty(%m) : tensor<?x128xf32>
  %b = rmsnorm.forward input(%y : tensor<?x128xf32>) output(%b0 : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %n = arith.negf %b : tensor<?x128xf32>
  %q = arith.subf %t, %n : tensor<?x128xf32>
  return %p, %q : tensor<?x128xf32>, tensor<?x128xf32>
}

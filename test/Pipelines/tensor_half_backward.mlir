// RUN: norm-opt %s --rmsnorm-tensor-half --split-input-file | FileCheck %s --implicit-check-not=memref.alloc --implicit-check-not=memref.copy --implicit-check-not=tensor

// dx in dy's buffer, where the program says so: no copy, no other buffer, and
// dw is summed up in its own.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[DY:[a-z0-9]+]]: memref<?x64xbf16, {{[^{]*}}{{{[^}]*}}rmsnorm.name = "dy", rmsnorm.role = "inout"}
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x64xbf16, {{[^{]*}}{{{[^}]*}}rmsnorm.role = "input"}
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<64xbf16> {{{[^}]*}}rmsnorm.role = "input"}
// CHECK-SAME:    %[[DW:[a-z0-9]+]]: memref<64xf32> {{{[^}]*}}rmsnorm.role = "output"})
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %[[X]] : {{.*}}, update %[[DY]] : {{.*}}, read %[[W]] : {{.*}}, write %[[DW]] : memref<64xf32>) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[XA:.*]]: memref<{{.*}}>>, %[[DYA:.*]]: memref<{{.*}}>>, %{{.*}}: memref<64xbf16>, %[[DWA:.*]]: memref<64xf32>):
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK-DAG:         rmsnorm.tile_load tile %[[DYA]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.tile_load tile %[[XA]][%[[ROW]]]
// CHECK-NOT:         rmsnorm.tile_store
// CHECK-DAG:         rmsnorm.tile_store tile %{{.*}}, %[[DYA]][%[[ROW]]]
// CHECK-DAG:         rmsnorm.accumulate %{{.*}} into %[[DWA]]
// CHECK-NOT:     rmsnorm.rows sizes
// CHECK:         return
func.func @in_place(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %dw0: tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<64xf32>) {
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x64xbf16>) input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) dx(%dy : tensor<?x64xbf16>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<?x64xbf16>, tensor<64xf32>
  return %dx, %dw : tensor<?x64xbf16>, tensor<64xf32>
}

// -----

// Where it does not, dx has a buffer of its own and dy stays an input.
// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    %[[DY:[a-z0-9]+]]: memref<?x64xf32, {{[^{]*}}{{{[^}]*}}rmsnorm.name = "dy", rmsnorm.role = "input"}
// CHECK-SAME:    rmsnorm.role = "input"}
// CHECK-SAME:    %[[DX:[a-z0-9]+]]: memref<?x64xf32, {{[^{]*}}{{{[^}]*}}rmsnorm.name = "dx", rmsnorm.role = "output"})
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}}, read %[[DY]] : {{.*}}, write %[[DX]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %{{.*}}: memref<{{.*}}>>, %{{.*}}: memref<{{.*}}>>, %[[DXA:.*]]: memref<{{.*}}>>):
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK-NOT:         rmsnorm.tile_store
// CHECK:             rmsnorm.tile_store tile %{{.*}}, %[[DXA]][%[[ROW]]]
// CHECK-NOT:         rmsnorm.tile_store
// CHECK:         return
func.func @apart(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %dy, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %dx = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) dx(%empty : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %dx : tensor<?x64xf32>
}

// -----

// The gradient that comes past the norm is added in the same loop; dx itself is
// never written.
// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[DY:[a-z0-9]+]]: memref
// CHECK-SAME:    %[[DH:[a-z0-9]+]]: memref<?x64xbf16, {{[^{]*}}{{{[^}]*}}rmsnorm.role = "inout"}
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}}, read %[[DY]] : {{.*}}, update %[[DH]] : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %{{.*}}: memref<{{.*}}>>, %{{.*}}: memref<{{.*}}>>, %[[DHA:.*]]: memref<{{.*}}>>):
// CHECK:           ^bb0(%[[ROW:.*]]: index):
// CHECK:             %[[PAST:.*]] = rmsnorm.tile_load tile %[[DHA]][%[[ROW]]]
// CHECK-NOT:         rmsnorm.tile_store
// CHECK:             %[[SUM:.*]] = arith.addf %{{.*}}, %[[PAST]]
// CHECK:             rmsnorm.tile_store tile %[[SUM]], %[[DHA]][%[[ROW]]]
// CHECK-NOT:         rmsnorm.tile_store
// CHECK-NOT:     rmsnorm.rows sizes
// CHECK:         return
func.func @residual(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>, %dh: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %dy, %c0 : tensor<?x64xbf16>
  %empty = tensor.empty(%m) : tensor<?x64xbf16>
  %dx = rmsnorm.backward dy(%dy : tensor<?x64xbf16>) input(%x : tensor<?x64xbf16>) dx(%empty : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  %s = linalg.add ins(%dx, %dh : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%dh : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %s : tensor<?x64xbf16>
}

// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s

// CHECK-LABEL: func.func @rings(
// CHECK-SAME: %[[X:.*]]: memref<?x64xbf16>, %[[V:.*]]: memref<64xbf16>, %[[ROW:.*]]: index, %[[LIVE:.*]]: index
func.func @rings(%x: memref<?x64xbf16>, %v: memref<64xbf16>, %row: index, %live: index) {
  // CHECK: %[[RING:.*]] = rmsnorm.tile_ring : memref<3x2x64xbf16, #gpu.address_space<workgroup>>
  // CHECK: %[[OTHER:.*]] = rmsnorm.tile_ring : memref<1x1x64xbf16, #gpu.address_space<workgroup>>
  %ring = rmsnorm.tile_ring : memref<3x2x64xbf16, #gpu.address_space<workgroup>>
  %other = rmsnorm.tile_ring : memref<1x1x64xbf16, #gpu.address_space<workgroup>>
  // CHECK: rmsnorm.ring_copy %[[X]][%[[ROW]]] rows(%[[LIVE]]) to %[[RING]][%[[ROW]]] : memref<?x64xbf16>, memref<3x2x64xbf16
  // CHECK: rmsnorm.ring_copy %[[V]] to %[[OTHER]][%[[ROW]]] : memref<64xbf16>, memref<1x1x64xbf16
  rmsnorm.ring_copy %x[%row] rows(%live) to %ring[%row]
      : memref<?x64xbf16>, memref<3x2x64xbf16, #gpu.address_space<workgroup>>
  rmsnorm.ring_copy %v to %other[%row]
      : memref<64xbf16>, memref<1x1x64xbf16, #gpu.address_space<workgroup>>
  // CHECK: rmsnorm.copy_commit
  // CHECK: rmsnorm.copy_wait 2
  rmsnorm.copy_commit
  rmsnorm.copy_wait 2
  // CHECK: rmsnorm.ring_load %[[RING]][%[[ROW]]] : memref<3x2x64xbf16, {{.*}}> -> vector<2x64xbf16>
  // CHECK: rmsnorm.ring_load %[[RING]][%[[ROW]]] segment(1) : memref
  %0 = rmsnorm.ring_load %ring[%row]
      : memref<3x2x64xbf16, #gpu.address_space<workgroup>> -> vector<2x64xbf16>
  %1 = rmsnorm.ring_load %ring[%row] segment(1)
      : memref<3x2x64xbf16, #gpu.address_space<workgroup>> -> vector<2x64xbf16>
  return
}

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[A:.*]]: vector<2x64xf32>, %[[K:.*]]: index
func.func @halves(%a: vector<2x64xf32>, %k: index) {
  // CHECK: rmsnorm.row_reduce_begin add(%[[A]]), maximumf(%[[A]]) number(%[[K]]) : vector<2x64xf32>, vector<2x64xf32>
  rmsnorm.row_reduce_begin add(%a), maximumf(%a) number(%k) : vector<2x64xf32>, vector<2x64xf32>
  // CHECK: %{{.*}}:2 = rmsnorm.row_reduce_end [add, maximumf] number(%[[K]]) : vector<2x1xf32>, vector<2x1xf32>
  %0:2 = rmsnorm.row_reduce_end [add, maximumf] number(%k) : vector<2x1xf32>, vector<2x1xf32>
  return
}

// CHECK-LABEL: func.func @threads(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[ROW:.*]]: i64, %[[COL:.*]]: i32, %[[TO:.*]]: i32
func.func @threads(%p: !llvm.ptr<1>, %row: i64, %col: i32, %to: i32, %v: vector<8xbf16>) {
  // CHECK: rmsnorm.async_copy %[[P]][%[[ROW]], %[[COL]]] to %[[TO]] alignment(16) : vector<8xbf16>
  // CHECK: rmsnorm.async_copy %[[P]][%[[ROW]], %[[COL]]] to %[[TO]] valid(%[[COL]]) alignment(4) cache(cg) : vector<4xf32>
  rmsnorm.async_copy %p[%row, %col] to %to alignment(16) : vector<8xbf16>
  rmsnorm.async_copy %p[%row, %col] to %to valid(%col) alignment(4) cache(cg) : vector<4xf32>
  // CHECK: rmsnorm.workgroup_load %[[TO]] : vector<8xbf16>
  // CHECK: rmsnorm.workgroup_load %[[TO]] segment(2) : f32
  // CHECK: rmsnorm.workgroup_store %{{.*}}, %[[TO]] : vector<8xbf16>
  %0 = rmsnorm.workgroup_load %to : vector<8xbf16>
  %1 = rmsnorm.workgroup_load %to segment(2) : f32
  rmsnorm.workgroup_store %v, %to : vector<8xbf16>
  return
}

// Sizes that bind-arguments found to be equal are one argument: the kernel
// divides by one size, whichever of the buffers it addresses. Others are not.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sm_90 | FileCheck %s

// CHECK: gpu.func @equal_sizes_{{[a-z0-9_]*}}(%{{[a-z0-9]*}}: index, %[[M:[a-z0-9]*]]: index, %[[SIZE:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// A thread has two rows; neither follows from the other, as the last may be
// past the end.
// CHECK-COUNT-2: arith.divui %{{.*}}, %[[SIZE]] : index
// CHECK-NOT: arith.divui
// CHECK: gpu.return
// CHECK: gpu.func @other_sizes_{{[a-z0-9_]*}}(%{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %[[XSIZE:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %[[YSIZE:[a-z0-9]*]]: index
// CHECK-DAG: arith.divui %{{.*}}, %[[XSIZE]] : index
// CHECK-DAG: arith.divui %{{.*}}, %[[YSIZE]] : index
// CHECK: gpu.return
// CHECK-LABEL: func.func @equal_sizes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref
// CHECK: memref.dim %[[X]],
// CHECK-NOT: memref.dim
// CHECK-LABEL: func.func @other_sizes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref{{.*}} %[[Y:[a-z0-9]*]]: memref
// CHECK-DAG: memref.dim %[[X]],
// CHECK-DAG: memref.dim %[[Y]],

func.func @equal_sizes(%x: memref<?x?x128xf32, strided<[?, ?, 1]>> {rmsnorm.dims = array<i64: -1, -2, 128>},
                       %y: memref<?x?x128xf32, strided<[?, ?, 1]>> {rmsnorm.dims = array<i64: -1, -2, 128>}, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x?x128xf32, strided<[?, ?, 1]>> -> vector<1x128xf32>
    %1 = arith.negf %0 : vector<1x128xf32>
    rmsnorm.tile_store tile %1, %y[%row] : vector<1x128xf32>, memref<?x?x128xf32, strided<[?, ?, 1]>>
  }
  return
}

func.func @other_sizes(%x: memref<?x?x128xf32, strided<[?, ?, 1]>> {rmsnorm.dims = array<i64: -1, -2, 128>},
                       %y: memref<?x?x128xf32, strided<[?, ?, 1]>> {rmsnorm.dims = array<i64: -1, -3, 128>}, %m: index) {
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x?x128xf32, strided<[?, ?, 1]>> -> vector<1x128xf32>
    %1 = arith.negf %0 : vector<1x128xf32>
    rmsnorm.tile_store tile %1, %y[%row] : vector<1x128xf32>, memref<?x?x128xf32, strided<[?, ?, 1]>>
  }
  return
}

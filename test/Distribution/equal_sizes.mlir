// A leading size is the op's: the kernel divides by one size, whichever of the
// buffers it addresses, and by a constant where one buffer's type knows it.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// CHECK: gpu.func @equal_sizes_{{[a-z0-9_]*}}(%{{[a-z0-9]*}}: index, %[[M:[a-z0-9]*]]: index, %[[SIZE:[a-z0-9]*]]: index, %[[RECIPROCAL:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// A thread has two rows; neither follows from the other, as the last may be
// past the end.
// CHECK: %[[I:.*]] = arith.index_castui %[[RECIPROCAL]] : index to i64
// CHECK-COUNT-2: arith.mului_extended %{{.*}}, %[[I]] : i64
// CHECK-NOT: arith.mului_extended
// CHECK: gpu.return
// CHECK: gpu.func @static_size_{{[a-z0-9_]*}}(%{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: !llvm.ptr<1>) kernel
// CHECK: %[[SIX:.*]] = arith.constant 6 : index
// CHECK-COUNT-2: arith.divui %{{.*}}, %[[SIX]] : index
// CHECK-NOT: arith.divui
// CHECK: gpu.return
// CHECK-LABEL: func.func @equal_sizes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref
// CHECK-COUNT-2: memref.dim %[[X]],
// CHECK-NOT: memref.dim
// CHECK-LABEL: func.func @static_size(
// CHECK: memref.dim
// CHECK-NOT: memref.dim
// CHECK: return

func.func @equal_sizes(%x: memref<?x?x128xf32, strided<[?, ?, 1]>>, %y: memref<?x?x128xf32, strided<[?, ?, 1]>>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x?x128xf32, strided<[?, ?, 1]>>
  %c1 = arith.constant 1 : index
  %h = memref.dim %x, %c1 : memref<?x?x128xf32, strided<[?, ?, 1]>>
  rmsnorm.rows sizes [%b, %h] columns(128)
      buffers(read %x : memref<?x?x128xf32, strided<[?, ?, 1]>>, write %y : memref<?x?x128xf32, strided<[?, ?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 4, rows_per_group = 2, threads_per_row = 32, vector_width = 4>) {
  ^bb0(%B: index, %H: index, %X: memref<?x?x128xf32, strided<[?, ?, 1]>>, %Y: memref<?x?x128xf32, strided<[?, ?, 1]>>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?x128xf32, strided<[?, ?, 1]>> -> vector<8x128xf32>
        %1 = arith.negf %0 : vector<8x128xf32>
        rmsnorm.tile_store tile %1, %Y[%t] : vector<8x128xf32>, memref<?x?x128xf32, strided<[?, ?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @static_size(%x: memref<?x?x128xf32, strided<[?, ?, 1]>>, %y: memref<?x6x128xf32, strided<[?, ?, 1]>>) {
  %c0 = arith.constant 0 : index
  %b = memref.dim %x, %c0 : memref<?x?x128xf32, strided<[?, ?, 1]>>
  rmsnorm.rows sizes [%b, 6] columns(128)
      buffers(read %x : memref<?x?x128xf32, strided<[?, ?, 1]>>, write %y : memref<?x6x128xf32, strided<[?, ?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 4, rows_per_group = 2, threads_per_row = 32, vector_width = 4>) {
  ^bb0(%B: index, %X: memref<?x?x128xf32, strided<[?, ?, 1]>>, %Y: memref<?x6x128xf32, strided<[?, ?, 1]>>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?x128xf32, strided<[?, ?, 1]>> -> vector<8x128xf32>
        %1 = arith.negf %0 : vector<8x128xf32>
        rmsnorm.tile_store tile %1, %Y[%t] : vector<8x128xf32>, memref<?x6x128xf32, strided<[?, ?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

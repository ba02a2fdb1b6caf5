// Programmatic dependent launch: where the two ops stand, and what may stand before.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,WAVES
// RUN: sed 's/threads_per_row/blocks_per_sm = 4, threads_per_row/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PERSISTENT
// The op says so, not the schedule.
// RUN: sed '/rmsnorm.grid_wait$/d' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s --check-prefix=NONE

// A block with a tile waits in front of its first load, after the arithmetic
// of its address; a persistent one once, in front of all tiles. Then the next
// kernel may start.
// CHECK: gpu.func @plain_
// CHECK-NOT: rmsnorm.g
// WAVES: scf.for
// WAVES-NOT: rmsnorm.g
// WAVES: arith.muli
// CHECK-NOT: rmsnorm.g
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.launch_dependents
// WAVES-NOT: arith.{{muli|index_cast}}
// PERSISTENT: scf.for
// CHECK: rmsnorm.global_load
// CHECK-NOT: rmsnorm.grid_wait
// CHECK: gpu.return

// The constant weight is read once, before the wait; its last vector exists in
// part.
// CHECK: gpu.func @constant_{{[a-z0-9_]*}}(%[[W:[a-z0-9]*]]: !llvm.ptr<1>
// CHECK-NOT: scf
// CHECK-NOT: rmsnorm.grid
// CHECK: rmsnorm.global_load %[[W]]{{.*}} valid(%{{.*}}) alignment(8) : vector<4xbf16>
// CHECK-NOT: rmsnorm.g
// WAVES: scf.for
// CHECK-NOT: rmsnorm.g
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.launch_dependents
// PERSISTENT: scf.for
// CHECK-NOT: %[[W]]
// CHECK: gpu.return

// Rows of dynamic size are read again, and so is their weight.
// CHECK: gpu.func @dynamic_
// CHECK-NOT: rmsnorm.g
// WAVES: scf.for
// CHECK-NOT: rmsnorm.g
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.launch_dependents
// CHECK: scf.for
// CHECK: gpu.return

// A weight that is not constant is read once, too: after the wait.
// CHECK: gpu.func @once_{{[a-z0-9_]*}}(%[[W:[a-z0-9]*]]: !llvm.ptr<1>
// CHECK-NOT: rmsnorm.g
// CHECK-NOT: scf
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.launch_dependents
// CHECK: rmsnorm.global_load %[[W]]
// CHECK: scf.for
// CHECK-NOT: rmsnorm.grid_wait
// CHECK: gpu.return

// A sum over no rows is written as well: also a block without a tile waits.
// CHECK: gpu.func @sums_
// CHECK-NOT: rmsnorm.g
// CHECK-NOT: scf
// CHECK: rmsnorm.grid_wait
// CHECK-NEXT: rmsnorm.launch_dependents
// CHECK: scf.for
// CHECK-NOT: rmsnorm.grid_wait
// CHECK: gpu.return

// WAVES: gpu.launch_func @rmsnorm_kernels::@plain_{{.*}} {rmsnorm.programmatic_dependent_launch}
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@plain_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch}
// WAVES: gpu.launch_func @rmsnorm_kernels::@constant_{{.*}} {rmsnorm.programmatic_dependent_launch}
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@constant_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch}
// WAVES: gpu.launch_func @rmsnorm_kernels::@dynamic_{{.*}} {rmsnorm.programmatic_dependent_launch}
// PERSISTENT: gpu.launch_func @rmsnorm_kernels::@dynamic_{{.*}} {rmsnorm.blocks_per_multiprocessor = {{[0-9]+}} : i32, rmsnorm.programmatic_dependent_launch}

// NONE-NOT: rmsnorm.launch_dependents
// NONE-NOT: rmsnorm.grid_wait
// NONE-NOT: rmsnorm.programmatic_dependent_launch
func.func @plain(%x: memref<?x64xf32, strided<[?, 1]>>, %y: memref<?x64xf32, strided<[?, 1]>>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64)
      buffers(read %x : memref<?x64xf32, strided<[?, 1]>>, write %y : memref<?x64xf32, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 8, rows_per_group = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32, strided<[?, 1]>>, %Y: memref<?x64xf32, strided<[?, 1]>>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32, strided<[?, 1]>> -> vector<16x64xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<16x64xf32>, memref<?x64xf32, strided<[?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @constant(%x: memref<?x60xbf16>, %w: memref<60xbf16> {rmsnorm.constant}, %m: index) {
  rmsnorm.rows sizes [%m] columns(60)
      buffers(update %x : memref<?x60xbf16>, read constant %w : memref<60xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x60xbf16>, %W: memref<60xbf16>):
    %0 = rmsnorm.tile_load column %W : memref<60xbf16> -> vector<1x60xbf16>
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x60xbf16> -> vector<32x60xbf16>
        %2 = vector.broadcast %0 : vector<1x60xbf16> to vector<32x60xbf16>
        %3 = arith.mulf %1, %2 : vector<32x60xbf16>
        rmsnorm.tile_store tile %3, %X[%t] : vector<32x60xbf16>, memref<?x60xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @dynamic(%x: memref<?x?xbf16>, %w: memref<?xbf16> {rmsnorm.constant}, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n)
      buffers(update %x : memref<?x?xbf16>, read constant %w : memref<?xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 512, vector_width = 8, cache = reload>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xbf16>, %W: memref<?xbf16>):
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse looped in_flight(2) {
        %0 = rmsnorm.tile_load tile %X[%t] policy(evict_first) : memref<?x?xbf16> -> vector<1x1073741824xbf16>
        %1 = rmsnorm.tile_load column %W policy(evict_last) : memref<?xbf16> -> vector<1x1073741824xbf16>
        %2 = arith.mulf %0, %1 : vector<1x1073741824xbf16>
        rmsnorm.tile_store tile %2, %X[%t] : vector<1x1073741824xbf16>, memref<?x?xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @once(%x: memref<?x64xbf16>, %w: memref<64xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(64)
      buffers(update %x : memref<?x64xbf16>, read %w : memref<64xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xbf16>, %W: memref<64xbf16>):
    rmsnorm.grid_wait
    %0 = rmsnorm.tile_load column %W : memref<64xbf16> -> vector<1x64xbf16>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16> -> vector<32x64xbf16>
        %2 = vector.broadcast %0 : vector<1x64xbf16> to vector<32x64xbf16>
        %3 = arith.mulf %1, %2 : vector<32x64xbf16>
        rmsnorm.tile_store tile %3, %X[%t] : vector<32x64xbf16>, memref<?x64xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @sums(%p: memref<?x256xf32>, %dw: memref<256xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(256)
      buffers(read %p : memref<?x256xf32>, write %dw : memref<256xbf16>)
      schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 4, threads_per_row = 8, vector_width = 4, cache = reload, column_sums = all_rows>) {
  ^bb0(%M: index, %P: memref<?x256xf32>, %DW: memref<256xbf16>):
    %cst = arith.constant dense<0.000000e+00> : vector<2x256xf32>
    rmsnorm.grid_wait
    %0 = rmsnorm.tiles inits(%cst : vector<2x256xf32>) body {
    ^bb0(%t: index, %acc: vector<2x256xf32>):
      %1 = rmsnorm.traverse strip order(vectors) {
        %2 = rmsnorm.tile_load tile %P[%t] : memref<?x256xf32> -> vector<8x256xf32>
        %3 = rmsnorm.accumulate %2 into %acc : vector<8x256xf32> into vector<2x256xf32> -> vector<2x256xf32>
        rmsnorm.yield %3 : vector<2x256xf32>
      } -> vector<2x256xf32>
      rmsnorm.yield %1 : vector<2x256xf32>
    } -> vector<2x256xf32>
    rmsnorm.sum_store %0, %DW : vector<2x256xf32>, memref<256xbf16>
    rmsnorm.yield
  }
  return
}

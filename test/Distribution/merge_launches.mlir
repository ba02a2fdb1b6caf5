// RUN: norm-opt %s --rmsnorm-merge-launches --split-input-file | FileCheck %s

// Both read a, so their blocks take turns: SHARE is what the second kernel has
// of all blocks, times 2^31, or 0 if there are no more than 8 for each
// multiprocessor. What both are given is there once, workgroup memory is the
// larger one, grids leave room for each other.
// CHECK-LABEL: module
// CHECK:         gpu.module @kernels
// CHECK-NEXT:      gpu.func @f_waves_g8_and_g4(%[[X:.*]]: !llvm.ptr<1>, %[[Y:.*]]: !llvm.ptr<1>, %[[M:.*]]: index, %[[FIRST:.*]]: index, %[[SHARE:.*]]: index, %[[Z:.*]]: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
// CHECK-NEXT:        %[[BLOCK:.*]] = gpu.block_id x
// CHECK-NEXT:        %[[GRID:.*]] = gpu.grid_dim x
// CHECK-NEXT:        %[[REST:.*]] = arith.subi %[[GRID]], %[[FIRST]] : index
// CHECK-NEXT:        %[[B:.*]] = arith.index_castui %[[BLOCK]] : index to i32
// CHECK-NEXT:        %[[A:.*]] = arith.index_castui %[[FIRST]] : index to i32
// CHECK-NEXT:        %[[S:.*]] = arith.index_castui %[[SHARE]] : index to i32
// CHECK:             %[[TWICE:.*]] = arith.shli %[[B]], %{{.*}} : i32
// CHECK-NEXT:        %{{.*}}, %[[TURNS:.*]] = arith.mului_extended %[[TWICE]], %[[S]] : i32
// CHECK:             %[[OVER:.*]] = arith.subi %[[B]], %[[A]] : i32
// CHECK-NEXT:        %[[BEHIND:.*]] = arith.maxsi %[[OVER]], %{{.*}} : i32
// CHECK-NEXT:        %[[BEFORE:.*]] = arith.maxsi %[[TURNS]], %[[BEHIND]] : i32
// CHECK:             %[[NEXT:.*]] = arith.addi %[[B]], %{{.*}} : i32
// CHECK:             %[[TWICE:.*]] = arith.shli %[[NEXT]], %{{.*}} : i32
// CHECK-NEXT:        %{{.*}}, %[[TURNS:.*]] = arith.mului_extended %[[TWICE]], %[[S]] : i32
// CHECK:             %[[OVER:.*]] = arith.subi %[[NEXT]], %[[A]] : i32
// CHECK-NEXT:        %[[BEHIND:.*]] = arith.maxsi %[[OVER]], %{{.*}} : i32
// CHECK-NEXT:        %[[AFTER:.*]] = arith.maxsi %[[TURNS]], %[[BEHIND]] : i32
// CHECK-DAG:         %[[HERE:.*]] = arith.cmpi eq, %[[BEFORE]], %[[AFTER]] : i32
// CHECK-DAG:         %[[LEFT:.*]] = arith.subi %[[B]], %[[BEFORE]] : i32
// CHECK-DAG:         %[[OWN:.*]] = arith.index_castui %[[LEFT]] : i32 to index
// CHECK-DAG:         %[[OTHER:.*]] = arith.index_castui %[[BEFORE]] : i32 to index
// CHECK-NEXT:        scf.if %[[HERE]] {
// CHECK:               scf.for %[[I:.*]] = %[[OWN]] to %[[M]] step %[[FIRST]] {
// CHECK:                 rmsnorm.grid_wait
// CHECK:                 rmsnorm.launch_dependents
// CHECK:                 rmsnorm.global_load %[[X]]
// CHECK:                 rmsnorm.barrier
// CHECK:                 rmsnorm.global_store %{{.*}}, %[[Y]]
// CHECK:             } else {
// CHECK:               rmsnorm.grid_wait
// CHECK:               rmsnorm.launch_dependents
// CHECK:               scf.for %{{.*}} = %[[OTHER]] to %[[M]] step %[[REST]] {
// CHECK:                 rmsnorm.global_load %[[X]]
// CHECK:                 rmsnorm.global_store %{{.*}}, %[[Z]]
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        gpu.return
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK:         func.func @f(%[[A:.*]]: memref<?x8xbf16> {{.*}}, %[[B:.*]]: memref<?x8xbf16> {{.*}}, %[[C:.*]]: memref<?x8xbf16> {{.*}}, %[[ROWS:[a-z0-9]*]]: index
// CHECK:           %[[LIMIT:.*]] = arith.constant 33554431 : index
// CHECK:           %[[BLOCKS:.*]] = arith.minui %[[ROWS]], %[[LIMIT]] : index
// CHECK:           %[[LESS:.*]] = arith.constant 100 : index
// CHECK:           %[[MORE:.*]] = arith.minui %[[ROWS]], %[[LESS]] : index
// CHECK:           %[[SUM:.*]] = arith.addi %[[BLOCKS]], %[[MORE]] : index
// CHECK:           %[[ATONCE:.*]] = arith.constant 1056 : index
// CHECK-NEXT:      %[[TIMES:.*]] = arith.divui %[[SUM]], %[[ATONCE]] : index
// CHECK-NEXT:      %[[MANY:.*]] = arith.minui %[[TIMES]], %{{.*}} : index
// CHECK-NEXT:      %[[BITS:.*]] = arith.constant 2147483648 : index
// CHECK-NEXT:      %[[SCALED:.*]] = arith.muli %[[MORE]], %[[BITS]] : index
// CHECK-DAG:       %[[TAKEN:.*]] = arith.muli %[[SCALED]], %[[MANY]] : index
// CHECK-DAG:       %[[NONE:.*]] = arith.maxui %[[SUM]], %{{.*}} : index
// CHECK:           %[[PART:.*]] = arith.ceildivui %[[TAKEN]], %[[NONE]] : index
// CHECK:           %[[BYTES:.*]] = arith.constant 32 : i32
// CHECK-NEXT:      gpu.launch_func @kernels::@f_waves_g8_and_g4 blocks in (%[[SUM]], %{{.*}}) threads in (%{{.*}}) dynamic_shared_memory_size %[[BYTES]] args(%{{.*}} : !llvm.ptr<1>, %{{.*}} : !llvm.ptr<1>, %[[ROWS]] : index, %[[BLOCKS]] : index, %[[PART]] : index, %{{.*}} : !llvm.ptr<1>) {rmsnorm.programmatic_dependent_launch}
// CHECK-NOT:       gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @f_waves_g8(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %b = gpu.block_id x
      %g = gpu.grid_dim x
      scf.for %i = %b to %m step %g {
        %row = arith.index_cast %i : index to i64
        rmsnorm.grid_wait
        rmsnorm.launch_dependents
        %v = rmsnorm.global_load %x[%row, %c0] alignment(16) : vector<8xbf16>
        rmsnorm.barrier
        rmsnorm.global_store %v, %y[%row, %c0] alignment(16) : vector<8xbf16>
      }
      gpu.return
    }
    gpu.func @f_waves_g4(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %b = gpu.block_id x
      %g = gpu.grid_dim x
      rmsnorm.grid_wait
      rmsnorm.launch_dependents
      scf.for %i = %b to %m step %g {
        %row = arith.index_cast %i : index to i64
        %v = rmsnorm.global_load %x[%row, %c0] alignment(16) : vector<8xbf16>
        rmsnorm.global_store %v, %y[%row, %c0] alignment(16) : vector<8xbf16>
      }
      gpu.return
    }
  }
  func.func @f(%a: memref<?x8xbf16> {rmsnorm.role = "input"}, %b: memref<?x8xbf16> {rmsnorm.role = "output"}, %c: memref<?x8xbf16> {rmsnorm.role = "output"}, %m: index) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %pa = rmsnorm.buffer_pointer %a : memref<?x8xbf16>
    %pb = rmsnorm.buffer_pointer %b : memref<?x8xbf16>
    gpu.launch_func @kernels::@f_waves_g8 blocks in (%m, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %c32 args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>, %m : index) {rmsnorm.programmatic_dependent_launch}
    %pa2 = rmsnorm.buffer_pointer %a : memref<?x8xbf16>
    %pc = rmsnorm.buffer_pointer %c : memref<?x8xbf16>
    %c100 = arith.constant 100 : index
    %few = arith.minui %m, %c100 : index
    gpu.launch_func @kernels::@f_waves_g4 blocks in (%few, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %c8 args(%pa2 : !llvm.ptr<1>, %pc : !llvm.ptr<1>, %m : index) {rmsnorm.programmatic_dependent_launch}
    return
  }
}

// -----

// What may be merged, by the memory that kernels touch. All are launches of one
// kernel that reads x and writes y.
module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<sim "sim32">] {
    // Others still launch it.
    // CHECK: gpu.func @copy(
    gpu.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %b = gpu.block_id x
      %row = arith.index_cast %b : index to i64
      %v = rmsnorm.global_load %x[%row, %c0] alignment(4) : vector<1xf32>
      rmsnorm.global_store %v, %y[%row, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
    gpu.func @many(%x: !llvm.ptr<1>, %i0: index, %i1: index, %i2: index, %i3: index, %i4: index, %i5: index, %i6: index, %i7: index, %i8: index, %i9: index, %i10: index, %i11: index, %i12: index, %i13: index, %i14: index, %i15: index, %i16: index, %i17: index, %i18: index, %i19: index, %i20: index, %i21: index, %i22: index, %i23: index, %i24: index, %i25: index, %i26: index, %i27: index, %i28: index, %i29: index, %i30: index, %i31: index, %i32: index, %i33: index, %i34: index, %i35: index, %i36: index, %i37: index, %i38: index, %i39: index, %i40: index, %i41: index, %i42: index, %i43: index, %i44: index, %i45: index, %i46: index, %i47: index, %i48: index, %i49: index, %i50: index, %i51: index, %i52: index, %i53: index, %i54: index, %i55: index, %i56: index, %i57: index, %i58: index, %i59: index, %i60: index, %i61: index, %i62: index, %i63: index) kernel {
      %c0 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      %v = rmsnorm.global_load %x[%c0_i64, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
    // CHECK: gpu.func @touch(
    gpu.func @touch(%x: !llvm.ptr<1>, %m: index) kernel {
      %c0 = arith.constant 0 : i32
      %cst = arith.constant dense<0.0> : vector<1xf32>
      scf.for %i = %m to %m step %m {
        %b = gpu.block_id x
        %row = arith.index_cast %b : index to i64
        rmsnorm.global_store %cst, %x[%row, %c0] alignment(4) : vector<1xf32>
      }
      gpu.return
    }
  }

  // They share nothing that is read: one after the other.
  // CHECK:      gpu.func @copy_and_copy(%{{.*}}: !llvm.ptr<1>, %[[FIRST:.*]]: index, %{{.*}}: !llvm.ptr<1>)
  // CHECK-NEXT:   %[[BLOCK:.*]] = gpu.block_id x
  // CHECK-NEXT:   %[[GRID:.*]] = gpu.grid_dim x
  // CHECK-NEXT:   arith.subi %[[GRID]], %[[FIRST]] : index
  // CHECK-NEXT:   %[[HERE:.*]] = arith.cmpi ult, %[[BLOCK]], %[[FIRST]] : index
  // CHECK-NEXT:   %[[OTHER:.*]] = arith.subi %[[BLOCK]], %[[FIRST]] : index
  // CHECK-NEXT:   scf.if %[[HERE]] {
  // CHECK:          arith.index_cast %[[BLOCK]] : index to i64
  // CHECK:        } else {
  // CHECK:          arith.index_cast %[[OTHER]] : index to i64

  // In place, on two of three slices of one buffer.
  // CHECK-LABEL: func.func @slices
  // CHECK:         gpu.launch_func @kernels::@copy_and_copy
  // CHECK-NOT:     gpu.launch_func
  func.func @slices(%a: memref<?x48x128xf32> {rmsnorm.role = "inout"}, %m: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %q = memref.subview %a[0, 0, 0] [%m, 32, 128] [1, 1, 1] : memref<?x48x128xf32> to memref<?x32x128xf32, strided<[6144, 128, 1]>>
    %pq = rmsnorm.buffer_pointer %q : memref<?x32x128xf32, strided<[6144, 128, 1]>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pq : !llvm.ptr<1>, %pq : !llvm.ptr<1>)
    %k = memref.subview %a[0, 32, 0] [%m, 8, 128] [1, 1, 1] : memref<?x48x128xf32> to memref<?x8x128xf32, strided<[6144, 128, 1], offset: 4096>>
    %pk = rmsnorm.buffer_pointer %k : memref<?x8x128xf32, strided<[6144, 128, 1], offset: 4096>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pk : !llvm.ptr<1>, %pk : !llvm.ptr<1>)
    return
  }

  // Slices of a view that is made twice.
  // CHECK-LABEL: func.func @slices_of_views
  // CHECK:         gpu.launch_func @kernels::@copy_and_copy
  // CHECK-NOT:     gpu.launch_func
  func.func @slices_of_views(%a: memref<16x6144xf32>, %m: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %v = memref.expand_shape %a [[0], [1, 2]] output_shape [16, 48, 128] : memref<16x6144xf32> into memref<16x48x128xf32>
    %q = memref.subview %v[0, 0, 0] [16, 32, 128] [1, 1, 1] : memref<16x48x128xf32> to memref<16x32x128xf32, strided<[6144, 128, 1]>>
    %pq = rmsnorm.buffer_pointer %q : memref<16x32x128xf32, strided<[6144, 128, 1]>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pq : !llvm.ptr<1>, %pq : !llvm.ptr<1>)
    %w = memref.expand_shape %a [[0], [1, 2]] output_shape [16, 48, 128] : memref<16x6144xf32> into memref<16x48x128xf32>
    %k = memref.subview %w[0, 32, 0] [16, 8, 128] [1, 1, 1] : memref<16x48x128xf32> to memref<16x8x128xf32, strided<[6144, 128, 1], offset: 4096>>
    %pk = rmsnorm.buffer_pointer %k : memref<16x8x128xf32, strided<[6144, 128, 1], offset: 4096>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pk : !llvm.ptr<1>, %pk : !llvm.ptr<1>)
    return
  }

  // Slices that meet, and ones of which nobody knows.
  // CHECK-LABEL: func.func @overlap
  // CHECK-COUNT-3: gpu.launch_func @kernels::@copy blocks
  func.func @overlap(%a: memref<16x48xf32> {rmsnorm.role = "inout"}, %m: index, %o: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %q = memref.subview %a[0, 0] [16, 33] [1, 1] : memref<16x48xf32> to memref<16x33xf32, strided<[48, 1]>>
    %pq = rmsnorm.buffer_pointer %q : memref<16x33xf32, strided<[48, 1]>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pq : !llvm.ptr<1>, %pq : !llvm.ptr<1>)
    %k = memref.subview %a[0, 32] [16, 8] [1, 1] : memref<16x48xf32> to memref<16x8xf32, strided<[48, 1], offset: 32>>
    %pk = rmsnorm.buffer_pointer %k : memref<16x8xf32, strided<[48, 1], offset: 32>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pk : !llvm.ptr<1>, %pk : !llvm.ptr<1>)
    %n = memref.subview %a[0, %o] [16, 8] [1, 1] : memref<16x48xf32> to memref<16x8xf32, strided<[48, 1], offset: ?>>
    %pn = rmsnorm.buffer_pointer %n : memref<16x8xf32, strided<[48, 1], offset: ?>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pn : !llvm.ptr<1>, %pn : !llvm.ptr<1>)
    return
  }

  // A slice of twelve, which are made of two columns and of parts of four: the
  // second of its elements is a second column.
  // CHECK-LABEL: func.func @other_digits
  // CHECK-COUNT-2: gpu.launch_func @kernels::@copy blocks
  func.func @other_digits(%a: memref<9x4x2xf32> {rmsnorm.role = "inout"}, %m: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %flat = memref.collapse_shape %a [[0, 1, 2]] : memref<9x4x2xf32> into memref<72xf32>
    %twelve = memref.expand_shape %flat [[0, 1]] output_shape [6, 12] : memref<72xf32> into memref<6x12xf32>
    %q = memref.subview %twelve[0, 2] [6, 2] [1, 1] : memref<6x12xf32> to memref<6x2xf32, strided<[12, 1], offset: 2>>
    %pq = rmsnorm.buffer_pointer %q : memref<6x2xf32, strided<[12, 1], offset: 2>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pq : !llvm.ptr<1>, %pq : !llvm.ptr<1>)
    %k = memref.subview %a[0, 0, 1] [9, 4, 1] [1, 1, 1] : memref<9x4x2xf32> to memref<9x4x1xf32, strided<[8, 2, 1], offset: 1>>
    %pk = rmsnorm.buffer_pointer %k : memref<9x4x1xf32, strided<[8, 2, 1], offset: 1>>
    gpu.launch_func @kernels::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pk : !llvm.ptr<1>, %pk : !llvm.ptr<1>)
    return
  }

  // The second reads what the first writes, the third writes what the second
  // reads, the fourth what the third writes.
  // CHECK-LABEL: func.func @dependent
  // CHECK-COUNT-4: gpu.launch_func @kernels::@copy blocks
  func.func @dependent(%a: memref<8xf32> {rmsnorm.role = "inout"}, %b: memref<8xf32> {rmsnorm.role = "output"}, %c: memref<8xf32> {rmsnorm.role = "output"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pc : !llvm.ptr<1>, %pa : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pc : !llvm.ptr<1>, %pa : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pb : !llvm.ptr<1>, %pa : !llvm.ptr<1>)
    return
  }

  // In somebody else's function arguments may be anything, but memory that is
  // allocated is new.
  // CHECK-LABEL: func.func @theirs
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy_and_copy
  // CHECK-NOT:     gpu.launch_func
  func.func @theirs(%a: memref<8xf32>, %b: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    %c = memref.alloc() : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    %d = memref.alloc() : memref<8xf32>
    %pd = rmsnorm.buffer_pointer %d : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pb : !llvm.ptr<1>, %pd : !llvm.ptr<1>)
    return
  }

  // What has an effect stays between them.
  // CHECK-LABEL: func.func @between
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         memref.store
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         scf.if
  // CHECK:           gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @other::@foreign
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  func.func @between(%c: i1, %v: f32) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %a = memref.alloc() : memref<8xf32>
    %b = memref.alloc() : memref<8xf32>
    %d = memref.alloc() : memref<8xf32>
    %e = memref.alloc() : memref<8xf32>
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pd = rmsnorm.buffer_pointer %d : memref<8xf32>
    %pe = rmsnorm.buffer_pointer %e : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    memref.store %v, %a[%c1] : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pd : !llvm.ptr<1>, %pe : !llvm.ptr<1>)
    scf.if %c {
      gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    }
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pd : !llvm.ptr<1>, %pe : !llvm.ptr<1>)
    gpu.launch_func @other::@foreign blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    return
  }

  // Each is unlike the next in one way: threads of a block, a grid by the device,
  // clusters, a kernel that looks where it is in the middle of its work, a start
  // before the end of the others.
  // CHECK-LABEL: func.func @unlike
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy clusters
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@touch blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK-NOT:     gpu.launch_func
  func.func @unlike(%a: memref<8xf32> {rmsnorm.role = "input"}, %b: memref<8xf32> {rmsnorm.role = "output"}, %c: memref<8xf32> {rmsnorm.role = "output"}, %d: memref<8xf32> {rmsnorm.role = "output"}, %e: memref<8xf32> {rmsnorm.role = "output"}, %f: memref<8xf32> {rmsnorm.role = "output"}, %g: memref<8xf32> {rmsnorm.role = "output"}, %h: memref<8xf32> {rmsnorm.role = "output"}, %i: memref<8xf32> {rmsnorm.role = "output"}, %j: memref<8xf32> {rmsnorm.role = "output"}, %k: memref<8xf32> {rmsnorm.role = "output"}, %l: memref<8xf32> {rmsnorm.role = "output"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %count = rmsnorm.multiprocessor_count
    %few = arith.subi %count, %c1 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    %pd = rmsnorm.buffer_pointer %d : memref<8xf32>
    %pe = rmsnorm.buffer_pointer %e : memref<8xf32>
    %pf = rmsnorm.buffer_pointer %f : memref<8xf32>
    %pg = rmsnorm.buffer_pointer %g : memref<8xf32>
    %ph = rmsnorm.buffer_pointer %h : memref<8xf32>
    %pi = rmsnorm.buffer_pointer %i : memref<8xf32>
    %pj = rmsnorm.buffer_pointer %j : memref<8xf32>
    %pk = rmsnorm.buffer_pointer %k : memref<8xf32>
    %pl = rmsnorm.buffer_pointer %l : memref<8xf32>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%few, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pd : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pe : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pf : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pg : !llvm.ptr<1>)
    gpu.launch_func @kernels::@touch blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%ph : !llvm.ptr<1>, %c1 : index)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pi : !llvm.ptr<1>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%pa : !llvm.ptr<1>, %pl : !llvm.ptr<1>) {rmsnorm.programmatic_dependent_launch}
    return
  }

  // No more parameters than a module's launch takes.
  // CHECK-LABEL: func.func @parameters
  // CHECK-COUNT-2: gpu.launch_func @kernels::@many blocks
  func.func @parameters(%a: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    gpu.launch_func @kernels::@many blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index)
    gpu.launch_func @kernels::@many blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index, %c1 : index)
    return
  }

  // Eight at most.
  // CHECK-LABEL: func.func @nine
  // CHECK:         gpu.launch_func @kernels::@copy_and_copy_and_copy_and_copy_and_copy_and_copy_and_copy_and_copy blocks
  // CHECK:         gpu.launch_func @kernels::@copy blocks
  // CHECK-NOT:     gpu.launch_func
  func.func @nine(%a: memref<9x8xf32> {rmsnorm.role = "inout"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %s0 = memref.subview %a[0, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1]>>
    %p0 = rmsnorm.buffer_pointer %s0 : memref<8xf32, strided<[1]>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p0 : !llvm.ptr<1>, %p0 : !llvm.ptr<1>)
    %s1 = memref.subview %a[1, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 8>>
    %p1 = rmsnorm.buffer_pointer %s1 : memref<8xf32, strided<[1], offset: 8>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p1 : !llvm.ptr<1>, %p1 : !llvm.ptr<1>)
    %s2 = memref.subview %a[2, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 16>>
    %p2 = rmsnorm.buffer_pointer %s2 : memref<8xf32, strided<[1], offset: 16>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p2 : !llvm.ptr<1>, %p2 : !llvm.ptr<1>)
    %s3 = memref.subview %a[3, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 24>>
    %p3 = rmsnorm.buffer_pointer %s3 : memref<8xf32, strided<[1], offset: 24>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p3 : !llvm.ptr<1>, %p3 : !llvm.ptr<1>)
    %s4 = memref.subview %a[4, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 32>>
    %p4 = rmsnorm.buffer_pointer %s4 : memref<8xf32, strided<[1], offset: 32>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p4 : !llvm.ptr<1>, %p4 : !llvm.ptr<1>)
    %s5 = memref.subview %a[5, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 40>>
    %p5 = rmsnorm.buffer_pointer %s5 : memref<8xf32, strided<[1], offset: 40>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p5 : !llvm.ptr<1>, %p5 : !llvm.ptr<1>)
    %s6 = memref.subview %a[6, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 48>>
    %p6 = rmsnorm.buffer_pointer %s6 : memref<8xf32, strided<[1], offset: 48>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p6 : !llvm.ptr<1>, %p6 : !llvm.ptr<1>)
    %s7 = memref.subview %a[7, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 56>>
    %p7 = rmsnorm.buffer_pointer %s7 : memref<8xf32, strided<[1], offset: 56>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p7 : !llvm.ptr<1>, %p7 : !llvm.ptr<1>)
    %s8 = memref.subview %a[8, 0] [1, 8] [1, 1] : memref<9x8xf32> to memref<8xf32, strided<[1], offset: 64>>
    %p8 = rmsnorm.buffer_pointer %s8 : memref<8xf32, strided<[1], offset: 64>>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p8 : !llvm.ptr<1>, %p8 : !llvm.ptr<1>)
    return
  }
  gpu.module @other {
    gpu.func @foreign() kernel {
      gpu.return
    }
  }
}

// -----

// A weight that both read is in the caches anyway, and of more than three parts
// none take turns.
// CHECK-LABEL: gpu.module @no_turns
// CHECK-NOT:     arith.mului_extended
// CHECK-LABEL: func.func @weight
// CHECK:         gpu.launch_func @no_turns::@copy_and_copy blocks
// CHECK-LABEL: func.func @four
// CHECK:         gpu.launch_func @no_turns::@copy_and_copy_and_copy_and_copy blocks
module attributes {gpu.container_module} {
  gpu.module @no_turns [#rmsnorm.target<sim "sim32">] {
    gpu.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %b = gpu.block_id x
      %row = arith.index_cast %b : index to i64
      %v = rmsnorm.global_load %x[%row, %c0] alignment(4) : vector<1xf32>
      rmsnorm.global_store %v, %y[%row, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
  }
  func.func @weight(%a: memref<8xf32> {rmsnorm.role = "input"}, %b: memref<8xf32> {rmsnorm.role = "output"}, %c: memref<8xf32> {rmsnorm.role = "output"}, %m: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    return
  }
  func.func @four(%a: memref<?x1xf32> {rmsnorm.role = "input"}, %b: memref<?x1xf32> {rmsnorm.role = "output"}, %c: memref<?x1xf32> {rmsnorm.role = "output"}, %d: memref<?x1xf32> {rmsnorm.role = "output"}, %e: memref<?x1xf32> {rmsnorm.role = "output"}, %m: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<?x1xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<?x1xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<?x1xf32>
    %pd = rmsnorm.buffer_pointer %d : memref<?x1xf32>
    %pe = rmsnorm.buffer_pointer %e : memref<?x1xf32>
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pd : !llvm.ptr<1>)
    gpu.launch_func @no_turns::@copy blocks in (%m, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pe : !llvm.ptr<1>)
    return
  }
}

// -----

// As few blocks are to share a multiprocessor as any part wants; one, if a part
// does not say.
module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<sim "sim32">] {
    // CHECK: gpu.func @three_and_two({{.*}} attributes {{{.*}}rmsnorm.min_blocks = 2 : i64
    // CHECK: gpu.func @three_and_any({{.*}} attributes {{{.*}}rmsnorm.min_blocks = 1 : i64
    gpu.func @three(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {rmsnorm.min_blocks = 3 : i64} {
      %c0 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      %v = rmsnorm.global_load %x[%c0_i64, %c0] alignment(4) : vector<1xf32>
      rmsnorm.global_store %v, %y[%c0_i64, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
    gpu.func @two(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {rmsnorm.min_blocks = 2 : i64} {
      %c0 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      %v = rmsnorm.global_load %x[%c0_i64, %c0] alignment(4) : vector<1xf32>
      rmsnorm.global_store %v, %y[%c0_i64, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
    gpu.func @any(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {
      %c0 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      %v = rmsnorm.global_load %x[%c0_i64, %c0] alignment(4) : vector<1xf32>
      rmsnorm.global_store %v, %y[%c0_i64, %c0] alignment(4) : vector<1xf32>
      gpu.return
    }
  }
  func.func @fewest(%a: memref<8xf32> {rmsnorm.role = "input"}, %b: memref<8xf32> {rmsnorm.role = "output"}, %c: memref<8xf32> {rmsnorm.role = "output"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    gpu.launch_func @kernels::@three blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @kernels::@two blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    return
  }
  func.func @not_said(%a: memref<8xf32> {rmsnorm.role = "input"}, %b: memref<8xf32> {rmsnorm.role = "output"}, %c: memref<8xf32> {rmsnorm.role = "output"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32>
    %pb = rmsnorm.buffer_pointer %b : memref<8xf32>
    %pc = rmsnorm.buffer_pointer %c : memref<8xf32>
    gpu.launch_func @kernels::@three blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pb : !llvm.ptr<1>)
    gpu.launch_func @kernels::@any blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%pa : !llvm.ptr<1>, %pc : !llvm.ptr<1>)
    return
  }
}

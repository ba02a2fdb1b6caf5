// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-variants --split-input-file | FileCheck %s

// Two kernels: the addresses decide.
// CHECK-LABEL: func @addresses
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<?x64xf32>
func.func @addresses(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32>
  // CHECK-DAG: %[[PX:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK-DAG: %[[PY:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
  // CHECK: %[[BITS:.*]] = arith.ori %[[PX]], %[[PY]] : index
  // CHECK-NOT: arith.ori
  // CHECK: %[[MASK:.*]] = arith.constant 15 : index
  // CHECK: %[[LOW:.*]] = arith.andi %[[BITS]], %[[MASK]]
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[LOW]]
  // CHECK: {{^    }}scf.if %[[IS]] {
  // CHECK-NOT: alignment = 1{{[,>]}}
  // CHECK: {{^    }}} else {
  // CHECK: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<{{.*}}vector_width = 4, alignment = 1{{[,>]}}
  // CHECK: return
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What is known to be aligned needs no branch: allocations, packed rows.
memref.global "private" constant @weight : memref<64xf32> = dense<2.0> {alignment = 64 : i64}
// CHECK-LABEL: func @known
func.func @known(%m: index) {
  %x = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
  %w = memref.get_global @weight : memref<64xf32>
  // CHECK-NOT: arith.andi
  // CHECK-NOT: alignment = 1{{[,>]}}
  // CHECK: return
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, read %w : memref<64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %w1 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      %p = arith.mulf %v, %w1 : vector<1x64xf32>
      rmsnorm.tile_store tile %p, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A view of bytes has an address of its own.
// CHECK-LABEL: func @bytes
func.func @bytes(%first: index) {
  %x = memref.alloc() {alignment = 64 : i64} : memref<4096xi8>
  %v = memref.view %x[%first][] : memref<4096xi8> to memref<8x64xf32>
  // CHECK: memref.extract_aligned_pointer_as_index
  // CHECK: scf.if
  rmsnorm.rows sizes [8] columns(64) buffers(update %v : memref<8x64xf32>) {
  ^bb0(%X: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %l = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %l, %X[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Never aligned: an odd offset, rows of an odd distance.
// CHECK-LABEL: func @never
func.func @never(%x: memref<8x64xf32, strided<[512, 1], offset: 3>>, %y: memref<8x64xf32, strided<[65, 1]>>) {
  // CHECK-NOT: scf.if
  // CHECK: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<{{.*}}alignment = 1>)
  // CHECK: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<{{.*}}alignment = 1>)
  // CHECK-NOT: rmsnorm.rows
  // CHECK: return
  rmsnorm.rows sizes [8] columns(64) buffers(update %x : memref<8x64xf32, strided<[512, 1], offset: 3>>) {
  ^bb0(%X: memref<8x64xf32, strided<[512, 1], offset: 3>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32, strided<[512, 1], offset: 3>> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xf32>, memref<8x64xf32, strided<[512, 1], offset: 3>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [8] columns(64) buffers(update %y : memref<8x64xf32, strided<[65, 1]>>) {
  ^bb0(%X: memref<8x64xf32, strided<[65, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32, strided<[65, 1]>> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xf32>, memref<8x64xf32, strided<[65, 1]>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Offset and stride are known at a call; the stride of one row says nothing.
// CHECK-LABEL: func @strided
func.func @strided(%x: memref<?x64xbf16, strided<[?, 1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xbf16, strided<[?, 1], offset: ?>>
  // CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
  // CHECK: %[[BYTES:.*]] = arith.muli %[[OFFSET]], %c2
  // CHECK: %[[OR:.*]] = arith.ori %[[P]], %[[BYTES]]
  // CHECK: %[[MORE:.*]] = arith.subi %[[SIZES]]#0, %c1
  // CHECK: %[[ONE:.*]] = arith.minui %[[MORE]], %c1
  // CHECK: %[[STRIDE:.*]] = arith.muli %[[ONE]], %[[STRIDES]]#0
  // CHECK: %[[BYTES1:.*]] = arith.muli %[[STRIDE]], %c2
  // CHECK: arith.ori %[[OR]], %[[BYTES1]]
  // CHECK: scf.if
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xbf16, strided<[?, 1], offset: ?>>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1], offset: ?>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> vector<1x64xbf16>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xbf16>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Few rows want another schedule than many.
// CHECK-LABEL: func @classes
func.func @classes(%m: index) {
  %x = memref.alloc(%m) {alignment = 64 : i64} : memref<?x2048xbf16>
  // CHECK: %[[IS_FEW:.*]] = arith.cmpi ule, %arg0, %{{.*}}
  // CHECK: scf.if %[[IS_FEW]] {
  // CHECK-NEXT: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<[[FEW:[^>]*]]>)
  // CHECK: } else {
  // CHECK-NOT: schedule(#rmsnorm.schedule<[[FEW]]>)
  // CHECK: return
  rmsnorm.rows sizes [%m] columns(2048) buffers(update %x : memref<?x2048xbf16>) {
  ^bb0(%M: index, %X: memref<?x2048xbf16>):
    %c = arith.constant dense<2.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x2048xbf16> -> vector<1x2048xbf16>
      %e = arith.extf %v : vector<1x2048xbf16> to vector<1x2048xf32>
      %s = rmsnorm.row_reduce add(%e) : vector<1x2048xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x2048xf32>
      %p = arith.mulf %e, %b : vector<1x2048xf32>
      %r = arith.truncf %p : vector<1x2048xf32> to vector<1x2048xbf16>
      rmsnorm.tile_store tile %r, %X[%t] : vector<1x2048xbf16>, memref<?x2048xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A schedule that is given is guarded, too, and its alignment is ours to say.
// CHECK-LABEL: func @given
func.func @given(%x: memref<8x64xf32>) {
  // CHECK: scf.if
  // CHECK-NEXT: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 32, vector_width = 2>)
  // CHECK: } else {
  // CHECK-NEXT: rmsnorm.rows {{.*}} schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 32, vector_width = 2, alignment = 1>)
  rmsnorm.rows sizes [8] columns(64) buffers(update %x : memref<8x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 32, vector_width = 2>) {
  ^bb0(%X: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %X[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// So do narrow ones where N is known only at a call. N may be odd: then threads
// side by side access elements side by side.
// CHECK-LABEL: func @columns
// CHECK-SAME: %{{.*}}: memref<?x?xbf16>, %[[N:.*]]: index
func.func @columns(%x: memref<?x?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x?xbf16>
  // CHECK: memref.extract_strided_metadata
  // CHECK: arith.muli %sizes#1, %c2
  // CHECK: arith.andi %{{.*}}, %c15
  // CHECK: scf.if
  // CHECK: arith.cmpi ule, %[[N]], %c[[#LAST:]]
  // CHECK-NEXT: scf.if
  // CHECK-NOT: rmsnorm.rows
  // CHECK: rmsnorm.rows sizes [%{{.*}}] columns([[#LAST]], %[[N]]) {{.*}}vector_width = 8
  // CHECK: rmsnorm.rows {{.*}} columns(1073741824, %[[N]])
  // CHECK: } else {
  // CHECK: %[[REST:.*]] = arith.remui %[[N]], %c8
  // CHECK: %[[WHOLE:.*]] = arith.cmpi ule, %[[REST]], %c0
  // CHECK: scf.if %[[WHOLE]]
  // CHECK: rmsnorm.rows {{.*}} columns([[#LAST]], %[[N]]) {{.*}}vector_width = 8, alignment = 1
  // CHECK: rmsnorm.rows {{.*}} columns(1073741824, %[[N]]) {{.*}}vector_width = 8, {{.*}}alignment = 1
  // CHECK: } else {
  // CHECK: rmsnorm.rows {{.*}} columns([[#LAST]], %[[N]]) {{.*}}vector_width = 1, alignment = 1
  // CHECK: rmsnorm.rows {{.*}} columns(1073741824, %[[N]]) {{.*}}vector_width = 1, {{.*}}alignment = 1
  rmsnorm.rows sizes [%m] columns(1073741824, %n) buffers(update %x : memref<?x?xbf16>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xbf16>):
    %c = arith.constant dense<2.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x?xbf16> -> vector<1x1073741824xbf16>
      %e = arith.extf %v : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
      %s = rmsnorm.row_reduce add(%e) : vector<1x1073741824xf32> -> vector<1x1xf32>
      %b = vector.broadcast %s : vector<1x1xf32> to vector<1x1073741824xf32>
      %p = arith.mulf %e, %b : vector<1x1073741824xf32>
      %r = arith.truncf %p : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
      rmsnorm.tile_store tile %r, %X[%t] : vector<1x1073741824xbf16>, memref<?x?xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Programs that may become one launch are guarded together: in each branch they
// stand beside one another, those for few rows where both have few.
// CHECK-LABEL: func @together
func.func @together(%x: memref<?x64xf32>, %z: memref<?x64xf32>, %m: index, %n: index) {
  %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
  // CHECK-DAG: %[[PX:.*]] = memref.extract_aligned_pointer_as_index %arg0
  // CHECK-DAG: %[[PZ:.*]] = memref.extract_aligned_pointer_as_index %arg1
  // CHECK: arith.ori %[[PX]], %[[PZ]] : index
  // CHECK: {{^    }}scf.if
  // CHECK-DAG: %[[IS_FEW:.*]] = arith.cmpi ule, %arg2
  // CHECK-DAG: %[[AS_FEW:.*]] = arith.cmpi ule, %arg3
  // CHECK: %[[IS:.*]] = arith.andi %[[IS_FEW]], %[[AS_FEW]]
  // CHECK: scf.if %[[IS]] {
  // CHECK-NEXT: rmsnorm.rows sizes [%arg2]
  // CHECK-NOT: alignment = 1{{[,>]}}
  // CHECK: rmsnorm.rows sizes [%arg3]
  // CHECK-NOT: alignment = 1{{[,>]}}
  // CHECK: {{^    }}} else {
  // CHECK: rmsnorm.rows sizes [%arg2] {{.*}}alignment = 1
  // CHECK: rmsnorm.rows sizes [%arg3] {{.*}}alignment = 1
  // CHECK: return
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = arith.mulf %v, %v : vector<1x64xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
      %w = arith.mulf %v, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  %u = memref.alloc(%n) {alignment = 64 : i64} : memref<?x64xf32>
  rmsnorm.rows sizes [%n] columns(64) buffers(read %z : memref<?x64xf32>, write %u : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %s = arith.mulf %v, %v : vector<1x64xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
      %w = arith.mulf %v, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// One number of rows decides for both programs, two do together: a class has no
// more rows of either.
// CHECK-LABEL: func @classes
func.func @classes(%m: index, %n: index) {
  %x = memref.alloc(%m) {alignment = 64 : i64} : memref<?x8192xf32>
  %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x8192xf32>
  %z = memref.alloc(%m) {alignment = 64 : i64} : memref<?x8192xf32>
  %u = memref.alloc(%m) {alignment = 64 : i64} : memref<?x8192xf32>
  %p = memref.alloc(%n) {alignment = 64 : i64} : memref<?x8192xf32>
  %q = memref.alloc(%n) {alignment = 64 : i64} : memref<?x8192xf32>
  %c1 = arith.constant 1 : index
  // CHECK: %[[IS:.*]] = arith.cmpi ule, %arg0, %{{.*}} : index
  // CHECK: scf.if %[[IS]] {
  // CHECK-NEXT: rmsnorm.rows {{.*}} columns(8192)
  // CHECK: rmsnorm.rows {{.*}} columns(8192)
  // CHECK: } else {
  // CHECK-NOT: arith.cmpi ule, %arg1
  // CHECK: rmsnorm.rows {{.*}} columns(8192)
  // CHECK: rmsnorm.rows {{.*}} columns(8192)
  // CHECK: memref.store
  // CHECK: %[[IS_FEW:.*]] = arith.cmpi ule, %arg0
  // CHECK: %[[AS_FEW:.*]] = arith.cmpi ule, %arg1
  // CHECK: %[[BOTH:.*]] = arith.andi %[[IS_FEW]], %[[AS_FEW]]
  // CHECK: scf.if %[[BOTH]]
  // CHECK-NEXT: rmsnorm.rows {{.*}} columns(8192)
  // CHECK: rmsnorm.rows {{.*}} columns(8192)
  rmsnorm.rows sizes [%m] columns(8192) buffers(read %x : memref<?x8192xf32>, write %y : memref<?x8192xf32>) {
  ^bb0(%M: index, %X: memref<?x8192xf32>, %Y: memref<?x8192xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x8192xf32> -> vector<1x8192xf32>
      %s = arith.mulf %v, %v : vector<1x8192xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x8192xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x8192xf32>
      %w = arith.mulf %v, %b : vector<1x8192xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x8192xf32>, memref<?x8192xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [%m] columns(8192) buffers(read %z : memref<?x8192xf32>, write %u : memref<?x8192xf32>) {
  ^bb0(%M: index, %X: memref<?x8192xf32>, %Y: memref<?x8192xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x8192xf32> -> vector<1x8192xf32>
      %s = arith.mulf %v, %v : vector<1x8192xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x8192xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x8192xf32>
      %w = arith.mulf %v, %b : vector<1x8192xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x8192xf32>, memref<?x8192xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %x[%c1, %c1] : memref<?x8192xf32>
  rmsnorm.rows sizes [%m] columns(8192) buffers(read %x : memref<?x8192xf32>, write %y : memref<?x8192xf32>) {
  ^bb0(%M: index, %X: memref<?x8192xf32>, %Y: memref<?x8192xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x8192xf32> -> vector<1x8192xf32>
      %s = arith.mulf %v, %v : vector<1x8192xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x8192xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x8192xf32>
      %w = arith.mulf %v, %b : vector<1x8192xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x8192xf32>, memref<?x8192xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [%n] columns(8192) buffers(read %p : memref<?x8192xf32>, write %q : memref<?x8192xf32>) {
  ^bb0(%M: index, %X: memref<?x8192xf32>, %Y: memref<?x8192xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<?x8192xf32> -> vector<1x8192xf32>
      %s = arith.mulf %v, %v : vector<1x8192xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x8192xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x8192xf32>
      %w = arith.mulf %v, %b : vector<1x8192xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x8192xf32>, memref<?x8192xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Each alone: the second reads what the first writes, the third could not have
// 16 bytes.
// CHECK-LABEL: func @apart
func.func @apart(%x: memref<8x64xf32>) {
  %y = memref.alloc() : memref<8x64xf32>
  %z = memref.alloc() : memref<8x64xf32>
  %u = memref.alloc() : memref<8x63xf32>
  %o = memref.alloc() : memref<8x63xf32>
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK-NOT: scf.if
  // CHECK: rmsnorm.rows {{.*}} columns(63)
  rmsnorm.rows sizes [8] columns(64) buffers(read %x : memref<8x64xf32>, write %y : memref<8x64xf32>) {
  ^bb0(%X: memref<8x64xf32>, %Y: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      %s = arith.mulf %v, %v : vector<1x64xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
      %w = arith.mulf %v, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [8] columns(64) buffers(read %y : memref<8x64xf32>, write %z : memref<8x64xf32>) {
  ^bb0(%X: memref<8x64xf32>, %Y: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x64xf32> -> vector<1x64xf32>
      %s = arith.mulf %v, %v : vector<1x64xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x64xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x64xf32>
      %w = arith.mulf %v, %b : vector<1x64xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x64xf32>, memref<8x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  rmsnorm.rows sizes [8] columns(63) buffers(read %u : memref<8x63xf32>, write %o : memref<8x63xf32>) {
  ^bb0(%X: memref<8x63xf32>, %Y: memref<8x63xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %v = rmsnorm.tile_load tile %X[%t] : memref<8x63xf32> -> vector<1x63xf32>
      %s = arith.mulf %v, %v : vector<1x63xf32>
      %r = rmsnorm.row_reduce add(%s) : vector<1x63xf32> -> vector<1x1xf32>
      %b = vector.broadcast %r : vector<1x1xf32> to vector<1x63xf32>
      %w = arith.mulf %v, %b : vector<1x63xf32>
      rmsnorm.tile_store tile %w, %Y[%t] : vector<1x63xf32>, memref<8x63xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Row r and group k of the scales that tensor cores read: [r / 128, k / 4, r % 32,
// r / 32 % 4, k % 4]. Of the threads that share a group one stores it. There are no
// more rows than the buffer has, whatever the other ones have.
// CHECK-LABEL: gpu.func @swizzled
// CHECK: %[[C:.*]] = arith.muli %{{.*}}, %c4_i32 : i32
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[R32:.*]] = arith.remui %[[ROW]], %c32 : index
// CHECK: %[[Q32:.*]] = arith.divui %[[ROW]], %c32 : index
// CHECK: %[[D2:.*]] = arith.muli %[[R32]], %c16 : index
// CHECK: %[[R4:.*]] = arith.remui %[[Q32]], %c4 : index
// CHECK: %[[Q4:.*]] = arith.divui %[[Q32]], %c4 : index
// CHECK: %[[D3:.*]] = arith.muli %[[R4]], %c4 : index
// CHECK: %[[D23:.*]] = arith.addi %[[D2]], %[[D3]] : index
// CHECK: %[[D0:.*]] = arith.muli %[[Q4]], %c1024 : index
// CHECK: %[[D:.*]] = arith.addi %[[D23]], %[[D0]] : index
// CHECK: %[[OFFSET:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: %[[SUM:.*]] = rmsnorm.subgroup_reduce add %{{.*}} width(8) : f32
// CHECK: %[[OWNER:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK: %[[VALUE:.*]] = vector.broadcast %[[SUM]] : f32 to vector<1xf32>
// CHECK: %[[GROUP:.*]] = arith.divui %[[C]], %c32_i32 : i32
// CHECK: %[[G4:.*]] = arith.remui %[[GROUP]], %c4_i32 : i32
// CHECK: %[[H4:.*]] = arith.divui %[[GROUP]], %c4_i32 : i32
// CHECK: %[[I4:.*]] = arith.index_castui %[[G4]] : i32 to index
// CHECK: %[[L4:.*]] = arith.index_cast %[[I4]] : index to i64
// CHECK: %[[A:.*]] = arith.addi %[[OFFSET]], %[[L4]] : i64
// CHECK: %[[I1:.*]] = arith.index_castui %[[H4]] : i32 to index
// CHECK: %[[D1:.*]] = arith.muli %[[I1]], %c512 : index
// CHECK: %[[L1:.*]] = arith.index_cast %[[D1]] : index to i64
// CHECK: %[[B:.*]] = arith.addi %[[A]], %[[L1]] : i64
// CHECK: rmsnorm.global_store %[[VALUE]], %{{.*}}[%[[B]], %c0_i32] valid(%[[OWNER]]) alignment(4) : vector<1xf32>

// Rows counted over the leading sizes, groups in between; the two of a vector lie
// apart. A row that does not exist has none.
// CHECK-LABEL: gpu.func @small
// CHECK-SAME: (%{{.*}}: index, %{{.*}}: index, %[[T:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[S0:.*]]: index, %{{.*}}: !llvm.ptr<1>, %[[S1:.*]]: index, %{{.*}}: !llvm.ptr<1>)
// CHECK: %[[T64:.*]] = arith.index_castui %[[T]] : index to i64
// CHECK: arith.mului_extended
// CHECK: arith.cmpi uge, %{{.*}}, %[[T64]] : i64
// CHECK: %[[RB64:.*]] = arith.addi %{{.*}} : i64
// CHECK: %[[RT64:.*]] = arith.select %{{.*}} : i64
// CHECK: %[[RB:.*]] = arith.index_castui %[[RB64]] : i64 to index
// CHECK: %[[RT:.*]] = arith.index_castui %[[RT64]] : i64 to index
// CHECK: %[[D0:.*]] = arith.muli %[[RB]], %[[S0]] : index
// CHECK: %[[D:.*]] = arith.addi %[[RT]], %[[D0]] : index
// CHECK: %[[OFFSET:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: %[[VALID:.*]] = arith.select %{{.*}}, %c2_i32, %c0_i32 : i32
// CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %c2_i32 : i32
// CHECK: %[[I:.*]] = arith.index_castui %[[GROUP]] : i32 to index
// CHECK: %[[M:.*]] = arith.muli %[[I]], %[[S1]] : index
// CHECK: %[[L:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[A:.*]] = arith.addi %[[OFFSET]], %[[L]] : i64
// CHECK: rmsnorm.global_store %{{.*}}, %{{.*}}[%[[A]], %c0_i32] valid(%[[VALID]]) alignment(4) : vector<1xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %[[VALID]], %c1_i32 : i32
// CHECK: %[[STEP:.*]] = arith.index_cast %[[S1]] : index to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[A]], %[[STEP]] : i64
// CHECK: rmsnorm.global_store %{{.*}}, %{{.*}}[%[[NEXT]], %c0_i32] valid(%[[LEFT]]) alignment(4) : vector<1xf32>

// The groups of a thread's second vector are 4 after those of its first: one
// product of the thread's own for both.
// CHECK-LABEL: gpu.func @transposed
// CHECK-SAME: (%{{.*}}: index, %{{.*}}: !llvm.ptr<1>, %[[S0:.*]]: index, %[[S:.*]]: !llvm.ptr<1>)
// CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %c32_i32 : i32
// CHECK: %[[I:.*]] = arith.index_castui %[[GROUP]] : i32 to index
// CHECK: %[[M:.*]] = arith.muli %[[I]], %[[S0]] : index
// CHECK: %[[L:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[A:.*]] = arith.addi %{{.*}}, %[[L]] : i64
// CHECK: rmsnorm.global_store %{{.*}}, %[[S]][%[[A]], %c0_i32] {{.*}} : vector<1xf32>
// CHECK-NOT: arith.divui
// CHECK: %[[M:.*]] = arith.muli %[[S0]], %c4 : index
// CHECK: %[[L:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[B:.*]] = arith.addi %[[A]], %[[L]] : i64
// CHECK: rmsnorm.global_store %{{.*}}, %[[S]][%[[B]], %c0_i32] {{.*}} : vector<1xf32>

// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %{{.*}}: memref<?x256xf32>, %[[S:[a-z0-9]*]]: memref<?x2x32x4x4xf32>)
// CHECK: %[[TILES:.*]] = memref.dim %[[S]], %c0 : memref<?x2x32x4x4xf32>
// CHECK: %[[MOST:.*]] = arith.muli %[[TILES]], %c128 : index
// CHECK: %[[ROWS:.*]] = arith.minui %[[M]], %[[MOST]] : index
// CHECK: gpu.launch_func {{.*}} args(%[[ROWS]] : index,
func.func @swizzled(%m: index, %x: memref<?x256xf32>, %s: memref<?x2x32x4x4xf32>) {
  rmsnorm.rows sizes [%m] columns [8, 32]
      buffers(read %x : memref<?x256xf32>, write %s : memref<?x2x32x4x4xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x256xf32>, %S: memref<?x2x32x4x4xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x256xf32> -> vector<1x8x32xf32>
        %1 = rmsnorm.group_reduce add(%0) : vector<1x8x32xf32> -> vector<1x8x1xf32>
        rmsnorm.tile_store group %1, %S[%k] map(r, g) -> (r floordiv 128, g floordiv 4, r mod 32, (r floordiv 32) mod 4, g mod 4) : vector<1x8x1xf32>, memref<?x2x32x4x4xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @small(%b: index, %t: index, %x: memref<?x?x256xf32>, %s: memref<?x128x?xf32, strided<[?, ?, 1]>>) {
  rmsnorm.rows sizes [%b, %t] columns [128, 2]
      buffers(read %x : memref<?x?x256xf32>, write %s : memref<?x128x?xf32, strided<[?, ?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 64, vector_width = 4>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x256xf32>, %S: memref<?x128x?xf32, strided<[?, ?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x?x256xf32> -> vector<2x128x2xf32>
        %1 = rmsnorm.group_reduce add(%0) : vector<2x128x2xf32> -> vector<2x128x1xf32>
        rmsnorm.tile_store group %1, %S[%k] map(r0, r1, g) -> (r0, g, r1) : vector<2x128x1xf32>, memref<?x128x?xf32, strided<[?, ?, 1]>>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

func.func @transposed(%m: index, %x: memref<?x256xf32>, %s: memref<8x?xf32>) {
  rmsnorm.rows sizes [%m] columns [8, 32]
      buffers(read %x : memref<?x256xf32>, write %s : memref<8x?xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x256xf32>, %S: memref<8x?xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x256xf32> -> vector<1x8x32xf32>
        %1 = rmsnorm.group_reduce add(%0) : vector<1x8x32xf32> -> vector<1x8x1xf32>
        rmsnorm.tile_store group %1, %S[%k] map(r, g) -> (g, r) : vector<1x8x1xf32>, memref<8x?xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

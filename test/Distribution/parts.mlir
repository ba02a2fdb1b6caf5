// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Halves of a row are vectors of one thread, and what is beside a half begins
// where the thread's first vector does: no value moves between threads.
// CHECK-LABEL: gpu.func @halves
// CHECK: %[[C:.*]] = arith.muli %{{.*}}, %c4_i32 : i32
// CHECK: %[[C1:.*]] = arith.addi %[[C]], %c32_i32 overflow<nsw, nuw> : i32
// CHECK: %[[LO:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %[[C]]] alignment(16) : vector<4xf32>
// CHECK: %[[HI:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %[[C1]]] alignment(16) : vector<4xf32>
// CHECK: %[[COS:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %[[C]]] alignment(16) : vector<4xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[HI]], %[[COS]] : vector<4xf32>
// CHECK: rmsnorm.global_store %[[P]], %{{.*}}[%{{.*}}, %[[C]]] valid(%{{.*}}) alignment(16) : vector<4xf32>
// CHECK: rmsnorm.global_store %[[LO]], %{{.*}}[%{{.*}}, %[[C1]]] valid(%{{.*}}) alignment(16) : vector<4xf32>
func.func @halves(%x: memref<?x64xf32>, %cos: memref<?x32xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 32]
      buffers(update %x : memref<?x64xf32>, read %cos : memref<?x32xf32>)
      schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 8, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %C: memref<?x32xf32>):
    %zero = arith.constant dense<0.0> : vector<4x2x32xf32>
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x64xf32> -> vector<4x2x32xf32>
        %1 = rmsnorm.tile_load tile %C[%k] : memref<?x32xf32> -> vector<4x1x32xf32>
        %2 = rmsnorm.take %0 at [0, 0] : vector<4x2x32xf32> -> vector<4x1x32xf32>
        %3 = rmsnorm.take %0 at [1, 0] : vector<4x2x32xf32> -> vector<4x1x32xf32>
        %4 = arith.mulf %3, %1 : vector<4x1x32xf32>
        %5 = rmsnorm.put %4, %zero at [0, 0] : vector<4x1x32xf32>, vector<4x2x32xf32>
        %6 = rmsnorm.put %2, %5 at [1, 0] : vector<4x1x32xf32>, vector<4x2x32xf32>
        rmsnorm.tile_store tile %6, %X[%k] : vector<4x2x32xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Of pairs of columns side by side each half is in one vector, and half as wide
// are those of what is beside it.
// CHECK-LABEL: gpu.func @pairs
// CHECK: %[[X:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %{{.*}}] alignment(16) : vector<4xf32>
// CHECK: %[[C:.*]] = arith.muli %{{.*}}, %c2_i32 : i32
// CHECK: %[[COS:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %[[C]]] alignment(8) : vector<2xf32>
// CHECK-DAG: %[[EVEN:.*]] = vector.shuffle %[[X]], %[[X]] [0, 2] : vector<4xf32>, vector<4xf32>
// CHECK-DAG: %[[ODD:.*]] = vector.shuffle %[[X]], %[[X]] [1, 3] : vector<4xf32>, vector<4xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[ODD]], %[[COS]] : vector<2xf32>
// CHECK: %[[Y:.*]] = vector.interleave %[[P]], %[[EVEN]] : vector<2xf32>
// CHECK: rmsnorm.global_store %[[Y]],
func.func @pairs(%x: memref<?x64xf32>, %cos: memref<?x32xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns [32, 2]
      buffers(update %x : memref<?x64xf32>, read %cos : memref<?x32xf32>)
      schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %C: memref<?x32xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x64xf32> -> vector<2x32x2xf32>
        %1 = rmsnorm.tile_load tile %C[%k] : memref<?x32xf32> -> vector<2x32x1xf32>
        %2 = rmsnorm.take %0 at [0, 0] : vector<2x32x2xf32> -> vector<2x32x1xf32>
        %3 = rmsnorm.take %0 at [0, 1] : vector<2x32x2xf32> -> vector<2x32x1xf32>
        %4 = arith.mulf %3, %1 : vector<2x32x1xf32>
        %a = rmsnorm.put %4, %0 at [0, 0] : vector<2x32x1xf32>, vector<2x32x2xf32>
        %5 = rmsnorm.put %2, %a at [0, 1] : vector<2x32x1xf32>, vector<2x32x2xf32>
        rmsnorm.tile_store tile %5, %X[%k] : vector<2x32x2xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Three of four indices of a digit that threads share: the others read and store
// nothing of that, and keep what they have.
// CHECK-LABEL: gpu.func @in_place
// CHECK: %[[LO:.*]] = rmsnorm.global_load %[[X:.*]][%{{.*}}, %[[C:.*]]] alignment(16) : vector<4xf32>
// CHECK: %[[HI:.*]] = rmsnorm.global_load %[[X]][%{{.*}}, %[[C1:.*]]] alignment(16) : vector<4xf32>
// CHECK: %[[OWN:.*]] = arith.addi %[[C]], %c-4_i32 : i32
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[OWN]], %c12_i32 : i32
// CHECK: %[[COUNT:.*]] = arith.select %[[IS]], %c4_i32, %c0_i32 : i32
// CHECK: %[[AT:.*]] = arith.select %[[IS]], %[[OWN]], %c0_i32 : i32
// CHECK: %[[T:.*]] = rmsnorm.global_load %{{.*}}[%{{.*}}, %[[AT]]] valid(%[[COUNT]]) alignment(16) : vector<4xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[T]], %[[LO]] : vector<4xf32>
// CHECK: %[[R:.*]] = arith.select %[[IS]], %[[P]], %[[HI]] : vector<4xf32>
// CHECK: rmsnorm.global_store %[[LO]], %[[X]][%{{.*}}, %[[C]]]
// CHECK: rmsnorm.global_store %[[R]], %[[X]][%{{.*}}, %[[C1]]] valid(%[[LIVE:.*]]) alignment(16) : vector<4xf32>
// CHECK: %[[OWNS:.*]] = arith.select %[[IS]], %[[LIVE]], %c0_i32 : i32
// CHECK: rmsnorm.global_store %[[P]], %{{.*}}[%{{.*}}, %[[AT]]] valid(%[[OWNS]]) alignment(16) : vector<4xf32>
func.func @in_place(%x: memref<?x32xf32>, %t: memref<?x12xf32>, %y: memref<?x12xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 4, 4]
      buffers(update %x : memref<?x32xf32>, read %t : memref<?x12xf32>, write %y : memref<?x12xf32>)
      schedule(#rmsnorm.schedule<row_groups = 8, threads_per_row = 4, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x32xf32>, %T: memref<?x12xf32>, %Y: memref<?x12xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x32xf32> -> vector<8x2x4x4xf32>
        %1 = rmsnorm.take %0 at [0, 0, 0] : vector<8x2x4x4xf32> -> vector<8x1x4x4xf32>
        %2 = rmsnorm.take %0 at [1, 0, 0] : vector<8x2x4x4xf32> -> vector<8x1x4x4xf32>
        %3 = rmsnorm.tile_load tile %T[%k] : memref<?x12xf32> -> vector<8x1x3x4xf32>
        %4 = rmsnorm.take %1 at [0, 1, 0] : vector<8x1x4x4xf32> -> vector<8x1x3x4xf32>
        %5 = arith.mulf %3, %4 : vector<8x1x3x4xf32>
        %6 = rmsnorm.put %5, %2 at [0, 1, 0] : vector<8x1x3x4xf32>, vector<8x1x4x4xf32>
        %7 = rmsnorm.put %6, %0 at [1, 0, 0] : vector<8x1x4x4xf32>, vector<8x2x4x4xf32>
        rmsnorm.tile_store tile %7, %X[%k] : vector<8x2x4x4xf32>, memref<?x32xf32>
        rmsnorm.tile_store tile %5, %Y[%k] : vector<8x1x3x4xf32>, memref<?x12xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

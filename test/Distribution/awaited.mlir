// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute | FileCheck %s

// A keep after per-column operands waits for all vectors that a thread has of
// them: bits of each, in one number.
// CHECK: gpu.func @awaited_multi_wave_cached_g1u1t256v8f2a16(
// CHECK-SAME: %{{[a-z0-9]*}}: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[W:[a-z0-9]*]]: !llvm.ptr<1>,
// CHECK: %[[X0:.*]] = rmsnorm.global_load %[[X]]
// CHECK: %[[X1:.*]] = rmsnorm.global_load %[[X]]
// CHECK: %[[W0:.*]] = rmsnorm.global_load %[[W]]
// CHECK: %[[W1:.*]] = rmsnorm.global_load %[[W]]
// CHECK: %[[E0:.*]] = vector.extract %[[W0]][0] : bf16
// CHECK: %[[I0:.*]] = arith.bitcast %[[E0]] : bf16 to i16
// CHECK: %[[B0:.*]] = arith.extui %[[I0]] : i16 to i32
// CHECK: %[[E1:.*]] = vector.extract %[[W1]][0] : bf16
// CHECK: %[[I1:.*]] = arith.bitcast %[[E1]] : bf16 to i16
// CHECK: %[[B1:.*]] = arith.extui %[[I1]] : i16 to i32
// CHECK: %[[ALL:.*]] = arith.ori %[[B0]], %[[B1]] : i32
// CHECK: %[[BITS:.*]] = vector.broadcast %[[ALL]] : i32 to vector<1xi32>
// CHECK: rmsnorm.keep %[[X0]] after %[[BITS]] : vector<8xbf16>, vector<1xi32>
// CHECK: rmsnorm.keep %[[X1]] after %[[BITS]] : vector<8xbf16>, vector<1xi32>
// CHECK: gpu.return
func.func @awaited(%x: memref<?x4096xbf16>, %w: memref<4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096)
      buffers(read %x : memref<?x4096xbf16>, read %w : memref<4096xbf16>, write %y : memref<?x4096xbf16>)
      schedule(#rmsnorm.schedule<threads_per_row = 256, vector_width = 8, column_operands = awaited>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %W: memref<4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0:3 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
        %2 = rmsnorm.tile_load column %W : memref<4096xbf16> -> vector<1x4096xbf16>
        %3 = rmsnorm.keep %1 after %2 : vector<1x4096xbf16>, vector<1x4096xbf16>
        %4 = arith.extf %3 : vector<1x4096xbf16> to vector<1x4096xf32>
        rmsnorm.yield %4, %1, %2 : vector<1x4096xf32>, vector<1x4096xbf16>, vector<1x4096xbf16>
      } -> vector<1x1xf32>, vector<1x4096xbf16>, vector<1x4096xbf16>
      rmsnorm.traverse unrolled {
        %1 = arith.extf %0#1 : vector<1x4096xbf16> to vector<1x4096xf32>
        %2 = arith.extf %0#2 : vector<1x4096xbf16> to vector<1x4096xf32>
        %3 = vector.broadcast %0#0 : vector<1x1xf32> to vector<1x4096xf32>
        %4 = arith.mulf %1, %3 : vector<1x4096xf32>
        %5 = arith.mulf %4, %2 : vector<1x4096xf32>
        %6 = arith.truncf %5 : vector<1x4096xf32> to vector<1x4096xbf16>
        rmsnorm.tile_store tile %6, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-distribute --canonicalize --cse | FileCheck %s

// Rows are found by any sum of digits: an offset, a factor, a digit that is not
// the innermost, a row of one of three tables, and stored in another order.
// CHECK-LABEL: gpu.func @maps
// CHECK-SAME:  %[[S:[a-z0-9]*]]: index, %[[I:[a-z0-9]*]]: !llvm.ptr<1>, %[[T0:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: !llvm.ptr<1>, %[[P:[a-z0-9]*]]: !llvm.ptr<1>, %[[H:[a-z0-9]*]]: !llvm.ptr<1>, %[[T:[a-z0-9]*]]: !llvm.ptr<1>, %[[Y:[a-z0-9]*]]: !llvm.ptr<1>
// CHECK:       scf.for %[[ROW:.*]] =
// CHECK:       %[[R1:.*]] = arith.remui %[[ROW]], %c6 : index
// CHECK:       %[[R0:.*]] = arith.divui %[[ROW]], %c6 : index
// CHECK:       %[[R1C:.*]] = arith.muli %[[R1]], %c64 : index
// CHECK:       %[[R06:.*]] = arith.muli %[[R0]], %c384 : index
// CHECK:       %[[PX:.*]] = arith.addi %[[R1C]], %c128 : index
// CHECK:       %[[PO:.*]] = arith.index_cast %[[PX]] : index to i64
// CHECK:       %[[HALF:.*]] = arith.divui %[[R1]], %c3 : index
// CHECK:       %[[HC:.*]] = arith.muli %[[HALF]], %c64 : index
// CHECK:       %[[HX:.*]] = arith.addi %[[HC]], %[[R06]] : index
// CHECK:       %[[HO:.*]] = arith.index_cast %[[HX]] : index to i64
// CHECK:       %[[YS:.*]] = arith.muli %[[R1]], %[[S]] : index
// CHECK:       %[[YC:.*]] = arith.muli %[[R0]], %c64 : index
// CHECK:       %[[YX:.*]] = arith.addi %[[YS]], %[[YC]] : index
// CHECK:       %[[YO:.*]] = arith.index_cast %[[YX]] : index to i64
// CHECK:       rmsnorm.global_load %[[I]]
// CHECK:       %[[ID:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:       %[[TC:.*]] = arith.muli %[[ID]], %c64 : index
// CHECK:       %[[T2:.*]] = arith.muli %[[T0]], %c2 : index
// CHECK:       %[[TX:.*]] = arith.addi %[[TC]], %[[T2]] : index
// CHECK:       %[[TO:.*]] = arith.index_cast %[[TX]] : index to i64
// CHECK:       rmsnorm.global_load %[[P]][%[[PO]],
// CHECK:       rmsnorm.global_load %[[H]][%[[HO]],
// CHECK:       rmsnorm.global_load %[[T]][%[[TO]],
// CHECK:       rmsnorm.global_store %{{.*}}, %[[Y]][%[[YO]],

func.func @maps(%b: index, %x: memref<?x6x64xf32>, %p: memref<9x64xf32>, %h: memref<?x2x64xf32>, %i: memref<?xi32>, %t: memref<3x?x64xf32>, %y: memref<6x?x64xf32>) {
  rmsnorm.rows sizes [%b, 6] columns(64)
      buffers(read %x : memref<?x6x64xf32>, read %p : memref<9x64xf32>, read %h : memref<?x2x64xf32>, read %i : memref<?xi32>, read %t : memref<3x?x64xf32>, write %y : memref<6x?x64xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4>) {
  ^bb0(%B: index, %X: memref<?x6x64xf32>, %P: memref<9x64xf32>, %H: memref<?x2x64xf32>, %I: memref<?xi32>, %T: memref<3x?x64xf32>, %Y: memref<6x?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %i0 = rmsnorm.tile_load row %I[%k] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
      %i1 = arith.index_cast %i0 : vector<1x1xi32> to vector<1x1xindex>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%k] : memref<?x6x64xf32> -> vector<1x64xf32>
        %1 = rmsnorm.tile_load tile %P[%k] map(r0, r1, c) -> (r1 + 2, c) : memref<9x64xf32> -> vector<1x64xf32>
        %2 = rmsnorm.tile_load tile %H[%k] map(r0, r1, c) -> (r0 * 3, r1 floordiv 3, c) : memref<?x2x64xf32> -> vector<1x64xf32>
        %3 = rmsnorm.tile_load tile %T at(%i1 : vector<1x1xindex>) map(c)[i] -> (2, i, c) : memref<3x?x64xf32> -> vector<1x64xf32>
        %4 = arith.addf %0, %1 : vector<1x64xf32>
        %5 = arith.addf %4, %2 : vector<1x64xf32>
        %6 = arith.addf %5, %3 : vector<1x64xf32>
        rmsnorm.tile_store tile %6, %Y[%k] map(r0, r1, c) -> (r1, r0, c) : vector<1x64xf32>, memref<6x?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

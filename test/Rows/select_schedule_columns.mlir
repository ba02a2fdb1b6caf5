// Of rows of dynamic size the threads follow the most columns that there will
// be, which the types say then: a thread can hold its part of such a row.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=768 | FileCheck %s --check-prefix=HALF
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s --check-prefix=SIXTEEN
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=1536 | FileCheck %s --check-prefix=ONE
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=1537 | FileCheck %s --check-prefix=TWO
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=3072 | FileCheck %s --check-prefix=TWO
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=6144 | FileCheck %s --check-prefix=FOUR
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=12288 | FileCheck %s --check-prefix=EIGHT
// HALF: columns(768, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 32, vector_width = 8, cache = reload
// ONE: columns(1536, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<row_groups = 4, threads_per_row = 32, vector_width = 8>)
// ONE: rmsnorm.tile_load {{.*}} -> vector<1x1536xbf16>
// ONE: arith.constant dense<1.000000e+00> : vector<1x1536xf32>
// ONE: rmsnorm.row_reduce {{.*}} : vector<1x1536xf32> -> vector<1x1xf32>
// ONE: rmsnorm.tile_store {{.*}} : vector<1x1536xbf16>
// TWO: schedule<threads_per_row = 64, vector_width = 8>
// FOUR: schedule<threads_per_row = 128, vector_width = 8>
// EIGHT: schedule<threads_per_row = 256, vector_width = 8, cache = reload
// SIXTEEN: columns(1073741824, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<threads_per_row = 512, vector_width = 8, cache = reload
func.func @dynamic(%x: memref<?x?xbf16, strided<[?, 1]>>, %y: memref<?x?xbf16, strided<[?, 1]>>, %m: index, %n: index) {
  rmsnorm.rows sizes [%m] columns(1073741824, %n)
      buffers(read %x : memref<?x?xbf16, strided<[?, 1]>>, write %y : memref<?x?xbf16, strided<[?, 1]>>) {
  ^bb0(%M: index, %N: index, %X: memref<?x?xbf16, strided<[?, 1]>>, %Y: memref<?x?xbf16, strided<[?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xbf16, strided<[?, 1]>> -> vector<1x1073741824xbf16>
      %1 = arith.extf %0 : vector<1x1073741824xbf16> to vector<1x1073741824xf32>
      %one = arith.constant dense<1.0> : vector<1x1073741824xf32>
      %2 = arith.mulf %1, %one : vector<1x1073741824xf32>
      %3 = rmsnorm.row_reduce add(%2) : vector<1x1073741824xf32> -> vector<1x1xf32>
      %4 = vector.broadcast %3 : vector<1x1xf32> to vector<1x1073741824xf32>
      %5 = arith.mulf %1, %4 : vector<1x1073741824xf32>
      %6 = arith.truncf %5 : vector<1x1073741824xf32> to vector<1x1073741824xbf16>
      rmsnorm.tile_store tile %6, %Y[%t] : vector<1x1073741824xbf16>, memref<?x?xbf16, strided<[?, 1]>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

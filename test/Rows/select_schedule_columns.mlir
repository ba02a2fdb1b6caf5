// Of rows of dynamic size the threads follow the most columns that there will
// be, which the types say then: a thread can hold its part of such a row.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=1024 | FileCheck %s --check-prefix=ONE
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=columns=1537 | FileCheck %s --check-prefix=TWO
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s --check-prefix=ANY
// ONE: columns(1024, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8>)
// ONE: rmsnorm.tile_load {{.*}} -> vector<1x1024xbf16>
// ONE: arith.constant dense<1.000000e+00> : vector<1x1024xf32>
// ONE: rmsnorm.row_reduce {{.*}} : vector<1x1024xf32> -> vector<1x1xf32>
// ONE: rmsnorm.tile_store {{.*}} : vector<1x1024xbf16>
// TWO: columns(1537, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8
// ANY: columns(1073741824, %{{.*}}) {{.*}} schedule(#rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = reload
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

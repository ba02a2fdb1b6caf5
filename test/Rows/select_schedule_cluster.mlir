// Rows that registers do not hold are in the workgroup memory of a cluster where
// there are any; elsewhere they are read again, or one block holds them.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,CLUSTER
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_100 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,CLUSTER
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,ALONE
// RUN: norm-opt %s --rmsnorm-attach-target=target=gfx942 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,ALONE

// CHECK-LABEL: func.func @n65536(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 8, cache = {{reload|shared}}>
func.func @n65536(%x: memref<?x65536xbf16>, %y: memref<?x65536xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(65536) buffers(read %x : memref<?x65536xbf16>, write %y : memref<?x65536xbf16>) {
  ^bb0(%M: index, %X: memref<?x65536xbf16>, %Y: memref<?x65536xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x65536xbf16> -> vector<1x65536xbf16>
      %1 = arith.extf %0 : vector<1x65536xbf16> to vector<1x65536xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x65536xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x65536xf32>
      %4 = arith.mulf %1, %3 : vector<1x65536xf32>
      %5 = arith.truncf %4 : vector<1x65536xf32> to vector<1x65536xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x65536xbf16>, memref<?x65536xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @n131072(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = shared, cluster = {{[0-9]+}}>
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 8, cache = {{reload|shared}}>
func.func @n131072(%x: memref<?x131072xbf16>, %y: memref<?x131072xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(131072) buffers(read %x : memref<?x131072xbf16>, write %y : memref<?x131072xbf16>) {
  ^bb0(%M: index, %X: memref<?x131072xbf16>, %Y: memref<?x131072xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x131072xbf16> -> vector<1x131072xbf16>
      %1 = arith.extf %0 : vector<1x131072xbf16> to vector<1x131072xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x131072xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x131072xf32>
      %4 = arith.mulf %1, %3 : vector<1x131072xf32>
      %5 = arith.truncf %4 : vector<1x131072xf32> to vector<1x131072xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x131072xbf16>, memref<?x131072xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @n262144(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = shared, cluster = {{[0-9]+}}>
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 8, cache = {{reload|shared}}>
func.func @n262144(%x: memref<?x262144xbf16>, %y: memref<?x262144xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(262144) buffers(read %x : memref<?x262144xbf16>, write %y : memref<?x262144xbf16>) {
  ^bb0(%M: index, %X: memref<?x262144xbf16>, %Y: memref<?x262144xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x262144xbf16> -> vector<1x262144xbf16>
      %1 = arith.extf %0 : vector<1x262144xbf16> to vector<1x262144xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x262144xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x262144xf32>
      %4 = arith.mulf %1, %3 : vector<1x262144xf32>
      %5 = arith.truncf %4 : vector<1x262144xf32> to vector<1x262144xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x262144xbf16>, memref<?x262144xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @n524288(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = shared, cluster = {{[0-9]+}}>
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 8, cache = {{reload|shared}}>
func.func @n524288(%x: memref<?x524288xbf16>, %y: memref<?x524288xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(524288) buffers(read %x : memref<?x524288xbf16>, write %y : memref<?x524288xbf16>) {
  ^bb0(%M: index, %X: memref<?x524288xbf16>, %Y: memref<?x524288xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x524288xbf16> -> vector<1x524288xbf16>
      %1 = arith.extf %0 : vector<1x524288xbf16> to vector<1x524288xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x524288xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x524288xf32>
      %4 = arith.mulf %1, %3 : vector<1x524288xf32>
      %5 = arith.truncf %4 : vector<1x524288xf32> to vector<1x524288xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x524288xbf16>, memref<?x524288xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @n262144_f32(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 4, cache = shared, cluster = {{[0-9]+}}>
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 4, cache = reload>
func.func @n262144_f32(%x: memref<?x262144xf32>, %y: memref<?x262144xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(262144) buffers(read %x : memref<?x262144xf32>, write %y : memref<?x262144xf32>) {
  ^bb0(%M: index, %X: memref<?x262144xf32>, %Y: memref<?x262144xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x262144xf32> -> vector<1x262144xf32>
      %2 = rmsnorm.row_reduce add(%0) : vector<1x262144xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x262144xf32>
      %4 = arith.mulf %0, %3 : vector<1x262144xf32>
      rmsnorm.tile_store tile %4, %Y[%t] : vector<1x262144xf32>, memref<?x262144xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// CHECK-LABEL: func.func @n131077(
// CLUSTER: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 1, {{(cache = shared, )?}}cluster = {{[0-9]+}}>
// ALONE: #rmsnorm.schedule<threads_per_row = {{512|1024}}, vector_width = 1, cache = reload>
func.func @n131077(%x: memref<?x131077xf16>, %y: memref<?x131077xf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(131077) buffers(read %x : memref<?x131077xf16>, write %y : memref<?x131077xf16>) {
  ^bb0(%M: index, %X: memref<?x131077xf16>, %Y: memref<?x131077xf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x131077xf16> -> vector<1x131077xf16>
      %1 = arith.extf %0 : vector<1x131077xf16> to vector<1x131077xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x131077xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x131077xf32>
      %4 = arith.mulf %1, %3 : vector<1x131077xf32>
      %5 = arith.truncf %4 : vector<1x131077xf32> to vector<1x131077xf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x131077xf16>, memref<?x131077xf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

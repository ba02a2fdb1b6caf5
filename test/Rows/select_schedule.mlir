// The choice, apart from its execution: what the selector says for a shape. How
// many threads it takes is a matter of measurements (test/Schedule).
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,NV
// RUN: norm-opt %s --rmsnorm-attach-target=target=gfx942 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: norm-opt %s --rmsnorm-attach-target=target=sim:gfx942 --rmsnorm-select-schedule | FileCheck %s --check-prefixes=CHECK,AMD
// Few wide rows are shared by clusters, where there are any; a static number of rows is a fact.
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=rows=1 | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: norm-opt %s --rmsnorm-attach-target=target=gfx942 --rmsnorm-select-schedule=rows=1 | FileCheck %s --check-prefixes=CHECK,AMD-FEW
// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 \
// RUN:   --rmsnorm-select-schedule="schedule=multi_wave_cached,threads_per_row=512 alignment=1" | FileCheck %s --check-prefix=FORCED

// Rows of one subgroup or less are packed.
// CHECK-LABEL: func.func @n128
// NV: #rmsnorm.schedule<row_groups = {{[0-9]+}}, threads_per_row = {{[0-9]+}}, vector_width = 8>
// FEW: #rmsnorm.schedule<row_groups = {{[0-9]+}}, threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD: #rmsnorm.schedule<row_groups = {{[0-9]+}}, threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD-FEW: #rmsnorm.schedule<row_groups = {{[0-9]+}}, threads_per_row = {{[0-9]+}}, vector_width = 8>
func.func @n128(%x: memref<?x128xbf16>, %y: memref<?x128xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xbf16>, write %y : memref<?x128xbf16>) {
  ^bb0(%M: index, %X: memref<?x128xbf16>, %Y: memref<?x128xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<1x128xbf16>
      %1 = arith.extf %0 : vector<1x128xbf16> to vector<1x128xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x128xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x128xf32>
      %4 = arith.mulf %1, %3 : vector<1x128xf32>
      %5 = arith.truncf %4 : vector<1x128xf32> to vector<1x128xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x128xbf16>, memref<?x128xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Two vectors a thread; read again where L1 holds the rows in flight.
// CHECK-LABEL: func.func @n4096
// NV: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8{{(, cluster = [0-9]+)?}}>
// AMD: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD-FEW: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8>
// FORCED-LABEL: func.func @n4096
// FORCED: #rmsnorm.schedule<threads_per_row = 512, vector_width = 8, alignment = 1>
func.func @n4096(%x: memref<?x4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(read %x : memref<?x4096xbf16>, write %y : memref<?x4096xbf16>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
      %1 = arith.extf %0 : vector<1x4096xbf16> to vector<1x4096xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x4096xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x4096xf32>
      %4 = arith.mulf %1, %3 : vector<1x4096xf32>
      %5 = arith.truncf %4 : vector<1x4096xf32> to vector<1x4096xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// A subgroup is not enough, two are: two rows in flight.
// CHECK-LABEL: func.func @n512
// NV: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// AMD: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// AMD-FEW: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
func.func @n512(%x: memref<?x512xbf16>, %y: memref<?x512xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(512) buffers(read %x : memref<?x512xbf16>, write %y : memref<?x512xbf16>) {
  ^bb0(%M: index, %X: memref<?x512xbf16>, %Y: memref<?x512xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x512xbf16> -> vector<1x512xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x512xbf16>, memref<?x512xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Three vectors a thread of one subgroup.
// CHECK-LABEL: func.func @n640
// NV: #rmsnorm.schedule<row_groups = {{[0-9]+}}, threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// AMD: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = {{[48]}}>
func.func @n640(%x: memref<?x640xbf16>, %y: memref<?x640xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(640) buffers(read %x : memref<?x640xbf16>, write %y : memref<?x640xbf16>) {
  ^bb0(%M: index, %X: memref<?x640xbf16>, %Y: memref<?x640xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x640xbf16> -> vector<1x640xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x640xbf16>, memref<?x640xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Two vectors a thread, to the nearest whole subgroup: 513 vectors, 256 threads.
// An access takes one element: that many a thread owns side by side, and what is
// so little is not read again.
// CHECK-LABEL: func.func @n4097
// NV: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 1>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 1
// AMD: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 1>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 1>
func.func @n4097(%x: memref<?x4097xbf16>, %y: memref<?x4097xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4097) buffers(read %x : memref<?x4097xbf16>, write %y : memref<?x4097xbf16>) {
  ^bb0(%M: index, %X: memref<?x4097xbf16>, %Y: memref<?x4097xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4097xbf16> -> vector<1x4097xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x4097xbf16>, memref<?x4097xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Half of the largest block is enough, up to rows of half of L1.
// CHECK-LABEL: func.func @n16384
// NV: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8{{(, cluster = [0-9]+)?}}>
// AMD: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
func.func @n16384(%x: memref<?x16384xbf16>, %y: memref<?x16384xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(16384) buffers(read %x : memref<?x16384xbf16>, write %y : memref<?x16384xbf16>) {
  ^bb0(%M: index, %X: memref<?x16384xbf16>, %Y: memref<?x16384xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x16384xbf16> -> vector<1x16384xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x16384xbf16>, memref<?x16384xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Too wide for registers.
// CHECK-LABEL: func.func @n65536
// NV: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = shared, cluster = {{[0-9]+}}>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8{{(, cache = [a-z]+)?}}, cluster = {{[0-9]+}}>
// AMD: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8, cache = reload>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
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

// A schedule that is there already is kept.
// CHECK-LABEL: func.func @given
// CHECK: #rmsnorm.schedule<threads_per_row = 64, vector_width = 4>
func.func @given(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns(256) buffers(read %x : memref<?x256xf32>, write %y : memref<?x256xf32>) schedule(#rmsnorm.schedule<threads_per_row = 64, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x256xf32>, %Y: memref<?x256xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x256xf32> -> vector<1x256xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x256xf32>, memref<?x256xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// One row for certain: nothing to pack it with.
// CHECK-LABEL: func.func @single_row
// NV: #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>
// FEW: #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>
// AMD: #rmsnorm.schedule<threads_per_row = 64, vector_width = 4>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = 64, vector_width = 4>
func.func @single_row(%x: memref<16xf32>, %y: memref<16xf32>) {
  rmsnorm.rows sizes [1] columns(16) buffers(read %x : memref<16xf32>, write %y : memref<16xf32>) {
  ^bb0(%X: memref<16xf32>, %Y: memref<16xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X : memref<16xf32> -> vector<1x16xf32>
      %1 = rmsnorm.row_reduce add(%0) : vector<1x16xf32> -> vector<1x1xf32>
      %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x16xf32>
      rmsnorm.tile_store tile %2, %Y : vector<1x16xf32>, memref<16xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// Eight rows for certain, whatever the variant is for: few.
// CHECK-LABEL: func.func @static_rows
// NV: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// AMD-FEW: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
func.func @static_rows(%x: memref<8x4096xbf16>, %y: memref<8x4096xbf16>) {
  rmsnorm.rows sizes [8] columns(4096) buffers(read %x : memref<8x4096xbf16>, write %y : memref<8x4096xbf16>) {
  ^bb0(%X: memref<8x4096xbf16>, %Y: memref<8x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<8x4096xbf16> -> vector<1x4096xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x4096xbf16>, memref<8x4096xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

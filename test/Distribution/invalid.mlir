// RUN: norm-opt %s --rmsnorm-distribute --split-input-file --verify-diagnostics

module {
  func.func @no_target(%x: memref<?x128xf32>, %m: index) {
    // expected-error @below {{expected a module with a 'rmsnorm.target' attribute}}
    // expected-note @below {{rmsnorm-attach-target sets it}}
    rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
    ^bb0(%M: index, %X: memref<?x128xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @no_schedule(%x: memref<?x128xf32>, %m: index) {
    // expected-error @below {{expected a schedule}}
    // expected-note @below {{rmsnorm-select-schedule sets it}}
    rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<?x128xf32>) {
    ^bb0(%M: index, %X: memref<?x128xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

// A program runs on an argument of a function.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  %m = arith.constant 7 : index
  %x = memref.alloc() : memref<7x128xf32>
  // expected-error @below {{expected to stand in a function}}
  rmsnorm.rows sizes [%m] columns(128) buffers(read %x : memref<7x128xf32>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<7x128xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @not_carried(%dw: memref<128xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns(128) buffers(write %dw : memref<128xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, blocks_per_sm = 1>) {
    ^bb0(%M: index, %DW: memref<128xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %0 = arith.constant dense<1.0> : vector<1x128xf32>
        // expected-error @below {{expected to be carried by rmsnorm.tiles}}
        // expected-note @below {{rmsnorm-carry-sums makes it so}}
        rmsnorm.accumulate %0 into %DW : vector<1x128xf32> into memref<128xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @not_placed(%x: memref<?x128xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns(128) buffers(update %x : memref<?x128xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
    ^bb0(%M: index, %X: memref<?x128xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        // expected-error @below {{expected per-column work in rmsnorm.traverse}}
        // expected-note @below {{rmsnorm-place-tiles makes it so}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x128xf32> -> vector<1x128xf32>
        rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

// A constant may stand there, what is stored may not.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @store(%x: memref<?x128xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns(128) buffers(write %x : memref<?x128xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
    ^bb0(%M: index, %X: memref<?x128xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %0 = arith.constant dense<1.0> : vector<1x128xf32>
        // expected-error @below {{expected per-column work in rmsnorm.traverse}}
        // expected-note @below {{rmsnorm-place-tiles makes it so}}
        rmsnorm.tile_store tile %0, %X[%t] : vector<1x128xf32>, memref<?x128xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @row_reduce(%x: memref<?xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns(128) buffers(write %x : memref<?xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4>) {
    ^bb0(%M: index, %X: memref<?xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %0 = arith.constant dense<1.0> : vector<1x128xf32>
        // expected-error @below {{expected per-column work in rmsnorm.traverse}}
        // expected-note @below {{rmsnorm-place-tiles makes it so}}
        %1 = rmsnorm.row_reduce add(%0) : vector<1x128xf32> -> vector<1x1xf32>
        rmsnorm.tile_store row %1, %X[%t] : vector<1x1xf32>, memref<?xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

// Three slots of 32768 columns of f32, 128 KiB each.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @too_much_memory(%x: memref<?x32768xf32>, %y: memref<?x32768xf32>, %m: index) {
    // expected-error @below {{expected at most 232448 bytes of workgroup memory on sm_90, got 393216}}
    rmsnorm.rows sizes [%m] columns(32768)
        buffers(read %x : memref<?x32768xf32>, write %y : memref<?x32768xf32>)
        schedule(#rmsnorm.schedule<threads_per_row = 1024, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 3>) {
    ^bb0(%M: index, %X: memref<?x32768xf32>, %Y: memref<?x32768xf32>):
      rmsnorm.tiles copies(%X : memref<?x32768xf32>) stages 3 body {
      ^bb0(%t: index, %xs: !rmsnorm.slot<1x32768xf32>):
        rmsnorm.fetch %xs : !rmsnorm.slot<1x32768xf32>
        rmsnorm.arrive %xs : !rmsnorm.slot<1x32768xf32>
        rmsnorm.traverse chunks {
          %0 = rmsnorm.slot_load %xs : <1x32768xf32> -> vector<1x32768xf32>
          rmsnorm.tile_store tile %0, %Y[%t] : vector<1x32768xf32>, memref<?x32768xf32>
          rmsnorm.yield
        }
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// -----

// A vector of two columns has some of one group of three and some of the next.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @groups_of_three(%x: memref<?x96xf32>, %g: memref<?x32xf32>, %m: index) {
    rmsnorm.rows sizes [%m] columns [4, 2, 4, 3]
        buffers(update %x : memref<?x96xf32>, read %g : memref<?x32xf32>)
        schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 2>) {
    ^bb0(%M: index, %X: memref<?x96xf32>, %G: memref<?x32xf32>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        rmsnorm.traverse unrolled {
          %0 = rmsnorm.tile_load tile %X[%t] : memref<?x96xf32> -> vector<2x4x2x4x3xf32>
          // expected-error @below {{expected groups of columns that vectors of 2 divide, got 'vector<2x4x2x4x1xf32>'}}
          %1 = rmsnorm.tile_load group %G[%t] : memref<?x32xf32> -> vector<2x4x2x4x1xf32>
          %2 = vector.broadcast %1 : vector<2x4x2x4x1xf32> to vector<2x4x2x4x3xf32>
          %3 = arith.mulf %0, %2 : vector<2x4x2x4x3xf32>
          %4 = rmsnorm.take %3 at [0, 1, 0, 0] : vector<2x4x2x4x3xf32> -> vector<2x4x1x4x3xf32>
          %5 = rmsnorm.put %4, %3 at [0, 0, 0, 0] : vector<2x4x1x4x3xf32>, vector<2x4x2x4x3xf32>
          rmsnorm.tile_store tile %5, %X[%t] : vector<2x4x2x4x3xf32>, memref<?x96xf32>
          rmsnorm.yield
        }
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    return
  }
}

// RUN: norm-opt %s --split-input-file --rmsnorm-distribute --verify-diagnostics -o /dev/null

// Tile programs that were edited by hand, or by a fuzzer. They crashed
// rmsnorm-distribute, or it made kernels that are silently wrong. Each ends in a message.

// A tile of other rows than the schedule says: rows past those of all threads
// were never stored.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_8_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 32 rows, as the schedule says, got 'vector<8x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<8x64xbf16>
        %1 = arith.extf %0 : vector<8x64xbf16> to vector<8x64xf32>
        rmsnorm.yield %1, %0 : vector<8x64xf32>, vector<8x64xbf16>
      } -> vector<8x1xf32>, vector<8x64xbf16>
      %r = math.rsqrt %s : vector<8x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<8x64xbf16>, vector<8x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<8x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_20_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 32 rows, as the schedule says, got 'vector<20x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<20x64xbf16>
        %1 = arith.extf %0 : vector<20x64xbf16> to vector<20x64xf32>
        rmsnorm.yield %1, %0 : vector<20x64xf32>, vector<20x64xbf16>
      } -> vector<20x1xf32>, vector<20x64xbf16>
      %r = math.rsqrt %s : vector<20x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<20x64xbf16>, vector<20x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<20x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_33_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 32 rows, as the schedule says, got 'vector<33x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<33x64xbf16>
        %1 = arith.extf %0 : vector<33x64xbf16> to vector<33x64xf32>
        rmsnorm.yield %1, %0 : vector<33x64xf32>, vector<33x64xbf16>
      } -> vector<33x1xf32>, vector<33x64xbf16>
      %r = math.rsqrt %s : vector<33x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<33x64xbf16>, vector<33x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<33x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// Crashed.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_64_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 32 rows, as the schedule says, got 'vector<64x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<64x64xbf16>
        %1 = arith.extf %0 : vector<64x64xbf16> to vector<64x64xf32>
        rmsnorm.yield %1, %0 : vector<64x64xf32>, vector<64x64xbf16>
      } -> vector<64x1xf32>, vector<64x64xbf16>
      %r = math.rsqrt %s : vector<64x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<64x64xbf16>, vector<64x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<64x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// As many as there are row groups, which accumulators may have.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_16_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 32 rows, as the schedule says, got 'vector<16x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<16x64xbf16>
        %1 = arith.extf %0 : vector<16x64xbf16> to vector<16x64xf32>
        rmsnorm.yield %1, %0 : vector<16x64xf32>, vector<16x64xbf16>
      } -> vector<16x1xf32>, vector<16x64xbf16>
      %r = math.rsqrt %s : vector<16x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<16x64xbf16>, vector<16x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<16x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// Crashed: more rows than the schedule, which has one.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @tile_rows_vs_schedule(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 2>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected vectors of 1 or 1 rows, as the schedule says, got 'vector<16x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<16x64xbf16>
        %1 = arith.extf %0 : vector<16x64xbf16> to vector<16x64xf32>
        rmsnorm.yield %1, %0 : vector<16x64xf32>, vector<16x64xbf16>
      } -> vector<16x1xf32>, vector<16x64xbf16>
      %r = math.rsqrt %s : vector<16x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<16x64xbf16>, vector<16x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<16x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// Fewer: only some rows were worked on.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @one_row_vs_schedule(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected a tile of 32 rows, as the schedule says, got 'vector<1x64xbf16>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<1x64xbf16>
        %1 = arith.extf %0 : vector<1x64xbf16> to vector<1x64xf32>
        rmsnorm.yield %1, %0 : vector<1x64xf32>, vector<1x64xbf16>
      } -> vector<1x1xf32>, vector<1x64xbf16>
      %r = math.rsqrt %s : vector<1x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<1x64xbf16>, vector<1x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// Crashed.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @cluster_many_rows(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{expected tiles of one row of static size in a cluster}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8, cluster = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<32x64xbf16>
        %1 = arith.extf %0 : vector<32x64xbf16> to vector<32x64xf32>
        rmsnorm.yield %1, %0 : vector<32x64xf32>, vector<32x64xbf16>
      } -> vector<32x1xf32>, vector<32x64xbf16>
      %r = math.rsqrt %s : vector<32x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<32x64xbf16>, vector<32x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<32x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// A row that was not that of the loop: a second dimension, a step, a lower
// bound were dropped.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @rows_2d(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
        %0 = rmsnorm.tile_load tile %X[%row] : memref<?x64xbf16, strided<[?, 1]>> -> vector<32x64xbf16>
        %1 = arith.extf %0 : vector<32x64xbf16> to vector<32x64xf32>
        rmsnorm.yield %1, %0 : vector<32x64xf32>, vector<32x64xbf16>
      } -> vector<32x1xf32>, vector<32x64xbf16>
      %r = math.rsqrt %s : vector<32x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<32x64xbf16>, vector<32x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<32x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @rows_step(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<32x64xbf16>
        %1 = arith.extf %0 : vector<32x64xbf16> to vector<32x64xf32>
        rmsnorm.yield %1, %0 : vector<32x64xf32>, vector<32x64xbf16>
      } -> vector<32x1xf32>, vector<32x64xbf16>
      %r = math.rsqrt %s : vector<32x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<32x64xbf16>, vector<32x1xf32>
        // expected-error @+1 {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
        rmsnorm.tile_store tile %0, %Y[%row] : vector<32x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// A loop without work was taken for one over rows; this one has no tiles.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @rows_empty(%m: index) {
  // expected-error @+1 {{expected one rmsnorm.tiles in its body, got 0}}
  rmsnorm.rows sizes [%m] columns(64) buffers() schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index):
    rmsnorm.yield
  }
  return
}
}

// -----

// Tiles have one number, and it is all they have.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @second_loop(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<row_groups = 16, rows_per_group = 2, threads_per_row = 8, vector_width = 8>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    %c3 = arith.constant 3 : index
    // expected-error @+1 {{expected 'body' to have the tile's number, its slots, the sums of 'begin' and those over rows, got 2 arguments}}
    rmsnorm.tiles body {
    ^bb0(%t: index, %u: index):
      %row = arith.muli %t, %c3 : index
      %s, %k = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<32x64xbf16>
        %1 = arith.extf %0 : vector<32x64xbf16> to vector<32x64xf32>
        rmsnorm.yield %1, %0 : vector<32x64xf32>, vector<32x64xbf16>
      } -> vector<32x1xf32>, vector<32x64xbf16>
      %r = math.rsqrt %s : vector<32x1xf32>
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.keep %k after %r : vector<32x64xbf16>, vector<32x1xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<32x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
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

// Left for rmsnorm-distribute: programs that no pass has placed or scheduled.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @not_placed(%m: index, %x: memref<?x64xbf16, strided<[?, 1]>>, %y: memref<?x64xbf16, strided<[?, 1]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xbf16, strided<[?, 1]>>, write %y : memref<?x64xbf16, strided<[?, 1]>>)
      schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 2>) {
  ^bb0(%M: index, %X: memref<?x64xbf16, strided<[?, 1]>>, %Y: memref<?x64xbf16, strided<[?, 1]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+2 {{expected per-column work in rmsnorm.traverse}}
      // expected-note @+1 {{rmsnorm-place-tiles makes it so}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xbf16, strided<[?, 1]>> -> vector<1x64xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xbf16>, memref<?x64xbf16, strided<[?, 1]>>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
func.func @no_schedule(%m: index) {
  // expected-error @+2 {{expected a schedule}}
  // expected-note @+1 {{rmsnorm-select-schedule sets it}}
  rmsnorm.rows sizes [%m] columns(64) buffers() {
  ^bb0(%M: index):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
}

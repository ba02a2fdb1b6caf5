// RUN: norm-opt %s --split-input-file --verify-diagnostics

// Every constraint (Cn) of rmsnorm.rows once or more, by its name.

// The ops of the body rely on it, and are not looked at.
func.func @rows_c1_few(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected block arguments of the operands' types, in their order}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c1_order(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected block arguments of the operands' types, in their order}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%X: memref<?x64xf32>, %M: index, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c2_accesses(%x: memref<64xf32>) {
  // expected-error @+1 {{expected as many accesses as buffers, got 0 and 1}}
  "rmsnorm.rows"(%x) <{accesses = [], digits = array<i64: 64>, operandSegmentSizes = array<i32: 0, 0, 1, 0>, static_sizes = array<i64>}> ({
  ^bb0(%X: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }) : (memref<64xf32>) -> ()
  return
}

// -----

func.func @rows_c2_twice(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected each buffer that is written once, got one of type 'memref<?x64xf32>' twice}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c2_constant(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected a constant buffer to be read only, got update}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update constant %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c2_alias(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected two buffers at least of an alias class, got one of class 3}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(9223372036854775807) %x : memref<?x64xf32>, write alias(3) %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c2_keyword(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, // expected-error @+1 {{expected read, write or update}}
    wrote %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_none(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected columns from 1 to 1073741823, or 1073741824 with the dynamic number of them, or up to 5 digits of 2 at least, got 0}}
  rmsnorm.rows sizes [%m] columns(0) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_most(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected columns from 1 to 1073741823, or 1073741824 with the dynamic number of them, or up to 5 digits of 2 at least, got 1073741825}}
  rmsnorm.rows sizes [%m] columns(1073741825, %m) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %N: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_static(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected columns from 1 to 1073741823, or 1073741824 with the dynamic number of them, or up to 5 digits of 2 at least, got 1073741824}}
  rmsnorm.rows sizes [%m] columns(1073741824) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_negative_size(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected static sizes >= 0, and an operand for each of the others}}
  rmsnorm.rows sizes [%m, -7] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_few_sizes(%m: index) {
  // expected-error @+1 {{expected static sizes >= 0, and an operand for each of the others}}
  "rmsnorm.rows"(%m) <{accesses = [], digits = array<i64: 64>, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_sizes = array<i64: -9223372036854775808, -9223372036854775808>}> ({
  ^bb0(%M: index):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }) : (index) -> ()
  return
}

// -----

func.func @rows_c3_many_sizes(%m: index) {
  // expected-error @+1 {{expected static sizes >= 0, and an operand for each of the others}}
  "rmsnorm.rows"(%m) <{accesses = [], digits = array<i64: 64>, operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_sizes = array<i64: 4>}> ({
  ^bb0(%M: index):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }) : (index) -> ()
  return
}

// -----

func.func @rows_c4_extract(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      %1 = vector.extract %0[0, 0] : f32 from vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_memref(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      %1 = memref.dim %X, %t : memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_call(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      func.call @callee() : () -> ()
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
func.func private @callee()

// -----

func.func @rows_c4_region(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %true = arith.constant true
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      scf.if %true {
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_poison(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      %1 = ub.poison : f32
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_host_op(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an elementwise or scalar op of arith or math, a broadcast or an op of the tile or rows level in rmsnorm.rows}}
      %p = memref.dim %X, %M : memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_constant(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected constants to be splats}}
      %0 = arith.constant dense<[[1.0], [2.0]]> : vector<2x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c4_tensor(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected scalars and vectors of Rx64, as rmsnorm.rows says, or with 1 for some of the digits, got 'tensor<4xf32>'}}
      %0 = arith.constant dense<1.0> : tensor<4xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_rank(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %f = arith.constant 1.0 : f32
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected scalars and vectors of Rx64, as rmsnorm.rows says, or with 1 for some of the digits, got 'vector<64xf32>'}}
      %0 = vector.broadcast %f : f32 to vector<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_scalable(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %f = arith.constant 1.0 : f32
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected scalars and vectors of Rx64, as rmsnorm.rows says, or with 1 for some of the digits, got 'vector<1x[64]xf32>'}}
      %0 = vector.broadcast %f : f32 to vector<1x[64]xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_columns(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected vectors of Rx64, as rmsnorm.rows says, or with fewer indices of some digits, got 'vector<1x65xf32>'}}
      %0 = arith.constant dense<0.0> : vector<1x65xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_unscheduled(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected vectors of 1 or 1 rows, as the schedule says, got 'vector<2x1xf32>'}}
      %0 = arith.constant dense<0.0> : vector<2x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_rows(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected vectors of 1 or 4 rows, as the schedule says, got 'vector<3x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<3x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Accumulators only have as many rows as there are row groups.
func.func @rows_c5_groups(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected vectors of 1 or 4 rows, as the schedule says, got 'vector<2x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<2x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_accumulator(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, rows_per_group = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<4x64xf32>
    // expected-error @+1 {{expected accumulators of 2 rows, as the schedule says, got 'vector<4x64xf32>'}}
    %sum = rmsnorm.tiles inits(%zero : vector<4x64xf32>) body {
    ^bb0(%t: index, %a: vector<4x64xf32>):
      rmsnorm.yield %a : vector<4x64xf32>
    } -> vector<4x64xf32>
    rmsnorm.yield
  }
  return
}

// -----

// Packed once and for all: a tile that is placed has all its rows.
func.func @rows_c5_placed(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expected a tile of 2 rows, as the schedule says, got 'vector<1x64xf32>'}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_cluster(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected tiles of one row of static size in a cluster}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 32, vector_width = 4, cluster = 2>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c5_cluster_dynamic(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected tiles of one row of static size in a cluster}}
  rmsnorm.rows sizes [%m] columns(64, %m) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cluster = 2>) {
  ^bb0(%M: index, %N: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Found by the verifier, which runs before that of dominance.
func.func @rows_c6_later(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer of the rmsnorm.rows it is in}}
      %0 = rmsnorm.tile_load tile %later[%t] : memref<?x64xf32> -> vector<1x64xf32>
      %later = memref.cast %X : memref<?x64xf32> to memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_load_written(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer that rmsnorm.rows reads, got 'write'}}
      %0 = rmsnorm.tile_load tile %Y[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_store_read(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer that rmsnorm.rows writes, got 'read'}}
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_store_column(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected per-column values to leave rmsnorm.rows as sums over rows}}
      rmsnorm.tile_store column %w0, %W : vector<1x64xf32>, memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_row(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %c0 = arith.constant 0 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
      %0 = rmsnorm.tile_load tile %X[%c0] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_next_row(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %c1 = arith.constant 1 : index
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %n = arith.addi %t, %c1 : index
      // expected-error @+1 {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
      %0 = rmsnorm.tile_load tile %X[%n] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_outside(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected the number of the tile, the first argument of the region of rmsnorm.tiles}}
    %0 = rmsnorm.tile_load tile %X[%M] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_stride(%m: index, %x: memref<?x64xf32, strided<[128, 2]>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32, strided<[128, 2]>>) schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32, strided<[128, 2]>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected an inner stride of 1, got 'memref<?x64xf32, strided<[128, 2]>>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32, strided<[128, 2]>> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_layout(%m: index, %x: memref<?x64xf32, affine_map<(i, j) -> (i, j mod 2)>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32, affine_map<(i, j) -> (i, j mod 2)>>) {
  ^bb0(%M: index, %X: memref<?x64xf32, affine_map<(i, j) -> (i, j mod 2)>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a strided buffer, got 'memref<?x64xf32, affine_map<(d0, d1) -> (d0, d1 mod 2)>>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32, affine_map<(i, j) -> (i, j mod 2)>> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_row_layout(%m: index, %x: memref<?xf32, affine_map<(i) -> (i mod 2)>>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?xf32, affine_map<(i) -> (i mod 2)>>) {
  ^bb0(%M: index, %X: memref<?xf32, affine_map<(i) -> (i mod 2)>>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a strided buffer, got 'memref<?xf32, affine_map<(d0) -> (d0 mod 2)>>'}}
      %0 = rmsnorm.tile_load row %X[%t] : memref<?xf32, affine_map<(i) -> (i mod 2)>> -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// 63 is the most that the number of columns can be.
func.func @rows_c6_static_columns(%m: index, %x: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(63, %m) buffers(read %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %N: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<?x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x63xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_dynamic_columns(%m: index, %x: memref<?x?xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x?xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<?x?xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x?xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_leading_rank(%m: index, %x: memref<?x2x3x64xf32>) {
  rmsnorm.rows sizes [%m, 2] columns(64) buffers(read %x : memref<?x2x3x64xf32>) {
  ^bb0(%M: index, %X: memref<?x2x3x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<?x2x3x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x2x3x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_leading_size(%m: index, %x: memref<?x3x64xf32>) {
  rmsnorm.rows sizes [%m, 2] columns(64) buffers(read %x : memref<?x3x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x3x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<?x3x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x3x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_flattened(%x: memref<11xf32>) {
  rmsnorm.rows sizes [4, 3] columns(64) buffers(read %x : memref<11xf32>) {
  ^bb0(%X: memref<11xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<11xf32>'}}
      %0 = rmsnorm.tile_load row %X[%t] : memref<11xf32> -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A buffer of one row, and many rows.
func.func @rows_c6_no_leading(%m: index, %x: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<64xf32>) {
  ^bb0(%M: index, %X: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<64xf32>'}}
      %0 = rmsnorm.tile_load tile %X : memref<64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_copied(%m: index, %x: memref<?x32xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x32xf32>) {
  ^bb0(%M: index, %X: memref<?x32xf32>):
    // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<?x32xf32>'}}
    rmsnorm.tiles copies(%X : memref<?x32xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_copied_rank_0(%x: memref<f32>) {
  rmsnorm.rows sizes [] columns(64) buffers(read %x : memref<f32>) {
  ^bb0(%X: memref<f32>):
    // expected-error @+1 {{expected an inner stride of 1, got 'memref<f32>'}}
    rmsnorm.tiles copies(%X : memref<f32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// No op of the body makes a slot, but one that is refused after its user.
func.func @rows_c6_slot(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a slot of the region of rmsnorm.tiles}}
      %0 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
      %s = builtin.unrealized_conversion_cast %t : index to !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_accumulate(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer that rmsnorm.rows writes}}
      rmsnorm.accumulate %w0 into %W : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c6_accumulate_shape(%m: index, %x: memref<?x64xf32>, %w: memref<32xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<32xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<32xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<32xf32>'}}
      rmsnorm.accumulate %0 into %W : vector<1x64xf32> into memref<32xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_dims(%m: index, %x: memref<?x64xf32>, %w: memref<4x64xf32>) {
  rmsnorm.rows sizes [%m, 4] segments [0] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<4x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 1, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected 'map' to have the indices of the segments of rmsnorm.rows, array<i64: 0>, got (r0, r1, c) -> (r1, c)}}
      rmsnorm.accumulate %0 into %W map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_none(%m: index, %x: memref<?x64xf32>, %w: memref<4x64xf32>) {
  rmsnorm.rows sizes [%m, 4] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<4x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 1, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected 'map' to have the indices of the segments of rmsnorm.rows, array<i64>, got (r0, r1, c) -> (r1, c)}}
      rmsnorm.accumulate %0 into %W map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_middle(%m: index, %x: memref<?x64xf32>, %w: memref<4x64xf32>) {
  rmsnorm.rows sizes [%m, 4, 2] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<4x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected 'map' to have the indices of the first or the last leading sizes of rmsnorm.rows, got (r0, r1, r2, c) -> (r1, c)}}
      rmsnorm.accumulate %0 into %W map(r0, r1, r2, c) -> (r1, c) : vector<1x64xf32> into memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A block has the rows of a segment, and would store their sum for that of all.
func.func @rows_c12_sum_store(%m: index, %x: memref<?x64xf32>, %w: memref<64xf32>) {
  %zero = arith.constant dense<0.0> : vector<1x64xf32>
  rmsnorm.rows sizes [%m, 4] segments [0] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 1, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    %init = arith.constant dense<0.0> : vector<1x64xf32>
    %s = rmsnorm.tiles inits(%init : vector<1x64xf32>) body {
    ^bb0(%t: index, %acc: vector<1x64xf32>):
      rmsnorm.yield %acc : vector<1x64xf32>
    } -> vector<1x64xf32>
    // expected-error @+1 {{expected a sum of the rows of a segment, as a block has no others, of rmsnorm.rows with segments array<i64: 0>, got one over all rows}}
    rmsnorm.sum_store %s, %W : vector<1x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_sizes(%m: index, %x: memref<?x64xf32>, %w: memref<3x64xf32>) {
  rmsnorm.rows sizes [%m, 4] segments [1] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<3x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<3x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<3x64xf32>'}}
      rmsnorm.accumulate %0 into %W map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<3x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_rank(%m: index, %x: memref<?x64xf32>, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m, 4] segments [1] columns(64) buffers(read %x : memref<?x64xf32>, write %w : memref<64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer of rank 2, got 'memref<64xf32>'}}
      rmsnorm.accumulate %0 into %W map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_segments(%m: index, %x: memref<?x64xf32>) {
  // expected-error @+1 {{expected segments to be the first or the last of the 3 leading sizes, and not all, got array<i64: 1>}}
  rmsnorm.rows sizes [%m, 4, 2] segments [1] columns(64) buffers(update %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c12_all(%m: index, %x: memref<?x64xf32>) {
  // expected-error @+1 {{expected segments to be the first or the last of the 1 leading sizes, and not all, got array<i64: 0>}}
  rmsnorm.rows sizes [%m] segments [0] columns(64) buffers(update %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c10_yield(%m: index, %x: memref<?x64xf32>) {
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    // expected-error @+1 {{expected results of rmsnorm.tiles}}
    rmsnorm.yield %0 : vector<1x64xf32>
  }
  return
}

// -----

func.func @tiles_c1_inits(%m: index, %x: memref<?x64xf32>, %f: f32) {
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>) scalars(%f : f32) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %F: f32):
    %0 = vector.broadcast %F : f32 to vector<1x64xf32>
    // expected-error @+1 {{expected constants as inits}}
    %s = rmsnorm.tiles inits(%0 : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield %s : vector<1x64xf32>
  }
  return
}

// -----

func.func @rows_c7_none(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected one rmsnorm.tiles in its body, got 0}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_two(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected one rmsnorm.tiles in its body, got 2}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_two_waits(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected at most one rmsnorm.grid_wait, in front of rmsnorm.tiles}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.grid_wait
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_wait_behind(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected at most one rmsnorm.grid_wait, in front of rmsnorm.tiles}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.grid_wait
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_wait_inside(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected at most one rmsnorm.grid_wait, in front of rmsnorm.tiles}}
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.grid_wait
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_before_wait(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    // expected-error @+1 {{expected a constant buffer in front of rmsnorm.grid_wait}}
    %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
    rmsnorm.grid_wait
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_outside(%x: memref<64xf32>) {
  rmsnorm.rows sizes [] columns(64) buffers(read %x : memref<64xf32>) {
  ^bb0(%X: memref<64xf32>):
    // expected-error @+1 {{expected a per-column operand outside of rmsnorm.tiles}}
    %0 = rmsnorm.tile_load tile %X : memref<64xf32> -> vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c7_store_outside(%x: memref<64xf32>) {
  rmsnorm.rows sizes [] columns(64) buffers(write %x : memref<64xf32>) {
  ^bb0(%X: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    // expected-error @+1 {{expected to stand in rmsnorm.tiles}}
    rmsnorm.tile_store tile %0, %X : vector<1x64xf32>, memref<64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c8_load(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        rmsnorm.yield
      }
      // expected-error @+1 {{expected per-column work in rmsnorm.traverse, as its rmsnorm.tiles has one}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c8_store(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        rmsnorm.yield
      }
      // expected-error @+1 {{expected per-column work in rmsnorm.traverse, as its rmsnorm.tiles has one}}
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c8_reduce(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        rmsnorm.yield
      }
      // expected-error @+1 {{expected per-column work in rmsnorm.traverse, as its rmsnorm.tiles has one}}
      %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c8_accumulate(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(write %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        rmsnorm.yield
      }
      // expected-error @+1 {{expected per-column work in rmsnorm.traverse, as its rmsnorm.tiles has one}}
      rmsnorm.accumulate %0 into %W : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c9_overlap(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-note @+1 {{written here}}
        rmsnorm.tile_store tile %zero, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      %s = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected a buffer that nothing before has written}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c9_itself(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-note @+1 {{written here}}
        rmsnorm.tile_store tile %zero, %X[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      %s = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected a buffer that nothing before has written}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c9_row(%m: index, %x: memref<?x64xf32>, %r: memref<?xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %r : memref<?xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %R: memref<?xf32>):
    %zero = arith.constant dense<0.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-note @+1 {{written here}}
      rmsnorm.tile_store row %zero, %R[%t] : vector<1x1xf32>, memref<?xf32>
      %s = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected a buffer that nothing before has written}}
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c9_same_traverse(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        // expected-error @+1 {{expected a buffer that overlaps none that the same traverse reads}}
        rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c10_count(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected its body to yield a sum for each of its 1 results}}
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c10_result(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected a result of a row for each block, of 'vector<1x64xf32>', got 'memref<?x1xf32>'}}
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x1xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield %sum : vector<1x64xf32>
  }
  return
}

// -----

func.func @rows_c10_layout(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected a result of a row for each block, of 'vector<1x64xf32>', got 'memref<?x64xf32, 3>'}}
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x64xf32, 3> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield %sum : vector<1x64xf32>
  }
  return
}

// -----

func.func @rows_c10_static(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{expected a result of a row for each block, of 'vector<1x64xf32>', got 'memref<?x64xf32>'}}
  %p = rmsnorm.rows sizes [%m] columns(64, %m) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x64xf32> {
  ^bb0(%M: index, %N: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield %sum : vector<1x64xf32>
  }
  return
}

// -----

func.func @rows_c10_scalar(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant 0.0 : f32
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    // expected-error @+1 {{expected sums of 1 row groups in f32, got 'f32'}}
    rmsnorm.yield %0 : f32
  }
  return
}

// -----

func.func @rows_c10_type(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf16>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    // expected-error @+1 {{expected sums of 1 row groups in f32, got 'vector<1x64xf16>'}}
    rmsnorm.yield %0 : vector<1x64xf16>
  }
  return
}

// -----

func.func @rows_c10_groups(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    // expected-error @+1 {{expected sums of 2 row groups in f32, got 'vector<1x64xf32>'}}
    rmsnorm.yield %0 : vector<1x64xf32>
  }
  return
}

// -----

func.func @rows_no_terminator(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{block with no terminator}}
    rmsnorm.grid_wait
  }
  return
}

// -----

func.func @sum_store_c1(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected a result of rmsnorm.tiles}}
    rmsnorm.sum_store %0, %Y : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @sum_store_c3(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>, write %z : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>, %Z: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected 'init' to be a buffer that rmsnorm.rows reads}}
    rmsnorm.sum_store %s, %Y init(%Z : memref<64xf32>) : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @sum_store_c3_shape(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>, %z: memref<32xf32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>, read %z : memref<32xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>, %Z: memref<32xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected a buffer with the columns of rmsnorm.rows, got 'memref<32xf32>'}}
    rmsnorm.sum_store %s, %Y init(%Z : memref<32xf32>) : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @sum_store_c2_rank(%m: index, %x: memref<?x64xf32>, %y: memref<f32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<f32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<f32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected a buffer of rank 1, got 'memref<f32>'}}
    rmsnorm.sum_store %s, %Y : vector<2x64xf32>, memref<f32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @sum_store_c2(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, read %y : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected a buffer that rmsnorm.rows writes}}
    rmsnorm.sum_store %s, %Y : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c11_partials(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{expected rmsnorm.sum_store where the schedule has column_sums = all_rows, and results elsewhere}}
  %p = rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) -> memref<?x64xf32> {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    rmsnorm.yield %s : vector<2x64xf32>
  }
  return
}

// -----

func.func @rows_c11_store(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{expected rmsnorm.sum_store where the schedule has column_sums = all_rows, and results elsewhere}}
   rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, blocks_per_sm = 1>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    rmsnorm.sum_store %s, %Y : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c11_overlap(%m: index, %x: memref<?x64xf32>, %y: memref<64xf32>) {
   rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %y : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4, column_sums = all_rows>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<64xf32>):
    %0 = arith.constant dense<0.0> : vector<2x64xf32>
    %s = rmsnorm.tiles inits(%0 : vector<2x64xf32>) body {
    ^bb0(%t: index, %a: vector<2x64xf32>):
      rmsnorm.yield %a : vector<2x64xf32>
    } -> vector<2x64xf32>
    // expected-error @+1 {{expected a buffer that nothing else in rmsnorm.rows accesses: its blocks do not wait for one another}}
    rmsnorm.sum_store %s, %Y : vector<2x64xf32>, memref<64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_domain(%b: index, %t: index, %x: memref<?x?x64xf32>, %w: memref<?x64xf32>) {
  rmsnorm.rows sizes [%b, %t] columns(64) buffers(update %x : memref<?x?x64xf32>, update %w : memref<?x64xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %W: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<?x64xf32>' with the map (r0, r1, r2, c) -> (r2, c)}}
      %0 = rmsnorm.tile_load tile %W[%k] map(r0, r1, r2, c) -> (r2, c) : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// Rows may be read in any order, a sum is taken apart, and an offset stays in.
func.func @map_sizes(%b: index, %x: memref<?x7x64xf32>, %w: memref<9x64xf32>, %v: memref<8x64xf32>) {
  rmsnorm.rows sizes [%b, 7] columns(64) buffers(update %x : memref<?x7x64xf32>, read %w : memref<9x64xf32>, read %v : memref<8x64xf32>) {
  ^bb0(%B: index, %X: memref<?x7x64xf32>, %W: memref<9x64xf32>, %V: memref<8x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %W[%k] map(r0, r1, c) -> (r1 + 2, c) : memref<9x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<8x64xf32>' with the map (r0, r1, c) -> (r1 + 2, c)}}
      %1 = rmsnorm.tile_load tile %V[%k] map(r0, r1, c) -> (r1 + 2, c) : memref<8x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_overlap(%x: memref<6x64xf32>, %w: memref<3x64xf32>) {
  rmsnorm.rows sizes [6] columns(64) buffers(read %x : memref<6x64xf32>, write %w : memref<3x64xf32>) {
  ^bb0(%X: memref<6x64xf32>, %W: memref<3x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %X[%k] : memref<6x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected 'map' to lead each row to elements of its own, got (r, c) -> (r mod 3, c)}}
      rmsnorm.tile_store tile %0, %W[%k] map(r, c) -> (r mod 3, c) : vector<1x64xf32>, memref<3x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_differs(%b: index, %t: index, %x: memref<?x?x64xf32>, %w: memref<?x64xf32>) {
  rmsnorm.rows sizes [%b, %t] columns(64) buffers(update %x : memref<?x?x64xf32>, update %w : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %W: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load tile %W[%k] map(r0, r1, c) -> (r0, c) : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected all accesses to a buffer to have the same map, (r0, r1, c) -> (r0, c), got (r0, r1, c) -> (r1, c)}}
      %1 = rmsnorm.tile_load tile %W[%k] map(r0, r1, c) -> (r1, c) : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_of_rows_and_columns(%w: memref<64xf32>) {
  rmsnorm.rows sizes [64] columns(64) buffers(read %w : memref<64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%W: memref<64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      %0 = rmsnorm.tile_load row %W[%k] : memref<64xf32> -> vector<1x1xf32>
      // expected-error @+1 {{expected all accesses to a buffer to have the same map, (r) -> (r), got (c) -> (c)}}
      %1 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @map_no_row(%b: index, %t: index, %x: memref<?x?x64xf32>, %w: memref<?x64xf32>) {
  rmsnorm.rows sizes [%b, %t] columns(64) buffers(update %x : memref<?x?x64xf32>, update %w : memref<?x64xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %W: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%k: index):
      // expected-error @+1 {{expected 'map' to have a sum of digits for each dimension of 'memref<?x64xf32>', indices of rows if and only if there is a row}}
      %0 = rmsnorm.tile_load row %W map(r0, r1) -> (r0, r1) : memref<?x64xf32> -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @part_reduced(%x: memref<?x64xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 32] buffers(update %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x2x32xf32>
      %1 = rmsnorm.take %0 at [1, 0] : vector<1x2x32xf32> -> vector<1x1x32xf32>
      // expected-error @+1 {{expected to reduce all 64 columns, got 'vector<1x1x32xf32>'}}
      %2 = rmsnorm.row_reduce add(%1) : vector<1x1x32xf32> -> vector<1x1x1xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x2x32xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @part_of_another_size(%x: memref<?x64xf32>, %c: memref<?xf32>, %m: index) {
  rmsnorm.rows sizes [%m] columns [2, 32] buffers(update %x : memref<?x64xf32>, read %c : memref<?xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %C: memref<?xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x2x32xf32>
      %1 = rmsnorm.take %0 at [1, 0] : vector<1x2x32xf32> -> vector<1x1x32xf32>
      %2 = rmsnorm.tile_load row %C[%t] : memref<?xf32> -> vector<1x1x1xf32>
      // expected-error @+1 {{expected vectors of Rx2x32, as rmsnorm.rows says, or with fewer indices of some digits, got 'vector<1x3x8xf32>'}}
      %3 = vector.broadcast %2 : vector<1x1x1xf32> to vector<1x3x8xf32>
      rmsnorm.tile_store tile %0, %X[%t] : vector<1x2x32xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c13_both(%x: tensor<4x64xf32>, %y: memref<4x64xf32>) {
  // expected-error @+1 {{expected only tensors or only memrefs, got both}}
  rmsnorm.rows sizes [4] columns(64) buffers(read %x : tensor<4x64xf32>, write %y : memref<4x64xf32>) {
  ^bb0(%X: memref<4x64xf32>, %Y: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xf32>, memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c13_constant(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{expected tensors to have neither a schedule nor 'constant' or 'alias', of which bufferization decides}}
  rmsnorm.rows sizes [4] columns(64) buffers(read constant %x : tensor<4x64xf32>) {
  ^bb0(%X: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c13_results(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) {
  // expected-error @+1 {{expected a result for each tensor that is written, of its type, in their order}}
  rmsnorm.rows sizes [4] columns(64) buffers(read %x : tensor<4x64xf32>, write %y : tensor<4x64xf32>) {
  ^bb0(%X: memref<4x64xf32>, %Y: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x64xf32>, memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// A map that leads two rows, or two columns, to one element.
func.func @rows_map_shared(%x: tensor<4x2x64xf32>, %y: tensor<4x2x64xf32>) -> tensor<4x2x64xf32> {
  %r = rmsnorm.rows sizes [4, 2] columns(64) buffers(read %x : tensor<4x2x64xf32>, write %y : tensor<4x2x64xf32>) -> tensor<4x2x64xf32> {
  ^bb0(%X: memref<4x2x64xf32>, %Y: memref<4x2x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<4x2x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{expected 'map' to lead each row to elements of its own, got (r0, r1, c) -> (r0, r1 + (c floordiv 64), c mod 64)}}
      rmsnorm.tile_store tile %0, %Y[%t] map(r0, r1, c) -> (r0, r1 + c floordiv 64, c mod 64) : vector<1x64xf32>, memref<4x2x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %r : tensor<4x2x64xf32>
}

// -----

// One that leads beyond the buffer.
func.func @rows_map_beyond(%x: tensor<4x64xf32>) {
  rmsnorm.rows sizes [4] columns(64) buffers(read %x : tensor<4x64xf32>) {
  ^bb0(%X: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a buffer with the leading sizes of rmsnorm.rows, got 'memref<4x64xf32>' with the map (r, c) -> (r, c + 1)}}
      %0 = rmsnorm.tile_load tile %X[%t] map(r, c) -> (r, c + 1) : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_digits(%m: index, %x: memref<?x64xf32>) {
  // expected-error @+1 {{or up to 5 digits of 2 at least, got 64, 1}}
  rmsnorm.rows sizes [%m] columns [64, 1] buffers(read %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @rows_c3_product(%m: index, %x: memref<?x64xf32>) {
  // expected-error @+1 {{or up to 5 digits of 2 at least, got 65536, 65536}}
  rmsnorm.rows sizes [%m] columns [65536, 65536] buffers(read %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

// What has no digits does not say which columns it has.
func.func @rows_c5_flat(%m: index, %x: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns [2, 32] buffers(read %x : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected scalars and vectors of Rx2x32, as rmsnorm.rows says, or with 1 for some of the digits, got 'vector<1x64xf32>'}}
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics

// Every constraint (Cn) of rmsnorm.tiles, rmsnorm.slot_load and
// rmsnorm.traverse once or more, by its name.

func.func @tiles_parent() {
  // expected-error @+1 {{expects parent op 'rmsnorm.rows'}}
  rmsnorm.tiles body {
  ^bb0(%t: index):
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c1_no_tile(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'body' to have the tile's number, its slots, the sums of 'begin' and those over rows, got 0 arguments}}
    rmsnorm.tiles body {
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c1_arguments(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'body' to have the tile's number, its slots, the sums of 'begin' and those over rows, got 2 arguments}}
    rmsnorm.tiles body {
    ^bb0(%t: index, %s: vector<1x1xf32>):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c1_slot(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'body' to have the tile's number, its slots, the sums of 'begin' and those over rows, got 2 arguments}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<2x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<2x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<2x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c1_copies(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected copies of buffers that rmsnorm.rows reads}}
    rmsnorm.tiles copies(%Y : memref<?x64xf32>) stages 1 body {
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

func.func @tiles_c1_values(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    // expected-error @+1 {{expected 'body' to yield, and the op to have, a value for each of its 1 sums over rows}}
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield
    } -> vector<1x64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c1_results(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    // expected-error @+1 {{expected 'body' to yield, and the op to have, a value for each of its 1 sums over rows}}
    rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.yield %a : vector<1x64xf32>
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_stages(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to have the tile's number and its slots, to yield sums, and 3 stages at least}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 2 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_copies(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to have the tile's number and its slots, to yield sums, and 3 stages at least}}
    rmsnorm.tiles stages 3 begin {
    ^bb0(%t: index):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %k: vector<1x1xf32>):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_arguments(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to have the tile's number and its slots, to yield sums, and 3 stages at least}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%s: !rmsnorm.slot<1x64xf32>, %t: index):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_no_sum(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to have the tile's number and its slots, to yield sums, and 3 stages at least}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    } body {
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

func.func @tiles_c2_sum(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to yield sums of its traverse}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = arith.constant dense<0.0> : vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_index(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected 'begin' to yield sums of its traverse}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.yield %t : index
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c2_fetch(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      // expected-error @+1 {{expected to stand in 'body'}}
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_without(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected no stages, fetch or arrive without copies}}
    rmsnorm.tiles body {
    ^bb0(%t: index):
      "rmsnorm.fetch"() : () -> ()
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_no_stages(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected no stages, fetch or arrive without copies}}
    rmsnorm.tiles stages 1 body {
    ^bb0(%t: index):
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_fetch(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_twice(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_order(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_slots(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      "rmsnorm.fetch"() : () -> ()
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c3_stages(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) body {
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

func.func @tiles_c3_many_stages(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one fetch and after it one arrive, of all slots, and stages from 1 to the schedule's with copies}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1000000000000 body {
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

func.func @tiles_c3_early(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 1 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      %1 = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected to stand after rmsnorm.arrive}}
        %0 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c4_without(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected no await without 'begin'}}
    rmsnorm.tiles body {
    ^bb0(%t: index):
      "rmsnorm.await"() : () -> ()
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c4_none(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one await, of all sums of 'begin', after arrive}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c4_before_arrive(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one await, of all sums of 'begin', after arrive}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c4_sums(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expected one await, of all sums of 'begin', after arrive}}
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      "rmsnorm.await"() : () -> ()
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c4_early(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 3 begin {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      %0 = rmsnorm.traverse unrolled reduce(add) {
        %1 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %0 : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>, %k: vector<1x1xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      // expected-error @+1 {{expected to stand after rmsnorm.await}}
      %0 = math.rsqrt %k : vector<1x1xf32>
      rmsnorm.await %k : vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c5_store(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 2 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      // expected-error @+1 {{expected stages < 2 where a buffer that is copied ahead is written through another}}
      rmsnorm.tile_store tile %zero, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @tiles_c5_sum(%m: index, %x: memref<?x64xf32>, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read alias(0) %x : memref<?x64xf32>, write alias(0) %w : memref<64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %W: memref<64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    rmsnorm.tiles copies(%X : memref<?x64xf32>) stages 2 body {
    ^bb0(%t: index, %s: !rmsnorm.slot<1x64xf32>):
      rmsnorm.fetch %s : !rmsnorm.slot<1x64xf32>
      rmsnorm.arrive %s : !rmsnorm.slot<1x64xf32>
      // expected-error @+1 {{expected stages < 2 where a buffer that is copied ahead is written through another}}
      rmsnorm.accumulate %zero into %W : vector<1x64xf32> into memref<64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @slot_load_c1(%s: !rmsnorm.slot<1x64xbf16>) {
  // expected-error @+1 {{expected the slot's tile, 'vector<1x64xbf16>', got 'vector<1x64xf32>'}}
  %0 = rmsnorm.slot_load %s : !rmsnorm.slot<1x64xbf16> -> vector<1x64xf32>
  return
}

// -----

// expected-error @+1 {{expected rows, columns and a scalar type}}
func.func private @slot_rank(!rmsnorm.slot<64xf32>)

// -----

// expected-error @+1 {{expected rows, columns and a scalar type}}
func.func private @slot_empty(!rmsnorm.slot<0x64xf32>)

// -----

// expected-error @+1 {{expected rows, columns and a scalar type}}
func.func private @slot_element(!rmsnorm.slot<1x64xvector<4xf32>>)

// -----

func.func @traverse_parent() {
  // expected-error @+1 {{expects parent op 'rmsnorm.tiles'}}
  rmsnorm.traverse unrolled {
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_in_traverse(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expects parent op 'rmsnorm.tiles'}}
        rmsnorm.traverse unrolled {
          rmsnorm.yield
        }
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_in_rows(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    // expected-error @+1 {{expects parent op 'rmsnorm.tiles'}}
    rmsnorm.traverse unrolled {
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

func.func @traverse_arguments(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{region should have no arguments}}
      rmsnorm.traverse unrolled {
      ^bb0(%i: index):
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_no_terminator(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{block with no terminator}}
        %0 = arith.constant dense<0.0> : vector<1x64xf32>
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_count(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a yielded value for each result, those of its reductions first, got 0 values, 1 results and 0 reductions}}
      %r = rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield
      } -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_kinds(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected a yielded value for each result, those of its reductions first, got 1 values, 1 results and 2 reductions}}
      %r = rmsnorm.traverse unrolled reduce(add, add) {
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

func.func @traverse_c1_result(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected to reduce float tiles of one shape RxN to Rx1, got 'vector<1x64xf32>' to 'vector<1x64xf32>'}}
      %r = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_reduced(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %1 = arith.constant dense<0.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected to reduce float tiles of one shape RxN to Rx1, got 'vector<1x1xf32>' to 'vector<1x1xf32>'}}
      %r = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x1xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_integer(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %1 = arith.constant dense<0> : vector<1x64xi32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected to reduce float tiles of one shape RxN to Rx1, got 'vector<1x64xi32>' to 'vector<1x1xi32>'}}
      %r = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x64xi32>
      } -> vector<1x1xi32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_scalar(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected to reduce float tiles of one shape RxN to Rx1, got 'index' to 'vector<1x1xf32>'}}
      %r = rmsnorm.traverse unrolled reduce(add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %t : index
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c1_shapes(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) schedule(#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %1 = arith.constant dense<0.0> : vector<2x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected to reduce float tiles of one shape RxN to Rx1, got 'vector<2x64xf32>' to 'vector<2x1xf32>'}}
      %r:2 = rmsnorm.traverse unrolled reduce(add, add) {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0, %1 : vector<1x64xf32>, vector<2x64xf32>
      } -> vector<1x1xf32>, vector<2x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_type(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected held values to have their result's type, several columns, and a walk other than looped, got 'vector<1x64xf32>' and 'vector<1x64xf16>'}}
      %r = rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x64xf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_scalar(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected held values to have their result's type, several columns, and a walk other than looped, got 'index' and 'vector<1x64xf16>'}}
      %r = rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %t : index
      } -> vector<1x64xf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_row(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %1 = arith.constant dense<0.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected held values to have their result's type, several columns, and a walk other than looped, got 'vector<1x1xf32>' and 'vector<1x1xf32>'}}
      %r = rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %1 : vector<1x1xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_looped(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected held values to have their result's type, several columns, and a walk other than looped, got 'vector<1x64xf32>' and 'vector<1x64xf32>'}}
      %r = rmsnorm.traverse looped {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_use(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %h = rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.yield %0 : vector<1x64xf32>
      } -> vector<1x64xf32>
      rmsnorm.traverse looped {
        // expected-error @+1 {{expected a walk other than looped where held values are used}}
        rmsnorm.tile_store tile %h, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_weight(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse looped {
        // expected-error @+1 {{expected a walk other than looped where held values are used}}
        %1 = arith.negf %w0 : vector<1x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_accumulator(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      rmsnorm.traverse looped {
        // expected-error @+1 {{expected a walk other than looped where held values are used}}
        rmsnorm.tile_store tile %a, %Y[%t] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c2_yielded(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %zero = arith.constant dense<0.0> : vector<1x64xf32>
    %sum = rmsnorm.tiles inits(%zero : vector<1x64xf32>) body {
    ^bb0(%t: index, %a: vector<1x64xf32>):
      %h = rmsnorm.traverse looped reduce(add) {
        // expected-error @+1 {{expected a walk other than looped where held values are used}}
        rmsnorm.yield %a : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield %a : vector<1x64xf32>
    } -> vector<1x64xf32>
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c3(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
    %w1 = arith.negf %w0 : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expected per-column values from outside of rmsnorm.traverse to be held ones, got one of arith.negf}}
        %1 = arith.negf %w1 : vector<1x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c3_yield(%m: index, %w: memref<64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %w : memref<64xf32>) {
  ^bb0(%M: index, %W: memref<64xf32>):
    %w0 = rmsnorm.tile_load column %W : memref<64xf32> -> vector<1x64xf32>
    %w1 = arith.negf %w0 : vector<1x64xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %s = rmsnorm.traverse unrolled reduce(add) {
        // expected-error @+1 {{expected per-column values from outside of rmsnorm.traverse to be held ones, got one of arith.negf}}
        rmsnorm.yield %w1 : vector<1x64xf32>
      } -> vector<1x1xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c4_row(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    %0 = arith.constant dense<1.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expected per-column values and stores of tiles in rmsnorm.traverse}}
        %1 = math.rsqrt %0 : vector<1x1xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c4_reduce(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        // expected-error @+1 {{expected per-column values and stores of tiles in rmsnorm.traverse}}
        %1 = rmsnorm.row_reduce add(%0) : vector<1x64xf32> -> vector<1x1xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c4_wait(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expected per-column values and stores of tiles in rmsnorm.traverse}}
        rmsnorm.grid_wait
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c4_store(%m: index, %r: memref<?xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(write %r : memref<?xf32>) {
  ^bb0(%M: index, %R: memref<?xf32>):
    %0 = arith.constant dense<1.0> : vector<1x1xf32>
    rmsnorm.tiles body {
    ^bb0(%t: index):
      rmsnorm.traverse unrolled {
        // expected-error @+1 {{expected per-column values and stores of tiles in rmsnorm.traverse}}
        rmsnorm.tile_store row %0, %R[%t] : vector<1x1xf32>, memref<?xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c5_in_flight(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected in_flight >= 1, got 0}}
      rmsnorm.traverse chunks in_flight(0) {
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @traverse_c5_order(%m: index, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.rows sizes [%m] columns(64) buffers(read %x : memref<?x64xf32>, write %y : memref<?x64xf32>) {
  ^bb0(%M: index, %X: memref<?x64xf32>, %Y: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      // expected-error @+1 {{expected order(ops) where nothing is summed over rows}}
      rmsnorm.traverse unrolled order(vectors) {
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

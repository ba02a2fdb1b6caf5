// RUN: norm-opt %s --rmsnorm-distribute --split-input-file --verify-diagnostics

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @not_walked(%x: memref<?x128xf32>, %m: index) {
    // expected-error @below {{expected blocks that walk their tiles in a loop, in a function}}
    // expected-note @below {{rmsnorm-walk-rows makes that loop}}
    scf.forall (%row) in (%m) {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
    return
  }
}

// -----

func.func @no_target(%x: memref<?x128xf32>, %m: index) {
  // expected-error @below {{expected a module with a 'rmsnorm.target' attribute}}
  // expected-note @below {{rmsnorm-attach-target sets it}}
  scf.forall (%block) in (%m) {
    scf.for %row = %block to %m step %m {
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
  return
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @inner_stride(%x: memref<?x128xf32, strided<[?, 2]>>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        // expected-error @below {{expected an inner stride of 1, got base 'memref<?x128xf32, strided<[?, 2]>>'}}
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32, strided<[?, 2]>> -> vector<1x128xf32>
        rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32, strided<[?, 2]>>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @two_widths(%x: memref<?x128xf32>, %y: memref<?x64xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
        // expected-error @below {{expected all tiles of a program to have 128 columns, got 'vector<1x64xf32>'}}
        %1 = rmsnorm.tile_load tile %y[%row] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.tile_store tile %0, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
        rmsnorm.tile_store tile %1, %y[%row] : vector<1x64xf32>, memref<?x64xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @not_elementwise(%x: memref<?x128xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
        // expected-error @below {{expected an elementwise op or an op of the tile level in a tile program}}
        %1 = vector.shuffle %0, %0 [0] : vector<1x128xf32>, vector<1x128xf32>
        rmsnorm.tile_store tile %1, %x[%row] : vector<1x128xf32>, memref<?x128xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @column_store(%x: memref<?x128xf32>, %w: memref<128xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x128xf32> -> vector<1x128xf32>
        // expected-error @below {{expected per-column values to leave a tile program through a column sum}}
        rmsnorm.tile_store column %0, %w : vector<1x128xf32>, memref<128xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}
    return
  }
}

// -----

// Two halves exchange what the blocks of a cluster have: here is none.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @half_of_a_block(%x: memref<?x256xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x256xf32> -> vector<1x256xf32>
        // expected-error @below {{expected both halves of a reduction of rows that a cluster shares}}
        rmsnorm.row_reduce_begin add(%0) number(%row) : vector<1x256xf32>
        %1 = rmsnorm.row_reduce_end [add] number(%row) : vector<1x1xf32>
        %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x256xf32>
        rmsnorm.tile_store tile %2, %x[%row] : vector<1x256xf32>, memref<?x256xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4>}
    return
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @no_begin(%x: memref<?x256xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        // expected-error @below {{expected both halves of a reduction of rows that a cluster shares}}
        %1 = rmsnorm.row_reduce_end [add] number(%row) : vector<1x1xf32>
        %2 = vector.broadcast %1 : vector<1x1xf32> to vector<1x256xf32>
        rmsnorm.tile_store tile %2, %x[%row] : vector<1x256xf32>, memref<?x256xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 64, vector_width = 4>}
    return
  }
}

// -----

// Nobody would wait for what is begun.
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  func.func @no_end(%x: memref<?x256xf32>, %m: index) {
    scf.forall (%block) in (%m) {
      scf.for %row = %block to %m step %m {
        %0 = rmsnorm.tile_load tile %x[%row] : memref<?x256xf32> -> vector<1x256xf32>
        // expected-error @below {{expected both halves of a reduction of rows that a cluster shares}}
        rmsnorm.row_reduce_begin add(%0) number(%row) : vector<1x256xf32>
      }
    } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4, cluster = 2>}
    return
  }
}

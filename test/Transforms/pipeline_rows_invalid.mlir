// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-place-tiles --rmsnorm-pipeline-rows --split-input-file --verify-diagnostics

// The next row is copied before this one is stored over it.
func.func @shifted(%x: memref<?x64xf32>, %m: index, %grid: index) {
  %c1 = arith.constant 1 : index
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      // expected-note @+1 {{copied here}}
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
      %next = arith.addi %row, %c1 : index
      // expected-error @+1 {{expected stages < 2 where the buffer of a tile that is copied ahead is written in other rows or through another view}}
      rmsnorm.tile_store tile %0, %x[%next] : vector<1x64xf32>, memref<?x64xf32>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>}
  return
}

// -----

func.func @other_view(%x: memref<?x64xf32>, %m: index, %grid: index) {
  %view = memref.cast %x : memref<?x64xf32> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  scf.forall (%block) in (%grid) {
    scf.for %row = %block to %m step %grid {
      // expected-note @+1 {{copied here}}
      %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
      // expected-error @+1 {{written in other rows or through another view}}
      rmsnorm.tile_store tile %0, %view[%row] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>
    }
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>}
  return
}

// -----

func.func @no_loop(%x: memref<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected blocks that walk their tiles in a loop}}
  scf.forall (%row) in (%m) {
    %0 = rmsnorm.tile_load tile %x[%row] : memref<?x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %0, %x[%row] : vector<1x64xf32>, memref<?x64xf32>
  } {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 16, vector_width = 4, cache = shared, blocks_per_sm = 1, stages = 2>}
  return
}

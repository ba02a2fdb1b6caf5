// RUN: norm-opt %s --rmsnorm-split-sums --split-input-file --verify-diagnostics

// The program overwrites what the sums read, and reads what they are added to.
func.func @both_ways(%x: memref<?x?x64xf32>, %batch: memref<?x64xf32>, %token: memref<?x64xf32>, %b: index, %t: index) {
  // expected-error @+1 {{expected sums over rows that another kernel can take, got one whose destination the program reads, of what the program overwrites}}
  rmsnorm.rows sizes [%b, %t] segments [0] columns(64) buffers(update alias(0) %x : memref<?x?x64xf32>, write %batch : memref<?x64xf32>, write alias(0) %token : memref<?x64xf32>) {
  ^bb0(%B: index, %T: index, %X: memref<?x?x64xf32>, %BATCH: memref<?x64xf32>, %TOKEN: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%i: index):
      %0 = rmsnorm.tile_load tile %X[%i] : memref<?x?x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %0, %X[%i] : vector<1x64xf32>, memref<?x?x64xf32>
      rmsnorm.accumulate %0 into %BATCH map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.accumulate %0 into %TOKEN map(r0, r1, c) -> (r1, c) : vector<1x64xf32> into memref<?x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

func.func @placed(%x: memref<?x64xf32>, %m: index) {
  // expected-error @+2 {{expected a straight-line program, got one with traverses or copies}}
  // expected-note @+1 {{rmsnorm-place-tiles comes later}}
  rmsnorm.rows sizes [%m] columns(64) buffers(update %x : memref<?x64xf32>) schedule(#rmsnorm.schedule<threads_per_row = 32, vector_width = 1>) {
  ^bb0(%M: index, %X: memref<?x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%i: index):
      rmsnorm.traverse unrolled {
        %0 = rmsnorm.tile_load tile %X[%i] : memref<?x64xf32> -> vector<1x64xf32>
        rmsnorm.tile_store tile %0, %X[%i] : vector<1x64xf32>, memref<?x64xf32>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

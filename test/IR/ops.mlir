// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s
// RUN: norm-opt %s --emit-bytecode | norm-opt | FileCheck %s

// Pretty, generic and bytecode form keep everything.

// CHECK-LABEL: func.func @forward_plain(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4096xbf16>, %[[Y:.*]]: tensor<8x4096xbf16>
// CHECK:         rmsnorm.forward input(%[[X]] : tensor<8x4096xbf16>)
// CHECK-SAME:      output(%[[Y]] : tensor<8x4096xbf16>) eps = 9.99999974E-6
// CHECK-SAME:      -> tensor<8x4096xbf16>
// CHECK-NOT:     offset
// CHECK-NOT:     casting
func.func @forward_plain(%x: tensor<8x4096xbf16>, %y: tensor<8x4096xbf16>)
    -> tensor<8x4096xbf16> {
  %0 = rmsnorm.forward input(%x : tensor<8x4096xbf16>)
      output(%y : tensor<8x4096xbf16>) eps = 1.0e-05 -> tensor<8x4096xbf16>
  return %0 : tensor<8x4096xbf16>
}

// CHECK-LABEL: func.func @forward_all(
// CHECK:         %{{[^ ]*}}:2 = rmsnorm.forward input(%{{[^ ]*}} : tensor<?x?x3x?xf16>)
// CHECK-SAME:      weight(%{{[^ ]*}} : tensor<?xf32>) output(%{{[^ ]*}} : tensor<?x?x3x?xbf16>)
// CHECK-SAME:      rstd(%{{[^ ]*}} : tensor<?x?x3xf32>) eps = 9.99999997E-7 offset = 1.000000e+00
// CHECK-SAME:      casting = llama {note = "kept"} -> tensor<?x?x3x?xbf16>, tensor<?x?x3xf32>
func.func @forward_all(%x: tensor<?x?x3x?xf16>, %w: tensor<?xf32>,
                       %y: tensor<?x?x3x?xbf16>, %r: tensor<?x?x3xf32>)
    -> (tensor<?x?x3x?xbf16>, tensor<?x?x3xf32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<?x?x3x?xf16>)
      weight(%w : tensor<?xf32>) output(%y : tensor<?x?x3x?xbf16>)
      rstd(%r : tensor<?x?x3xf32>) eps = 1.0e-06 casting = llama
      offset = 1.0 {note = "kept"}
      -> tensor<?x?x3x?xbf16>, tensor<?x?x3xf32>
  return %0#0, %0#1 : tensor<?x?x3x?xbf16>, tensor<?x?x3xf32>
}

// A single row, and the row statistic of a single row.
// CHECK-LABEL: func.func @forward_rank_1(
// CHECK:         rmsnorm.forward input(%{{[^ ]*}} : tensor<1xf32>) output(%{{[^ ]*}} : tensor<1xf16>)
// CHECK-SAME:      rstd(%{{[^ ]*}} : tensor<f32>) eps = 1.000000e+00 casting = none
func.func @forward_rank_1(%x: tensor<1xf32>, %y: tensor<1xf16>, %r: tensor<f32>)
    -> (tensor<1xf16>, tensor<f32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<1xf32>) output(%y : tensor<1xf16>)
      rstd(%r : tensor<f32>) eps = 1.0 casting = none
      -> tensor<1xf16>, tensor<f32>
  return %0#0, %0#1 : tensor<1xf16>, tensor<f32>
}

// Run-time strides, memory spaces, zero rows.
// CHECK-LABEL: func.func @forward_memref(
// CHECK:         rmsnorm.forward input(%{{[^ ]*}} : memref<0x?x128xf32, strided<[?, ?, 1], offset: ?>>)
// CHECK-SAME:      weight(%{{[^ ]*}} : memref<128xf16>)
// CHECK-SAME:      output(%{{[^ ]*}} : memref<0x?x128xf32, strided<[512, 256, 1]>, 1>)
// CHECK-SAME:      rstd(%{{[^ ]*}} : memref<0x?xf32, strided<[?, ?]>>) eps = 9.99999974E-6{{$}}
func.func @forward_memref(
    %x: memref<0x?x128xf32, strided<[?, ?, 1], offset: ?>>,
    %w: memref<128xf16>, %y: memref<0x?x128xf32, strided<[512, 256, 1]>, 1>,
    %r: memref<0x?xf32, strided<[?, ?]>>) {
  rmsnorm.forward input(%x : memref<0x?x128xf32, strided<[?, ?, 1], offset: ?>>)
      weight(%w : memref<128xf16>)
      output(%y : memref<0x?x128xf32, strided<[512, 256, 1]>, 1>)
      rstd(%r : memref<0x?xf32, strided<[?, ?]>>) eps = 1.0e-05
  return
}

// CHECK-LABEL: func.func @backward_plain(
// CHECK:         rmsnorm.backward dy(%{{[^ ]*}} : tensor<?x64xf32>) input(%{{[^ ]*}} : tensor<?x64xf32>)
// CHECK-SAME:      dx(%{{[^ ]*}} : tensor<?x64xf32>) eps = 9.99999974E-6 -> tensor<?x64xf32>
func.func @backward_plain(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>,
                          %dx: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>)
      dx(%dx : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @backward_all(
// CHECK:         rmsnorm.backward dy(%{{[^ ]*}} : tensor<?x64xbf16>) input(%{{[^ ]*}} : tensor<?x64xf16>)
// CHECK-SAME:      weight(%{{[^ ]*}} : tensor<64xbf16>) rstd(%{{[^ ]*}} : tensor<?xf32>)
// CHECK-SAME:      dx(%{{[^ ]*}} : tensor<?x64xf32>) dweight(%{{[^ ]*}} : tensor<64xbf16>)
// CHECK-SAME:      eps = 9.99999974E-6 offset = 1.000000e+00 casting = none
// CHECK-SAME:      -> tensor<?x64xf32>, tensor<64xbf16>
func.func @backward_all(%dy: tensor<?x64xbf16>, %x: tensor<?x64xf16>,
                        %w: tensor<64xbf16>, %r: tensor<?xf32>,
                        %dx: tensor<?x64xf32>, %dw: tensor<64xbf16>)
    -> (tensor<?x64xf32>, tensor<64xbf16>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x64xbf16>)
      input(%x : tensor<?x64xf16>) weight(%w : tensor<64xbf16>)
      rstd(%r : tensor<?xf32>) dx(%dx : tensor<?x64xf32>)
      dweight(%dw : tensor<64xbf16>) eps = 1.0e-05 offset = 1.0 casting = none
      -> tensor<?x64xf32>, tensor<64xbf16>
  return %0#0, %0#1 : tensor<?x64xf32>, tensor<64xbf16>
}

// CHECK-LABEL: func.func @backward_memref(
// CHECK:         rmsnorm.backward dy(%{{[^ ]*}} : memref<4x64xf32>) input(%{{[^ ]*}} : memref<4x64xf32>)
// CHECK-SAME:      weight(%{{[^ ]*}} : memref<64xf16>) dx(%{{[^ ]*}} : memref<4x64xf32>)
// CHECK-SAME:      dweight(%{{[^ ]*}} : memref<64xf32>) eps = 9.99999974E-6{{$}}
func.func @backward_memref(%dy: memref<4x64xf32>, %x: memref<4x64xf32>,
                           %w: memref<64xf16>, %dw: memref<64xf32>) {
  rmsnorm.backward dy(%dy : memref<4x64xf32>) input(%x : memref<4x64xf32>)
      weight(%w : memref<64xf16>) dx(%dy : memref<4x64xf32>)
      dweight(%dw : memref<64xf32>) eps = 1.0e-05
  return
}

// CHECK-LABEL: func.func @accumulate(
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} : vector<4x64xf32> into memref<64xf16>
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} init(%{{[^ ]*}} : memref<64xbf16>) : vector<1x64xf32> into memref<64xf32>
func.func @accumulate(%v: vector<4x64xf32>, %d: vector<1x64xf32>,
                      %a: memref<64xf16>, %b: memref<64xf32>,
                      %c: memref<64xbf16>) {
  rmsnorm.accumulate %v into %a : vector<4x64xf32> into memref<64xf16>
  rmsnorm.accumulate %d into %b init(%c : memref<64xbf16>)
      : vector<1x64xf32> into memref<64xf32>
  return
}

// CHECK-LABEL: func.func @accumulate_maxima(
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} kind(maximumf) start(-1.000000e+00) : vector<4x1xf32> into memref<bf16>
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} init(%{{[^ ]*}} : memref<1xf32>) kind(maxnumf) : vector<4x1xf32> into memref<1xf32>
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} kind(minimumf) map(r0, r1, c) -> (r1, c) : vector<4x64xf32> into memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{[^ ]*}} into %{{[^ ]*}} kind(minimumf) : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
func.func @accumulate_maxima(%v: vector<4x1xf32>, %w: vector<4x64xf32>,
                             %p: vector<2x64xf32>, %a: memref<bf16>,
                             %b: memref<1xf32>, %c: memref<?x64xf32>) {
  rmsnorm.accumulate %v into %a kind(maximumf) start(-1.0) : vector<4x1xf32> into memref<bf16>
  rmsnorm.accumulate %v into %b init(%b : memref<1xf32>) kind(maxnumf)
      : vector<4x1xf32> into memref<1xf32>
  rmsnorm.accumulate %w into %c kind(minimumf) map(r0, r1, c) -> (r1, c) : vector<4x64xf32> into memref<?x64xf32>
  %0 = rmsnorm.accumulate %w into %p kind(minimumf)
      : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
  return
}

// CHECK-LABEL: func.func @workspace(
// CHECK:         rmsnorm.workspace(%{{[^ ]*}}) : memref<?x4096xf32>
// CHECK:         rmsnorm.workspace(%{{[^ ]*}}, %{{[^ ]*}}) : memref<?x3x?xbf16>
// CHECK:         rmsnorm.workspace() : memref<8xf32>
func.func @workspace(%n: index, %m: index) {
  %0 = rmsnorm.workspace(%n) : memref<?x4096xf32>
  %1 = rmsnorm.workspace(%n, %m) : memref<?x3x?xbf16>
  %2 = rmsnorm.workspace() : memref<8xf32>
  return
}

// Sums over rows: into a buffer, into accumulators.
// CHECK-LABEL: func.func @sums_over_rows
func.func @sums_over_rows(%p: vector<4x64xf32>, %a: vector<2x64xf32>, %dw: memref<64xbf16>) -> vector<2x64xf32> {
  // CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<4x64xf32> into memref<64xbf16>
  rmsnorm.accumulate %p into %dw : vector<4x64xf32> into memref<64xbf16>
  // CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
  %b = rmsnorm.accumulate %p into %a : vector<4x64xf32> into vector<2x64xf32> -> vector<2x64xf32>
  return %b : vector<2x64xf32>
}

// CHECK-LABEL: func.func @grids(%{{[^ ]*}}: memref<64xf32> {rmsnorm.constant})
// CHECK-NEXT:    rmsnorm.grid_wait{{$}}
// CHECK-NEXT:    rmsnorm.launch_dependents{{$}}
func.func @grids(%w: memref<64xf32> {rmsnorm.constant}) {
  rmsnorm.grid_wait
  rmsnorm.launch_dependents
  return
}

// Each trip of a loop waits, and so does one branch of two.
// CHECK-LABEL: func.func @grids_in_loops
// CHECK:         scf.for
// CHECK-NEXT:      rmsnorm.grid_wait
// CHECK-NEXT:      rmsnorm.launch_dependents
// CHECK:         scf.if
// CHECK-NEXT:      rmsnorm.grid_wait
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        rmsnorm.launch_dependents
func.func @grids_in_loops(%m: index, %is_first: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    rmsnorm.grid_wait
    rmsnorm.launch_dependents
  }
  scf.if %is_first {
    rmsnorm.grid_wait
    scf.if %is_first {
      rmsnorm.launch_dependents
    }
  }
  return
}

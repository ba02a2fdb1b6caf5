// A module holds what the functions of a file say: entries, arguments with
// roles and shape symbols, variants with guards, launches with expressions.
// RUN: norm-compile %s --target=sm_90 --target=gfx942,sim:gfx942 --target=oracle -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s
// How many blocks of a persistent kernel are to share a multiprocessor, for L1
// to leave them their memory.
// RUN: norm-compile %s --target=sm_90 --schedule=static_persistent,blocks_per_sm=2 -o %t.persistent.rmsn
// RUN: norm-inspect %t.persistent.rmsn | FileCheck %s --check-prefix=PERSISTENT
// PERSISTENT-COUNT-3: block {{[0-9]+}} threads, subgroup 32, 2 per multiprocessor, programmatic dependent launch
// RUN: norm-compile %s --target=gfx942 --schedule="#rmsnorm.schedule<threads_per_row = 64, vector_width = 1>" --timing -o %t.timed.rmsn 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: entry {{ *}}target {{ *}}variant {{ *}}passes translate {{ *}}optimise {{ *}}codegen ptxas/lld {{ *}}total (ms)
// TIMING-NEXT: (all) (tensor) -
// TIMING-NEXT: packed gfx942 align16 {{[0-9. ]+$}}
// TIMING-NEXT: packed gfx942 element {{[0-9. ]+$}}
// TIMING-NEXT: odd gfx942 element {{[0-9. ]+$}}
// Linking resets LLVM's command-line options: the module went to its file all
// the same.
// RUN: norm-inspect %t.timed.rmsn | FileCheck %s --check-prefix=TIMED
// TIMED: program gfx942


// CHECK: module, format 3
// CHECK: producer norm-compile
// CHECK-LABEL: entry packed
// CHECK-NEXT: argument 0 {{[a-z]+}}: input bf16[s0, 128]
// CHECK-NEXT: argument 1 {{[a-z]+}}: input f32[128], constant
// CHECK-NEXT: argument 2 {{[a-z]+}}: output bf16[s0, 128]
// CHECK: program sm_90
// CHECK-NEXT: variant 0 align16{{[a-z0-9_]*}} when input aligned to 16, {{.*}}stride(input, 0) a multiple of 8, weight aligned to 16, output aligned to 16, {{.*}}stride(output, 0) a multiple of 8
// CHECK-NEXT: schedule #rmsnorm.schedule<
// CHECK-NEXT: launch 0 packed_{{.*}} of image [[#IMAGE:]]
// CHECK-NEXT: grid min({{.*}}size(input, 0){{.*}}, {{[0-9]+}}) x 1 x 1
// CHECK-NEXT: block {{[0-9]+}} threads, subgroup 32, programmatic dependent launch
// CHECK-NEXT: shared memory
// CHECK: parameters pointer weight, {{.*}}i64 size(input, 0), i64 stride(input, 0), i64 stride(output, 0), pointer input, pointer output
// CHECK: variant [[#]] element{{[a-z0-9_]*}}
// CHECK: launch 0 packed_{{.*}} of image
// CHECK: programmatic dependent launch
// CHECK: program gfx942
// CHECK-NOT: programmatic
// CHECK: program sim:gfx942
// CHECK: program oracle
func.func @packed(%x: tensor<?x128xbf16>, %w: tensor<128xf32> {rmsnorm.constant},
                  %y0: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x128xbf16>) weight(%w : tensor<128xf32>) output(%y0 : tensor<?x128xbf16>) eps = 1.0e-05 -> tensor<?x128xbf16>
  return %y : tensor<?x128xbf16>
}

// Rows of 1001 f32 are never both aligned to 16 bytes: one variant.
// CHECK-LABEL: entry odd
// CHECK: program sm_90
// CHECK-NEXT: variant 0 element
// CHECK: program gfx942
func.func @odd(%x: tensor<?x1001xf32>, %y0: tensor<?x1001xf32>) -> tensor<?x1001xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x1001xf32>) output(%y0 : tensor<?x1001xf32>) eps = 1.0e-05 -> tensor<?x1001xf32>
  return %y : tensor<?x1001xf32>
}

// Private functions are no entries.
// CHECK-NOT: entry helper
// CHECK: image 0 for sm_90: cuda, chip sm_90
// CHECK: for gfx942: hip, chip gfx942, hsaco
// CHECK: for sim:gfx942: sim, chip gfx942
// CHECK: for oracle: oracle
func.func private @helper(%x: tensor<?x64xf32>) {
  return
}

// RUN: norm-compile %s --target=sm_90,sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=1 | FileCheck %s --check-prefix=ONE
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=67 --order=shuffled
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=3
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=67 --order=reverse
// RUN: norm-compile %s --target=sm_90,sim:sm_90,oracle --merge-launches=0 -o %t.apart.rmsn
// RUN: norm-inspect %t.apart.rmsn | FileCheck %s --check-prefix=APART
// RUN: norm-run %t.apart.rmsn --device=sim:sm_90 --dim=s0=67 | FileCheck %s --check-prefix=TWO

// Blocks that somebody asked for stay.
// RUN: norm-compile %s --target=sm_90 --schedule=vectors_in_flight=2 -o %t.given.rmsn
// RUN: norm-inspect %t.given.rmsn | FileCheck %s --check-prefix=GIVEN
// GIVEN: variant 0 align16_rows_le_
// GIVEN: launch 1 mla_norms_multi_wave_cached_g1u1t32v8f2a16 of image

// The bits are those of two launches.
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=67 --csv | sed -n 's/.*,\([0-9a-f]\{16\}\),ok/\1/p' > %t.hash
// RUN: norm-run %t.apart.rmsn --device=sim:sm_90 --dim=s0=67 --csv | grep -f %t.hash

// The latents of DeepSeek's attention, normed where they lie in one projection:
// rows of different sizes, so of different schedules, in one launch while their
// blocks have as many threads: those for few rows of 512 would have fewer.
// CHECK: variant 0 align16_rows_le_
// CHECK: launch 0 mla_norms_multi_wave_cached_g1u1t{{[0-9]+}}v8f2a16_and_g{{[0-9]+}}u1t32v8f2a16 of image
// CHECK: block {{[0-9]+}} threads
// CHECK-NEXT: shared memory {{[0-9]+}} bytes
// CHECK-NOT: launch 1
// CHECK: variant {{[0-9]+}} align16 when
// CHECK: launch 0 mla_norms_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16_and_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16 of image
// CHECK-NOT: launch 1
// CHECK: program sim:gfx942
// CHECK: launch 0 mla_norms_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16_and_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16 of image
// CHECK: block {{[0-9]+}} threads
// CHECK-NOT: launch 1
// ONE: mla_norms {{.*}} 1x1 rows, {{[0-9]+}}x8, registers {{.*}}ok
// TWO: mla_norms {{.*}} 1x1 rows, {{[0-9]+}}x8, registers, 2 launches {{.*}}ok
// APART: launch 0 mla_norms_multi_wave_cached_g1u1t{{[0-9]+}}v8f2a16 of image
// APART: shared memory {{[1-9][0-9]*}} bytes
// APART: launch 1 mla_norms_multi_wave_cached_g{{[0-9]+}}u1t32v8f2a16 of image
// APART: shared memory 0 bytes
func.func @mla_norms(%a: tensor<?x2112xbf16>, %wq: tensor<1536xbf16>, %wk: tensor<512xbf16>) -> (tensor<?x1536xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x2112xbf16>
  %q = tensor.extract_slice %a[0, 0] [%m, 1536] [1, 1] : tensor<?x2112xbf16> to tensor<?x1536xbf16>
  %k = tensor.extract_slice %a[0, 1536] [%m, 512] [1, 1] : tensor<?x2112xbf16> to tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x1536xbf16>
  %f = tensor.empty(%m) : tensor<?x512xbf16>
  %0 = rmsnorm.forward input(%q : tensor<?x1536xbf16>) weight(%wq : tensor<1536xbf16>) output(%e : tensor<?x1536xbf16>) eps = 1.0e-06 -> tensor<?x1536xbf16>
  %1 = rmsnorm.forward input(%k : tensor<?x512xbf16>) weight(%wk : tensor<512xbf16>) output(%f : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  return %0, %1 : tensor<?x1536xbf16>, tensor<?x512xbf16>
}

// RUN: norm-compile %s --target=sim:sm_90,oracle --tuning=%S/Inputs/three_norms.json -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s --implicit-check-not="launch 1 "
// RUN: norm-inspect %t.rmsn | sed 's/, size/\nsize/g' | FileCheck %s --check-prefix=ROWS
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5 --dim=s2=7
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=0 --dim=s1=5 --dim=s2=7
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=0 --dim=s2=7
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5 --dim=s2=0
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=0 --dim=s1=0 --dim=s2=7
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=0 --dim=s1=0 --dim=s2=0

// Classes that were measured end together: 32 rows of the first, and 8 of the
// second, for one of the last.
// ROWS: variant 0 align16_rows_le_[[#LAST:]]_rows_le_
// ROWS: {{^}}size(input, 0) * 32 <= [[#LAST]]{{$}}
// ROWS-NEXT: {{^}}size(input_1, 0) * 8 <= [[#div(LAST,4)]]{{$}}
// ROWS-NEXT: {{^}}size(input_2, 0) <= [[#div(LAST,32)]]{{$}}

// Three loops over numbers of rows of their own, any of which may be 0.
// CHECK: launch 0 three_norms_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16_and_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16_0_and_g{{[0-9]+}}u1t{{[0-9]+}}v8f2a16 of image
// CHECK-NEXT: grid min({{.*}}size(input, 0) * 32{{.*}}, [[MOST:[0-9]+]]) + (min({{.*}}size(input_1, 0) * 8{{.*}}, [[MOST]]) + min({{.*}}size(input_2, 0){{.*}}, [[MOST]])) x 1 x 1
func.func @three_norms(%q: tensor<?x32x128xbf16>, %k: tensor<?x8x128xbf16>, %v: tensor<?x512xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>, %wv: tensor<512xbf16>) -> (tensor<?x32x128xbf16>, tensor<?x8x128xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %qm = tensor.dim %q, %c0 : tensor<?x32x128xbf16>
  %qe = tensor.empty(%qm) : tensor<?x32x128xbf16>
  %qy = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>) output(%qe : tensor<?x32x128xbf16>) eps = 1.0e-06 -> tensor<?x32x128xbf16>
  %km = tensor.dim %k, %c0 : tensor<?x8x128xbf16>
  %ke = tensor.empty(%km) : tensor<?x8x128xbf16>
  %ky = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%wk : tensor<128xbf16>) output(%ke : tensor<?x8x128xbf16>) eps = 1.0e-06 -> tensor<?x8x128xbf16>
  %vm = tensor.dim %v, %c0 : tensor<?x512xbf16>
  %ve = tensor.empty(%vm) : tensor<?x512xbf16>
  %vy = rmsnorm.forward input(%v : tensor<?x512xbf16>) weight(%wv : tensor<512xbf16>) output(%ve : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  return %qy, %ky, %vy : tensor<?x32x128xbf16>, tensor<?x8x128xbf16>, tensor<?x512xbf16>
}

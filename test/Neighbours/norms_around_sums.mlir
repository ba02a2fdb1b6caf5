// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s --implicit-check-not="launch 3 "
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=67
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=67 --dim=s1=5

// A gradient stands between two norms. Its kernels are launches of their own; the
// norms are one.
// CHECK: launch 0 {{.*}}persistent
// CHECK: launch 1 {{.*}}sum_rows
// CHECK: launch 2 {{.*}}_and_
func.func @norms_around_sums(%q: tensor<?x128xbf16>, %dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %k: tensor<?x128xbf16>)
    -> (tensor<?x128xbf16>, tensor<?x256xbf16>, tensor<256xf32>, tensor<?x128xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x128xbf16>
  %n = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %qe = tensor.empty(%m) : tensor<?x128xbf16>
  %xe = tensor.empty(%n) : tensor<?x256xbf16>
  %we = tensor.empty() : tensor<256xf32>
  %qn = rmsnorm.forward input(%q : tensor<?x128xbf16>) output(%qe : tensor<?x128xbf16>) eps = 1.0e-05 -> tensor<?x128xbf16>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x256xbf16>) input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>)
      dx(%xe : tensor<?x256xbf16>) dweight(%we : tensor<256xf32>) eps = 1.0e-05 -> tensor<?x256xbf16>, tensor<256xf32>
  %km = tensor.dim %k, %c0 : tensor<?x128xbf16>
  %ke = tensor.empty(%km) : tensor<?x128xbf16>
  %kn = rmsnorm.forward input(%k : tensor<?x128xbf16>) output(%ke : tensor<?x128xbf16>) eps = 1.0e-05 -> tensor<?x128xbf16>
  return %qn, %dx, %dw, %kn : tensor<?x128xbf16>, tensor<?x256xbf16>, tensor<256xf32>, tensor<?x128xbf16>
}

// DEFINE: %{compare} = env RMSNORM_GPU_TRACE=1 LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py
// arith and math on tensors beside norms are taken into kernels; what is not stays as it was.
// RUN: norm-opt %s --rmsnorm-embed-tensors > %t
// RUN: FileCheck %s < %t
// RUN: norm-opt %s | sed -n '/@theirs/,/^  }/p' > %t.before
// RUN: sed -n '/@theirs/,/^  }/p' %t > %t.after
// RUN: FileCheck %s --check-prefix=THEIRS < %t.before && diff %t.before %t.after
// RUN: %{compare} --embed=sim:sm_90,direct %s | FileCheck %s --check-prefix=RESULTS

// RESULTS: launched beside_raised_{{[a-z0-9_]+}} 1 times
// RESULTS-NOT: launched
// RESULTS: 6 results, 0 wrong

// The weight plus one is computed for each row, the sum in it. The last product is of other rows.
// CHECK-LABEL: func.func @beside(
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     arith.addf
// CHECK:         rmsnorm.rows sizes
// CHECK-COUNT-2:   arith.addf %{{.*}} : vector<1x64xbf16>
// CHECK:           rmsnorm.row_reduce
// CHECK:           rmsnorm.tile_store
// CHECK-NOT:     linalg.generic
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : tensor<?x64xbf16>
// CHECK-NEXT:    return
func.func @beside(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>, %w: tensor<64xbf16>, %z: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %one = arith.constant dense<1.0> : tensor<64xbf16>
  %h = arith.addf %x, %r : tensor<?x64xbf16>
  %w1 = arith.addf %w, %one : tensor<64xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x64xbf16>) weight(%w1 : tensor<64xbf16>) output(%e : tensor<?x64xbf16>) eps = 1.0e-05 -> tensor<?x64xbf16>
  %other = arith.mulf %z, %z : tensor<?x64xbf16>
  return %y, %h, %other : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>
}

// Attributes, several results, numbers beside tensors.
// THEIRS: arith.addf
// THEIRS: arith.select
func.func @theirs(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %i: tensor<?x64xi32>, %k: f32) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %s = arith.addf %x, %y fastmath<contract> : tensor<?x64xf32>
  %n = arith.negf %s {theirs.name = "n"} : tensor<?x64xf32>
  %c = arith.cmpf olt, %x, %n : tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %b = arith.cmpf ogt, %k, %zero : f32
  %d = arith.select %c, %x, %n : tensor<?x64xi1>, tensor<?x64xf32>
  %t = arith.select %b, %x, %d : tensor<?x64xf32>
  %low, %high = arith.mulsi_extended %i, %i : tensor<?x64xi32>
  %f = arith.sitofp %low : tensor<?x64xi32> to tensor<?x64xf32>
  %e = math.exp %y : tensor<?x64xf32>
  return %t, %f, %e : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// Operands that are the same for all groups of a row's columns, and have fewer than a thread's vector.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=12,16,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=12
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=67 --strided
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=16 --unaligned
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}2 results, 0 wrong

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>

func.func @two(%x: tensor<?x64xf32>, %w: tensor<2xf32>) -> tensor<?x32x2xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 32, 2] : tensor<?x64xf32> into tensor<?x32x2xf32>
  %z0 = tensor.empty(%m) : tensor<?x32x2xf32>
  %z = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%groups, %w : tensor<?x32x2xf32>, tensor<2xf32>) outs(%z0 : tensor<?x32x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x32x2xf32>
  return %z : tensor<?x32x2xf32>
}

// Vectors of a row begin at different columns of a group.
func.func @six(%x: tensor<?x24xbf16>, %w: tensor<6xbf16>) -> tensor<?x4x6xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x24xbf16>
  %e = tensor.empty(%m) : tensor<?x24xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x24xbf16>) output(%e : tensor<?x24xbf16>) eps = 1.0e-05 -> tensor<?x24xbf16>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 6] : tensor<?x24xbf16> into tensor<?x4x6xbf16>
  %z0 = tensor.empty(%m) : tensor<?x4x6xbf16>
  %z = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%groups, %w : tensor<?x4x6xbf16>, tensor<6xbf16>) outs(%z0 : tensor<?x4x6xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %p = arith.mulf %a, %b : bf16
    linalg.yield %p : bf16
  } -> tensor<?x4x6xbf16>
  return %z : tensor<?x4x6xbf16>
}

// RUN: sed 's/SECOND/64/; s/STRIDE/1/' %s > %t.halves.mlir
// RUN: sed 's/SECOND/1/; s/STRIDE/2/' %s > %t.pairs.mlir
// RUN: norm-compile %t.halves.mlir --target=sm_90,sim:sm_90,sim:gfx942,oracle -o %t.halves.rmsn
// RUN: norm-inspect %t.halves.rmsn | FileCheck %s --implicit-check-not="launch 1 "
// RUN: norm-run %t.halves.rmsn --device=sim:sm_90 --dim=s0=1
// RUN: norm-run %t.halves.rmsn --device=sim:sm_90 --dim=s0=3
// RUN: norm-run %t.halves.rmsn --device=sim:sm_90 --dim=s0=67
// RUN: norm-run %t.halves.rmsn --device=sim:gfx942 --dim=s0=1
// RUN: norm-run %t.halves.rmsn --device=sim:gfx942 --dim=s0=3
// RUN: norm-run %t.halves.rmsn --device=sim:gfx942 --dim=s0=67
// RUN: norm-compile %t.pairs.mlir --target=sm_90,sim:sm_90,sim:gfx942,oracle -o %t.pairs.rmsn
// RUN: norm-inspect %t.pairs.rmsn | FileCheck %s --implicit-check-not="launch 1 "
// RUN: norm-run %t.pairs.rmsn --device=sim:sm_90 --dim=s0=1
// RUN: norm-run %t.pairs.rmsn --device=sim:sm_90 --dim=s0=3
// RUN: norm-run %t.pairs.rmsn --device=sim:sm_90 --dim=s0=67
// RUN: norm-run %t.pairs.rmsn --device=sim:gfx942 --dim=s0=1
// RUN: norm-run %t.pairs.rmsn --device=sim:gfx942 --dim=s0=3
// RUN: norm-run %t.pairs.rmsn --device=sim:gfx942 --dim=s0=67

// The same where q and k lie, in packed qkv, of which v stays: heads that are
// slices of one buffer share nothing.
// CHECK: program sm_90
// CHECK: launch 0 qk_rope_in_place_multi_wave_cached_g{{[a-z0-9]*}}_and_g{{[a-z0-9]*}}_0 of image 0
// CHECK: program sim:gfx942
// CHECK: launch 0 qk_rope_in_place_multi_wave_cached_g{{[a-z0-9]*}}_and_g{{[a-z0-9]*}}_0 of image
#x = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @qk_rope_in_place(%qkv: tensor<?x48x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> tensor<?x48x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %qf = tensor.empty(%m) : tensor<?x32x128xf32>
  %qy = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>) output(%qf : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %q1 = tensor.extract_slice %qy[0, 0, 0] [%m, 32, 64] [1, 1, STRIDE] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %q2 = tensor.extract_slice %qy[0, 0, SECOND] [%m, 32, 64] [1, 1, STRIDE] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %qh = tensor.empty(%m) : tensor<?x32x64xbf16>
  %qr1 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q1, %q2, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%qh : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.subf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x32x64xbf16>
  %qr2 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q2, %q1, %cos, %sin : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%qh : tensor<?x32x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x32x64xbf16>
  %qi1 = tensor.insert_slice %qr1 into %q[0, 0, 0] [%m, 32, 64] [1, 1, STRIDE] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %qi2 = tensor.insert_slice %qr2 into %qi1[0, 0, SECOND] [%m, 32, 64] [1, 1, STRIDE] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %qback = tensor.insert_slice %qi2 into %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x32x128xbf16> into tensor<?x48x128xbf16>
  %k = tensor.extract_slice %qback[0, 32, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>
  %kf = tensor.empty(%m) : tensor<?x8x128xf32>
  %ky = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%wk : tensor<128xbf16>) output(%kf : tensor<?x8x128xf32>) eps = 1.0e-06 -> tensor<?x8x128xf32>
  %k1 = tensor.extract_slice %ky[0, 0, 0] [%m, 8, 64] [1, 1, STRIDE] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %k2 = tensor.extract_slice %ky[0, 0, SECOND] [%m, 8, 64] [1, 1, STRIDE] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %kh = tensor.empty(%m) : tensor<?x8x64xbf16>
  %kr1 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k1, %k2, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%kh : tensor<?x8x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.subf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x8x64xbf16>
  %kr2 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k2, %k1, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%kh : tensor<?x8x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x8x64xbf16>
  %ki1 = tensor.insert_slice %kr1 into %k[0, 0, 0] [%m, 8, 64] [1, 1, STRIDE] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %ki2 = tensor.insert_slice %kr2 into %ki1[0, 0, SECOND] [%m, 8, 64] [1, 1, STRIDE] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %kback = tensor.insert_slice %ki2 into %qback[0, 32, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x8x128xbf16> into tensor<?x48x128xbf16>
  return %kback : tensor<?x48x128xbf16>
}

// RUN: norm-compile %s --target=sim:sim32,oracle -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s --implicit-check-not="launch 1 "
// RUN: norm-run %t.rmsn --device=sim:sim32 --dim=s0=5
// RUN: norm-run %t.rmsn --device=sim:sim32 --dim=s0=21
// RUN: norm-run %t.rmsn --device=sim:sim32 --dim=s0=67

// Three norms of slices, rotated by the same angles: their blocks take turns, the
// second's and third's within theirs, where they are 32 or more on the four
// multiprocessors of the generic chip (21 tokens: 33; of the second and third 12).
// CHECK: launch 0 qkt_one_launch_{{.*}}_and_{{.*}}_and_{{.*}} of image 0
// CHECK-NEXT: grid min({{.*}}size(arg0, 0) * 32{{.*}}) + (min({{.*}}size(arg0, 0) * 8{{.*}}) + min({{.*}}size(arg0, 0) * 8{{.*}})) x 1 x 1
// CHECK: parameters {{.*}} min(floordiv({{.*}}, 32), 1), {{.*}} min(floordiv({{.*}}, 32), 1),
#x = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#t = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @qkt_one_launch(%qkv: tensor<?x48x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>, %wt: tensor<128xbf16>, %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>) -> (tensor<?x32x128xbf16>, tensor<?x8x128xbf16>, tensor<?x8x128xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x48x128xbf16>
  %q = tensor.extract_slice %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
  %qf = tensor.empty(%m) : tensor<?x32x128xf32>
  %qy = rmsnorm.forward input(%q : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>) output(%qf : tensor<?x32x128xf32>) eps = 1.0e-06 -> tensor<?x32x128xf32>
  %q1 = tensor.extract_slice %qy[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %q2 = tensor.extract_slice %qy[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
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
  %qo = tensor.empty(%m) : tensor<?x32x128xbf16>
  %qi1 = tensor.insert_slice %qr1 into %qo[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %qi2 = tensor.insert_slice %qr2 into %qi1[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %k = tensor.extract_slice %qkv[0, 32, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>
  %kf = tensor.empty(%m) : tensor<?x8x128xf32>
  %ky = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%wk : tensor<128xbf16>) output(%kf : tensor<?x8x128xf32>) eps = 1.0e-06 -> tensor<?x8x128xf32>
  %k1 = tensor.extract_slice %ky[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %k2 = tensor.extract_slice %ky[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
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
  %ko = tensor.empty(%m) : tensor<?x8x128xbf16>
  %ki1 = tensor.insert_slice %kr1 into %ko[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %ki2 = tensor.insert_slice %kr2 into %ki1[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %tk = tensor.extract_slice %qkv[0, 40, 0] [%m, 8, 128] [1, 1, 1] : tensor<?x48x128xbf16> to tensor<?x8x128xbf16>
  %tkf = tensor.empty(%m) : tensor<?x8x128xf32>
  %tky = rmsnorm.forward input(%tk : tensor<?x8x128xbf16>) weight(%wt : tensor<128xbf16>) output(%tkf : tensor<?x8x128xf32>) eps = 1.0e-06 -> tensor<?x8x128xf32>
  %tk1 = tensor.extract_slice %tky[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %tk2 = tensor.extract_slice %tky[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x128xf32> to tensor<?x8x64xf32>
  %tkh = tensor.empty(%m) : tensor<?x8x64xbf16>
  %tkr1 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%tk1, %tk2, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%tkh : tensor<?x8x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.subf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x8x64xbf16>
  %tkr2 = linalg.generic {indexing_maps = [#x, #x, #t, #t, #x], iterator_types = ["parallel", "parallel", "parallel"]} ins(%tk2, %tk1, %cos, %sin : tensor<?x8x64xf32>, tensor<?x8x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%tkh : tensor<?x8x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %z: bf16):
    %p = arith.mulf %a, %c : f32
    %r = arith.mulf %b, %s : f32
    %d = arith.addf %p, %r : f32
    %v = arith.truncf %d : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x8x64xbf16>
  %tko = tensor.empty(%m) : tensor<?x8x128xbf16>
  %tki1 = tensor.insert_slice %tkr1 into %tko[0, 0, 0] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  %tki2 = tensor.insert_slice %tkr2 into %tki1[0, 0, 64] [%m, 8, 64] [1, 1, 1] : tensor<?x8x64xbf16> into tensor<?x8x128xbf16>
  return %qi2, %ki2, %tki2 : tensor<?x32x128xbf16>, tensor<?x8x128xbf16>, tensor<?x8x128xbf16>
}

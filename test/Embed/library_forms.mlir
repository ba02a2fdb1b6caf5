// Forms of libraries: each function is one launch, and computes what it did.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=64,8 --row-wise --embed=sim:sm_90,direct | FileCheck %s --implicit-check-not=launched
// CHECK-DAG: launched adaln_raised_{{.*}} 1 times
// CHECK-DAG: launched causal_raised_{{.*}} 1 times
// CHECK-DAG: launched rotated_raised_{{.*}}_and_{{.*}} 1 times
// CHECK-DAG: launched sandwich_raised_{{.*}} 1 times
// CHECK: {{^}}6 results, 0 wrong

#id3 = affine_map<(b, t, c) -> (b, t, c)>
#batch = affine_map<(b, t, c) -> (b, 0, c)>
#keep = affine_map<(b, t, c) -> (b, t, 0)>
#id4 = affine_map<(b, h, t, c) -> (b, h, t, c)>
#heads = affine_map<(b, h, t, c) -> (b, 0, t, c)>
#from = affine_map<(b, h, t, c) -> (b, t, h, c)>

// Heads are transposed between norm and rotation, whose halves are put together
// by a concatenation. The projection of k stands between the two norms.
func.func @rotated(%x: tensor<6x32xf32>, %wq: tensor<32x256xf32>, %wk: tensor<32x128xf32>, %nq: tensor<64xf32>, %nk: tensor<64xf32>,
                   %cos: tensor<1x1x6x64xf32>, %sin: tensor<1x1x6x64xf32>) -> (tensor<1x4x6x64xf32>, tensor<1x2x6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %qo = tensor.empty() : tensor<6x256xf32>
  %qf = linalg.fill ins(%zero : f32) outs(%qo : tensor<6x256xf32>) -> tensor<6x256xf32>
  %qp = linalg.matmul ins(%x, %wq : tensor<6x32xf32>, tensor<32x256xf32>) outs(%qf : tensor<6x256xf32>) -> tensor<6x256xf32>
  %qh = tensor.expand_shape %qp [[0, 1], [2, 3]] output_shape [1, 6, 4, 64] : tensor<6x256xf32> into tensor<1x6x4x64xf32>
  %qe = tensor.empty() : tensor<1x6x4x64xf32>
  %qn = rmsnorm.forward input(%qh : tensor<1x6x4x64xf32>) weight(%nq : tensor<64xf32>) output(%qe : tensor<1x6x4x64xf32>) eps = 1.0e-06 -> tensor<1x6x4x64xf32>
  %qte = tensor.empty() : tensor<1x4x6x64xf32>
  %qt = linalg.transpose ins(%qn : tensor<1x6x4x64xf32>) outs(%qte : tensor<1x4x6x64xf32>) permutation = [0, 2, 1, 3]
  %q1 = tensor.extract_slice %qt[0, 0, 0, 0] [1, 4, 6, 32] [1, 1, 1, 1] : tensor<1x4x6x64xf32> to tensor<1x4x6x32xf32>
  %q2 = tensor.extract_slice %qt[0, 0, 0, 32] [1, 4, 6, 32] [1, 1, 1, 1] : tensor<1x4x6x64xf32> to tensor<1x4x6x32xf32>
  %qm = arith.negf %q2 : tensor<1x4x6x32xf32>
  %qr = tensor.concat dim(3) %qm, %q1 : (tensor<1x4x6x32xf32>, tensor<1x4x6x32xf32>) -> tensor<1x4x6x64xf32>
  %q = linalg.generic {indexing_maps = [#id4, #id4, #heads, #heads, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qt, %qr, %cos, %sin : tensor<1x4x6x64xf32>, tensor<1x4x6x64xf32>, tensor<1x1x6x64xf32>, tensor<1x1x6x64xf32>) outs(%qte : tensor<1x4x6x64xf32>) {
  ^bb0(%a: f32, %r: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.mulf %r, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x4x6x64xf32>
  %ko = tensor.empty() : tensor<6x128xf32>
  %kf = linalg.fill ins(%zero : f32) outs(%ko : tensor<6x128xf32>) -> tensor<6x128xf32>
  %kp = linalg.matmul ins(%x, %wk : tensor<6x32xf32>, tensor<32x128xf32>) outs(%kf : tensor<6x128xf32>) -> tensor<6x128xf32>
  %kh = tensor.expand_shape %kp [[0, 1], [2, 3]] output_shape [1, 6, 2, 64] : tensor<6x128xf32> into tensor<1x6x2x64xf32>
  %ke = tensor.empty() : tensor<1x6x2x64xf32>
  %kn = rmsnorm.forward input(%kh : tensor<1x6x2x64xf32>) weight(%nk : tensor<64xf32>) output(%ke : tensor<1x6x2x64xf32>) eps = 1.0e-06 -> tensor<1x6x2x64xf32>
  %kte = tensor.empty() : tensor<1x2x6x64xf32>
  %kt = linalg.transpose ins(%kn : tensor<1x6x2x64xf32>) outs(%kte : tensor<1x2x6x64xf32>) permutation = [0, 2, 1, 3]
  %k1 = tensor.extract_slice %kt[0, 0, 0, 0] [1, 2, 6, 32] [1, 1, 1, 1] : tensor<1x2x6x64xf32> to tensor<1x2x6x32xf32>
  %k2 = tensor.extract_slice %kt[0, 0, 0, 32] [1, 2, 6, 32] [1, 1, 1, 1] : tensor<1x2x6x64xf32> to tensor<1x2x6x32xf32>
  %km = arith.negf %k2 : tensor<1x2x6x32xf32>
  %kr = tensor.concat dim(3) %km, %k1 : (tensor<1x2x6x32xf32>, tensor<1x2x6x32xf32>) -> tensor<1x2x6x64xf32>
  %k = linalg.generic {indexing_maps = [#id4, #id4, #heads, #heads, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%kt, %kr, %cos, %sin : tensor<1x2x6x64xf32>, tensor<1x2x6x64xf32>, tensor<1x1x6x64xf32>, tensor<1x1x6x64xf32>) outs(%kte : tensor<1x2x6x64xf32>) {
  ^bb0(%a: f32, %r: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.mulf %r, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x6x64xf32>
  return %q, %k : tensor<1x4x6x64xf32>, tensor<1x2x6x64xf32>
}

// Gemma: the norm of a branch is added to the residual, whose norm is next.
// Batch 1.
func.func @sandwich(%h: tensor<1x6x256xbf16>, %branch: tensor<1x6x256xbf16>, %w1: tensor<256xbf16>, %w2: tensor<256xbf16>) -> (tensor<1x6x256xbf16>, tensor<1x6x256xbf16>) {
  %e = tensor.empty() : tensor<1x6x256xbf16>
  %p = rmsnorm.forward input(%branch : tensor<1x6x256xbf16>) weight(%w1 : tensor<256xbf16>) output(%e : tensor<1x6x256xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<1x6x256xbf16>
  %r = arith.addf %h, %p : tensor<1x6x256xbf16>
  %n = rmsnorm.forward input(%r : tensor<1x6x256xbf16>) weight(%w2 : tensor<256xbf16>) output(%e : tensor<1x6x256xbf16>) eps = 1.0e-06 offset = 1.0 -> tensor<1x6x256xbf16>
  return %r, %n : tensor<1x6x256xbf16>, tensor<1x6x256xbf16>
}

// A LayerNorm with columns that are kept, modulated by [:, None].
func.func @adaln(%x: tensor<2x3x128xf32>, %shift: tensor<2x1x128xf32>, %scale: tensor<2x1x128xf32>) -> tensor<2x3x128xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x3x1xf32>
  %kf = linalg.fill ins(%zero : f32) outs(%ke : tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %e = tensor.empty() : tensor<2x3x128xf32>
  %sum = linalg.generic {indexing_maps = [#id3, #keep], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x3x128xf32>) outs(%kf : tensor<2x3x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x1xf32>
  %centred = linalg.generic {indexing_maps = [#id3, #keep, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : tensor<2x3x128xf32>, tensor<2x3x1xf32>) outs(%e : tensor<2x3x128xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %n = arith.constant 128.0 : f32
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x128xf32>
  %squares = linalg.generic {indexing_maps = [#id3, #keep], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%centred : tensor<2x3x128xf32>) outs(%kf : tensor<2x3x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x1xf32>
  %y = linalg.generic {indexing_maps = [#id3, #keep, #batch, #batch, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%centred, %squares, %scale, %shift : tensor<2x3x128xf32>, tensor<2x3x1xf32>, tensor<2x1x128xf32>, tensor<2x1x128xf32>) outs(%e : tensor<2x3x128xf32>) {
  ^bb0(%a: f32, %v: f32, %g: f32, %b: f32, %o: f32):
    %n = arith.constant 128.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %one = arith.constant 1.0 : f32
    %0 = arith.divf %v, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.addf %g, %one : f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %5, %b : f32
    linalg.yield %6 : f32
  } -> tensor<2x3x128xf32>
  return %y : tensor<2x3x128xf32>
}

// A softmax whose mask compares a row's position with a column's: one buffer
// is read in two ways.
#rows = affine_map<(t, c) -> (t)>
#columns = affine_map<(t, c) -> (c)>
#id = affine_map<(t, c) -> (t, c)>
func.func @causal(%s: tensor<16x16xf32>, %positions: tensor<16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %re = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%re : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.generic {indexing_maps = [#id, #rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %positions, %positions : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %row: f32, %column: f32, %o: f32):
    %none = arith.constant -1.0e+04 : f32
    %0 = arith.cmpf ogt, %column, %row : f32
    %1 = arith.select %0, %none, %a : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<16x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sum : tensor<16x16xf32>, tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %d: f32, %o: f32):
    %0 = arith.divf %a, %d : f32
    linalg.yield %0 : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

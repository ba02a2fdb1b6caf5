// Programs that were refused for the whole module, though legal.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=3 --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}9 results, 0 wrong

// An operand by (b, a), whose sizes only the others tell, beside one by b.
func.func @ordered(%x: tensor<?x?x16xf32>, %t: tensor<?x?x16xf32>, %a: tensor<?x16xf32>) -> tensor<?x?x16xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %i0 : tensor<?x?x16xf32>
  %d1 = tensor.dim %x, %i1 : tensor<?x?x16xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x16xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x16xf32>) output(%e : tensor<?x?x16xf32>) eps = 1.0e-03 -> tensor<?x?x16xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (b, a, c)>, affine_map<(a, b, c) -> (b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %t, %a : tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<?x16xf32>) outs(%e : tensor<?x?x16xf32>) {
  ^bb0(%p: f32, %s: f32, %q: f32, %o: f32):
    %r0 = arith.addf %p, %q : f32
    %r = arith.addf %r0, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x?x16xf32>
  return %z : tensor<?x?x16xf32>
}

// Groups of one column.
func.func @group_of_one(%x: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x4xf32>
  %y = rmsnorm.forward input(%x : tensor<7x4xf32>) output(%e : tensor<7x4xf32>) eps = 1.0e-03 -> tensor<7x4xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [7, 4, 1] : tensor<7x4xf32> into tensor<7x4x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x4xf32>) -> tensor<7x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<7x4x1xf32>) outs(%f : tensor<7x4xf32>) {
  ^bb0(%v: f32, %q: f32):
    %m = math.absf %v : f32
    %r = arith.maximumf %m, %q : f32
    linalg.yield %r : f32
  } -> tensor<7x4xf32>
  return %s : tensor<7x4xf32>
}

// What is inserted goes, with what it is inserted into, to every other column.
func.func @apart(%x: tensor<?x8xf32>, %o: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-03 -> tensor<?x8xf32>
  %a = tensor.extract_slice %y[0, 0] [%m, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %e4 = tensor.empty(%m) : tensor<?x4xf32>
  %n = rmsnorm.forward input(%a : tensor<?x4xf32>) output(%e4 : tensor<?x4xf32>) eps = 1.0e-03 -> tensor<?x4xf32>
  %p = tensor.insert_slice %n into %y[0, 0] [%m, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %q = tensor.insert_slice %p into %o[0, 1] [%m, 8] [1, 2] : tensor<?x8xf32> into tensor<?x16xf32>
  return %q : tensor<?x16xf32>
}

// Values of groups of the only row, in front of a dimension of one element.
func.func @values_of_groups(%a0: tensor<1x24xbf16>, %a1: tensor<12x1xbf16>) -> (tensor<12x1x2xbf16>, tensor<24xf32>, tensor<24xf32>) {
  %v1 = arith.constant 0.0 : f32
  %v2 = tensor.empty() : tensor<24xf32>
  %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<24xf32>) -> tensor<24xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<1x24xbf16>) outs(%v3 : tensor<24xf32>) {
  ^bb0(%x0: bf16, %o: f32):
    %w = arith.extf %x0 : bf16 to f32
    %m = arith.mulf %w, %w : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<24xf32>
  %v5 = tensor.empty() : tensor<1x24xbf16>
  %v6 = rmsnorm.forward input(%a0 : tensor<1x24xbf16>) output(%v5 : tensor<1x24xbf16>) eps = 1.0e-03 -> tensor<1x24xbf16>
  %v7 = arith.constant 0.0 : f32
  %v8 = tensor.empty() : tensor<24xf32>
  %v9 = linalg.fill ins(%v7 : f32) outs(%v8 : tensor<24xf32>) -> tensor<24xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%v6 : tensor<1x24xbf16>) outs(%v9 : tensor<24xf32>) {
  ^bb0(%x0: bf16, %o: f32):
    %w = arith.extf %x0 : bf16 to f32
    %m = math.absf %w : f32
    %r = arith.maximumf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<24xf32>
  %v11 = tensor.expand_shape %v6 [[0], [1, 2]] output_shape [1, 12, 2] : tensor<1x24xbf16> into tensor<1x12x2xbf16>
  %v12 = tensor.empty() : tensor<1x12x2xbf16>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v11, %a1 : tensor<1x12x2xbf16>, tensor<12x1xbf16>) outs(%v12 : tensor<1x12x2xbf16>) {
  ^bb0(%x0: bf16, %x1: bf16, %o: bf16):
    %r = arith.mulf %x0, %x1 : bf16
    linalg.yield %r : bf16
  } -> tensor<1x12x2xbf16>
  %v14 = tensor.empty() : tensor<12x1x2xbf16>
  %v15 = linalg.transpose ins(%v13 : tensor<1x12x2xbf16>) outs(%v14 : tensor<12x1x2xbf16>) permutation = [1, 0, 2]
  return %v15, %v4, %v10 : tensor<12x1x2xbf16>, tensor<24xf32>, tensor<24xf32>
}

// Columns replaced in every second one of a tensor: no kernel reads those.
func.func @of_every_second(%x: tensor<?x128xf32>, %g: tensor<?x32xf32>) -> (tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %s = tensor.extract_slice %x[0, 1] [%m, 64] [1, 2] : tensor<?x128xf32> to tensor<?x64xf32>
  %i = tensor.insert_slice %g into %s[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%i : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Every second of columns replaced, and an odd part taken out.
func.func @odd_part_of_pairs(%x: tensor<2x12xf32>, %g: tensor<2x6xf32>) -> tensor<2x3xf32> {
  %i = tensor.insert_slice %g into %x[0, 0] [2, 6] [1, 2] : tensor<2x6xf32> into tensor<2x12xf32>
  %e = tensor.empty() : tensor<2x12xf32>
  %n = rmsnorm.forward input(%i : tensor<2x12xf32>) output(%e : tensor<2x12xf32>) eps = 1.0e-03 -> tensor<2x12xf32>
  %s = tensor.extract_slice %n[0, 9] [2, 3] [1, 1] : tensor<2x12xf32> to tensor<2x3xf32>
  %e3 = tensor.empty() : tensor<2x3xf32>
  %y = linalg.exp ins(%s : tensor<2x3xf32>) outs(%e3 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Two constants beside each other, which are one constant of different values.
func.func @two_constants(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%one : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %g = linalg.fill ins(%two : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %i = tensor.insert_slice %f into %e[0, 0] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %j = tensor.insert_slice %g into %i[0, 32] [%m, 32] [1, 1] : tensor<?x32xf32> into tensor<?x64xf32>
  %n = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %y = linalg.add ins(%n, %j : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

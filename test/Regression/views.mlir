// Views around norms that were computed wrongly, at other places than they say.
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=7,24 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=24
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=7 --unaligned --strided
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}18 results, 0 wrong

// Dimensions of one size that change places: upstream folds a reinterpret_cast of
// equal types.
func.func @square(%x: tensor<4x5x5x64xf32>) -> tensor<4x5x5x64xf32> {
  %e = tensor.empty() : tensor<4x5x5x64xf32>
  %t = linalg.transpose ins(%x : tensor<4x5x5x64xf32>) outs(%e : tensor<4x5x5x64xf32>) permutation = [0, 2, 1, 3]
  %y = rmsnorm.forward input(%t : tensor<4x5x5x64xf32>) output(%e : tensor<4x5x5x64xf32>) eps = 1.0e-03 -> tensor<4x5x5x64xf32>
  return %y : tensor<4x5x5x64xf32>
}

// The same where maps say so.
func.func @map(%x: tensor<5x5x64xf32>, %s: tensor<5x5xf32>, %g: tensor<5x5x64xf32>) -> tensor<5x5x64xf32> {
  %e = tensor.empty() : tensor<5x5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<5x5x64xf32>) output(%e : tensor<5x5x64xf32>) eps = 1.0e-03 -> tensor<5x5x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(b, c, d) -> (b, c, d)>, affine_map<(b, c, d) -> (c, b)>, affine_map<(b, c, d) -> (c, b, d)>, affine_map<(b, c, d) -> (b, c, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s, %g : tensor<5x5x64xf32>, tensor<5x5xf32>, tensor<5x5x64xf32>) outs(%e : tensor<5x5x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %q0: f32):
    %v = arith.mulf %a0, %a1 : f32
    %w = arith.addf %v, %a2 : f32
    linalg.yield %w : f32
  } -> tensor<5x5x64xf32>
  return %h : tensor<5x5x64xf32>
}

func.func @square_slice(%x: tensor<4x5x9x64xf32>, %w: tensor<4x5x5x64xf32>) -> tensor<4x5x5x64xf32> {
  %e = tensor.empty() : tensor<4x5x5x64xf32>
  %s = tensor.extract_slice %x[0, 0, 3, 0] [4, 5, 5, 64] [1, 1, 1, 1] : tensor<4x5x9x64xf32> to tensor<4x5x5x64xf32>
  %t = linalg.transpose ins(%s : tensor<4x5x5x64xf32>) outs(%e : tensor<4x5x5x64xf32>) permutation = [0, 2, 1, 3]
  %y = rmsnorm.forward input(%t : tensor<4x5x5x64xf32>) output(%e : tensor<4x5x5x64xf32>) eps = 1.0e-03 -> tensor<4x5x5x64xf32>
  return %y : tensor<4x5x5x64xf32>
}

// A dimension of size 1 changes places with one of a size of a call, after the
// norm, in front of it, and where the groups' scales are stored.
func.func @unit_out(%x: tensor<?x1x64xf32>) -> tensor<1x?x64xf32> {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x1x64xf32>
  %e = tensor.empty(%d0) : tensor<?x1x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1x64xf32>) output(%e : tensor<?x1x64xf32>) eps = 1.0e-03 -> tensor<?x1x64xf32>
  %te = tensor.empty(%d0) : tensor<1x?x64xf32>
  %t = linalg.transpose ins(%y : tensor<?x1x64xf32>) outs(%te : tensor<1x?x64xf32>) permutation = [1, 0, 2]
  return %t : tensor<1x?x64xf32>
}

func.func @unit_in(%x: tensor<?x1x?x8xf32>) -> tensor<1x?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = tensor.dim %x, %c0 : tensor<?x1x?x8xf32>
  %b = tensor.dim %x, %c2 : tensor<?x1x?x8xf32>
  %e = tensor.empty(%b, %a) : tensor<1x?x?x8xf32>
  %t = linalg.transpose ins(%x : tensor<?x1x?x8xf32>) outs(%e : tensor<1x?x?x8xf32>) permutation = [1, 2, 0, 3]
  %y = rmsnorm.forward input(%t : tensor<1x?x?x8xf32>) output(%e : tensor<1x?x?x8xf32>) eps = 1.0e-06 -> tensor<1x?x?x8xf32>
  return %y : tensor<1x?x?x8xf32>
}

func.func @unit_scales(%x: tensor<1x?x?x16xf32>) -> tensor<1x?x4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<1x?x?x16xf32>
  %c2 = arith.constant 2 : index
  %d2 = tensor.dim %x, %c2 : tensor<1x?x?x16xf32>
  %e = tensor.empty(%d1, %d2) : tensor<1x?x?x16xf32>
  %y = rmsnorm.forward input(%x : tensor<1x?x?x16xf32>) output(%e : tensor<1x?x?x16xf32>) eps = 1.0e-03 -> tensor<1x?x?x16xf32>
  %g = tensor.expand_shape %y [[0], [1], [2], [3, 4]] output_shape [1, %d1, %d2, 4, 4] : tensor<1x?x?x16xf32> into tensor<1x?x?x4x4xf32>
  %f = tensor.empty(%d1, %d2) : tensor<1x?x?x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%g : tensor<1x?x?x4x4xf32>) outs(%z : tensor<1x?x?x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %v = math.absf %a : f32
    %r = arith.maximumf %v, %q : f32
    linalg.yield %r : f32
  } -> tensor<1x?x?x4xf32>
  %te = tensor.empty(%d1, %d2) : tensor<1x?x4x?xf32>
  %t = linalg.transpose ins(%s : tensor<1x?x?x4xf32>) outs(%te : tensor<1x?x4x?xf32>) permutation = [0, 1, 3, 2]
  return %t : tensor<1x?x4x?xf32>
}

// One row: no dimension is left but those of size 1.
func.func @units(%x: tensor<1x?x1x64xf32>, %s: tensor<1x1x64xf32>) -> (tensor<?x1x1x64xf32>, tensor<1x1x64xf32>) {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<1x?x1x64xf32>
  %e = tensor.empty(%m) : tensor<1x?x1x64xf32>
  %y = rmsnorm.forward input(%x : tensor<1x?x1x64xf32>) output(%e : tensor<1x?x1x64xf32>) eps = 1.0e-03 -> tensor<1x?x1x64xf32>
  %o = tensor.empty(%m) : tensor<?x1x1x64xf32>
  %t = linalg.transpose ins(%y : tensor<1x?x1x64xf32>) outs(%o : tensor<?x1x1x64xf32>) permutation = [1, 0, 2, 3]
  %e1 = tensor.empty() : tensor<1x1x64xf32>
  %z = rmsnorm.forward input(%s : tensor<1x1x64xf32>) output(%e1 : tensor<1x1x64xf32>) eps = 1.0e-03 -> tensor<1x1x64xf32>
  %tz = linalg.transpose ins(%z : tensor<1x1x64xf32>) outs(%e1 : tensor<1x1x64xf32>) permutation = [1, 0, 2]
  return %t, %tz : tensor<?x1x1x64xf32>, tensor<1x1x64xf32>
}

// A transpose that leaves all where it is, and one that is undone.
func.func @identity(%t0: tensor<3x2x64xbf16>, %t1: tensor<64xbf16>) -> (tensor<3x2x64xbf16>) {
  %v1 = tensor.empty() : tensor<3x2x64xbf16>
  %v2 = rmsnorm.forward input(%t0 : tensor<3x2x64xbf16>) weight(%t1 : tensor<64xbf16>) output(%v1 : tensor<3x2x64xbf16>) eps = 1.0e-05 offset = 1.0 -> tensor<3x2x64xbf16>
  %v3 = tensor.empty() : tensor<3x2x64xbf16>
  %v4 = linalg.transpose ins(%v2 : tensor<3x2x64xbf16>) outs(%v3 : tensor<3x2x64xbf16>) permutation = [0, 1, 2]
  return %v4 : tensor<3x2x64xbf16>
}

func.func @back(%x: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %e = tensor.empty(%m) : tensor<?x4x64xf32>
  %t = tensor.empty(%m) : tensor<4x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x64xf32>) output(%e : tensor<?x4x64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>
  %p = linalg.transpose ins(%y : tensor<?x4x64xf32>) outs(%t : tensor<4x?x64xf32>) permutation = [1, 0, 2]
  %q = linalg.transpose ins(%p : tensor<4x?x64xf32>) outs(%e : tensor<?x4x64xf32>) permutation = [1, 0, 2]
  return %q : tensor<?x4x64xf32>
}

// Returned as it is and in another shape: two results.
func.func @twice(%x: tensor<?x2x256xf32>) -> (tensor<?x512xf32>, tensor<?x2x256xf32>) {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?x2x256xf32>
  %e = tensor.empty(%a) : tensor<?x2x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x2x256xf32>) output(%e : tensor<?x2x256xf32>) eps = 1.0e-05 -> tensor<?x2x256xf32>
  %q = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x2x256xf32> into tensor<?x512xf32>
  return %q, %y : tensor<?x512xf32>, tensor<?x2x256xf32>
}

func.func @thrice(%x: tensor<?x2x256xf32>) -> (tensor<?x2x2x128xf32>, tensor<?x512xf32>, tensor<?x2x256xf32>) {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?x2x256xf32>
  %e = tensor.empty(%a) : tensor<?x2x256xf32>
  %y = rmsnorm.forward input(%x : tensor<?x2x256xf32>) output(%e : tensor<?x2x256xf32>) eps = 1.0e-05 -> tensor<?x2x256xf32>
  %p = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%a, 2, 2, 128] : tensor<?x2x256xf32> into tensor<?x2x2x128xf32>
  %q = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x2x256xf32> into tensor<?x512xf32>
  return %p, %q, %y : tensor<?x2x2x128xf32>, tensor<?x512xf32>, tensor<?x2x256xf32>
}

// Of several dimensions of size 1 the slice drops the last: upstream's
// memref.subview takes the first where strides are not known.
func.func @dropped(%x: tensor<1x?x5x24xf32>) -> tensor<?x1x24xf32> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<1x?x5x24xf32>
  %p = tensor.extract_slice %x[0, 0, 2, 0] [1, %m, 1, 24] [1, 1, 1, 1] : tensor<1x?x5x24xf32> to tensor<1x?x24xf32>
  %e = tensor.empty(%m) : tensor<?x1x24xf32>
  %t = linalg.transpose ins(%p : tensor<1x?x24xf32>) outs(%e : tensor<?x1x24xf32>) permutation = [1, 0, 2]
  %y = rmsnorm.forward input(%t : tensor<?x1x24xf32>) output(%e : tensor<?x1x24xf32>) eps = 1.0e-03 -> tensor<?x1x24xf32>
  return %y : tensor<?x1x24xf32>
}

// Rows that are one dimension of what another op computes: their number is asked
// for as a product, as that op goes.
func.func @copied_and_collapsed(%x: tensor<?x?x2x64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x2x64xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x2x64xf32>
  %e = tensor.empty(%a, %b) : tensor<?x?x2x64xf32>
  %h = linalg.exp ins(%x : tensor<?x?x2x64xf32>) outs(%e : tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32>
  %q = tensor.collapse_shape %h [[0], [1, 2], [3]] : tensor<?x?x2x64xf32> into tensor<?x?x64xf32>
  %c = arith.muli %b, %c2 : index
  %f = tensor.empty(%a, %c) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%q : tensor<?x?x64xf32>) output(%f : tensor<?x?x64xf32>) eps = 1.0e-03 -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// The same where the view is asked for its size.
func.func @size_of_view(%x: tensor<?x?x2x64xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x2x64xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x2x64xf32>
  %e = tensor.empty(%a, %b) : tensor<?x?x2x64xf32>
  %h = linalg.exp ins(%x : tensor<?x?x2x64xf32>) outs(%e : tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32>
  %q = tensor.collapse_shape %h [[0], [1, 2], [3]] : tensor<?x?x2x64xf32> into tensor<?x?x64xf32>
  %c = tensor.dim %q, %c1 : tensor<?x?x64xf32>
  %f = tensor.empty(%a, %c) : tensor<?x?x64xf32>
  %y = rmsnorm.forward input(%q : tensor<?x?x64xf32>) output(%f : tensor<?x?x64xf32>) eps = 1.0e-03 -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

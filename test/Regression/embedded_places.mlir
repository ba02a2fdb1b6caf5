// Where random programs among host code were computed wrong, refused or broke a
// pass: what a kernel writes, and how what it reads lies in memory.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --embed=sim:sm_90,direct | FileCheck %s
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --embed=sim:gfx942,direct | FileCheck %s
// CHECK: {{^}}12 results, 0 wrong

// Beside the norm lie columns of what it was put into, half of them its own: they
// were taken to be the kernel's, which does not write them.
func.func @beside_a_mixture(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %part = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = rmsnorm.forward input(%part : tensor<?x4xf32>) output(%e : tensor<?x4xf32>) eps = 1.0e-03 -> tensor<?x4xf32>
  %mixed = tensor.insert_slice %y into %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %odd = tensor.extract_slice %mixed[0, 1] [%n, 4] [1, 2] : tensor<?x8xf32> to tensor<?x4xf32>
  %f = tensor.empty(%n) : tensor<?x8xf32>
  %g = tensor.insert_slice %odd into %f[0, 4] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %r = tensor.insert_slice %y into %g[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// The same, where the columns have a place in the program.
func.func @beside_pairs(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %part = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<2x4xf32> to tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %y = rmsnorm.forward input(%part : tensor<2x2xf32>) output(%e : tensor<2x2xf32>) eps = 1.0e-03 -> tensor<2x2xf32>
  %mixed = tensor.insert_slice %y into %x[0, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x4xf32>
  %pairs = tensor.expand_shape %mixed [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xf32> into tensor<2x2x2xf32>
  %odd = tensor.extract_slice %pairs[0, 0, 1] [2, 2, 1] [1, 1, 1] : tensor<2x2x2xf32> to tensor<2x2xf32>
  %f = tensor.empty() : tensor<2x4xf32>
  %g = tensor.insert_slice %odd into %f[0, 2] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x4xf32>
  %r = tensor.insert_slice %y into %g[0, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Groups of a part of a row: a kernel knows those of whole rows only.
func.func @groups_of_a_part(%x: tensor<?x16xf32>, %a: tensor<?x4xf32>) -> tensor<?x4x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %y = rmsnorm.forward input(%x : tensor<?x16xf32>) output(%e : tensor<?x16xf32>) eps = 1.0e-03 -> tensor<?x16xf32>
  %part = tensor.extract_slice %y[0, 0] [%n, 8] [1, 1] : tensor<?x16xf32> to tensor<?x8xf32>
  %groups = tensor.expand_shape %part [[0], [1, 2]] output_shape [%n, 4, 2] : tensor<?x8xf32> into tensor<?x4x2xf32>
  %f = tensor.empty(%n) : tensor<?x4x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%groups, %a : tensor<?x4x2xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4x2xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x4x2xf32>
  return %r : tensor<?x4x2xf32>
}

// The last columns of each group of a row: the offset belongs to the column, and
// the rows that are groups need all of the dimension.
func.func @ends_of_groups(%x: tensor<?x32xf32>) -> tensor<?x2x16xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %y = rmsnorm.forward input(%x : tensor<?x32xf32>) output(%e : tensor<?x32xf32>) eps = 1.0e-03 -> tensor<?x32xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 16] : tensor<?x32xf32> into tensor<?x2x16xf32>
  %ends = tensor.extract_slice %groups[0, 0, 8] [%n, 2, 8] [1, 1, 1] : tensor<?x2x16xf32> to tensor<?x2x8xf32>
  %f = tensor.empty(%n) : tensor<?x2x8xf32>
  %z = rmsnorm.forward input(%ends : tensor<?x2x8xf32>) output(%f : tensor<?x2x8xf32>) eps = 1.0e-03 -> tensor<?x2x8xf32>
  %r = tensor.insert_slice %z into %groups[0, 0, 8] [%n, 2, 8] [1, 1, 1] : tensor<?x2x8xf32> into tensor<?x2x16xf32>
  return %r : tensor<?x2x16xf32>
}

// Every second column, with a norm of some of them: what the second norm reads may
// be computed in place, where its columns lie apart.
func.func @in_place_apart(%x: tensor<?x8xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %odd = tensor.extract_slice %x[0, 1] [%n, 4] [1, 2] : tensor<?x8xf32> to tensor<?x4xf32>
  %part = tensor.extract_slice %odd[0, 2] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %y = rmsnorm.forward input(%part : tensor<?x2xf32>) output(%e : tensor<?x2xf32>) eps = 1.0e-03 -> tensor<?x2xf32>
  %mixed = tensor.insert_slice %y into %odd[0, 2] [%n, 2] [1, 1] : tensor<?x2xf32> into tensor<?x4xf32>
  %f = tensor.empty(%n) : tensor<?x4xf32>
  %r = rmsnorm.forward input(%mixed : tensor<?x4xf32>) weight(%w : tensor<4xf32>) output(%f : tensor<?x4xf32>) eps = 1.0e-03 -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// A size of the rows is computed after the norm.
func.func @size_after_norm(%x: tensor<?x8xf32>) -> tensor<2x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-03 -> tensor<?x8xf32>
  %half = arith.divui %n, %c2 : index
  %rows = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, %half, 8] : tensor<?x8xf32> into tensor<2x?x8xf32>
  %odd = tensor.extract_slice %rows[0, 0, 1] [2, %half, 4] [1, 1, 2] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %first = tensor.extract_slice %rows[0, 0, 0] [2, %half, 4] [1, 1, 1] : tensor<2x?x8xf32> to tensor<2x?x4xf32>
  %r = tensor.concat dim(2) %odd, %first : (tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x8xf32>
  return %r : tensor<2x?x8xf32>
}

// The types of what is written and of what the norm would write fit, their sizes
// do not.
func.func @sizes_of_reshapes(%x: tensor<?x1x4xf32>) -> tensor<2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x4xf32>
  %e = tensor.empty(%n) : tensor<?x1x4xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1x4xf32>) output(%e : tensor<?x1x4xf32>) eps = 1.0e-03 -> tensor<?x1x4xf32>
  %all = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x1x4xf32> into tensor<?x4xf32>
  %half = arith.divui %n, %c2 : index
  %r = tensor.expand_shape %all [[0, 1], [2]] output_shape [2, %half, 4] : tensor<?x4xf32> into tensor<2x?x4xf32>
  return %r : tensor<2x?x4xf32>
}

// All of it is computed where it is put, every second column of another tensor.
func.func @put_apart(%x: tensor<5x4xf32>, %d: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %y = rmsnorm.forward input(%x : tensor<5x4xf32>) output(%e : tensor<5x4xf32>) eps = 1.0e-03 -> tensor<5x4xf32>
  %part = tensor.extract_slice %y[0, 2] [5, 2] [1, 1] : tensor<5x4xf32> to tensor<5x2xf32>
  %f = tensor.empty() : tensor<5x2xf32>
  %z = rmsnorm.forward input(%part : tensor<5x2xf32>) output(%f : tensor<5x2xf32>) eps = 1.0e-03 -> tensor<5x2xf32>
  %both = tensor.insert_slice %z into %y[0, 2] [5, 2] [1, 1] : tensor<5x2xf32> into tensor<5x4xf32>
  %again = tensor.extract_slice %both[0, 2] [5, 2] [1, 1] : tensor<5x4xf32> to tensor<5x2xf32>
  %g = tensor.empty() : tensor<5x2xf32>
  %u = rmsnorm.forward input(%again : tensor<5x2xf32>) output(%g : tensor<5x2xf32>) eps = 1.0e-03 -> tensor<5x2xf32>
  %all = tensor.insert_slice %u into %both[0, 2] [5, 2] [1, 1] : tensor<5x2xf32> into tensor<5x4xf32>
  %r = tensor.insert_slice %all into %d[0, 1] [5, 4] [1, 2] : tensor<5x4xf32> into tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// A value of each row is stored into what is read after it, in other columns.
func.func @beside(%x: tensor<3x24x4xf32>, %d: tensor<6x6x16xf32>) -> tensor<6x6x16xf32> {
  %s = tensor.extract_slice %x[0, 4, 0] [3, 1, 4] [1, 1, 1] : tensor<3x24x4xf32> to tensor<3x1x4xf32>
  %e = tensor.empty() : tensor<3x1x4xf32>
  %o = linalg.negf ins(%s : tensor<3x1x4xf32>) outs(%e : tensor<3x1x4xf32>) -> tensor<3x1x4xf32>
  %i = tensor.insert_slice %o into %x[0, 4, 0] [3, 1, 4] [1, 1, 1] : tensor<3x1x4xf32> into tensor<3x24x4xf32>
  %c = tensor.collapse_shape %i [[0], [1, 2]] : tensor<3x24x4xf32> into tensor<3x96xf32>
  %h = tensor.expand_shape %c [[0], [1, 2]] output_shape [3, 6, 16] : tensor<3x96xf32> into tensor<3x6x16xf32>
  %p = tensor.extract_slice %h[0, 0, 1] [3, 6, 1] [1, 1, 1] : tensor<3x6x16xf32> to tensor<3x6x1xf32>
  %f = tensor.empty() : tensor<3x6x1xf32>
  %n = rmsnorm.forward input(%p : tensor<3x6x1xf32>) output(%f : tensor<3x6x1xf32>) eps = 1.0e-03 -> tensor<3x6x1xf32>
  %k = tensor.insert_slice %n into %h[0, 0, 1] [3, 6, 1] [1, 1, 1] : tensor<3x6x1xf32> into tensor<3x6x16xf32>
  %l = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [3, 6, 8, 2] : tensor<3x6x16xf32> into tensor<3x6x8x2xf32>
  %q = tensor.extract_slice %l[0, 0, 3, 0] [3, 6, 3, 2] [1, 1, 1, 1] : tensor<3x6x8x2xf32> to tensor<3x6x3x2xf32>
  %g = tensor.empty() : tensor<3x6x3x2xf32>
  %m = rmsnorm.forward input(%q : tensor<3x6x3x2xf32>) output(%g : tensor<3x6x3x2xf32>) eps = 1.0e-03 -> tensor<3x6x3x2xf32>
  %t = tensor.insert_slice %m into %l[0, 0, 3, 0] [3, 6, 3, 2] [1, 1, 1, 1] : tensor<3x6x3x2xf32> into tensor<3x6x8x2xf32>
  %u = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<3x6x8x2xf32> into tensor<3x6x16xf32>
  %r = tensor.insert_slice %u into %d[3, 0, 0] [3, 6, 16] [1, 1, 1] : tensor<3x6x16xf32> into tensor<6x6x16xf32>
  return %r : tensor<6x6x16xf32>
}

// Every fourth column, as rows of two.
func.func @every_fourth(%x: tensor<5x?x24x4xf32>, %d: tensor<5x?x12x2xf32>) -> tensor<5x?x12x2xf32> {
  %i1 = arith.constant 1 : index
  %n = tensor.dim %x, %i1 : tensor<5x?x24x4xf32>
  %s = tensor.extract_slice %x[0, 0, 0, 0] [5, %n, 24, 1] [1, 1, 1, 1] : tensor<5x?x24x4xf32> to tensor<5x?x24x1xf32>
  %c = tensor.collapse_shape %s [[0], [1], [2, 3]] : tensor<5x?x24x1xf32> into tensor<5x?x24xf32>
  %h = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [5, %n, 12, 2] : tensor<5x?x24xf32> into tensor<5x?x12x2xf32>
  %p = tensor.extract_slice %h[0, 0, 2, 0] [5, %n, 6, 2] [1, 1, 1, 1] : tensor<5x?x12x2xf32> to tensor<5x?x6x2xf32>
  %e = tensor.empty(%n) : tensor<5x?x6x2xf32>
  %a = rmsnorm.forward input(%p : tensor<5x?x6x2xf32>) output(%e : tensor<5x?x6x2xf32>) eps = 1.0e-03 -> tensor<5x?x6x2xf32>
  %i = tensor.insert_slice %a into %h[0, 0, 2, 0] [5, %n, 6, 2] [1, 1, 1, 1] : tensor<5x?x6x2xf32> into tensor<5x?x12x2xf32>
  %y = rmsnorm.forward input(%i : tensor<5x?x12x2xf32>) output(%d : tensor<5x?x12x2xf32>) eps = 1.0e-03 -> tensor<5x?x12x2xf32>
  return %y : tensor<5x?x12x2xf32>
}

// A table that each of several heads has, of rows that are copied ahead, and a
// sum over rows.
func.func @table_and_sum(%a0: tensor<?x192xbf16>, %a1: tensor<?x2x8xbf16>, %a2: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<192xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x192xbf16>
  %v1 = arith.constant 0.0 : f32
  %v2 = tensor.empty() : tensor<192xf32>
  %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<192xf32>) -> tensor<192xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<?x192xbf16>) outs(%v3 : tensor<192xf32>) {
  ^bb0(%x0: bf16, %o: f32):
    %w = arith.extf %x0 : bf16 to f32
    %m = arith.mulf %w, %w : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<192xf32>
  %v5 = tensor.expand_shape %a0 [[0], [1, 2, 3]] output_shape [%d0, 12, 2, 8] : tensor<?x192xbf16> into tensor<?x12x2x8xbf16>
  %v6 = tensor.empty(%d0) : tensor<?x12x2x8xbf16>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v5, %a1 : tensor<?x12x2x8xbf16>, tensor<?x2x8xbf16>) outs(%v6 : tensor<?x12x2x8xbf16>) {
  ^bb0(%x0: bf16, %x1: bf16, %o: bf16):
    %r = arith.mulf %x0, %x1 : bf16
    linalg.yield %r : bf16
  } -> tensor<?x12x2x8xbf16>
  %v8 = tensor.collapse_shape %v7 [[0], [1, 2, 3]] : tensor<?x12x2x8xbf16> into tensor<?x192xbf16>
  %v9 = tensor.empty(%d0) : tensor<?x192xbf16>
  %v10 = rmsnorm.forward input(%v8 : tensor<?x192xbf16>) output(%v9 : tensor<?x192xbf16>) eps = 1.0e-03 -> tensor<?x192xbf16>
  %v11 = tensor.insert_slice %v10 into %a2[0, 1] [%d0, 192] [1, 2] : tensor<?x192xbf16> into tensor<?x384xbf16>
  return %v11, %v4 : tensor<?x384xbf16>, tensor<192xf32>
}

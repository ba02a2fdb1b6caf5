// Where random programs among host code were computed wrong, refused or broke a
// pass: what a kernel writes, and how what it reads lies in memory.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --embed=sim:sm_90,direct | FileCheck %s
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --embed=sim:gfx942,direct | FileCheck %s
// CHECK: {{^}}8 results, 0 wrong

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

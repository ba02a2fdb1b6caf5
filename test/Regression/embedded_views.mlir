// Programs that were refused for the whole module, though legal.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=3 --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}3 results, 0 wrong

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

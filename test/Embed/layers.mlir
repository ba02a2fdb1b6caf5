// Twelve layers of a norm and a projection, in f32: what another order of sums
// changes grows from layer to layer, so elements differ. They are as near to the
// same program in f64 as without kernels; those of another norm are not.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct
// RUN: not %{compare} | FileCheck %s --check-prefix=APART
// RUN: %{compare} --fewer-roundings | FileCheck %s
// RUN: not %{compare} --fewer-roundings --drop=offset | FileCheck %s --check-prefix=OTHER
// APART: layers result 0: {{[0-9]+}} of 512 f32 differ, {{[1-9][0-9]*}} by more than a step, WRONG
// CHECK: {{^}}1 results, 0 nearer to the wider program, 0 further
// OTHER: layers result 0: {{.*}} FURTHER
func.func @layers(%x: tensor<8x64xf32>, %w: tensor<64xf32>, %p: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-06 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %e = tensor.empty() : tensor<8x64xf32>
  %s = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %wide = linalg.fill ins(%least : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = scf.for %i = %c0 to %c12 step %c1 iter_args(%h = %x) -> tensor<8x64xf32> {
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%h : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%h, %sum, %w : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>) outs(%e : tensor<8x64xf32>) {
    ^bb0(%a: f32, %q: f32, %b: f32, %o: f32):
      %0 = arith.divf %q, %n : f32
      %1 = arith.addf %0, %eps : f32
      %2 = math.rsqrt %1 : f32
      %3 = arith.mulf %a, %2 : f32
      %one = arith.constant 1.0 : f32
      %b1 = arith.addf %b, %one : f32
      %4 = arith.mulf %3, %b1 : f32
      linalg.yield %4 : f32
    } -> tensor<8x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
    %m = linalg.matmul ins(%y, %p : tensor<8x64xf32>, tensor<64x64xf32>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
    %k = linalg.max ins(%m, %wide : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
    scf.yield %k : tensor<8x64xf32>
  }
  return %r : tensor<8x64xf32>
}

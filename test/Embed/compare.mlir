// What scripts/compare.py takes of users' programs: public functions, loops around norms, results with NaNs and infinities.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=64,8
// RUN: %{compare} --embed=sim:sm_90,direct | FileCheck %s --check-prefixes=LAUNCHED,CHECK
// RUN: %{compare} | FileCheck %s
// LAUNCHED: launched {{.*}} 3 times
// CHECK-NOT: WRONG
// CHECK: 2 results, 0 wrong
func.func public @main(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %layers = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<?x64xf32> {
    %o = tensor.empty(%m) : tensor<?x64xf32>
    %y = rmsnorm.forward input(%h : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    scf.yield %y : tensor<?x64xf32>
  }
  // 0 / 0 where the input is below 0, 1 / 0 elsewhere.
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %least = arith.maximumf %a, %zero : f32
    %q = arith.divf %least, %zero : f32
    linalg.yield %q : f32
  } -> tensor<?x64xf32>
  return %layers, %n : tensor<?x64xf32>, tensor<?x64xf32>
}

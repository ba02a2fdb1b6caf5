// A LayerNorm whose variance is divided by a count that JAX computes in tensors
// without dimensions, as jnp.var does. Upstream's linalg-detensorize makes numbers
// of them, and folds what is constant.
// RUN: norm-opt %s --pass-pipeline="builtin.module(func.func(linalg-detensorize{aggressive-mode=true}),canonicalize,cse,rmsnorm-raise{row-wise=all},canonicalize,cse)" -o %t.mlir
// RUN: norm-run %t.mlir --device=sim:sm_90 | FileCheck %s
// CHECK: layer_norm {{.*}} ok{{$}}
// Without it an i1 would have to be a kernel's parameter.
// RUN: norm-opt %s --rmsnorm-raise=row-wise=all --rmsnorm-embed-tensors=remarks=true 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: a kernel has no parameters of type 'i1'
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#none = affine_map<() -> ()>
func.func @layer_norm(%x: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 256.0 : f32
  %ddof = arith.constant dense<0.0> : tensor<f32>
  %nan = arith.constant 0x7FC00000 : f32
  %eps = arith.constant 1.0e-5 : f32
  %se = tensor.empty() : tensor<f32>
  %be = tensor.empty() : tensor<i1>
  %re = tensor.empty() : tensor<16xf32>
  %e = tensor.empty() : tensor<16x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%re : tensor<16xf32>) -> tensor<16xf32>
  %count = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%ddof : tensor<f32>) outs(%se : tensor<f32>) {
  ^bb0(%d: f32, %o: f32):
    %0 = arith.subf %n, %d : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %some = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%count : tensor<f32>) outs(%be : tensor<i1>) {
  ^bb0(%c: f32, %o: i1):
    %0 = arith.cmpf ogt, %c, %zero : f32
    linalg.yield %0 : i1
  } -> tensor<i1>
  %are = tensor.extract %some[] : tensor<i1>
  %by = tensor.extract %count[] : tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x256xf32>) outs(%init : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<16x256xf32>, tensor<16xf32>) outs(%e : tensor<16x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x256xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<16x256xf32>) outs(%init : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%centred, %squares : tensor<16x256xf32>, tensor<16xf32>) outs(%e : tensor<16x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %by : f32
    %1 = arith.select %are, %0, %nan : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %a, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<16x256xf32>
  return %y : tensor<16x256xf32>
}

// An int8 output with a scale per row, gates by tanh, erf and a comparison: each element lies in its interval, and but few of
// these hold several values. Integers that a NaN becomes, in two rows of 35, are undefined, and are not counted.
// RUN: norm-compile %s --target=sim:sm_90 --target=sim:gfx942 --target=oracle --rows=35 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=35 | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=35 --seed=2 | FileCheck %s
// CHECK: int8 {{.*}} 0.00{{[0-9]+ .*}} ok
// CHECK: gates {{.*}} 0.0{{[0-9]+ .*}} ok
// CHECK: others {{.*}} 0.0{{[89][0-9]+ .*}} ok

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
// int8 with a scale per row, clamped.
func.func @int8(%x: tensor<?x512xbf16>, %w: tensor<512xbf16>) -> (tensor<?x512xi8>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %ef = tensor.empty(%m) : tensor<?x512xf32>
  %e8 = tensor.empty(%m) : tensor<?x512xi8>
  %e1 = tensor.empty(%m) : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-10 : f32
  %top = arith.constant 127.0 : f32
  %bottom = arith.constant -128.0 : f32
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%ef : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %amax = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x512xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %b, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%amax : tensor<?xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %a, %least : f32
    %r = arith.divf %b, %top : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<?x512xf32>, tensor<?xf32>) outs(%e8 : tensor<?x512xi8>) {
  ^bb0(%a: f32, %k: f32, %o: i8):
    %d = arith.divf %a, %k : f32
    %n = math.roundeven %d : f32
    %l = arith.maximumf %n, %bottom : f32
    %u = arith.minimumf %l, %top : f32
    %r = arith.fptosi %u : f32 to i8
    linalg.yield %r : i8
  } -> tensor<?x512xi8>
  return %q, %s : tensor<?x512xi8>, tensor<?xf32>
}
// gelu by tanh, erf, and a gate by comparison.
func.func @gates(%x: tensor<?x512xbf16>, %z: tensor<?x512xbf16>, %w: tensor<512xbf16>) -> (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x512xbf16>
  %ef = tensor.empty(%m) : tensor<?x512xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %c = arith.constant 0.7978845608 : f32
  %k = arith.constant 0.044715 : f32
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) weight(%w : tensor<512xbf16>) output(%ef : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %g:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<?x512xf32>, tensor<?x512xbf16>) outs(%e, %e, %ef : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xf32>) {
  ^bb0(%a: f32, %b: bf16, %o0: bf16, %o1: bf16, %o2: f32):
    %v = arith.extf %b : bf16 to f32
    %v2 = arith.mulf %v, %v : f32
    %v3 = arith.mulf %v2, %v : f32
    %p = arith.mulf %k, %v3 : f32
    %i = arith.addf %v, %p : f32
    %j = arith.mulf %c, %i : f32
    %t = math.tanh %j : f32
    %t1 = arith.addf %one, %t : f32
    %h = arith.mulf %half, %v : f32
    %gelu = arith.mulf %h, %t1 : f32
    %r0 = arith.mulf %a, %gelu : f32
    %n0 = arith.truncf %r0 : f32 to bf16
    %er = math.erf %v : f32
    %r1 = arith.mulf %a, %er : f32
    %n1 = arith.truncf %r1 : f32 to bf16
    %cmp = arith.cmpf ogt, %a, %zero : f32
    %neg = arith.mulf %a, %half : f32
    %r2 = arith.select %cmp, %a, %neg : f32
    linalg.yield %n0, %n1, %r2 : bf16, bf16, f32
  } -> (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xf32>)
  return %g#0, %g#1, %g#2 : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x512xf32>
}
// What is rare: angles, remainders, signs, integers, bits. A scale that is a power of two, as torchao writes it: in integers.
func.func @others(%x: tensor<?x512xbf16>, %z: tensor<?x512xbf16>) -> (tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xi16>, tensor<?xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %ef = tensor.empty(%m) : tensor<?x512xf32>
  %ei = tensor.empty(%m) : tensor<?x512xi16>
  %e1 = tensor.empty(%m) : tensor<?xf32>
  %e8 = tensor.empty(%m) : tensor<?xf8E8M0FNU>
  %zero = arith.constant 0.0 : f32
  %y = rmsnorm.forward input(%x : tensor<?x512xbf16>) output(%ef : tensor<?x512xf32>) eps = 1.0e-05 -> tensor<?x512xf32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<?x512xf32>, tensor<?x512xbf16>) outs(%ef, %ef, %ei : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xi16>) {
  ^bb0(%a: f32, %b: bf16, %o0: f32, %o1: f32, %o2: i16):
    %third = arith.constant 0.33333333333333333 : f64
    %seven = arith.constant 7 : i16
    %w = arith.extf %b : bf16 to f32
    %k = arith.truncf %third : f64 to f32
    %t = math.tan %w : f32
    %u = math.atan2 %a, %w : f32
    %s = math.copysign %u, %t : f32
    %n = math.isnan %t : f32
    %p = arith.select %n, %a, %s : f32
    %q = arith.remf %w, %k : f32
    %tiny = arith.constant 1.0e-3 : bf16
    %size = math.absf %b : bf16
    %large = arith.maximumf %size, %tiny : bf16
    %i = arith.bitcast %large : bf16 to i16
    %d = arith.divsi %i, %seven : i16
    %e = arith.remui %i, %seven : i16
    %f = arith.addi %d, %e : i16
    linalg.yield %p, %q, %f : f32, f32, i16
  } -> (tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xi16>)
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %amax = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x512xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %c = arith.maximumf %b, %o : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%amax : tensor<?xf32>) outs(%e8 : tensor<?xf8E8M0FNU>) {
  ^bb0(%a: f32, %o: f8E8M0FNU):
    %least = arith.constant 1.0e-10 : f32
    %carry = arith.constant 8388607 : i32
    %places = arith.constant 23 : i32
    %b = arith.maximumf %a, %least : f32
    %bits = arith.bitcast %b : f32 to i32
    %up = arith.addi %bits, %carry : i32
    %power = arith.shrui %up, %places : i32
    %byte = arith.trunci %power : i32 to i8
    %e = arith.bitcast %byte : i8 to f8E8M0FNU
    linalg.yield %e : f8E8M0FNU
  } -> tensor<?xf8E8M0FNU>
  return %r#0, %r#1, %r#2, %s : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x512xi16>, tensor<?xf8E8M0FNU>
}

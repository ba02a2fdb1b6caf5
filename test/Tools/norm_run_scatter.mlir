// Where rows are stored: norm-run chooses slots that differ, and room for them. A
// slot that is none, and one that is there twice, are found and named.
// RUN: not norm-run %s --device=sim:sm_90 --rows=40 --entry=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not norm-run %s --device=sim:sm_90 --rows=40 --entry=far 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not norm-run %s --device=sim:sm_90 --rows=40 --dim=s1=39 2>&1 | FileCheck %s --check-prefix=ROOM
// TWICE: entry 'twice': race in global memory: write of {{.*}} of argument {{[0-9]+}} 'arg2', to which block {{[0-9]+}} has written another value
// FAR:   entry 'far': global_store: out of bounds: write of {{.*}} of argument {{[0-9]+}} 'arg2'
// ROOM:  error: {{.*}}entry 'twice': expected sizes with as many places as 'arg1' has elements, no two of which are the same, 40, got 39
#one = affine_map<(i) -> (i)>
func.func @twice(%x: tensor<?x128xf32>, %slots: tensor<?xi64>, %cache: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %n = tensor.empty(%m) : tensor<?xi64>
  %half = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%slots : tensor<?xi64>) outs(%n : tensor<?xi64>) {
  ^bb0(%s: i64, %o: i64):
    %two = arith.constant 2 : i64
    %h = arith.divsi %s, %two : i64
    linalg.yield %h : i64
  } -> tensor<?xi64>
  %r = rmsnorm.scatter %y into %cache at(%half : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}
func.func @far(%x: tensor<?x128xf32>, %slots: tensor<?xi64>, %cache: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %n = tensor.empty(%m) : tensor<?xi64>
  %past = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%slots : tensor<?xi64>) outs(%n : tensor<?xi64>) {
  ^bb0(%s: i64, %o: i64):
    %five = arith.constant 5 : i64
    %many = arith.constant 1000 : i64
    %is = arith.cmpi eq, %s, %five : i64
    %i = arith.select %is, %many, %s : i64
    linalg.yield %i : i64
  } -> tensor<?xi64>
  %r = rmsnorm.scatter %y into %cache at(%past : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}

// RUN: norm-opt %s --rmsnorm-bind-arguments | FileCheck %s --check-prefix=BIND
// RUN: norm-compile %s --target=sim:sm_90 --target=oracle -o %t
// RUN: norm-inspect %t | FileCheck %s --check-prefix=INSPECT
// RUN: norm-run %t --device=sim:sm_90 --rows=9 --entry=limited --dim=s1=3 2>&1 | FileCheck %s --check-prefix=LIMITED
// RUN: not norm-run %t --device=sim:sm_90 --rows=9 --entry=computed 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// Which rows of a table an argument may say is known of the program: it is what
// norm-run keeps to. What comes out of arithmetic is not known, and the simulator
// says so if there is no such row.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// BIND-LABEL: func.func @limited(
// BIND-SAME:    %{{[a-z0-9]*}}: tensor<?xi32> {{{.*}}rmsnorm.bounds = array<i64: -2, 50>
// INSPECT: argument 0 index: input i32[s0], {{.*}}indices below s1, 50
// LIMITED: limited {{.*}} ok
func.func @limited(%index: tensor<?xi32> {rmsnorm.name = "index"}, %t: tensor<?x128xf32>, %u: tensor<50x128xf32>, %x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %n = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %index : tensor<?x128xf32>, tensor<?xi32>) outs(%e : tensor<?x128xf32>) {
  ^bb0(%a: f32, %k: i32, %z: f32):
    %i = arith.index_cast %k : i32 to index
    %low = arith.maxsi %i, %c0 : index
    %j = linalg.index 1 : index
    %b = tensor.extract %t[%i, %j] : tensor<?x128xf32>
    %c = tensor.extract %u[%low, %j] : tensor<50x128xf32>
    %p = arith.addf %a, %b : f32
    %v = arith.addf %p, %c : f32
    linalg.yield %v : f32
  } -> tensor<?x128xf32>
  return %o : tensor<?x128xf32>
}

// BIND-LABEL: func.func @computed(
// BIND-NOT:     rmsnorm.bounds
// OUTSIDE: out of bounds: read of
func.func @computed(%index: tensor<?xi32>, %t: tensor<2x128xf32>, %x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c9999 = arith.constant 9999 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %n = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %index : tensor<?x128xf32>, tensor<?xi32>) outs(%e : tensor<?x128xf32>) {
  ^bb0(%a: f32, %k: i32, %z: f32):
    %i = arith.index_cast %k : i32 to index
    %far = arith.addi %i, %c9999 : index
    %j = linalg.index 1 : index
    %b = tensor.extract %t[%far, %j] : tensor<2x128xf32>
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x128xf32>
  return %o : tensor<?x128xf32>
}

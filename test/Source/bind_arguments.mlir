// RUN: norm-opt %s --rmsnorm-bind-arguments --split-input-file | FileCheck %s

// A tensor.empty becomes the last argument. One symbol for all that the op
// makes equal, and the sizes the types know.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16> {bufferization.buffer_layout = strided<[?, 1]>, bufferization.writable = false, rmsnorm.dims = array<i64: -1, 64>, rmsnorm.name = "input", rmsnorm.role = "input"}
// CHECK-SAME:    %[[W:.*]]: tensor<64xf32> {bufferization.buffer_layout = affine_map<(d0) -> (d0)>, bufferization.writable = false, rmsnorm.dims = array<i64: 64>, rmsnorm.name = "weight", rmsnorm.role = "input"}
// CHECK-SAME:    %[[Y:.*]]: tensor<?x64xbf16> {bufferization.buffer_layout = strided<[?, 1]>, bufferization.writable = true, rmsnorm.dims = array<i64: -1, 64>, rmsnorm.name = "output", rmsnorm.role = "output"}
// CHECK-SAME:    %[[R:.*]]: tensor<?xf32> {{{.*}}rmsnorm.dims = array<i64: -1>, rmsnorm.name = "rstd", rmsnorm.role = "output"}
// CHECK-SAME:    ) -> (tensor<?x64xbf16> {rmsnorm.argument = 2 : i64}, tensor<?xf32> {rmsnorm.argument = 3 : i64})
// CHECK-NOT:     tensor.empty
// CHECK:         %[[O:.*]]:2 = rmsnorm.forward input(%[[X]] : {{.*}}) weight(%[[W]] : {{.*}}) output(%[[Y]] : {{.*}}) rstd(%[[R]] :
// CHECK:         return %[[O]]#0, %[[O]]#1
func.func @forward(%x: tensor<?x64xbf16>, %w: tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %er = tensor.empty(%m) : tensor<?xf32>
  %y:2 = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xbf16>) rstd(%er : tensor<?xf32>) eps = 1.0e-5 -> tensor<?x64xbf16>, tensor<?xf32>
  return %y#0, %y#1 : tensor<?x64xbf16>, tensor<?xf32>
}

// -----

// An empty tensor that two ops write becomes two arguments; what is not
// returned keeps it. Names: the user's, then the place in the norm, then the
// number.
// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xbf16> {{{[^}]*}}rmsnorm.name = "arg0", rmsnorm.role = "input"}
// CHECK-SAME:    %[[R:[^:]*]]: tensor<?x64xbf16> {{{[^}]*}}rmsnorm.name = "residual", rmsnorm.role = "input"}
// CHECK-SAME:    %[[W:[^:]*]]: tensor<64xbf16> {{{[^}]*}}rmsnorm.name = "weight", rmsnorm.role = "input"}
// CHECK-SAME:    %[[Y:[^:]*]]: tensor<?x64xbf16> {{{[^}]*}}rmsnorm.name = "output", rmsnorm.role = "output"}
// CHECK-SAME:    %[[H:[^:]*]]: tensor<?x64xbf16> {{{[^}]*}}rmsnorm.name = "sum", rmsnorm.role = "output"}
// CHECK-SAME:    ) -> (tensor<?x64xbf16> {rmsnorm.argument = 3 : i64}, tensor<?x64xbf16> {rmsnorm.argument = 4 : i64})
// CHECK:         %[[S:.*]] = linalg.add ins(%[[X]], %[[R]] : {{.*}}) outs(%[[H]] :
// CHECK:         rmsnorm.forward input(%[[S]] : {{.*}}) weight(%[[W]] : {{.*}}) output(%[[Y]] :
func.func @residual(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16> {rmsnorm.name = "residual"}, %w: tensor<64xbf16>)
    -> (tensor<?x64xbf16>, tensor<?x64xbf16> {rmsnorm.name = "sum"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %h = linalg.add ins(%x, %r : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  return %y, %h : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// -----

// In place: read and written is `inout`, only written is `output`; names are
// made unique; no argument is added.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    rmsnorm.name = "x", rmsnorm.role = "input"}
// CHECK-SAME:    bufferization.writable = true, {{[^}]*}}rmsnorm.role = "inout"}
// CHECK-SAME:    rmsnorm.name = "output", rmsnorm.role = "output"}
// CHECK-SAME:    rmsnorm.name = "output_1", rmsnorm.role = "output"})
func.func @in_place(%x: tensor<?x64xf32> {rmsnorm.name = "x"}, %r: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %z0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %h = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%r : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%z0 : tensor<?x64xf32>) eps = 1.0e-6 -> tensor<?x64xf32>
  return %h, %y, %z : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// Location names are names, too. The weight says that the row size is 128.
// CHECK-LABEL: func.func @static_elsewhere(
// CHECK-SAME:    rmsnorm.dims = array<i64: -1, 128>, rmsnorm.name = "hidden",
// CHECK-SAME:    rmsnorm.dims = array<i64: 128>, rmsnorm.name = "weight",
// CHECK-SAME:    rmsnorm.dims = array<i64: -1, 128>, rmsnorm.name = "output",
func.func @static_elsewhere(%x: tensor<?x?xf32> loc("hidden"), %w: tensor<128xf32>, %y0: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<128xf32>) output(%y0 : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Symbols through linalg maps, tensor.empty and a fill, which the result of
// the reduction is computed over. Every size is asked of one argument.
// CHECK-LABEL: func.func @row_maximum(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x?xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, -2>,
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -2>, rmsnorm.name = "arg1",
// CHECK-SAME:    %[[Y:[^:]*]]: tensor<?x?xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, -2>, rmsnorm.name = "result0",
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1>, rmsnorm.name = "result1", rmsnorm.role = "output"}
// CHECK:         linalg.fill ins(%{{.*}}) outs(%[[A]] : tensor<?xf32>)
func.func @row_maximum(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %s, %c0 : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) output(%e : tensor<?x?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  %k = tensor.dim %z, %c0 : tensor<?x?xf32>
  %er = tensor.empty(%k) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %amax = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %z, %amax : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// One fill for two results: each gets its own.
// CHECK-LABEL: func.func @shared_fill(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x8xf32>
// CHECK-SAME:    %[[A:[^:]*]]: tensor<4xf32> {{{[^}]*}}rmsnorm.name = "result0"
// CHECK-SAME:    %[[B:[^:]*]]: tensor<4xf32> {{{[^}]*}}rmsnorm.name = "result1"
// CHECK-DAG:     %[[FA:.*]] = linalg.fill ins(%{{.*}}) outs(%[[A]] :
// CHECK-DAG:     %[[FB:.*]] = linalg.fill ins(%{{.*}}) outs(%[[B]] :
// CHECK:         linalg.reduce {{.*}} outs(%[[FA]] :
// CHECK:         linalg.reduce {{.*}} outs(%[[FB]] :
func.func @shared_fill(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.reduce {arith.addf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %b = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @backward(
// CHECK-SAME:    rmsnorm.dims = array<i64: -1, -2>, rmsnorm.name = "dy"
// CHECK-SAME:    rmsnorm.dims = array<i64: -1, -2>, rmsnorm.name = "input"
// CHECK-SAME:    rmsnorm.dims = array<i64: -2>, rmsnorm.name = "weight"
// CHECK-SAME:    rmsnorm.dims = array<i64: -1>, rmsnorm.name = "rstd"
// CHECK-SAME:    rmsnorm.dims = array<i64: -1, -2>, rmsnorm.name = "dx", rmsnorm.role = "output"
// CHECK-SAME:    rmsnorm.dims = array<i64: -2>, rmsnorm.name = "dweight", rmsnorm.role = "output"
func.func @backward(%dy: tensor<?x?xf32>, %x: tensor<?x?xf32>, %w: tensor<?xf32>, %r: tensor<?xf32>, %dx0: tensor<?x?xf32>, %dw0: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x?xf32>) input(%x : tensor<?x?xf32>) weight(%w : tensor<?xf32>) rstd(%r : tensor<?xf32>)
      dx(%dx0 : tensor<?x?xf32>) dweight(%dw0 : tensor<?xf32>) eps = 1.0e-5 -> tensor<?x?xf32>, tensor<?xf32>
  return %dx, %dw : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// Not an entry: left as it is.
// CHECK-LABEL: func.func private @helper(
// CHECK-NOT:     rmsnorm.name
// CHECK:         tensor.empty
func.func private @helper(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}

// -----

// What puts leading dimensions together lies packed, so that they can be taken apart.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME:    %{{[a-z0-9]*}}: tensor<4x16xf32> {bufferization.buffer_layout = affine_map<(d0, d1) -> (d0, d1)>
func.func @merged(%x: tensor<2x2x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<2x2x16xf32>
  %y = linalg.exp ins(%x : tensor<2x2x16xf32>) outs(%e : tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<2x2x16xf32> into tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// A dimension that is not expanded, or by ones, is that of the result: %x has
// as many rows as %y.
// CHECK-LABEL: func.func @expanded(
// CHECK-SAME:    tensor<?x?xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, -2>
// CHECK-SAME:    tensor<?x?x64xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -1, -2, 64>
// CHECK-SAME:    tensor<?x64xf32> {{{[^}]*}}rmsnorm.dims = array<i64: -2, 64>
func.func @expanded(%y: tensor<?x?xf32>, %x: tensor<?x?x64xf32>, %s: tensor<?x64xf32>) -> tensor<?x?x4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %a = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%m, %n, 4, 16] : tensor<?x?x64xf32> into tensor<?x?x4x16xf32>
  %b = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [1, %n, 4, 16] : tensor<?x64xf32> into tensor<1x?x4x16xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?x4x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, t, k, g) -> (b, t, k, g)>, affine_map<(b, t, k, g) -> (0, t, k, g)>, affine_map<(b, t, k, g) -> (b, t, k, g)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a, %b : tensor<?x?x4x16xf32>, tensor<1x?x4x16xf32>) outs(%e : tensor<?x?x4x16xf32>) {
  ^bb0(%v: f32, %w: f32, %z: f32):
    %p = arith.mulf %v, %w : f32
    linalg.yield %p : f32
  } -> tensor<?x?x4x16xf32>
  return %r : tensor<?x?x4x16xf32>
}

// -----

// Parts of rows that have a dimension of their own, halves or pairs, lie side by side in a result; what is inserted into an
// argument lies where that is.
// CHECK-LABEL: func.func @stacked(
// CHECK-SAME:    %{{[a-z0-9]*}}: tensor<?x2x4xf32> {bufferization.buffer_layout = affine_map<(d0, d1, d2) -> (d0, d1, d2)>, {{[^}]*}}rmsnorm.name = "result0", rmsnorm.role = "output"
func.func @stacked(%x: tensor<?x8xf32>) -> tensor<?x2x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-5 -> tensor<?x8xf32>
  %a = tensor.extract_slice %y[0, 4] [%m, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %b = tensor.extract_slice %y[0, 0] [%m, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %s = tensor.empty(%m) : tensor<?x2x4xf32>
  %i = tensor.insert_slice %a into %s[0, 0, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x2x4xf32>
  %j = tensor.insert_slice %b into %i[0, 1, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x2x4xf32>
  return %j : tensor<?x2x4xf32>
}

// CHECK-LABEL: func.func @inserted(
// CHECK-SAME:    %{{[a-z0-9]*}}: tensor<?x2x8xf32> {bufferization.buffer_layout = strided<[?, ?, 1]>, {{[^}]*}}rmsnorm.name = "{{output|s|arg1}}"
func.func @inserted(%x: tensor<?x8xf32>, %s: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-5 -> tensor<?x8xf32>
  %i = tensor.insert_slice %y into %s[0, 1, 0] [%m, 1, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x2x8xf32>
  return %i : tensor<?x2x8xf32>
}

// -----

// What is there without being computed is copied, and what is returned twice.
// CHECK-LABEL: func.func @copies(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x64xf32>
// CHECK-DAG:     %[[S:.*]] = tensor.extract_slice %[[X]]
// CHECK-DAG:     %[[Y:.*]] = linalg.exp ins(%[[X]] :
// CHECK:         %[[A:.*]] = linalg.copy ins(%[[X]] :
// CHECK:         %[[B:.*]] = linalg.copy ins(%[[S]] :
// CHECK:         %[[C:.*]] = linalg.copy ins(%[[Y]] :
// CHECK:         %[[D:.*]] = linalg.copy ins(%{{.*}} : tensor<4xf32>)
// CHECK:         return %[[A]], %[[B]], %[[Y]], %[[C]], %[[D]]
func.func @copies(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %s = tensor.extract_slice %x[0, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %c = arith.constant dense<1.0> : tensor<4xf32>
  return %x, %s, %y, %y, %c : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<4xf32>
}

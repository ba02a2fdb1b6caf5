// RUN: norm-opt %s --rmsnorm-decompose --canonicalize --cse | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s
// RUN: norm-opt %s --rmsnorm-decompose --linalg-fuse-elementwise-ops --canonicalize --cse | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s

// What rmsnorm-decompose makes of an op, the definition, is raised to that op.

// CHECK-LABEL: func.func @gemma(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) output(%{{.*}} : tensor<8x96xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @gemma(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>) -> tensor<8x96xbf16> {
  %e = tensor.empty() : tensor<8x96xbf16>
  %y = rmsnorm.forward input(%x : tensor<8x96xbf16>) weight(%w : tensor<96xbf16>)
      output(%e : tensor<8x96xbf16>) eps = 1.0e-05
      -> tensor<8x96xbf16>
  return %y : tensor<8x96xbf16>
}

// CHECK-LABEL: func.func @llama_offset(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<2x4x96xbf16>) weight(%{{.*}} : tensor<96xf32>) output(%{{.*}} : tensor<2x4x96xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} offset = 1.000000e+00 casting = llama ->
// CHECK-NOT: linalg
// CHECK: return
func.func @llama_offset(%x: tensor<2x4x96xbf16>, %w: tensor<96xf32>) -> tensor<2x4x96xf32> {
  %e = tensor.empty() : tensor<2x4x96xf32>
  %y = rmsnorm.forward input(%x : tensor<2x4x96xbf16>) weight(%w : tensor<96xf32>)
      output(%e : tensor<2x4x96xf32>) eps = 1.0e-05 offset = 1.0 casting = llama
      -> tensor<2x4x96xf32>
  return %y : tensor<2x4x96xf32>
}

// CHECK-LABEL: func.func @none(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) output(%{{.*}} : tensor<8x96xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @none(%x: tensor<8x96xbf16>, %w: tensor<96xbf16>) -> tensor<8x96xbf16> {
  %e = tensor.empty() : tensor<8x96xbf16>
  %y = rmsnorm.forward input(%x : tensor<8x96xbf16>) weight(%w : tensor<96xbf16>)
      output(%e : tensor<8x96xbf16>) eps = 1.0e-05 casting = none
      -> tensor<8x96xbf16>
  return %y : tensor<8x96xbf16>
}

// CHECK-LABEL: func.func @none_offset(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<8x96xf16>) weight(%{{.*}} : tensor<96xf16>) output(%{{.*}} : tensor<8x96xf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} offset = 1.000000e+00 casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @none_offset(%x: tensor<8x96xf16>, %w: tensor<96xf16>) -> tensor<8x96xf16> {
  %e = tensor.empty() : tensor<8x96xf16>
  %y = rmsnorm.forward input(%x : tensor<8x96xf16>) weight(%w : tensor<96xf16>)
      output(%e : tensor<8x96xf16>) eps = 1.0e-05 offset = 1.0 casting = none
      -> tensor<8x96xf16>
  return %y : tensor<8x96xf16>
}

// CHECK-LABEL: func.func @no_weight_rstd(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<?x96xbf16>) output(%{{.*}} : tensor<?x96xf32>) rstd(
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @no_weight_rstd(%x: tensor<?x96xbf16>) -> (tensor<?x96xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x96xbf16>
  %e = tensor.empty(%d0) : tensor<?x96xf32>
  %f = tensor.empty(%d0) : tensor<?xf32>
  %y:2 = rmsnorm.forward input(%x : tensor<?x96xbf16>)
      output(%e : tensor<?x96xf32>) rstd(%f : tensor<?xf32>) eps = 1.0e-05
      -> tensor<?x96xf32>, tensor<?xf32>
  return %y#0, %y#1 : tensor<?x96xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @rstd(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<2x4x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) output(%{{.*}} : tensor<2x4x96xbf16>) rstd(
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = llama ->
// CHECK-NOT: linalg
// CHECK: return
func.func @rstd(%x: tensor<2x4x96xbf16>, %w: tensor<96xbf16>) -> (tensor<2x4x96xbf16>, tensor<2x4xf32>) {
  %e = tensor.empty() : tensor<2x4x96xbf16>
  %f = tensor.empty() : tensor<2x4xf32>
  %y:2 = rmsnorm.forward input(%x : tensor<2x4x96xbf16>) weight(%w : tensor<96xbf16>)
      output(%e : tensor<2x4x96xbf16>) rstd(%f : tensor<2x4xf32>) eps = 1.0e-05 casting = llama
      -> tensor<2x4x96xbf16>, tensor<2x4xf32>
  return %y#0, %y#1 : tensor<2x4x96xbf16>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @dynamic_columns(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<?x?xbf16>) weight(%{{.*}} : tensor<?xbf16>) output(%{{.*}} : tensor<?x?xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @dynamic_columns(%x: tensor<?x?xbf16>, %w: tensor<?xbf16>) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?xbf16>) weight(%w : tensor<?xbf16>)
      output(%e : tensor<?x?xbf16>) eps = 1.0e-05
      -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}

// CHECK-LABEL: func.func @dynamic_none(
// CHECK-NOT: linalg
// CHECK: rmsnorm.forward input(%{{.*}} : tensor<?x?x?xbf16>) weight(%{{.*}} : tensor<?xbf16>) output(%{{.*}} : tensor<?x?x?xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @dynamic_none(%x: tensor<?x?x?xbf16>, %w: tensor<?xbf16>) -> tensor<?x?x?xbf16> {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x?xbf16>
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<?x?x?xbf16>
  %c2 = arith.constant 2 : index
  %d2 = tensor.dim %x, %c2 : tensor<?x?x?xbf16>
  %e = tensor.empty(%d0, %d1, %d2) : tensor<?x?x?xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x?xbf16>) weight(%w : tensor<?xbf16>)
      output(%e : tensor<?x?x?xbf16>) eps = 1.0e-05 casting = none
      -> tensor<?x?x?xbf16>
  return %y : tensor<?x?x?xbf16>
}

// CHECK-LABEL: func.func @backward_gemma(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<8x96xbf16>) input(%{{.*}} : tensor<8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) dx(%{{.*}} : tensor<8x96xbf16>) dweight(%{{.*}} : tensor<96xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} offset = 1.000000e+00 ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_gemma(%dy: tensor<8x96xbf16>, %x: tensor<8x96xbf16>, %w: tensor<96xbf16>) -> (tensor<8x96xbf16>, tensor<96xf32>) {
  %e = tensor.empty() : tensor<8x96xbf16>
  %f = tensor.empty() : tensor<96xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<8x96xbf16>)
      input(%x : tensor<8x96xbf16>)
      weight(%w : tensor<96xbf16>)
      dx(%e : tensor<8x96xbf16>)
      dweight(%f : tensor<96xf32>)
      eps = 1.0e-05 offset = 1.0 -> tensor<8x96xbf16>, tensor<96xf32>
  return %g#0, %g#1 : tensor<8x96xbf16>, tensor<96xf32>
}

// CHECK-LABEL: func.func @backward_llama(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<4x8x96xbf16>) input(%{{.*}} : tensor<4x8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) dx(%{{.*}} : tensor<4x8x96xbf16>) dweight(%{{.*}} : tensor<96xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = llama ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_llama(%dy: tensor<4x8x96xbf16>, %x: tensor<4x8x96xbf16>, %w: tensor<96xbf16>) -> (tensor<4x8x96xbf16>, tensor<96xbf16>) {
  %e = tensor.empty() : tensor<4x8x96xbf16>
  %f = tensor.empty() : tensor<96xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<4x8x96xbf16>)
      input(%x : tensor<4x8x96xbf16>)
      weight(%w : tensor<96xbf16>)
      dx(%e : tensor<4x8x96xbf16>)
      dweight(%f : tensor<96xbf16>)
      eps = 1.0e-05 casting = llama -> tensor<4x8x96xbf16>, tensor<96xbf16>
  return %g#0, %g#1 : tensor<4x8x96xbf16>, tensor<96xbf16>
}

// CHECK-LABEL: func.func @backward_none(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<8x96xbf16>) input(%{{.*}} : tensor<8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) dx(%{{.*}} : tensor<8x96xbf16>) dweight(%{{.*}} : tensor<96xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_none(%dy: tensor<8x96xbf16>, %x: tensor<8x96xbf16>, %w: tensor<96xbf16>) -> (tensor<8x96xbf16>, tensor<96xbf16>) {
  %e = tensor.empty() : tensor<8x96xbf16>
  %f = tensor.empty() : tensor<96xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<8x96xbf16>)
      input(%x : tensor<8x96xbf16>)
      weight(%w : tensor<96xbf16>)
      dx(%e : tensor<8x96xbf16>)
      dweight(%f : tensor<96xbf16>)
      eps = 1.0e-05 casting = none -> tensor<8x96xbf16>, tensor<96xbf16>
  return %g#0, %g#1 : tensor<8x96xbf16>, tensor<96xbf16>
}

// CHECK-LABEL: func.func @backward_none_saved(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<8x96xf32>) input(%{{.*}} : tensor<8x96xbf16>) weight(%{{.*}} : tensor<96xbf16>) rstd(%{{.*}} : tensor<8xf32>) dx(%{{.*}} : tensor<8x96xbf16>) dweight(%{{.*}} : tensor<96xbf16>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} offset = 1.000000e+00 casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_none_saved(%dy: tensor<8x96xf32>, %x: tensor<8x96xbf16>, %w: tensor<96xbf16>, %r: tensor<8xf32>) -> (tensor<8x96xbf16>, tensor<96xbf16>) {
  %e = tensor.empty() : tensor<8x96xbf16>
  %f = tensor.empty() : tensor<96xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<8x96xf32>)
      input(%x : tensor<8x96xbf16>)
      weight(%w : tensor<96xbf16>)
      rstd(%r : tensor<8xf32>)
      dx(%e : tensor<8x96xbf16>)
      dweight(%f : tensor<96xbf16>)
      eps = 1.0e-05 offset = 1.0 casting = none -> tensor<8x96xbf16>, tensor<96xbf16>
  return %g#0, %g#1 : tensor<8x96xbf16>, tensor<96xbf16>
}

// CHECK-LABEL: func.func @backward_none_rows(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<2x4x96xf16>) input(%{{.*}} : tensor<2x4x96xf16>) weight(%{{.*}} : tensor<96xf16>) dx(%{{.*}} : tensor<2x4x96xf16>) dweight(%{{.*}} : tensor<96xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} casting = none ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_none_rows(%dy: tensor<2x4x96xf16>, %x: tensor<2x4x96xf16>, %w: tensor<96xf16>) -> (tensor<2x4x96xf16>, tensor<96xf32>) {
  %e = tensor.empty() : tensor<2x4x96xf16>
  %f = tensor.empty() : tensor<96xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<2x4x96xf16>)
      input(%x : tensor<2x4x96xf16>)
      weight(%w : tensor<96xf16>)
      dx(%e : tensor<2x4x96xf16>)
      dweight(%f : tensor<96xf32>)
      eps = 1.0e-05 casting = none -> tensor<2x4x96xf16>, tensor<96xf32>
  return %g#0, %g#1 : tensor<2x4x96xf16>, tensor<96xf32>
}

// CHECK-LABEL: func.func @backward_saved(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<?x96xf32>) input(%{{.*}} : tensor<?x96xf32>) weight(%{{.*}} : tensor<96xf32>) rstd(%{{.*}} : tensor<?xf32>) dx(%{{.*}} : tensor<?x96xf32>) dweight(%{{.*}} : tensor<96xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_saved(%dy: tensor<?x96xf32>, %x: tensor<?x96xf32>, %w: tensor<96xf32>, %r: tensor<?xf32>) -> (tensor<?x96xf32>, tensor<96xf32>) {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%d0) : tensor<?x96xf32>
  %f = tensor.empty() : tensor<96xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x96xf32>)
      input(%x : tensor<?x96xf32>)
      weight(%w : tensor<96xf32>)
      rstd(%r : tensor<?xf32>)
      dx(%e : tensor<?x96xf32>)
      dweight(%f : tensor<96xf32>)
      eps = 1.0e-05 -> tensor<?x96xf32>, tensor<96xf32>
  return %g#0, %g#1 : tensor<?x96xf32>, tensor<96xf32>
}

// CHECK-LABEL: func.func @backward_no_weight(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<8x96xf16>) input(%{{.*}} : tensor<8x96xbf16>) dx(%{{.*}} : tensor<8x96xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_no_weight(%dy: tensor<8x96xf16>, %x: tensor<8x96xbf16>) -> tensor<8x96xf32> {
  %e = tensor.empty() : tensor<8x96xf32>
  %g = rmsnorm.backward dy(%dy : tensor<8x96xf16>)
      input(%x : tensor<8x96xbf16>)
      dx(%e : tensor<8x96xf32>)
      eps = 1.0e-05 -> tensor<8x96xf32>
  return %g : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @backward_dynamic(
// CHECK-NOT: linalg
// CHECK: rmsnorm.backward dy(%{{.*}} : tensor<?x?xbf16>) input(%{{.*}} : tensor<?x?xbf16>) weight(%{{.*}} : tensor<?xbf16>) dx(%{{.*}} : tensor<?x?xbf16>) dweight(%{{.*}} : tensor<?xf32>)
// CHECK-SAME: eps = {{9.99999974E-6|1.00135803E-5}} ->
// CHECK-NOT: linalg
// CHECK: return
func.func @backward_dynamic(%dy: tensor<?x?xbf16>, %x: tensor<?x?xbf16>, %w: tensor<?xbf16>) -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %c1 = arith.constant 1 : index
  %d1 = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xbf16>
  %f = tensor.empty(%d1) : tensor<?xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x?xbf16>)
      input(%x : tensor<?x?xbf16>)
      weight(%w : tensor<?xbf16>)
      dx(%e : tensor<?x?xbf16>)
      dweight(%f : tensor<?xf32>)
      eps = 1.0e-05 -> tensor<?x?xbf16>, tensor<?xf32>
  return %g#0, %g#1 : tensor<?x?xbf16>, tensor<?xf32>
}

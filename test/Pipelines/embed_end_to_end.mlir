// Norms among other work, through somebody else's bufferization to kernels of
// the simulator: what is ours becomes launches, the rest stays.
// RUN: norm-opt %s --split-input-file --verify-each --pass-pipeline="builtin.module(rmsnorm-embed-tensors,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=1},rmsnorm-strided-buffers,rmsnorm-memref-half{target=sim:sim32},rmsnorm-finalize-sim)" | FileCheck %s --implicit-check-not=rmsnorm.forward --implicit-check-not=rmsnorm.tile

// CHECK-LABEL: func.func @matmuls(
// CHECK:         gpu.launch_func @rmsnorm_kernels::@matmuls
// CHECK:         linalg.matmul
// CHECK:         gpu.launch_func @rmsnorm_kernels::@matmuls
// CHECK-NOT:     linalg.add
// CHECK:         linalg.matmul
// CHECK:         return
func.func @matmuls(%x: tensor<?x64xf32>, %w1: tensor<64xf32>, %a: tensor<64x64xf32>, %w2: tensor<64xf32>, %b: tensor<64x32xf32>) -> (tensor<?x32xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %n1 = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w1 : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %e1 = tensor.empty(%m) : tensor<?x64xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%n1, %a : tensor<?x64xf32>, tensor<64x64xf32>) outs(%z1 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e2 = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.add ins(%x, %p : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %e3 = tensor.empty(%m) : tensor<?x64xf32>
  %n2 = rmsnorm.forward input(%h : tensor<?x64xf32>) weight(%w2 : tensor<64xf32>) output(%e3 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %e4 = tensor.empty(%m) : tensor<?x32xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %q = linalg.matmul ins(%n2, %b : tensor<?x64xf32>, tensor<64x32xf32>) outs(%z4 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %q, %h : tensor<?x32xf32>, tensor<?x64xf32>
}

// -----

// A private function that is called, and one that nobody calls, stay.
// CHECK-LABEL: func.func private @norm(
// CHECK:         gpu.launch_func @rmsnorm_kernels::@norm
func.func private @norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}
// CHECK-LABEL: func.func @calls(
// CHECK-COUNT-2: call @norm(
func.func @calls(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %a = call @norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %b = call @norm(%a, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}
// CHECK:       func.func private @unused
func.func private @unused() {
  return
}

// -----

// A row of stacked weights, sliced in the loop of others.
// CHECK-LABEL: func.func @stacked(
// CHECK:         scf.for
// CHECK:           memref.subview
// CHECK:           gpu.launch_func
// CHECK:           scf.yield
func.func @stacked(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> tensor<?x64xf32> {
    %wi = tensor.extract_slice %w[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<64xf32>
    %e0 = tensor.empty(%m) : tensor<?x64xf32>
    %a = rmsnorm.forward input(%h : tensor<?x64xf32>) weight(%wi : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    scf.yield %a : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// -----

// CHECK-LABEL: func.func @branches(
// CHECK:         cf.cond_br
// CHECK:         gpu.launch_func
// CHECK:         cf.br
func.func @branches(%c: i1, %x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  cf.cond_br %c, ^a, ^b(%x : tensor<?x64xf32>)
^a:
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  cf.br ^b(%a : tensor<?x64xf32>)
^b(%r: tensor<?x64xf32>):
  return %r : tensor<?x64xf32>
}

// -----

// A weight that is a constant is a constant buffer.
// CHECK-LABEL: func.func @constant(
// CHECK:         %[[G:.*]] = memref.get_global @__constant_4xf32
// CHECK:         rmsnorm.buffer_pointer %[[G]]
// CHECK:         gpu.launch_func
func.func @constant(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e0 = tensor.empty(%m) : tensor<?x4xf32>
  %a = rmsnorm.forward input(%x : tensor<?x4xf32>) weight(%w : tensor<4xf32>) output(%e0 : tensor<?x4xf32>) eps = 1.0e-05 -> tensor<?x4xf32>
  return %a : tensor<?x4xf32>
}

// -----

// On memrefs, in place and not, with nothing allocated or copied.
// CHECK-LABEL: func.func @memrefs(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK-COUNT-3: gpu.launch_func
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @memrefs(%x: memref<?x64xf32>, %w: memref<64xf32>, %y: memref<?x64xf32>) {
  rmsnorm.forward input(%x : memref<?x64xf32>) weight(%w : memref<64xf32>) output(%y : memref<?x64xf32>) eps = 1.0e-05
  rmsnorm.forward input(%y : memref<?x64xf32>) weight(%w : memref<64xf32>) output(%y : memref<?x64xf32>) eps = 1.0e-05
  rmsnorm.forward input(%y : memref<?x64xf32>) weight(%w : memref<64xf32>) output(%x : memref<?x64xf32>) eps = 1.0e-05
  return
}

// -----

// Somebody else's gpu.module keeps its name and its code, and one of ours
// stands beside it.
// CHECK:       gpu.module @rmsnorm_kernels_0
// CHECK:       gpu.module @rmsnorm_kernels {
// CHECK-NEXT:    gpu.func @mine(%{{.*}}: memref<?xf32>) kernel
// CHECK:       func.func @foreign(
// CHECK-DAG:     gpu.launch_func @rmsnorm_kernels::@mine
// CHECK-DAG:     gpu.launch_func @rmsnorm_kernels_0::@foreign
module attributes {gpu.container_module} {
  gpu.module @rmsnorm_kernels {
    gpu.func @mine(%p: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %p[%c0] : memref<?xf32>
      %t = gpu.thread_id x
      memref.store %v, %p[%t] : memref<?xf32>
      gpu.return
    }
  }
  func.func @foreign(%p: memref<?xf32>, %x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %c1 = arith.constant 1 : index
    gpu.launch_func @rmsnorm_kernels::@mine blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : memref<?xf32>)
    %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    return %a : tensor<?x64xf32>
  }
}

// -----

// A name that no code generator takes.
// CHECK:       gpu.module @rmsnorm_kernels
// CHECK:         @_1_b_c$d_e_multi_wave
// CHECK:       func.func @"1.b-c$d e"(
// CHECK:         gpu.launch_func @rmsnorm_kernels::@_1_b_c$d_e_multi_wave
func.func @"1.b-c$d e"(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// -----

// Several norms of different sizes in one function; N and two leading sizes
// known at a call only, and of arguments that nobody says are equal.
// CHECK-LABEL: func.func @sizes(
// CHECK: gpu.launch_func {{.*}}_and_
// CHECK: gpu.launch_func @rmsnorm_kernels::@sizes_multi_wave_reload
func.func @sizes(%x: tensor<?x4096xbf16>, %w: tensor<4096xbf16>, %y: tensor<?x32x128xbf16>, %v: tensor<128xbf16>,
    %z: tensor<?x?x?xf32>, %r: tensor<?x?x?xf32>, %u: tensor<?xf32>, %o: tensor<?x?x?xf32>, %h0: tensor<?x?x?xf32>)
    -> (tensor<?x4096xbf16>, tensor<?x32x128xbf16>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %k = tensor.dim %y, %c0 : tensor<?x32x128xbf16>
  %e0 = tensor.empty(%m) : tensor<?x4096xbf16>
  %e1 = tensor.empty(%k) : tensor<?x32x128xbf16>
  %a = rmsnorm.forward input(%x : tensor<?x4096xbf16>) weight(%w : tensor<4096xbf16>) output(%e0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %b = rmsnorm.forward input(%y : tensor<?x32x128xbf16>) weight(%v : tensor<128xbf16>) output(%e1 : tensor<?x32x128xbf16>) eps = 1.0e-05 -> tensor<?x32x128xbf16>
  %h = linalg.add ins(%z, %r : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%h0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %c = rmsnorm.forward input(%h : tensor<?x?x?xf32>) weight(%u : tensor<?xf32>) output(%o : tensor<?x?x?xf32>) eps = 1.0e-05 -> tensor<?x?x?xf32>
  return %a, %b, %h, %c : tensor<?x4096xbf16>, tensor<?x32x128xbf16>, tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

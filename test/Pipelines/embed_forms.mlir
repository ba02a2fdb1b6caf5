// Functions that embedders have, each through the whole pipeline: every norm
// becomes a launch, and what no kernel can hold stays.
// RUN: norm-opt %s --verify-each --pass-pipeline="builtin.module(rmsnorm-embed-tensors,one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},rmsnorm-strided-buffers,rmsnorm-memref-half{target=sim:sim32},rmsnorm-finalize-sim)" | FileCheck %s --implicit-check-not=rmsnorm.forward --implicit-check-not=rmsnorm.tile

// A result that is no tensor.
// CHECK-LABEL: func.func @bind_two(
// CHECK:         gpu.launch_func
func.func @bind_two(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a, %m : tensor<?x64xf32>, index
}

// An argument that is returned as it is.
// CHECK-LABEL: func.func @bind2_two(
// CHECK:         gpu.launch_func
func.func @bind2_two(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a, %x : tensor<?x64xf32>, tensor<?x64xf32>
}

// A public function that is called.
// CHECK-LABEL: func.func @callpub_norm(
// CHECK:         gpu.launch_func
func.func @callpub_norm(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}
// CHECK-LABEL: func.func @callpub_f(
// CHECK-COUNT-2: call
func.func @callpub_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %a = call @callpub_norm(%x, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %b = call @callpub_norm(%a, %w) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}

// A dead user.
// CHECK-LABEL: func.func @dead_f(
// CHECK:         gpu.launch_func
func.func @dead_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %dead = linalg.exp ins(%a : tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// A function that is declared only.
func.func private @decl_ext(tensor<?x64xf32>) -> tensor<?x64xf32>
// CHECK-LABEL: func.func @decl_f(
// CHECK:         gpu.launch_func
func.func @decl_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = call @decl_ext(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%y : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// Strides and an offset known at a call only.
// CHECK-LABEL: func.func @dynstride_f(
// CHECK:         gpu.launch_func
func.func @dynstride_f(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>, %w: memref<64xf32>, %y: memref<?x64xf32, strided<[?, 1], offset: ?>>) {
  %tx = bufferization.to_tensor %x restrict : memref<?x64xf32, strided<[?, 1], offset: ?>> to tensor<?x64xf32>
  %tw = bufferization.to_tensor %w restrict : memref<64xf32> to tensor<64xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<?x64xf32, strided<[?, 1], offset: ?>> to tensor<?x64xf32>
  %a = rmsnorm.forward input(%tx : tensor<?x64xf32>) weight(%tw : tensor<64xf32>) output(%ty : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  bufferization.materialize_in_destination %a in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// f64, which no kernel computes in, stays in front of it.
// CHECK-LABEL: func.func @f64_f(
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK:         gpu.launch_func
func.func @f64_f(%x: tensor<?x64xf64>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf64>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf64>) outs(%e0 : tensor<?x64xf32>) {
  ^bb0(%a: f64, %o: f32):
    %v = arith.truncf %a : f64 to f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// Somebody else's loop beside it, and one that is mapped.
// CHECK-LABEL: func.func @forall_f(
// CHECK:         gpu.launch_func
// CHECK:         scf.forall
// CHECK:           linalg.exp
func.func @forall_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> (tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %r = scf.forall (%i) in (%m) shared_outs(%s = %o) -> (tensor<?x64xf32>) {
    %as = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %ss = tensor.extract_slice %s[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %q = linalg.exp ins(%as : tensor<1x64xf32>) outs(%ss : tensor<1x64xf32>) -> tensor<1x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32> }
  } 
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @forall_block_f(
// CHECK:         gpu.launch_func
// CHECK:         scf.forall
// CHECK:           linalg.exp
func.func @forall_block_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %o: tensor<?x64xf32>) -> (tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %r = scf.forall (%i) in (%m) shared_outs(%s = %o) -> (tensor<?x64xf32>) {
    %as = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %ss = tensor.extract_slice %s[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %q = linalg.exp ins(%as : tensor<1x64xf32>) outs(%ss : tensor<1x64xf32>) -> tensor<1x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32> }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<?x64xf32>
}

// i32.
// CHECK-LABEL: func.func @i32_f(
// CHECK:         gpu.launch_func
func.func @i32_f(%x: tensor<?x64xi32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xi32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xi32>) outs(%e0 : tensor<?x64xf32>) {
  ^bb0(%a: i32, %o: f32):
    %v = arith.sitofp %a : i32 to f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// In a branch, with a neighbour outside.
// CHECK-LABEL: func.func @ifn_f(
// CHECK:         gpu.launch_func
func.func @ifn_f(%c: i1, %x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %s = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %o = scf.if %c -> tensor<?x64xf32> {
    %a = rmsnorm.forward input(%s : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    scf.yield %a : tensor<?x64xf32>
  } else {
    scf.yield %s : tensor<?x64xf32>
  }
  return %o : tensor<?x64xf32>
}

// Slices of a loop.
// CHECK-LABEL: func.func @infor_f(
// CHECK:         gpu.launch_func
func.func @infor_f(%x: tensor<4x8x64xf32>, %w: tensor<64xf32>, %o: tensor<4x8x64xf32>) -> (tensor<4x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %o) -> (tensor<4x8x64xf32>) {
    %as = tensor.extract_slice %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %ss = tensor.extract_slice %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %q = rmsnorm.forward input(%as : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%ss : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    %ins = tensor.insert_slice %q into %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32> into tensor<4x8x64xf32>
    scf.yield %ins : tensor<4x8x64xf32>
  }
  return %r : tensor<4x8x64xf32>
}

// In loops of others.
// CHECK-LABEL: func.func @inforall_f(
// CHECK:         gpu.launch_func
func.func @inforall_f(%x: tensor<4x?x64xf32>, %w: tensor<64xf32>, %o: tensor<4x?x64xf32>) -> (tensor<4x?x64xf32>) {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<4x?x64xf32>
  %r = scf.forall (%i) in (4) shared_outs(%s = %o) -> (tensor<4x?x64xf32>) {
    %as = tensor.extract_slice %x[%i, 0, 0] [1, %m, 64] [1, 1, 1] : tensor<4x?x64xf32> to tensor<1x?x64xf32>
    %ss = tensor.extract_slice %s[%i, 0, 0] [1, %m, 64] [1, 1, 1] : tensor<4x?x64xf32> to tensor<1x?x64xf32>
    %q = rmsnorm.forward input(%as : tensor<1x?x64xf32>) weight(%w : tensor<64xf32>) output(%ss : tensor<1x?x64xf32>) eps = 1.0e-05 -> tensor<1x?x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[%i, 0, 0] [1, %m, 64] [1, 1, 1] : tensor<1x?x64xf32> into tensor<4x?x64xf32> }
  }
  return %r : tensor<4x?x64xf32>
}

// CHECK-LABEL: func.func @inforall2_f(
// CHECK:         gpu.launch_func
func.func @inforall2_f(%x: tensor<4x8x64xf32>, %w: tensor<64xf32>, %o: tensor<4x8x64xf32>) -> (tensor<4x8x64xf32>) {
  %r = scf.forall (%i) in (4) shared_outs(%s = %o) -> (tensor<4x8x64xf32>) {
    %as = tensor.extract_slice %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %ss = tensor.extract_slice %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %q = rmsnorm.forward input(%as : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%ss : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32> into tensor<4x8x64xf32> }
  }
  return %r : tensor<4x8x64xf32>
}

// One row, none, and a row alone.
// CHECK-LABEL: func.func @m1_f(
// CHECK:         gpu.launch_func
func.func @m1_f(%x: tensor<1x64xf32>, %w: tensor<64xf32>, %o: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<1x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<1x64xf32>) eps = 1.0e-05 -> tensor<1x64xf32>
  return %a : tensor<1x64xf32>
}
// CHECK-LABEL: func.func @m1_z(
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @m1_z(%x: tensor<0x64xf32>, %w: tensor<64xf32>, %o: tensor<0x64xf32>) -> tensor<0x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<0x64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<0x64xf32>) eps = 1.0e-05 -> tensor<0x64xf32>
  return %a : tensor<0x64xf32>
}
// CHECK-LABEL: func.func @m1_v(
// CHECK:         gpu.launch_func
func.func @m1_v(%x: tensor<64xf32>, %w: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %a = rmsnorm.forward input(%x : tensor<64xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<64xf32>) eps = 1.0e-05 -> tensor<64xf32>
  return %a : tensor<64xf32>
}

// Heads in the middle of a packed projection.
// CHECK-LABEL: func.func @odd_f(
// CHECK:         gpu.launch_func
func.func @odd_f(%qkv: tensor<16x512xf32>, %w: tensor<64xf32>) -> tensor<16x4x64xf32> {
  %q = tensor.extract_slice %qkv[0, 3] [16, 256] [1, 1] : tensor<16x512xf32> to tensor<16x256xf32>
  %h = tensor.expand_shape %q [[0], [1, 2]] output_shape [16, 4, 64] : tensor<16x256xf32> into tensor<16x4x64xf32>
  %e = tensor.empty() : tensor<16x4x64xf32>
  %a = rmsnorm.forward input(%h : tensor<16x4x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<16x4x64xf32>) eps = 1.0e-05 -> tensor<16x4x64xf32>
  return %a : tensor<16x4x64xf32>
}

// CHECK-LABEL: func.func @slice_in_f(
// CHECK:         gpu.launch_func
func.func @slice_in_f(%qkv: tensor<16x512xf32>, %w: tensor<64xf32>) -> tensor<16x4x64xf32> {
  %q = tensor.extract_slice %qkv[0, 0] [16, 256] [1, 1] : tensor<16x512xf32> to tensor<16x256xf32>
  %h = tensor.expand_shape %q [[0], [1, 2]] output_shape [16, 4, 64] : tensor<16x256xf32> into tensor<16x4x64xf32>
  %e = tensor.empty() : tensor<16x4x64xf32>
  %a = rmsnorm.forward input(%h : tensor<16x4x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<16x4x64xf32>) eps = 1.0e-05 -> tensor<16x4x64xf32>
  return %a : tensor<16x4x64xf32>
}

// Memory spaces.
// CHECK-LABEL: func.func @space_f(
// CHECK:         gpu.launch_func
  func.func @space_f(%arg0: memref<?x64xf32, 1>, %arg1: memref<64xf32, 1>, %arg2: memref<?x64xf32, 1>) {
    %0 = bufferization.to_tensor %arg0 restrict : memref<?x64xf32, 1> to tensor<?x64xf32>
    %1 = bufferization.to_tensor %arg1 restrict : memref<64xf32, 1> to tensor<64xf32>
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %0, %c0 : tensor<?x64xf32>
    %2 = bufferization.to_tensor %arg2 restrict writable : memref<?x64xf32, 1> to tensor<?x64xf32>
    %3 = tensor.empty(%dim) : tensor<?x64xf32>
    %4 = rmsnorm.forward input(%0 : tensor<?x64xf32>) weight(%1 : tensor<64xf32>) output(%2 : tensor<?x64xf32>) eps = 9.99999974E-6 -> tensor<?x64xf32>
    bufferization.materialize_in_destination %4 in writable %arg2 : (tensor<?x64xf32>, memref<?x64xf32, 1>) -> ()
    return
  }

// CHECK-LABEL: func.func @space2_f(
// CHECK:         gpu.launch_func
  func.func @space2_f(%arg0: memref<?x64xf32, #gpu.address_space<global>>, %arg1: memref<64xf32, #gpu.address_space<global>>, %arg2: memref<?x64xf32, #gpu.address_space<global>>) {
    %0 = bufferization.to_tensor %arg0 restrict : memref<?x64xf32, #gpu.address_space<global>> to tensor<?x64xf32>
    %1 = bufferization.to_tensor %arg1 restrict : memref<64xf32, #gpu.address_space<global>> to tensor<64xf32>
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %0, %c0 : tensor<?x64xf32>
    %2 = bufferization.to_tensor %arg2 restrict writable : memref<?x64xf32, #gpu.address_space<global>> to tensor<?x64xf32>
    %3 = tensor.empty(%dim) : tensor<?x64xf32>
    %4 = rmsnorm.forward input(%0 : tensor<?x64xf32>) weight(%1 : tensor<64xf32>) output(%2 : tensor<?x64xf32>) eps = 9.99999974E-6 -> tensor<?x64xf32>
    bufferization.materialize_in_destination %4 in writable %arg2 : (tensor<?x64xf32>, memref<?x64xf32, #gpu.address_space<global>>) -> ()
    return
  }

// Columns from 64 on of a buffer.
// CHECK-LABEL: func.func @strided_f(
// CHECK:         gpu.launch_func
func.func @strided_f(%x: memref<?x128xf32>, %w: memref<64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x128xf32>
  %s = memref.subview %x[0, 64] [%m, 64] [1, 1] : memref<?x128xf32> to memref<?x64xf32, strided<[128, 1], offset: 64>>
  %tx = bufferization.to_tensor %s restrict : memref<?x64xf32, strided<[128, 1], offset: 64>> to tensor<?x64xf32>
  %tw = bufferization.to_tensor %w restrict : memref<64xf32> to tensor<64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%tx : tensor<?x64xf32>) weight(%tw : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  bufferization.materialize_in_destination %a in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}

// A transposition beside it.
// CHECK-LABEL: func.func @tr_f(
// CHECK:         linalg.transpose
// CHECK:         gpu.launch_func
func.func @tr_f(%x: tensor<64x16xf32>, %w: tensor<64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x16xf32>) outs(%e : tensor<16x64xf32>) permutation = [1, 0]
  %a = rmsnorm.forward input(%t : tensor<16x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<16x64xf32>) eps = 1.0e-05 -> tensor<16x64xf32>
  return %a : tensor<16x64xf32>
}

// erfc.
// CHECK-LABEL: func.func @v_f(
// CHECK:         gpu.launch_func
func.func @v_f(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %s: f32, %tab: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e0 = tensor.empty(%m) : tensor<?x64xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%e0 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.erfc %a : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// Wide rows.
// CHECK-LABEL: func.func @x_f(
// CHECK:         gpu.launch_func
func.func @x_f(%x: tensor<?x524288xf32>, %w: tensor<524288xf32>) -> tensor<?x524288xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x524288xf32>
  %e = tensor.empty(%m) : tensor<?x524288xf32>
  %a = rmsnorm.forward input(%x : tensor<?x524288xf32>) weight(%w : tensor<524288xf32>) output(%e : tensor<?x524288xf32>) eps = 1.0e-05 -> tensor<?x524288xf32>
  return %a : tensor<?x524288xf32>
}

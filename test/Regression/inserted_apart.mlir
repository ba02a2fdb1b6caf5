// Results whose columns, of two dimensions, are put where these do not follow
// each other in memory, and operands that are taken from there: kernels were
// made for them, and broke the verifier of their accesses once bufferized.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}5 results, 0 wrong

// Every other head.
func.func @heads(%x: tensor<?x8xf32>, %d: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %f = tensor.empty(%n) : tensor<?x2x4xf32>
  %z = linalg.negf ins(%h : tensor<?x2x4xf32>) outs(%f : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %r = tensor.insert_slice %z into %d[0, 1, 0] [%n, 2, 4] [1, 2, 1] : tensor<?x2x4xf32> into tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Half of each head, and only a value says so.
func.func @halves(%x: tensor<?x8xf32>, %d: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %f = tensor.empty(%n) : tensor<?x2x4xf32>
  %z = linalg.negf ins(%h : tensor<?x2x4xf32>) outs(%f : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %k = tensor.cast %z : tensor<?x2x4xf32> to tensor<?x2x?xf32>
  %r = tensor.insert_slice %k into %d[0, 0, 2] [%n, 2, %c4] [1, 1, 1] : tensor<?x2x?xf32> into tensor<?x2x8xf32>
  return %r : tensor<?x2x8xf32>
}

// Heads from one that a call names on.
func.func @read(%x: tensor<?x16x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16x4xf32>
  %s = tensor.extract_slice %x[0, %n, 0] [%n, 2, 4] [1, 2, 1] : tensor<?x16x4xf32> to tensor<?x2x4xf32>
  %h = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%h : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// In a loop.
func.func @loop(%x: tensor<3x?x8xf32>, %d: tensor<3x?x4x4xf32>) -> tensor<3x?x4x4xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<3x?x8xf32>
  %r = scf.forall (%i) in (3) shared_outs(%o = %d) -> tensor<3x?x4x4xf32> {
    %s = tensor.extract_slice %x[%i, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<3x?x8xf32> to tensor<?x8xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = rmsnorm.forward input(%s : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
    %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
    %f = tensor.empty(%n) : tensor<?x2x4xf32>
    %z = linalg.negf ins(%h : tensor<?x2x4xf32>) outs(%f : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %o[%i, 0, 1, 0] [1, %n, 2, 4] [1, 1, 2, 1] : tensor<?x2x4xf32> into tensor<3x?x4x4xf32>
    }
  }
  return %r : tensor<3x?x4x4xf32>
}

// In a buffer of the host's.
func.func @buffer(%x: tensor<?x8xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
  %f = tensor.empty(%n) : tensor<?x2x4xf32>
  %z = linalg.negf ins(%h : tensor<?x2x4xf32>) outs(%f : tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %m = memref.alloc(%n) : memref<?x4x4xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<?x4x4xf32>)
  %v = memref.subview %m[0, 1, 0] [%n, 2, 4] [1, 2, 1] : memref<?x4x4xf32> to memref<?x2x4xf32, strided<[16, 8, 1], offset: 4>>
  bufferization.materialize_in_destination %z in restrict writable %v : (tensor<?x2x4xf32>, memref<?x2x4xf32, strided<[16, 8, 1], offset: 4>>) -> ()
  %r = bufferization.to_tensor %m restrict : memref<?x4x4xf32> to tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// A module without norms comes out as it went in, to the byte, and so does
// everything in one with norms that is not fused.
// RUN: norm-opt %s -o %t.before
// RUN: norm-opt %s --rmsnorm-embed-tensors -o %t.after
// RUN: cmp %t.before %t.after

// Equal ops, dead ones, sizes of results, uses of constants; loops that look
// like ours.
func.func @no_norm(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %o: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %c0_again = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %e2 = tensor.empty(%m) : tensor<?x4xf32>
  %a = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e2 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %dead = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %n = tensor.dim %c, %c0_again : tensor<?x4xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%s = %o) -> (tensor<?x4xf32>) {
    %x1 = tensor.extract_slice %c[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %x2 = tensor.extract_slice %c[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %s1 = tensor.extract_slice %s[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %z = linalg.add ins(%x1, %x2 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%s1 : tensor<1x4xf32>) -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %s[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  } {mapping = [#gpu.block<x>]}
  return %r, %n : tensor<?x4xf32>, index
}

func.func private @nobody_calls_me(%x: memref<4xf32>) {
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// RUN: norm-opt %s --rmsnorm-tile-clusters="required=false remarks=false" --rmsnorm-order-rows | FileCheck %s

// The second projection does not need the first norm, and what uses the first
// norm can wait.
// CHECK-LABEL: func.func @projections(
// CHECK-COUNT-2: linalg.matmul
// CHECK:         rmsnorm.rows
// CHECK-NOT:     {{linalg|return}}
// CHECK:         rmsnorm.rows
// CHECK:         linalg.transpose
func.func @projections(%x: tensor<8x32xf32>, %a: tensor<32x64xf32>, %b: tensor<32x64xf32>, %o: tensor<8x64xf32>, %m: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %et = tensor.empty() : tensor<64x8xf32>
  %q = linalg.matmul ins(%x, %a : tensor<8x32xf32>, tensor<32x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %qn = rmsnorm.forward input(%q : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %s = tensor.extract_slice %qn[0, 0] [4, 64] [1, 1] : tensor<8x64xf32> to tensor<4x64xf32>
  %st = tensor.empty() : tensor<64x4xf32>
  %t = linalg.transpose ins(%s : tensor<4x64xf32>) outs(%st : tensor<64x4xf32>) permutation = [1, 0]
  %k = linalg.matmul ins(%x, %b : tensor<8x32xf32>, tensor<32x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %kn = rmsnorm.forward input(%k : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %p = tensor.insert_slice %t into %et[0, 0] [64, 4] [1, 1] : tensor<64x4xf32> into tensor<64x8xf32>
  %r = linalg.matmul ins(%o, %p : tensor<8x64xf32>, tensor<64x8xf32>) outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r, %kn : tensor<8x8xf32>, tensor<8x64xf32>
}

// One needs the other.
// CHECK-LABEL: func.func @dependent(
// CHECK:         rmsnorm.rows
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows
func.func @dependent(%x: tensor<8x64xf32>, %a: tensor<64x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %h = linalg.matmul ins(%n, %a : tensor<8x64xf32>, tensor<64x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %y = rmsnorm.forward input(%h : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

func.func private @log()

// What is called in between may be anything.
// CHECK-LABEL: func.func @effects(
// CHECK:         rmsnorm.rows
// CHECK:         call @log
// CHECK:         rmsnorm.rows
func.func @effects(%x: tensor<8x64xf32>, %z: tensor<6x64xf32>) -> (tensor<8x64xf32>, tensor<6x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %f = tensor.empty() : tensor<6x64xf32>
  %n = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  call @log() : () -> ()
  %y = rmsnorm.forward input(%z : tensor<6x64xf32>) output(%f : tensor<6x64xf32>) eps = 1.0e-05 -> tensor<6x64xf32>
  return %n, %y : tensor<8x64xf32>, tensor<6x64xf32>
}

// The product is computed into what the first norm reads.
// CHECK-LABEL: func.func @in_place(
// CHECK:         rmsnorm.rows
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows
func.func @in_place(%x: tensor<8x64xf32>, %a: tensor<8x32xf32>, %b: tensor<32x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %n = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %h = linalg.matmul ins(%a, %b : tensor<8x32xf32>, tensor<32x64xf32>) outs(%x : tensor<8x64xf32>) -> tensor<8x64xf32>
  %y = rmsnorm.forward input(%h : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  return %n, %y : tensor<8x64xf32>, tensor<8x64xf32>
}

// A sum over rows is a launch of its own.
// CHECK-LABEL: func.func @sums(
// CHECK:         rmsnorm.rows
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows
func.func @sums(%dy: tensor<8x64xf32>, %x: tensor<8x64xf32>, %w: tensor<64xf32>, %a: tensor<8x32xf32>, %b: tensor<32x64xf32>, %o: tensor<8x64xf32>)
    -> (tensor<8x64xf32>, tensor<64xf32>, tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<8x64xf32>) input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%e : tensor<8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>, tensor<64xf32>
  %h = linalg.matmul ins(%a, %b : tensor<8x32xf32>, tensor<32x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %y = rmsnorm.forward input(%h : tensor<8x64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  return %dx, %dw, %y : tensor<8x64xf32>, tensor<64xf32>, tensor<8x64xf32>
}

// Others move over it.
// CHECK-LABEL: func.func @over_sums(
// CHECK:         rmsnorm.rows sizes [8] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:         rmsnorm.rows sizes [4] columns(64)
// CHECK:         return
func.func @over_sums(%dy: tensor<8x64xf32>, %x: tensor<8x64xf32>, %w: tensor<64xf32>, %q: tensor<6x64xf32>, %k: tensor<4x64xf32>)
    -> (tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<4x64xf32>) {
  %qe = tensor.empty() : tensor<6x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %ke = tensor.empty() : tensor<4x64xf32>
  %qn = rmsnorm.forward input(%q : tensor<6x64xf32>) output(%qe : tensor<6x64xf32>) eps = 1.0e-05 -> tensor<6x64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<8x64xf32>) input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%e : tensor<8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>, tensor<64xf32>
  %kn = rmsnorm.forward input(%k : tensor<4x64xf32>) output(%ke : tensor<4x64xf32>) eps = 1.0e-05 -> tensor<4x64xf32>
  return %qn, %dx, %dw, %kn : tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<4x64xf32>
}

// Where it needs one of them it stays after both.
// CHECK-LABEL: func.func @sums_of_a_norm(
// CHECK:         rmsnorm.rows sizes [8] columns(32)
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:         linalg.matmul
// CHECK:         rmsnorm.rows sizes [8] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         return
func.func @sums_of_a_norm(%q: tensor<8x32xf32>, %a: tensor<32x64xf32>, %o: tensor<8x64xf32>, %x: tensor<8x64xf32>, %w: tensor<64xf32>, %k: tensor<6x64xf32>)
    -> (tensor<8x64xf32>, tensor<64xf32>, tensor<6x64xf32>) {
  %qe = tensor.empty() : tensor<8x32xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %ke = tensor.empty() : tensor<6x64xf32>
  %qn = rmsnorm.forward input(%q : tensor<8x32xf32>) output(%qe : tensor<8x32xf32>) eps = 1.0e-05 -> tensor<8x32xf32>
  %dy = linalg.matmul ins(%qn, %a : tensor<8x32xf32>, tensor<32x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<8x64xf32>) input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%e : tensor<8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>, tensor<64xf32>
  %kn = rmsnorm.forward input(%k : tensor<6x64xf32>) output(%ke : tensor<6x64xf32>) eps = 1.0e-05 -> tensor<6x64xf32>
  return %dx, %dw, %kn : tensor<8x64xf32>, tensor<64xf32>, tensor<6x64xf32>
}

// Not over two.
// CHECK-LABEL: func.func @over_two(
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:         rmsnorm.rows sizes [8] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         rmsnorm.rows sizes [7] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         rmsnorm.rows sizes [4] columns(64)
// CHECK:         return
func.func @over_two(%dy: tensor<8x64xf32>, %x: tensor<8x64xf32>, %dz: tensor<7x64xf32>, %z: tensor<7x64xf32>, %w: tensor<64xf32>, %q: tensor<6x64xf32>, %k: tensor<4x64xf32>)
    -> (tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<7x64xf32>, tensor<64xf32>, tensor<4x64xf32>) {
  %qe = tensor.empty() : tensor<6x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %f = tensor.empty() : tensor<7x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %ke = tensor.empty() : tensor<4x64xf32>
  %qn = rmsnorm.forward input(%q : tensor<6x64xf32>) output(%qe : tensor<6x64xf32>) eps = 1.0e-05 -> tensor<6x64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<8x64xf32>) input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%e : tensor<8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>, tensor<64xf32>
  %dx1, %dw1 = rmsnorm.backward dy(%dz : tensor<7x64xf32>) input(%z : tensor<7x64xf32>) weight(%w : tensor<64xf32>)
      dx(%f : tensor<7x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>, tensor<64xf32>
  %kn = rmsnorm.forward input(%k : tensor<4x64xf32>) output(%ke : tensor<4x64xf32>) eps = 1.0e-05 -> tensor<4x64xf32>
  return %qn, %dx, %dw, %dx1, %dw1, %kn : tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<7x64xf32>, tensor<64xf32>, tensor<4x64xf32>
}

// Nor over one to the next norm, and with that over another.
// CHECK-LABEL: func.func @over_two_in_steps(
// CHECK:         rmsnorm.rows sizes [8] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:         rmsnorm.rows sizes [4] columns(64)
// CHECK:         rmsnorm.rows sizes [7] columns(64)
// CHECK:           rmsnorm.accumulate
// CHECK:         rmsnorm.rows sizes [5] columns(64)
// CHECK:         return
func.func @over_two_in_steps(%dy: tensor<8x64xf32>, %x: tensor<8x64xf32>, %dz: tensor<7x64xf32>, %z: tensor<7x64xf32>, %w: tensor<64xf32>, %q: tensor<6x64xf32>, %k: tensor<4x64xf32>, %v: tensor<5x64xf32>)
    -> (tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<4x64xf32>, tensor<7x64xf32>, tensor<64xf32>, tensor<5x64xf32>) {
  %qe = tensor.empty() : tensor<6x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %f = tensor.empty() : tensor<7x64xf32>
  %g = tensor.empty() : tensor<64xf32>
  %ke = tensor.empty() : tensor<4x64xf32>
  %ve = tensor.empty() : tensor<5x64xf32>
  %qn = rmsnorm.forward input(%q : tensor<6x64xf32>) output(%qe : tensor<6x64xf32>) eps = 1.0e-05 -> tensor<6x64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<8x64xf32>) input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>)
      dx(%e : tensor<8x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>, tensor<64xf32>
  %kn = rmsnorm.forward input(%k : tensor<4x64xf32>) output(%ke : tensor<4x64xf32>) eps = 1.0e-05 -> tensor<4x64xf32>
  %dx1, %dw1 = rmsnorm.backward dy(%dz : tensor<7x64xf32>) input(%z : tensor<7x64xf32>) weight(%w : tensor<64xf32>)
      dx(%f : tensor<7x64xf32>) dweight(%g : tensor<64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>, tensor<64xf32>
  %vn = rmsnorm.forward input(%v : tensor<5x64xf32>) output(%ve : tensor<5x64xf32>) eps = 1.0e-05 -> tensor<5x64xf32>
  return %qn, %dx, %dw, %kn, %dx1, %dw1, %vn : tensor<6x64xf32>, tensor<8x64xf32>, tensor<64xf32>, tensor<4x64xf32>, tensor<7x64xf32>, tensor<64xf32>, tensor<5x64xf32>
}

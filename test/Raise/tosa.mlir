// TOSA, lowered by upstream's passes: a norm of one token as buddy-mlir decodes
// it (rows of size 1 only, 1/N by tosa.reciprocal), and one of a batch in bf16
// as torch-mlir's TOSA backend rounds it.
// RUN: norm-opt %s --pass-pipeline='builtin.module(func.func(tosa-to-linalg,tosa-to-tensor,tosa-to-arith),linalg-generalize-named-ops,canonicalize,cse,rmsnorm-raise,canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: func.func @decode(
// CHECK-SAME: %[[W:.*]]: tensor<4096xf32>, %[[X:.*]]: tensor<1x1x4096xf32>
// CHECK-NOT: linalg.generic
// CHECK: %[[Y:.*]] = rmsnorm.forward input(%[[X]] : tensor<1x1x4096xf32>) weight(%[[W]] : tensor<4096xf32>) output(%{{.*}} : tensor<1x1x4096xf32>) eps = 9.99999974E-6 ->
// CHECK-NEXT: tensor.collapse_shape %[[Y]]
// CHECK-NEXT: return
func.func @decode(%w: tensor<4096xf32>, %x: tensor<1x1x4096xf32>) -> tensor<1x4096xf32> {
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %sq = tosa.pow %x, %two : (tensor<1x1x4096xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4096xf32>
  %s = tosa.reduce_sum %sq {axis = 2 : i32} : (tensor<1x1x4096xf32>) -> tensor<1x1x1xf32>
  %n = "tosa.const"() <{values = dense<4.096e+03> : tensor<1xf32>}> : () -> tensor<1xf32>
  %rn = tosa.reciprocal %n : (tensor<1xf32>) -> tensor<1xf32>
  %sh1 = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %rn3 = tosa.reshape %rn, %sh1 : (tensor<1xf32>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.mul %rn3, %s, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %eps = "tosa.const"() <{values = dense<9.99999974E-6> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %v = tosa.add %m, %eps : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %r = tosa.rsqrt %v : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %xr = tosa.mul %x, %r, %shift : (tensor<1x1x4096xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x4096xf32>
  %shw = tosa.const_shape {values = dense<[1, 1, 4096]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w3 = tosa.reshape %w, %shw : (tensor<4096xf32>, !tosa.shape<3>) -> tensor<1x1x4096xf32>
  %y = tosa.mul %w3, %xr, %shift : (tensor<1x1x4096xf32>, tensor<1x1x4096xf32>, tensor<1xi8>) -> tensor<1x1x4096xf32>
  %sh2 = tosa.const_shape {values = dense<[1, 4096]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %z = tosa.reshape %y, %sh2 : (tensor<1x1x4096xf32>, !tosa.shape<2>) -> tensor<1x4096xf32>
  return %z : tensor<1x4096xf32>
}

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: %[[W:.*]]: tensor<96xbf16>, %[[X:.*]]: tensor<2x7x96xbf16>
// CHECK-NOT: linalg.generic
// CHECK: %[[Y:.*]] = rmsnorm.forward input(%[[X]] : tensor<2x7x96xbf16>) weight(%[[W]] : tensor<96xbf16>) output(%{{.*}} : tensor<2x7x96xbf16>) eps = 9.99999974E-6 casting = llama ->
// CHECK-NEXT: return %[[Y]]
func.func @prefill(%w: tensor<96xbf16>, %x: tensor<2x7x96xbf16>) -> tensor<2x7x96xbf16> {
  %xf = tosa.cast %x : (tensor<2x7x96xbf16>) -> tensor<2x7x96xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sq = tosa.mul %xf, %xf, %shift : (tensor<2x7x96xf32>, tensor<2x7x96xf32>, tensor<1xi8>) -> tensor<2x7x96xf32>
  %s = tosa.reduce_sum %sq {axis = 2 : i32} : (tensor<2x7x96xf32>) -> tensor<2x7x1xf32>
  %n = "tosa.const"() <{values = dense<0.010416667> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %m = tosa.mul %s, %n, %shift : (tensor<2x7x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x7x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %v = tosa.add %m, %eps : (tensor<2x7x1xf32>, tensor<1x1x1xf32>) -> tensor<2x7x1xf32>
  %r = tosa.rsqrt %v : (tensor<2x7x1xf32>) -> tensor<2x7x1xf32>
  %xr = tosa.mul %xf, %r, %shift : (tensor<2x7x96xf32>, tensor<2x7x1xf32>, tensor<1xi8>) -> tensor<2x7x96xf32>
  %xb = tosa.cast %xr : (tensor<2x7x96xf32>) -> tensor<2x7x96xbf16>
  %shw = tosa.const_shape {values = dense<[1, 1, 96]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %w3 = tosa.reshape %w, %shw : (tensor<96xbf16>, !tosa.shape<3>) -> tensor<1x1x96xbf16>
  %y = tosa.mul %xb, %w3, %shift : (tensor<2x7x96xbf16>, tensor<1x1x96xbf16>, tensor<1xi8>) -> tensor<2x7x96xbf16>
  return %y : tensor<2x7x96xbf16>
}

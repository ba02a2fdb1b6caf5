// RUN: norm-opt %s --rmsnorm-tensor-half --rmsnorm-memref-half=target=sm_90 | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=5 --dim=s1=1
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=1 --dim=s1=7
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=7 --dim=s1=3 --strided
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=3 --dim=s1=37

// The batch of a row is its number times a reciprocal, which the host computes,
// and may be one more; by a size that the program knows rows are divided.
#row = affine_map<(b, t, h, n) -> (b, t, h, n)>
#batch = affine_map<(b, t, h, n) -> (b, n)>

// CHECK-LABEL: gpu.func @scaled
// CHECK-SAME: (%{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %[[T:[a-z0-9]*]]: index, %[[M:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index
// CHECK: scf.for
// CHECK: %[[TOKEN:.*]] = arith.divui %{{.*}}, %c2 : index
// CHECK: %[[N:.*]] = arith.index_castui %[[TOKEN]] : index to i64
// CHECK: %[[D:.*]] = arith.index_castui %[[T]] : index to i64
// CHECK: %[[R:.*]] = arith.index_castui %[[M]] : index to i64
// CHECK: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
// CHECK: %{{.*}}, %[[Q:.*]] = arith.mului_extended %[[TWICE]], %[[R]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[Q]], %[[D]]
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[PRODUCT]]
// CHECK: %[[MORE:.*]] = arith.cmpi uge, %[[REST]], %[[D]]
// CHECK: %[[ONE:.*]] = arith.extui %[[MORE]]
// CHECK: arith.addi %[[Q]], %[[ONE]]
// CHECK: %[[LESS:.*]] = arith.subi %[[REST]], %[[D]]
// CHECK: arith.select %[[MORE]], %[[LESS]], %[[REST]]
// CHECK-LABEL: func.func @scaled
// CHECK: %[[SIZE:.*]] = arith.maxui %{{.*}}, %c1
// CHECK: arith.divui %c9223372036854775807, %[[SIZE]]
func.func @scaled(%x: tensor<?x?x2x512xbf16>, %s: tensor<?x512xbf16>) -> tensor<?x?x2x512xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x2x512xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x2x512xbf16>
  %f = tensor.empty(%b, %t) : tensor<?x?x2x512xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x2x512xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x2x512xbf16>) output(%f : tensor<?x?x2x512xf32>) eps = 1.0e-05 -> tensor<?x?x2x512xf32>
  %z = linalg.generic {indexing_maps = [#row, #batch, #row], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %s : tensor<?x?x2x512xf32>, tensor<?x512xbf16>) outs(%e : tensor<?x?x2x512xbf16>) {
  ^bb0(%a: f32, %v: bf16, %o: bf16):
    %w = arith.extf %v : bf16 to f32
    %p = arith.mulf %a, %w : f32
    %q = arith.truncf %p : f32 to bf16
    linalg.yield %q : bf16
  } -> tensor<?x?x2x512xbf16>
  return %z : tensor<?x?x2x512xbf16>
}

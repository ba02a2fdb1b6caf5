// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|linalg}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=67 2>&1 | FileCheck %s --check-prefix=ULP
// RUN: norm-opt %s --rmsnorm-raise=row-wise=all --rmsnorm-embed-tensors | FileCheck %s --check-prefix=EMBED --implicit-check-not="{{rmsnorm.rows|linalg}}"

// A softmax by its name is what it stands for: it is part of the norm's kernel.
// CHECK: rmsnorm.rows
// CHECK-COUNT-3: rmsnorm.row_reduce
// ULP: {{^softmax_named .* sim:[a-z0-9_]+ .* ok}}
// EMBED: rmsnorm.rows
// EMBED-COUNT-3: rmsnorm.row_reduce
func.func @softmax_named(%x: tensor<?x256xf32>, %w: tensor<256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %n = rmsnorm.forward input(%x : tensor<?x256xf32>) weight(%w : tensor<256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-6 -> tensor<?x256xf32>
  %p = linalg.softmax dimension(1) ins(%n : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %p : tensor<?x256xf32>
}

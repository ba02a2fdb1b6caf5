// A chain of residuals whose sums are all returned: more tiles are live across the
// reduction than registers hold where the width of a row alone would leave them there. The
// compiler refused its own choice of schedule;
// now a cluster shares the row, and where there is none it is read again.
// RUN: norm-compile %s --target=sim,gfx90a,gfx950,gfx1100,sm_90,oracle --ptxas= -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:sim32 --rows=3 | FileCheck %s --check-prefix=RESULT
// CHECK: program sim:sim32
// CHECK: schedule #rmsnorm.schedule<{{.*}}cluster = 
// CHECK: program gfx90a
// CHECK: schedule #rmsnorm.schedule<{{.*}}cache = reload
// RESULT: registers, cluster {{.*}} ok
func.func @f(%x: tensor<?x12289xf32>, %r0: tensor<?x12289xf32>, %r1: tensor<?x12289xf32>, %r2: tensor<?x12289xf32>) -> (tensor<?x12289xf32>, tensor<?x12289xf32>, tensor<?x12289xf32>, tensor<?x12289xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x12289xf32>
  %e = tensor.empty(%m) : tensor<?x12289xf32>
  %h0 = linalg.add ins(%x, %r0 : tensor<?x12289xf32>, tensor<?x12289xf32>) outs(%e : tensor<?x12289xf32>) -> tensor<?x12289xf32>
  %h1 = linalg.add ins(%h0, %r1 : tensor<?x12289xf32>, tensor<?x12289xf32>) outs(%e : tensor<?x12289xf32>) -> tensor<?x12289xf32>
  %h2 = linalg.add ins(%h1, %r2 : tensor<?x12289xf32>, tensor<?x12289xf32>) outs(%e : tensor<?x12289xf32>) -> tensor<?x12289xf32>
  %y = rmsnorm.forward input(%h2 : tensor<?x12289xf32>) output(%e : tensor<?x12289xf32>) eps = 1.0e-05 -> tensor<?x12289xf32>
  return %y, %h0, %h1, %h2 : tensor<?x12289xf32>, tensor<?x12289xf32>, tensor<?x12289xf32>, tensor<?x12289xf32>
}

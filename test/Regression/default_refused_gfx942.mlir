// A chain of residuals whose sums are all returned: more tiles are live across the
// reduction than registers hold where the width of a row alone would leave them there. The
// compiler refused its own choice of schedule; now it reads the row again.
// RUN: norm-compile %s --target=gfx942,sim:gfx942,oracle --ptxas= -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=3 | FileCheck %s --check-prefix=RESULT
// CHECK: program sim:gfx942
// CHECK: schedule #rmsnorm.schedule<{{.*}}cache = reload
// RESULT: reload {{.*}} ok
func.func @f(%x: tensor<?x32768xf32>, %r0: tensor<?x32768xf32>, %r1: tensor<?x32768xf32>) -> (tensor<?x32768xf32>, tensor<?x32768xf32>, tensor<?x32768xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32768xf32>
  %e = tensor.empty(%m) : tensor<?x32768xf32>
  %h0 = linalg.add ins(%x, %r0 : tensor<?x32768xf32>, tensor<?x32768xf32>) outs(%e : tensor<?x32768xf32>) -> tensor<?x32768xf32>
  %h1 = linalg.add ins(%h0, %r1 : tensor<?x32768xf32>, tensor<?x32768xf32>) outs(%e : tensor<?x32768xf32>) -> tensor<?x32768xf32>
  %y = rmsnorm.forward input(%h1 : tensor<?x32768xf32>) output(%e : tensor<?x32768xf32>) eps = 1.0e-05 -> tensor<?x32768xf32>
  return %y, %h0, %h1 : tensor<?x32768xf32>, tensor<?x32768xf32>, tensor<?x32768xf32>
}

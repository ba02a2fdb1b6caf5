// RUN: norm-opt %s --rmsnorm-tensor-half --verify-diagnostics

// y[r] = x[0] computed x[r]: which row is the loop's affair.
func.func @f(%x: memref<?x64xf32, strided<[?, 1]>> {rmsnorm.role = "input", rmsnorm.name = "x", rmsnorm.dims = array<i64: -1, 64>}, %y: memref<?x64xf32, strided<[?, 1]>> {rmsnorm.role = "output", rmsnorm.name = "y", rmsnorm.dims = array<i64: -1, 64>}) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32, strided<[?, 1]>>
  scf.forall (%r) in (%m) {
    // expected-error @below {{expected the row of the iteration, got another one}}
    %v = rmsnorm.tile_load tile %x[%c0] : memref<?x64xf32, strided<[?, 1]>> -> vector<1x64xf32>
    rmsnorm.tile_store tile %v, %y[%r] : vector<1x64xf32>, memref<?x64xf32, strided<[?, 1]>>
  } {rmsnorm.rows = 1 : i64}
  return
}

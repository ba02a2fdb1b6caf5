// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=37 --dim=s3=1000
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=37 --dim=s3=1004
// RUN: not norm-run %s --device=sim:sm_90 --rows=37 --dim=s3=64 2>&1 | FileCheck %s --check-prefix=NARROW

// As many columns as a call says, of the table, too, if it has them.
// NARROW: out of bounds: read of
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @gather_columns(
// CHECK: rmsnorm.rows {{.*}} columns(1073741824, %{{.*}})
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?xbf16
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}} at({{.*}}) : memref<?x?xbf16, strided<[?, 1]>> -> vector<1x1073741824xbf16>
// CHECK: rmsnorm.tile_store
func.func @gather_columns(%x: tensor<?x?xbf16>, %index: tensor<?xi64>, %table: tensor<?x?xbf16>, %e: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %n = rmsnorm.forward input(%x : tensor<?x?xbf16>) output(%e : tensor<?x?xbf16>) eps = 1.0e-06 -> tensor<?x?xbf16>
  %o = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<?xi64>) outs(%n : tensor<?x?xbf16>) {
  ^bb0(%k: i64, %a: bf16):
    %i = arith.index_cast %k : i64 to index
    %j = linalg.index 1 : index
    %b = tensor.extract %table[%i, %j] : tensor<?x?xbf16>
    %v = arith.addf %a, %b : bf16
    linalg.yield %v : bf16
  } -> tensor<?x?xbf16>
  return %o : tensor<?x?xbf16>
}

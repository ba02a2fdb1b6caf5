// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#each = affine_map<(d0) -> (d0)>

// A number of a table, which an index says that is an entry of another table.
// CHECK-LABEL: func.func @one_value(
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xf32
// CHECK: %[[ID:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] : memref<?xi64>
// CHECK: %[[I:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[SLOT:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}} at(%[[I]] : vector<1x1xindex>) : memref<?xi32> -> vector<1x1xi32>
// CHECK: %[[S:.*]] = arith.index_cast %[[SLOT]]
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}} at(%[[S]] : vector<1x1xindex>) : memref<?xf32> -> vector<1x1xf32>
// CHECK: rmsnorm.tile_store
func.func @one_value(%x: tensor<?x256xf32>, %index: tensor<?xi64>, %slots: tensor<?xi32>, %scales: tensor<?xf32>, %e: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %n = rmsnorm.forward input(%x : tensor<?x256xf32>) output(%e : tensor<?x256xf32>) eps = 1.0e-06 -> tensor<?x256xf32>
  %o = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<?xi64>) outs(%n : tensor<?x256xf32>) {
  ^bb0(%k: i64, %a: f32):
    %i = arith.index_cast %k : i64 to index
    %slot = tensor.extract %slots[%i] : tensor<?xi32>
    %s = arith.index_cast %slot : i32 to index
    %scale = tensor.extract %scales[%s] : tensor<?xf32>
    %v = arith.mulf %a, %scale : f32
    linalg.yield %v : f32
  } -> tensor<?x256xf32>
  return %o : tensor<?x256xf32>
}

// The second half of a row of the second of three tables; the index is limited
// in an op of its own.
// CHECK-LABEL: func.func @stacked(
// CHECK: %[[PART:.*]] = memref.subview %{{.*}}[1, 0, 128] [1, 50, 128] [1, 1, 1] : {{.*}} to memref<50x128xf16, strided<[?, 1], offset: ?>>
// CHECK: rmsnorm.rows {{.*}} read %[[PART]] :
// CHECK: rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] : memref<?xi64>
// CHECK: arith.minsi %{{.*}} : vector<1x1xi64>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x128xf16
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}} at({{.*}}) : memref<50x128xf16, strided<[?, 1], offset: ?>> -> vector<1x128xf16>
// CHECK: rmsnorm.tile_store
func.func @stacked(%x: tensor<?x128xf16>, %index: tensor<?xi64>, %tables: tensor<3x50x256xf16>) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %last = arith.constant 49 : i64
  %m = tensor.dim %x, %c0 : tensor<?x128xf16>
  %e = tensor.empty(%m) : tensor<?x128xf16>
  %ei = tensor.empty(%m) : tensor<?xi64>
  %limited = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%index : tensor<?xi64>) outs(%ei : tensor<?xi64>) {
  ^bb0(%k: i64, %z: i64):
    %l = arith.minsi %k, %last : i64
    linalg.yield %l : i64
  } -> tensor<?xi64>
  %n = rmsnorm.forward input(%x : tensor<?x128xf16>) output(%e : tensor<?x128xf16>) eps = 1.0e-06 -> tensor<?x128xf16>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %limited : tensor<?x128xf16>, tensor<?xi64>) outs(%e : tensor<?x128xf16>) {
  ^bb0(%a: f16, %k: i64, %z: f16):
    %i = arith.index_cast %k : i64 to index
    %j = linalg.index 1 : index
    %column = arith.addi %j, %c128 : index
    %b = tensor.extract %tables[%c1, %i, %column] : tensor<3x50x256xf16>
    %v = arith.addf %a, %b : f16
    linalg.yield %v : f16
  } -> tensor<?x128xf16>
  return %o : tensor<?x128xf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s --check-prefix=INSPECT
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=19 --strided --unaligned
// RUN: norm-run %s --device=sim:sm_90 --rows=67 --schedule=static_persistent

#row = affine_map<(d0) -> (d0)>

// Heads of a token are stored at its slot, in a cache that is kept by heads.
// INSPECT-LABEL: entry heads
// INSPECT:       input i32[s0], distinct indices below s1
// INSPECT:       inout bf16[8, s1, 128]
// CHECK-LABEL: func.func @heads(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 8] columns(128)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load column
// CHECK: %[[ROW:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] map(r0, r1) -> (r0) : memref<?xi32> -> vector<1x1xi32>
// CHECK: %[[I:.*]] = arith.index_cast %[[ROW]]
// CHECK: rmsnorm.tile_store tile %{{.*}}[%{{.*}}] at(%[[I]] : vector<1x1xindex>) map(r0, r1, c)[i] -> (r1, i, c) : vector<1x128xbf16>
func.func @heads(%k: tensor<?x8x128xbf16>, %w: tensor<128xbf16>, %slots: tensor<?xi32>, %keys: tensor<8x?x128xbf16>) -> tensor<8x?x128xbf16> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %k, %c0 : tensor<?x8x128xbf16>
  %e = tensor.empty(%t) : tensor<?x8x128xbf16>
  %n = rmsnorm.forward input(%k : tensor<?x8x128xbf16>) weight(%w : tensor<128xbf16>) output(%e : tensor<?x8x128xbf16>) eps = 1.0e-06 -> tensor<?x8x128xbf16>
  %i = tensor.expand_shape %slots [[0, 1]] output_shape [%t, 1] : tensor<?xi32> into tensor<?x1xi32>
  %new = tensor.scatter %n into %keys[%i] scatter_dims([1]) unique : (tensor<?x8x128xbf16>, tensor<8x?x128xbf16>, tensor<?x1xi32>) -> tensor<8x?x128xbf16>
  return %new : tensor<8x?x128xbf16>
}

// Blocks of a paged cache as one dimension; slots of which some are negative
// after a subtraction, and are not stored.
// CHECK-LABEL: func.func @blocks(
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load row
// CHECK: arith.subi
// CHECK: rmsnorm.tile_store tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) skip_negative
func.func @blocks(%x: tensor<?x128xf32>, %slots: tensor<?xi64>, %cache: tensor<?x16x128xf32>) -> tensor<?x16x128xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x128xf32>
  %b = tensor.dim %cache, %c0 : tensor<?x16x128xf32>
  %e = tensor.empty(%t) : tensor<?x128xf32>
  %n = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-06 -> tensor<?x128xf32>
  %none = tensor.empty(%t) : tensor<?xi64>
  %less = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%slots : tensor<?xi64>) outs(%none : tensor<?xi64>) {
  ^bb0(%s: i64, %o: i64):
    %c3 = arith.constant 3 : i64
    %zero = arith.constant 0 : i64
    %small = arith.cmpi slt, %s, %c3 : i64
    %minus = arith.subi %zero, %s : i64
    %below = arith.subi %minus, %c3 : i64
    %i = arith.select %small, %below, %s : i64
    linalg.yield %i : i64
  } -> tensor<?xi64>
  %flat = tensor.collapse_shape %cache [[0, 1], [2]] : tensor<?x16x128xf32> into tensor<?x128xf32>
  %new = rmsnorm.scatter %n into %flat at(%less : tensor<?xi64>) dims [0] skip_negative : tensor<?x128xf32> into tensor<?x128xf32>
  %r = tensor.expand_shape %new [[0, 1], [2]] output_shape [%b, 16, 128] : tensor<?x128xf32> into tensor<?x16x128xf32>
  return %r : tensor<?x16x128xf32>
}

// A value of each row beside the row, and the row kept, too; a token of a batch
// has two indices.
// CHECK-LABEL: func.func @batch(
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(96)
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.tile_load row
// CHECK-DAG: rmsnorm.tile_store row %{{.*}} at(%{{.*}}, %{{.*}} : vector<1x1xindex>, vector<1x1xindex>) map()[i0, i1] -> (i0, i1) : vector<1x1xf32>, memref<?x?xf32
// CHECK-DAG: rmsnorm.tile_store tile %{{.*}} at(%{{.*}}, %{{.*}} : vector<1x1xindex>, vector<1x1xindex>) map(c)[i0, i1] -> (i0, i1, c) : vector<1x96xf32>, memref<?x?x96xf32
// CHECK-DAG: rmsnorm.tile_store tile %{{.*}}, %{{[a-z0-9]*}}[%{{.*}}] : vector<1x96xf32>, memref<?x?x96xf32
func.func @batch(%x: tensor<?x?x96xf32>, %i: tensor<?x?xi64>, %j: tensor<?x?xi32>, %cache: tensor<?x?x96xf32>, %stats: tensor<?x?xf32>) -> (tensor<?x?x96xf32>, tensor<?x?x96xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x96xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x96xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x96xf32>
  %r = tensor.empty(%b, %t) : tensor<?x?xf32>
  %y, %rstd = rmsnorm.forward input(%x : tensor<?x?x96xf32>) output(%e : tensor<?x?x96xf32>) rstd(%r : tensor<?x?xf32>) eps = 1.0e-06 -> tensor<?x?x96xf32>, tensor<?x?xf32>
  %new = rmsnorm.scatter %y into %cache at(%i, %j : tensor<?x?xi64>, tensor<?x?xi32>) dims [0, 1] : tensor<?x?x96xf32> into tensor<?x?x96xf32>
  %newr = rmsnorm.scatter %rstd into %stats at(%i, %j : tensor<?x?xi64>, tensor<?x?xi32>) dims [0, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %y, %new, %newr : tensor<?x?x96xf32>, tensor<?x?x96xf32>, tensor<?x?xf32>
}

// Nothing but a copy into a cache; and rows of a table by two indices, one of
// which is the batch.
// CHECK-LABEL: func.func @copied(
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.tile_store tile %{{.*}} at(
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] at(%{{.*}} : vector<1x1xindex>) map(r0, r1, c)[i] -> (r0, i, c)
// CHECK: rmsnorm.tile_store tile
func.func @copied(%v: tensor<?x64xf16>, %slots: tensor<?xi64>, %cache: tensor<?x64xf16>, %table: tensor<4x?x64xf32>, %ids: tensor<4x?xi32>) -> (tensor<?x64xf16>, tensor<4x?x64xf32>) {
  %new = rmsnorm.scatter %v into %cache at(%slots : tensor<?xi64>) dims [0] : tensor<?x64xf16> into tensor<?x64xf16>
  %c1 = arith.constant 1 : index
  %t = tensor.dim %ids, %c1 : tensor<4x?xi32>
  %e = tensor.empty(%t) : tensor<4x?x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(b, t, d) -> (b, t)>, affine_map<(b, t, d) -> (b, t, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ids : tensor<4x?xi32>) outs(%e : tensor<4x?x64xf32>) {
  ^bb0(%id: i32, %z: f32):
    %b = linalg.index 0 : index
    %k = linalg.index 2 : index
    %row = arith.index_cast %id : i32 to index
    %value = tensor.extract %table[%b, %row, %k] : tensor<4x?x64xf32>
    linalg.yield %value : f32
  } -> tensor<4x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<4x?x64xf32>) output(%e : tensor<4x?x64xf32>) eps = 1.0e-06 -> tensor<4x?x64xf32>
  return %new, %y : tensor<?x64xf16>, tensor<4x?x64xf32>
}

// Of a row only the part is replaced that others compute from it, where all that
// use it are in the kernel.
// CHECK-LABEL: func.func @part(
// CHECK: rmsnorm.rows
// CHECK: rmsnorm.tile_load tile
// CHECK: rmsnorm.tile_load row
// CHECK: rmsnorm.tile_store tile %{{.*}} at(
func.func @part(%x: tensor<?x128xf32>, %slots: tensor<?xi64>, %cache: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%t) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  %lo = tensor.extract_slice %y[0, 0] [%t, 64] [1, 1] : tensor<?x128xf32> to tensor<?x64xf32>
  %eh = tensor.empty(%t) : tensor<?x64xf32>
  %n = linalg.negf ins(%lo : tensor<?x64xf32>) outs(%eh : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = tensor.insert_slice %n into %y[0, 0] [%t, 64] [1, 1] : tensor<?x64xf32> into tensor<?x128xf32>
  %a = linalg.exp ins(%r : tensor<?x128xf32>) outs(%e : tensor<?x128xf32>) -> tensor<?x128xf32>
  %new = rmsnorm.scatter %a into %cache at(%slots : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xf32>
  return %new : tensor<?x128xf32>
}

// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// What reads a tensor in its body is tiled if that gathers rows of a table. Why
// it is not is said.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The row of the index is taken, the table whole.
// CHECK-LABEL: func.func @rows(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?xi32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] : memref<?xi32> -> vector<1x1xi32>
// CHECK:         rmsnorm.tile_load tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @rows(%t: tensor<?x64xf32>, %i: tensor<?xi32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%r, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Columns at run-time indices.
// CHECK-LABEL: func.func @columns(
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @columns(%t: tensor<64x?xf32>, %i: tensor<?xi32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-remark @below {{not tiled with the norm next to it: it reads columns in an order of their own}}
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%j, %r] : tensor<64x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Every other column.
// CHECK-LABEL: func.func @strided(
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @strided(%t: tensor<?x128xf32>, %i: tensor<?xi32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c2 = arith.constant 2 : index
  // expected-remark @below {{not tiled with the norm next to it: it uses the numbers of its loops, of linalg.index}}
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %j2 = arith.muli %j, %c2 : index
    %v = tensor.extract %t[%r, %j2] : tensor<?x128xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Past the end of the table's rows.
// CHECK-LABEL: func.func @past(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?xi32>, read %{{.*}} : tensor<?x100xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] : memref<?xi32> -> vector<1x1xi32>
// CHECK:         rmsnorm.tile_load tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) map(c)[i] -> (i, c + 64) : memref<?x100xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @past(%t: tensor<?x100xf32>, %i: tensor<?xi32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c64 = arith.constant 64 : index
  %x = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %j64 = arith.addi %j, %c64 : index
    %v = tensor.extract %t[%r, %j64] : tensor<?x100xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// An index for each element.
// CHECK-LABEL: func.func @elements(
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @elements(%t: tensor<?x64xf32>, %i: tensor<?x64xi32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-remark @below {{not tiled with the norm next to it: it gathers by an index for each column}}
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?x64xi32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%r, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The row's own number.
// CHECK-LABEL: func.func @numbers(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] map(r, c) -> (r + 5, c) : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @numbers(%t: tensor<?x64xf32>, %x: tensor<?x64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c5 = arith.constant 5 : index
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<?x64xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %i5 = arith.addi %i, %c5 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%i5, %j] : tensor<?x64xf32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A table that the norm computes: other rows of it are not there.
// CHECK-LABEL: func.func @computed(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.yield
// CHECK:         return
func.func @computed(%x: tensor<?x64xf32>, %i: tensor<?xi32>, %e: tensor<?x64xf32>, %f: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%k: i32, %a: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %y[%r, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The second half of the columns of what some of the indices gather: an op that
// gathers nothing else.
// CHECK-LABEL: func.func @slice(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(32) buffers(read %{{.*}} : tensor<?x32xf32>, read %{{.*}} : tensor<?xi32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x32xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x32xf32> -> vector<1x32xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x32xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] map(r) -> (r + 3) : memref<?xi32> -> vector<1x1xi32>
// CHECK:         rmsnorm.tile_load tile %{{.*}} at(%{{.*}} : vector<1x1xindex>) map(c)[i] -> (i, c + 32) : memref<?x64xf32> -> vector<1x32xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x32xf32>, memref<?x32xf32>
// CHECK:         return
func.func @slice(%t: tensor<?x64xf32>, %i: tensor<?xi32>, %x: tensor<?x32xf32>, %e: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x32xf32>
  %all = tensor.dim %i, %c0 : tensor<?xi32>
  %rows = tensor.empty(%all) : tensor<?x64xf32>
  %g = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi32>) outs(%rows : tensor<?x64xf32>) {
  ^bb0(%k: i32, %z: f32):
    %r = arith.index_cast %k : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%r, %j] : tensor<?x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %s = tensor.extract_slice %g[3, 32] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %y = rmsnorm.forward input(%x : tensor<?x32xf32>) output(%e : tensor<?x32xf32>) eps = 1.0e-5 -> tensor<?x32xf32>
  %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x32xf32>) outs(%y : tensor<?x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x32xf32>
  return %o : tensor<?x32xf32>
}

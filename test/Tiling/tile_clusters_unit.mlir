// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Dimensions of size 1, kept by reductions.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#keep = affine_map<(d0, d1) -> (d0, 0)>

// What is kept of the columns behind a reduction, one of size 1, is dropped: in
// the reduction's result, in what is computed of it, where it is broadcast, and
// of an argument, whose strides stay any.
// CHECK-LABEL: func.func @keepdims(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x1xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce maximumf(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] map(r) -> (r, 0) : vector<1x1xf32>, memref<?x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @keepdims(%x: tensor<?x64xf32>, %s0: tensor<?x1xf32>, %z0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 127.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r0 = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.absf %p : f32
    %r = arith.maximumf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %k = tensor.expand_shape %a [[0, 1]] output_shape [%m, 1] : tensor<?xf32> into tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<?x1xf32>) outs(%s0 : tensor<?x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.divf %p, %limit : f32
    linalg.yield %q : f32
  } -> tensor<?x1xf32>
  %z = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%z0 : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.divf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %z, %s : tensor<?x64xf32>, tensor<?x1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Rows of one column have one.
// CHECK-LABEL: func.func @one_column(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(1) buffers(read %{{.*}} : tensor<?x1xf32>, write %{{.*}} : tensor<?x1xf32>)
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] map(r) -> (r, 0) : memref<?x1xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x1xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] map(r) -> (r, 0) : vector<1x1xf32>, memref<?x1xf32>
// CHECK:         return
func.func @one_column(%x: tensor<?x1xf32>, %o: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1xf32>
  %e = tensor.empty(%m) : tensor<?x1xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1xf32>) output(%e : tensor<?x1xf32>) eps = 1.0e-5 -> tensor<?x1xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x1xf32>) outs(%o : tensor<?x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.negf %p : f32
    linalg.yield %r : f32
  } -> tensor<?x1xf32>
  return %z : tensor<?x1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#keep = affine_map<(d0, d1) -> (d0, 0)>

// As torch-mlir reduces: into the column of size 1.
// CHECK-LABEL: func.func @reduced_to_unit(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce maximumf(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @reduced_to_unit(%x: tensor<?x64xf32>, %z0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r0 = tensor.empty(%m) : tensor<?x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%r0 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %a = linalg.generic {indexing_maps = [#id, #keep], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x64xf32>) outs(%f : tensor<?x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.absf %p : f32
    %r = arith.maximumf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %z = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %a : tensor<?x64xf32>, tensor<?x1xf32>) outs(%z0 : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.divf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// -----

// A sum over a dimension of size 1, as JAX transposes a broadcast, is what it sums
// up. One that begins elsewhere adds that.
#id = affine_map<(t, c) -> (t, c)>
#keep = affine_map<(t, c) -> (t, 0)>
#row = affine_map<(t, c) -> (t)>
// CHECK-LABEL: func.func @sum_of_one(
// CHECK:         rmsnorm.rows sizes [6] columns(64)
// CHECK:           rmsnorm.row_reduce
// CHECK:           rmsnorm.row_reduce
// CHECK-NOT:       rmsnorm.row_reduce
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @sum_of_one(%x: tensor<6x64xf32>, %b: tensor<6xf32>) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %k = tensor.empty() : tensor<6x1xf32>
  %r = tensor.empty() : tensor<6xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%k : tensor<6x1xf32>) -> tensor<6x1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
  %n = rmsnorm.forward input(%x : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-06 -> tensor<6x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #keep], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<6x64xf32>) outs(%fk : tensor<6x1xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6x1xf32>
  %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<6x1xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %v = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<6x1xf32>) outs(%b : tensor<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %u, %v : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %0 = arith.mulf %c, %d : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x64xf32>
  return %z : tensor<6x64xf32>
}

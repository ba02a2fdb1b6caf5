// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// What becomes one rmsnorm.rows.
// CHECK-LABEL: func.func @forward(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xbf16>, read %{{.*}} : tensor<64xbf16>, write %{{.*}} : tensor<?x64xbf16>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xbf16>, memref<?x64xbf16>
// CHECK:         return
func.func @forward(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x64xbf16>) weight(%w : tensor<64xbf16>) output(%y0 : tensor<?x64xbf16>) eps = 1.0e-5 -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// Rows are counted in all leading dimensions.
// CHECK-LABEL: func.func @rank_4(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, %{{.*}}, 8] columns(64) buffers(read %{{.*}} : tensor<?x?x8x64xf32>, write %{{.*}} : tensor<?x?x8x64xf32>, write %{{.*}} : tensor<?x?x8xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?x8x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x?x8x64xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1xf32>, memref<?x?x8xf32>
// CHECK:         return
func.func @rank_4(%x: tensor<?x?x8x64xf32>, %y0: tensor<?x?x8x64xf32>, %r0: tensor<?x?x8xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x?x8xf32>) {
  %y:2 = rmsnorm.forward input(%x : tensor<?x?x8x64xf32>) output(%y0 : tensor<?x?x8x64xf32>) rstd(%r0 : tensor<?x?x8xf32>) eps = 1.0e-5 -> tensor<?x?x8x64xf32>, tensor<?x?x8xf32>
  return %y#0, %y#1 : tensor<?x?x8x64xf32>, tensor<?x?x8xf32>
}

// -----

// One row; none is no kernel.
// CHECK-LABEL: func.func @rank_1(
// CHECK:         rmsnorm.rows sizes [1] columns(64) buffers(read %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}} : vector<1x64xf32>, memref<64xf32>
// CHECK:         return
func.func @rank_1(%x: tensor<64xf32>, %y0: tensor<64xf32>) -> tensor<64xf32> {
  %y = rmsnorm.forward input(%x : tensor<64xf32>) output(%y0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @no_rows(
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @no_rows(%x: tensor<3x0x64xf32>, %y0: tensor<3x0x64xf32>) -> tensor<3x0x64xf32> {
  // expected-remark @below {{not made a kernel of: it works on no rows, or not row by row}}
  %y = rmsnorm.forward input(%x : tensor<3x0x64xf32>) output(%y0 : tensor<3x0x64xf32>) eps = 1.0e-5 -> tensor<3x0x64xf32>
  return %y : tensor<3x0x64xf32>
}

// -----

// The sum is computed once although it is returned; nothing is left outside:
// not the fill, and no tensor.empty where nobody looks.
// CHECK-LABEL: func.func @residual_gate_amax(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce maximumf(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1xf32>, memref<?xf32>
// CHECK:         return
func.func @residual_gate_amax(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %g: tensor<?x64xf32>,
    %h0: tensor<?x64xf32>, %z0: tensor<?x64xf32>, %a0: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%h0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %z = linalg.mul ins(%y, %g : tensor<?x64xf32>, tensor<?x64xf32>) outs(%z0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%a0 : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<?x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %p = arith.maximumf %i, %o : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %z, %a, %h : tensor<?x64xf32>, tensor<?xf32>, tensor<?x64xf32>
}

// -----

// In place: what is read and what is written begin as one tensor.
// CHECK-LABEL: func.func @in_place(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @in_place(%x: tensor<?x64xf32>, %r: tensor<?x64xf32>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %h = linalg.add ins(%x, %r : tensor<?x64xf32>, tensor<?x64xf32>) outs(%r : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %h, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// An empty tensor that is read and written: its contents are nobody's affair.
// CHECK-LABEL: func.func @empty(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @empty(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %h = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Two norms of one input, and a norm of a norm: one kernel. Then another one,
// over other rows.
// CHECK-LABEL: func.func @several(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @several(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %a0: tensor<?x64xf32>, %b0: tensor<?x64xf32>, %c0: tensor<?x64xf32>, %d0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%a0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %b = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%b0 : tensor<?x64xf32>) eps = 1.0e-6 -> tensor<?x64xf32>
  %c = rmsnorm.forward input(%b : tensor<?x64xf32>) output(%c0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %d = rmsnorm.forward input(%z : tensor<?x64xf32>) output(%d0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %a, %b, %c, %d : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// The weight's preparation knows no rows: it is repeated in each iteration.
// CHECK-LABEL: func.func @uniform(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<64xf32>, read %{{.*}} : tensor<64xf32>, read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @uniform(%x: tensor<?x64xf32>, %w: tensor<64xf32>, %v: tensor<64xf32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %w1 = linalg.add ins(%w, %v : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w1 : tensor<64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Dynamic everything.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(1073741824, %{{.*}}) buffers(read %{{.*}} : tensor<?x?x?xf32>, read %{{.*}} : tensor<?x?x?xf32>, write %{{.*}} : tensor<?x?x?xf32>, write %{{.*}} : tensor<?x?x?xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?x?xf32> -> vector<1x1073741824xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?x?xf32> -> vector<1x1073741824xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x1073741824xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1073741824xf32>, memref<?x?x?xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1073741824xf32>, memref<?x?x?xf32>
// CHECK:         return
func.func @dynamic(%x: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %r: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %h0: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}, %y0: tensor<?x?x?xf32> {rmsnorm.dims = array<i64: -1, -2, -3>}) -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %h = linalg.add ins(%x, %r : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%h0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = rmsnorm.forward input(%h : tensor<?x?x?xf32>) output(%y0 : tensor<?x?x?xf32>) eps = 1.0e-5 -> tensor<?x?x?xf32>
  return %h, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

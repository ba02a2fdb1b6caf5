// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Gradients: what leaves by row, and sums over rows.
// dx leaves by row, the weight's gradient as a sum over rows; what uses that is
// no part of the kernel, even where N and M are the same.
// CHECK-LABEL: func.func @backward(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, read %{{.*}} : tensor<64x64xf32>, read %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<64x64xf32>, write %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x64xf32> into memref<64xf32>
// CHECK:         linalg.exp
// CHECK:         return
func.func @backward(%dy: tensor<64x64xf32>, %x: tensor<64x64xf32>, %w: tensor<64xf32>, %dw0: tensor<64xf32>, %e: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %g:2 = rmsnorm.backward dy(%dy : tensor<64x64xf32>) input(%x : tensor<64x64xf32>) weight(%w : tensor<64xf32>) dx(%dy : tensor<64x64xf32>) dweight(%dw0 : tensor<64xf32>) eps = 1.0e-5 -> tensor<64x64xf32>, tensor<64xf32>
  %s = linalg.exp ins(%g#1 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %g#0, %s : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// What only adds to the sum, or rounds it, is part of it.
// CHECK-LABEL: func.func @added(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<64xbf16>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<64xbf16>, read %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<64xf32>) : vector<1x64xf32> into memref<64xbf16>
// CHECK:         return
func.func @added(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %acc: tensor<64xf32>, %out: tensor<64xbf16>) -> (tensor<?x64xf32>, tensor<64xbf16>) {
  %e = tensor.empty() : tensor<64xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%e : tensor<64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xf32>
  %a = linalg.add ins(%acc, %g#1 : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%out : tensor<64xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64xbf16>
  return %g#0, %r : tensor<?x64xf32>, tensor<64xbf16>
}

// -----

// In place, and by the sum itself.
// CHECK-LABEL: func.func @in_place(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, update %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<64xf32>) : vector<1x64xf32> into memref<64xf32>
// CHECK:         return
func.func @in_place(%x: tensor<?x64xf32>, %y0: tensor<?x64xf32>, %acc: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%y0 : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<?x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
  return %y, %s : tensor<?x64xf32>, tensor<64xf32>
}

// -----

// A sum that is used twice, or rounded before something is added, stays one.
// CHECK-LABEL: func.func @others(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<64xbf16>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<64xbf16>, write %{{.*}} : tensor<64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x64xf32> into memref<64xbf16>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x64xf32> into memref<64xf32>
// CHECK:         linalg.add
// CHECK:         linalg.add
// CHECK:         return
func.func @others(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %acc: tensor<64xbf16>, %out: tensor<64xbf16>, %acc2: tensor<64xf32>, %out2: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xbf16>
  %e2 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64xf32>) -> tensor<64xf32>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%e : tensor<64xbf16>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xbf16>
  %a = linalg.add ins(%acc, %g#1 : tensor<64xbf16>, tensor<64xbf16>) outs(%out : tensor<64xbf16>) -> tensor<64xbf16>
  %s = linalg.reduce {arith.addf} ins(%dy : tensor<?x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  %b = linalg.add ins(%acc2, %s : tensor<64xf32>, tensor<64xf32>) outs(%out2 : tensor<64xf32>) -> tensor<64xf32>
  return %g#0, %a, %s, %b : tensor<?x64xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Zeros to sum into are not needed.
// CHECK-LABEL: func.func @filled(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<?x64xf32>, read %{{.*}} : tensor<64xbf16>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<64xbf16>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} : vector<1x64xf32> into memref<64xbf16>
// CHECK:         return
func.func @filled(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %w: tensor<64xbf16>, %dx: tensor<?x64xf32>, %dw: tensor<64xbf16>) -> (tensor<?x64xf32>, tensor<64xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%dw : tensor<64xbf16>) -> tensor<64xbf16>
  %g:2 = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xbf16>) dx(%dx : tensor<?x64xf32>) dweight(%f : tensor<64xbf16>) eps = 1.0e-5 -> tensor<?x64xf32>, tensor<64xbf16>
  return %g#0, %g#1 : tensor<?x64xf32>, tensor<64xbf16>
}

// -----

// Maxima, of columns and of all elements, and a sum for each index of a leading
// dimension; the first begins with zero, the second with what there is, and
// NaN begins no maximum that takes it for nothing.
// CHECK-LABEL: func.func @others_than_sums(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, %{{.*}}] segments [0] columns(64) buffers(read %{{.*}} : tensor<?x?x64xf32>, write %{{.*}} : tensor<?x?x64xf32>, write %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<?x64xf32>, update %{{.*}} : tensor<f32>, write %{{.*}} : tensor<f32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce maximumf(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce minnumf(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} kind(maximumf) start(0.000000e+00) : vector<1x64xf32> into memref<64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} map(r0, r1, c) -> (r0, c) : vector<1x64xf32> into memref<?x64xf32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<f32>) kind(maximumf) : vector<1x1xf32> into memref<f32>
// CHECK:         rmsnorm.accumulate %{{.*}} into %{{.*}} kind(minnumf) : vector<1x1xf32> into memref<f32>
// CHECK:         return
func.func @others_than_sums(%x: tensor<?x?x64xf32>, %y0: tensor<?x?x64xf32>, %a0: tensor<64xf32>, %c0: tensor<f32>, %d0: tensor<?x64xf32>, %history: tensor<f32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %y = rmsnorm.forward input(%x : tensor<?x?x64xf32>) output(%y0 : tensor<?x?x64xf32>) eps = 1.0e-5 -> tensor<?x?x64xf32>
  %af = linalg.fill ins(%zero : f32) outs(%a0 : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.reduce {arith.maximumf} ins(%y : tensor<?x?x64xf32>) outs(%af : tensor<64xf32>) dimensions = [0, 1]
  %b = linalg.reduce {arith.maximumf} ins(%y : tensor<?x?x64xf32>) outs(%history : tensor<f32>) dimensions = [0, 1, 2]
  %cf = linalg.fill ins(%nan : f32) outs(%c0 : tensor<f32>) -> tensor<f32>
  %c = linalg.reduce {arith.minnumf} ins(%y : tensor<?x?x64xf32>) outs(%cf : tensor<f32>) dimensions = [0, 1, 2]
  %df = linalg.fill ins(%zero : f32) outs(%d0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %d = linalg.reduce {arith.addf} ins(%y : tensor<?x?x64xf32>) outs(%df : tensor<?x64xf32>) dimensions = [1]
  return %y, %a, %b, %c, %d : tensor<?x?x64xf32>, tensor<64xf32>, tensor<f32>, tensor<f32>, tensor<?x64xf32>
}

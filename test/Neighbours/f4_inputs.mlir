// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37
// RUN: norm-run %s --device=sim:sm_90 --rows=37 --schedule=static_persistent,cache=shared,stages=3
// RUN: norm-run %s --device=sim:sm_90 --rows=37 --schedule=vector_width=16 --strided
// RUN: norm-run %s --device=sim:gfx942 --rows=37 --schedule=cache=reload,threads_per_row=8 --unaligned

// f4, two a byte, is read: with a power of two for each 32 columns, as
// arith.scaling_extf has it.
// CHECK-LABEL: func.func @mxfp4(
// CHECK: rmsnorm.rows
// CHECK: tile_load tile %{{.*}} : memref<?x256xf4E2M1FN, strided<[?, 1]>> -> vector<1x8x32xf4E2M1FN>
// CHECK: tile_load group %{{.*}} : memref<?x8xf8E8M0FNU
// CHECK: tile_load column
// CHECK: tile_store tile
func.func @mxfp4(%x: tensor<?x256xf4E2M1FN>, %xs: tensor<?x8xf8E8M0FNU>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf4E2M1FN>
  %v1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 8, 32] : tensor<?x256xf4E2M1FN> into tensor<?x8x32xf4E2M1FN>
  %v2 = tensor.empty(%rows) : tensor<?x8x32xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %xs : tensor<?x8x32xf4E2M1FN>, tensor<?x8xf8E8M0FNU>) outs(%v2 : tensor<?x8x32xf32>) {
  ^bb0(%a0: f4E2M1FN, %a1: f8E8M0FNU, %o: f32):
    %r = arith.scaling_extf %a0, %a1 : f4E2M1FN, f8E8M0FNU to f32
    linalg.yield %r : f32
  } -> tensor<?x8x32xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<?x8x32xf32> into tensor<?x256xf32>
  %v5 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v6 = rmsnorm.forward input(%v4 : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%v5 : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %v6 : tensor<?x256xbf16>
}

// With an e4m3 scale for each 16 columns and one for all.
// CHECK-LABEL: func.func @nvfp4(
// CHECK: rmsnorm.rows
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xf4E2M1FN, strided<[?, 1]>> -> vector<1x16x16xf4E2M1FN>
// CHECK-DAG: tile_load group %{{.*}} : memref<?x16xf8E4M3FN
// CHECK-DAG: tile_load row
// CHECK: tile_load column
// CHECK: tile_store tile
func.func @nvfp4(%x: tensor<?x256xf4E2M1FN>, %xs: tensor<?x16xf8E4M3FN>, %w: tensor<256xbf16>, %gs: tensor<f32>) -> (tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf4E2M1FN>
  %v1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 16, 16] : tensor<?x256xf4E2M1FN> into tensor<?x16x16xf4E2M1FN>
  %v2 = tensor.empty(%rows) : tensor<?x16x16xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %xs, %gs : tensor<?x16x16xf4E2M1FN>, tensor<?x16xf8E4M3FN>, tensor<f32>) outs(%v2 : tensor<?x16x16xf32>) {
  ^bb0(%a0: f4E2M1FN, %a1: f8E4M3FN, %a2: f32, %o: f32):
    %e = arith.extf %a0 : f4E2M1FN to f32
    %s = arith.extf %a1 : f8E4M3FN to f32
    %p = arith.mulf %s, %a2 : f32
    %r = arith.mulf %e, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x16x16xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<?x16x16xf32> into tensor<?x256xf32>
  %v5 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v6 = rmsnorm.forward input(%v4 : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%v5 : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %v6 : tensor<?x256xbf16>
}

// A residual of it: held, or read again.
// CHECK-LABEL: func.func @residual(
// CHECK: rmsnorm.rows
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xf4E2M1FN, strided<[?, 1]>> -> vector<1x16x16xf4E2M1FN>
// CHECK-DAG: tile_load group %{{.*}} : memref<?x16xf8E4M3FN
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xbf16
// CHECK: tile_load column
// CHECK-COUNT-2: tile_store tile
func.func @residual(%x: tensor<?x256xbf16>, %residual: tensor<?x256xf4E2M1FN>, %rs: tensor<?x16xf8E4M3FN>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %v1 = tensor.expand_shape %residual [[0], [1, 2]] output_shape [%rows, 16, 16] : tensor<?x256xf4E2M1FN> into tensor<?x16x16xf4E2M1FN>
  %v2 = tensor.empty(%rows) : tensor<?x16x16xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %rs : tensor<?x16x16xf4E2M1FN>, tensor<?x16xf8E4M3FN>) outs(%v2 : tensor<?x16x16xf32>) {
  ^bb0(%a0: f4E2M1FN, %a1: f8E4M3FN, %o: f32):
    %e = arith.extf %a0 : f4E2M1FN to f32
    %s = arith.extf %a1 : f8E4M3FN to f32
    %r = arith.mulf %e, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x16x16xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<?x16x16xf32> into tensor<?x256xf32>
  %v5 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %v4 : tensor<?x256xbf16>, tensor<?x256xf32>) outs(%v5 : tensor<?x256xbf16>) {
  ^bb0(%a0: bf16, %a1: f32, %o: bf16):
    %e = arith.extf %a0 : bf16 to f32
    %s = arith.addf %a1, %e : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x256xbf16>
  %v7 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v8 = rmsnorm.forward input(%v6 : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) output(%v7 : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %v6, %v8 : tensor<?x256xbf16>, tensor<?x256xbf16>
}

// Rows of a table that indices say, a row for each batch, a weight.
// CHECK-LABEL: func.func @gathered(
// CHECK: rmsnorm.rows
// CHECK-DAG: tile_load tile %{{.*}} at({{.*}} -> vector<1x256xf4E2M1FN>
// CHECK-DAG: tile_load row
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xbf16
// CHECK: tile_store tile
func.func @gathered(%x: tensor<?x256xbf16>, %ids: tensor<?xi32>, %tab: tensor<?x256xf4E2M1FN>) -> (tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %ci_v = arith.constant 0 : index
  %sz_v = tensor.dim %tab, %ci_v : tensor<?x256xf4E2M1FN>
  %v1 = tensor.empty(%rows) : tensor<?x256xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%v1 : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %v3 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %ids : tensor<?x256xf32>, tensor<?xi32>) outs(%v3 : tensor<?x256xbf16>) {
  ^bb0(%a0: f32, %a1: i32, %o: bf16):
    %i = arith.index_cast %a1 : i32 to index
    %j = linalg.index 1 : index
    %t = tensor.extract %tab[%i, %j] : tensor<?x256xf4E2M1FN>
    %e = arith.extf %t : f4E2M1FN to f32
    %q = arith.mulf %a0, %e : f32
    %r = arith.truncf %q : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x256xbf16>
  return %v4 : tensor<?x256xbf16>
}

// CHECK-LABEL: func.func @shared(
// CHECK: rmsnorm.rows
// CHECK-DAG: tile_load tile %{{.*}} map(r0, r1, c) -> (r0, c) : memref<?x256xf4E2M1FN
// CHECK-DAG: tile_load column %{{.*}} : memref<256xf4E2M1FN>
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x?x256xbf16
// CHECK: tile_store tile
func.func @shared(%x: tensor<?x?x256xbf16>, %w: tensor<256xf4E2M1FN>, %s: tensor<?x256xf4E2M1FN>) -> (tensor<?x?x256xbf16>) {
  %ci_b = arith.constant 0 : index
  %sz_b = tensor.dim %x, %ci_b : tensor<?x?x256xbf16>
  %ci_t = arith.constant 1 : index
  %sz_t = tensor.dim %x, %ci_t : tensor<?x?x256xbf16>
  %v1 = tensor.empty(%sz_b, %sz_t) : tensor<?x?x256xf32>
  %v2 = rmsnorm.forward input(%x : tensor<?x?x256xbf16>) output(%v1 : tensor<?x?x256xf32>) eps = 1.0e-05 -> tensor<?x?x256xf32>
  %v3 = tensor.empty(%sz_b, %sz_t) : tensor<?x?x256xbf16>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %w, %s : tensor<?x?x256xf32>, tensor<256xf4E2M1FN>, tensor<?x256xf4E2M1FN>) outs(%v3 : tensor<?x?x256xbf16>) {
  ^bb0(%a0: f32, %a1: f4E2M1FN, %a2: f4E2M1FN, %o: bf16):
    %e = arith.extf %a1 : f4E2M1FN to f32
    %e2 = arith.extf %a2 : f4E2M1FN to f32
    %q = arith.mulf %a0, %e : f32
    %q2 = arith.addf %q, %e2 : f32
    %r = arith.truncf %q2 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x?x256xbf16>
  return %v4 : tensor<?x?x256xbf16>
}

// Gated, and mxfp8 out: of rows of zeros the scale is the least one.
// CHECK-LABEL: func.func @gated_mxfp8(
// CHECK: rmsnorm.rows
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xf4E2M1FN
// CHECK-DAG: tile_load group
// CHECK-DAG: tile_load tile %{{.*}} : memref<?x256xbf16
// CHECK: tile_load column
// CHECK-DAG: tile_store group {{.*}}f8E8M0FNU
// CHECK-DAG: tile_store tile {{.*}} vector<1x8x32xf8E4M3FN>
func.func @gated_mxfp8(%x: tensor<?x256xf4E2M1FN>, %xs: tensor<?x8xf8E8M0FNU>, %g: tensor<?x256xbf16>, %w: tensor<256xbf16>) -> (tensor<?x256xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf4E2M1FN>
  %v1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, 8, 32] : tensor<?x256xf4E2M1FN> into tensor<?x8x32xf4E2M1FN>
  %v2 = tensor.empty(%rows) : tensor<?x8x32xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %xs : tensor<?x8x32xf4E2M1FN>, tensor<?x8xf8E8M0FNU>) outs(%v2 : tensor<?x8x32xf32>) {
  ^bb0(%a0: f4E2M1FN, %a1: f8E8M0FNU, %o: f32):
    %e = arith.extf %a0 : f4E2M1FN to f32
    %s = arith.extf %a1 : f8E8M0FNU to f32
    %r = arith.mulf %e, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x8x32xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<?x8x32xf32> into tensor<?x256xf32>
  %v5 = tensor.empty(%rows) : tensor<?x256xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v4, %g : tensor<?x256xf32>, tensor<?x256xbf16>) outs(%v5 : tensor<?x256xf32>) {
  ^bb0(%a0: f32, %a1: bf16, %o: f32):
    %w1 = arith.extf %a1 : bf16 to f32
    %n = arith.negf %w1 : f32
    %ex = math.exp %n : f32
    %one = arith.constant 1.0 : f32
    %dd = arith.addf %ex, %one : f32
    %si = arith.divf %w1, %dd : f32
    %r = arith.mulf %a0, %si : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  %v7 = tensor.empty(%rows) : tensor<?x256xf32>
  %v8 = rmsnorm.forward input(%v6 : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%v7 : tensor<?x256xf32>) eps = 1.0e-05 -> tensor<?x256xf32>
  %v9 = tensor.expand_shape %v8 [[0], [1, 2]] output_shape [%rows, 8, 32] : tensor<?x256xf32> into tensor<?x8x32xf32>
  %v10 = tensor.empty(%rows) : tensor<?x8xf32>
  %v11 = arith.constant 0.0 : f32
  %v12 = linalg.fill ins(%v11 : f32) outs(%v10 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v9 : tensor<?x8x32xf32>) outs(%v12 : tensor<?x8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %s = math.absf %a0 : f32
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<?x8xf32>
  %v14 = tensor.empty(%rows) : tensor<?x8xf8E8M0FNU>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v13 : tensor<?x8xf32>) outs(%v14 : tensor<?x8xf8E8M0FNU>) {
  ^bb0(%a0: f32, %o: f8E8M0FNU):
    %k = arith.constant 0.002232142857142857 : f32
    %d = arith.mulf %a0, %k : f32
    %r = arith.truncf %d upward : f32 to f8E8M0FNU
    linalg.yield %r : f8E8M0FNU
  } -> tensor<?x8xf8E8M0FNU>
  %v16 = tensor.empty(%rows) : tensor<?x8x32xf8E4M3FN>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v9, %v15 : tensor<?x8x32xf32>, tensor<?x8xf8E8M0FNU>) outs(%v16 : tensor<?x8x32xf8E4M3FN>) {
  ^bb0(%a0: f32, %a1: f8E8M0FNU, %o: f8E4M3FN):
    %sx = arith.extf %a1 : f8E8M0FNU to f32
    %q = arith.divf %a0, %sx : f32
    %l = arith.constant -448.0 : f32
    %h = arith.constant 448.0 : f32
    %x1 = arith.maximumf %q, %l : f32
    %x2 = arith.minimumf %x1, %h : f32
    %r = arith.truncf %x2 : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x8x32xf8E4M3FN>
  %v18 = tensor.collapse_shape %v17 [[0], [1, 2]] : tensor<?x8x32xf8E4M3FN> into tensor<?x256xf8E4M3FN>
  return %v18, %v15 : tensor<?x256xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
}

// And written: with vectors of 16, some threads have no columns of it.
// CHECK-LABEL: func.func @stored_again(
// CHECK: rmsnorm.rows
// CHECK: tile_load tile %{{.*}} : memref<?x256xf4E2M1FN
// CHECK: tile_load column
// CHECK-COUNT-2: tile_store tile
func.func @stored_again(%x: tensor<?x256xf4E2M1FN>, %w: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xf4E2M1FN>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf4E2M1FN>
  %v1 = tensor.empty(%rows) : tensor<?x256xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x256xf4E2M1FN>) outs(%v1 : tensor<?x256xf32>) {
  ^bb0(%a0: f4E2M1FN, %o: f32):
    %e = arith.extf %a0 : f4E2M1FN to f32
    %r = arith.addf %e, %e : f32
    linalg.yield %r : f32
  } -> tensor<?x256xf32>
  %v3 = tensor.empty(%rows) : tensor<?x256xbf16>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x256xf32>) weight(%w : tensor<256xbf16>) output(%v3 : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %v5 = tensor.empty(%rows) : tensor<?x256xf4E2M1FN>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x256xf4E2M1FN>) outs(%v5 : tensor<?x256xf4E2M1FN>) {
  ^bb0(%a0: f4E2M1FN, %o: f4E2M1FN):
    %r = arith.negf %a0 : f4E2M1FN
    linalg.yield %r : f4E2M1FN
  } -> tensor<?x256xf4E2M1FN>
  return %v4, %v6 : tensor<?x256xbf16>, tensor<?x256xf4E2M1FN>
}

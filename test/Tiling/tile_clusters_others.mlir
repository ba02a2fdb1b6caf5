// RUN: norm-opt %s --rmsnorm-tile-clusters=required=false --canonicalize --cse --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// What no kernel can hold stays outside, as it was.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A table whose columns do not lie side by side.
// CHECK-LABEL: func.func @gather(
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @gather(%buffer: memref<100x64xf32, strided<[?, ?]>>, %id: tensor<?xi32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<100x64xf32>) {
  %table = bufferization.to_tensor %buffer restrict : memref<100x64xf32, strided<[?, ?]>> to tensor<100x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it reads columns that will not lie side by side}}
  %e = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%id : tensor<?xi32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%a: i32, %out: f32):
    %k = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%k, %j] : tensor<100x64xf32>
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) output(%o2 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  // expected-remark @below {{not made a kernel of: it reads columns that will not lie side by side}}
  %b = rmsnorm.forward input(%table : tensor<100x64xf32>) output(%table : tensor<100x64xf32>) eps = 1.0e-05 -> tensor<100x64xf32>
  return %a, %b : tensor<?x64xf32>, tensor<100x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @fp8(
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @fp8(%x: tensor<?x64xf8E3M4>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-remark @below {{not tiled with the norm next to it: it has no tile program: 'arith.extf' op expected f16, bf16, f32, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E8M0FNU or f4E2M1FN, got 'f8E3M4'}}
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf8E3M4>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%a: f8E3M4, %out: f32):
    %v = arith.extf %a : f8E3M4 to f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) output(%o2 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @library(
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @library(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-remark @below {{not tiled with the norm next to it: it has no tile program: 'math.sincos' op is computed by no kernel: expected math.sin and math.cos}}
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v, %w = math.sincos %a : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  %a = rmsnorm.forward input(%e : tensor<?x64xf32>) output(%o2 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %a : tensor<?x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A mask is bits in a kernel; that of @mask_returned is stored as bytes.
// CHECK-LABEL: func.func @mask_used(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @mask_used(%x: tensor<?x64xf32>, %k: tensor<?x64xi1>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x64xf32>) outs(%k : tensor<?x64xi1>) {
  ^bb0(%v: f32, %out: i1):
    %c = arith.cmpf ogt, %v, %v : f32
    linalg.yield %c : i1
  } -> tensor<?x64xi1>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %a : tensor<?x64xi1>, tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) {
  ^bb0(%c: i1, %v: f32, %out: f32):
    %w = math.absf %v : f32
    %s = arith.select %c, %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %a, %b : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @mask_returned(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xi1>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xi1>, memref<?x64xi1>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @mask_returned(%x: tensor<?x64xf32>, %k: tensor<?x64xi1>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xi1>) {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x64xf32>) outs(%k : tensor<?x64xi1>) {
  ^bb0(%v: f32, %out: i1):
    %c = arith.cmpf ogt, %v, %v : f32
    linalg.yield %c : i1
  } -> tensor<?x64xi1>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %a : tensor<?x64xi1>, tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) {
  ^bb0(%c: i1, %v: f32, %out: f32):
    %w = math.absf %v : f32
    %s = arith.select %c, %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %a, %b, %m : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xi1>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// 64 rows of 64 columns: what is a value a row here is one a column there.
// CHECK-LABEL: func.func @two_ways(
// CHECK:         rmsnorm.rows sizes [64] columns(64) buffers(read %{{.*}} : tensor<64x64xf32>, read %{{.*}} : tensor<64xf32>, write %{{.*}} : tensor<64x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<64x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_load row %{{.*}}[%{{.*}}] : memref<64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<64x64xf32>
// CHECK:         return
func.func @two_ways(%x: tensor<64x64xf32>, %v: tensor<64xf32>, %o: tensor<64x64xf32>, %o2: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<64x64xf32>) weight(%v : tensor<64xf32>) output(%o : tensor<64x64xf32>) eps = 1.0e-05 -> tensor<64x64xf32>
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %v : tensor<64x64xf32>, tensor<64xf32>) outs(%o2 : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// One value a row is common to rows of 64 and of 128 columns.
// CHECK-LABEL: func.func @other_columns(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store row %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1xf32>, memref<?xf32>
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         return
func.func @other_columns(%x: tensor<?x64xf32>, %z: tensor<?x128xf32>, %o: tensor<?x64xf32>, %r: tensor<?xf32>, %o2: tensor<?x128xf32>) -> (tensor<?x64xf32>, tensor<?x128xf32>) {
  %a:2 = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) rstd(%r : tensor<?xf32>) eps = 1.0e-05 -> tensor<?x64xf32>, tensor<?xf32>
  // expected-remark @below {{not tiled with the norm next to it: it works on more elements for each row than the norm has columns}}
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%z, %a#1 : tensor<?x128xf32>, tensor<?xf32>) outs(%o2 : tensor<?x128xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x128xf32>
  return %a#0, %b : tensor<?x64xf32>, tensor<?x128xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A parameter that no launch can pass.
// CHECK-LABEL: func.func @parameter(
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xbf16>, write %{{.*}} : tensor<?x64xbf16>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xbf16> -> vector<1x64xbf16>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xbf16>, memref<?x64xbf16>
// CHECK:         return
func.func @parameter(%x: tensor<?x64xbf16>, %s: bf16, %o: tensor<?x64xbf16>, %o2: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-remark @below {{not tiled with the norm next to it: it has no tile program: a kernel has no parameters of type 'bf16'}}
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xbf16>) outs(%o : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %v = arith.mulf %a, %s : bf16
    linalg.yield %v : bf16
  } -> tensor<?x64xbf16>
  %a = rmsnorm.forward input(%e : tensor<?x64xbf16>) output(%o2 : tensor<?x64xbf16>) eps = 1.0e-05 -> tensor<?x64xbf16>
  return %a : tensor<?x64xbf16>
}

// -----

// A kernel launches no kernel.
// CHECK-LABEL: func.func @mapped(
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @mapped(%x: tensor<8x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%s = %o) -> (tensor<8x64xf32>) {
  // expected-remark @below {{not made a kernel of: it stands in device code, which launches no kernel}}
    %q = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%s : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32> }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<8x64xf32>
}

// -----

// In loops of others that are mapped to nothing, and in their branches.
// CHECK-LABEL: func.func @nested(
// CHECK:         rmsnorm.rows sizes [8] columns(64) buffers(read %{{.*}} : tensor<8x64xf32>, write %{{.*}} : tensor<8x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<8x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<8x64xf32>
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @nested(%c: i1, %x: tensor<4x8x64xf32>, %o: tensor<4x8x64xf32>, %y: tensor<?x64xf32>, %p: tensor<?x64xf32>) -> (tensor<4x8x64xf32>, tensor<?x64xf32>) {
  %r = scf.forall (%i) in (4) shared_outs(%s = %o) -> (tensor<4x8x64xf32>) {
    %as = tensor.extract_slice %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %ss = tensor.extract_slice %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<4x8x64xf32> to tensor<8x64xf32>
    %q = rmsnorm.forward input(%as : tensor<8x64xf32>) output(%ss : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %q into %s[%i, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32> into tensor<4x8x64xf32> }
  }
  %b = scf.if %c -> tensor<?x64xf32> {
    %a = rmsnorm.forward input(%y : tensor<?x64xf32>) output(%p : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    scf.yield %a : tensor<?x64xf32>
  } else {
    scf.yield %y : tensor<?x64xf32>
  }
  return %r, %b : tensor<4x8x64xf32>, tensor<?x64xf32>
}

// -----

// What uses the norm and has effects stays where it is: what comes after it is
// computed in front. A size of it is no use.
// CHECK-LABEL: func.func @effect(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         "test.print"(%{{.*}}) : (tensor<?x64xf32>) -> ()
// CHECK:         call @other() : () -> ()
// CHECK-NOT:     linalg.exp
// CHECK:         return
func.func @effect(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> (tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it is neither a norm nor a linalg op}}
  "test.print"(%a) : (tensor<?x64xf32>) -> ()
  func.call @other() : () -> ()
  %b = linalg.exp ins(%a : tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %b, %m : tensor<?x64xf32>, index
}
func.func private @other()

// -----

// Over a call that has nothing to do with the rows the kernel may move, but not
// if they are in a buffer that the call may write.
// CHECK-LABEL: func.func @over_call(
// CHECK:         call @other() : () -> ()
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         return
func.func @over_call(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  func.call @other() : () -> ()
  %b = linalg.exp ins(%a : tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}
// CHECK-LABEL: func.func @buffer(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x64xf32>
// CHECK:         call @other() : () -> ()
// CHECK:         linalg.exp
// CHECK:         return
func.func @buffer(%x: memref<?x64xf32>, %o: tensor<?x64xf32>, %o2: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %t = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %a = rmsnorm.forward input(%t : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  func.call @other() : () -> ()
  // expected-remark @below {{not tiled with the norm next to it: it would be moved over 'func.call', which has effects}}
  %b = linalg.exp ins(%a : tensor<?x64xf32>) outs(%o2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %b : tensor<?x64xf32>
}
func.func private @other()

// -----

// Sizes of arguments that nobody says are equal: the norm says so.
// CHECK-LABEL: func.func @sizes(
// CHECK:         rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(1073741824, %{{.*}}) buffers(read %{{.*}} : tensor<?x?x?xf32>, read %{{.*}} : tensor<?xf32>, write %{{.*}} : tensor<?x?x?xf32>) scalars(%{{.*}} : i32)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?x?xf32> -> vector<1x1073741824xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x1073741824xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<?xf32> -> vector<1x1073741824xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1073741824xf32>, memref<?x?x?xf32>
// CHECK:         return
func.func @sizes(%x: tensor<?x?x?xf32>, %w: tensor<?xf32>, %o: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %a = rmsnorm.forward input(%x : tensor<?x?x?xf32>) weight(%w : tensor<?xf32>) output(%o : tensor<?x?x?xf32>) eps = 1.0e-05 -> tensor<?x?x?xf32>
  return %a : tensor<?x?x?xf32>
}

// -----

// A wish that cannot be fulfilled is none here.
// CHECK-LABEL: func.func @wish(
// CHECK:         linalg.reduce
// CHECK:         return
func.func @wish(%x: tensor<?x64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  // expected-remark @below {{not made a kernel of: it multiplies rows: a kernel adds them up, or takes their maximum or minimum}}
  %y = linalg.reduce {arith.mulf} ins(%x : tensor<?x64xf32>) outs(%e : tensor<64xf32>) dimensions = [0] {rmsnorm.row_wise}
  return %y : tensor<64xf32>
}

// -----

// Columns that will not lie side by side in memory: every second one, those of
// a last dimension that is sliced away, those of a buffer of any layout.
// CHECK-LABEL: func.func @apart(
// CHECK:         rmsnorm.forward
// CHECK:         rmsnorm.forward
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @apart(%x: tensor<?x128xf32>, %z: tensor<?x64x4xf32>, %b: memref<?x64xf32, strided<[?, ?], offset: ?>>, %m: index,
    %o1: tensor<?x64xf32>, %o2: tensor<?x64xf32>, %o3: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %x2 = tensor.extract_slice %x[0, 0] [%m, 64] [1, 2] : tensor<?x128xf32> to tensor<?x64xf32>
  // expected-remark @below {{not made a kernel of: it reads columns in an order of their own}}
  %y1 = rmsnorm.forward input(%x2 : tensor<?x64xf32>) output(%o1 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %z2 = tensor.extract_slice %z[0, 0, 1] [%m, 64, 1] [1, 1, 1] : tensor<?x64x4xf32> to tensor<?x64xf32>
  // expected-remark @below {{not made a kernel of: it reads columns in an order of their own}}
  %y2 = rmsnorm.forward input(%z2 : tensor<?x64xf32>) output(%o2 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %b2 = bufferization.to_tensor %b restrict : memref<?x64xf32, strided<[?, ?], offset: ?>> to tensor<?x64xf32>
  // expected-remark @below {{not made a kernel of: it reads columns that will not lie side by side}}
  %y3 = rmsnorm.forward input(%b2 : tensor<?x64xf32>) output(%o3 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %y1, %y2, %y3 : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// Parts of a row are part of the kernel, but no reduction of one.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @parts(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns [2, 32] buffers(read %{{.*}} : tensor<?x64xf32>, write %{{.*}} : tensor<?x32xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x64xf32> -> vector<1x2x32xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x2x32xf32> -> vector<1x1x1xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x1x32xf32>, memref<?x32xf32>
// CHECK:         linalg.generic
// CHECK:         linalg.yield
// CHECK:         return
func.func @parts(%x: tensor<?x64xf32>, %h: tensor<?x32xf32>, %s: tensor<?xf32>) -> (tensor<?x32xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %o = tensor.empty(%n) : tensor<?x64xf32>
  %a = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%o : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %p = tensor.extract_slice %a[0, 32] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %e = linalg.exp ins(%p : tensor<?x32xf32>) outs(%h : tensor<?x32xf32>) -> tensor<?x32xf32>
  // expected-remark @below {{not tiled with the norm next to it: it reduces a part of the columns}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<?x32xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %u = arith.maximumf %v, %acc : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %e, %r : tensor<?x32xf32>, tensor<?xf32>
}

// -----

// What makes a batch's scale reads a buffer that a call in between may write:
// it is not done again behind that.
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#batch = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @scale(
// CHECK:         linalg.exp
// CHECK:         call @other() : () -> ()
// CHECK:         rmsnorm.rows sizes [2, 8] columns(64) buffers(read %{{.*}} : tensor<2x8x64xf32>, read %{{.*}} : tensor<2x64xf32>, write %{{.*}} : tensor<2x8x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<2x8x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<2x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<2x8x64xf32>
// CHECK:         return
func.func @scale(%x: tensor<2x8x64xf32>, %b: memref<2x64xf32>, %o: tensor<2x8x64xf32>, %so: tensor<2x64xf32>) -> tensor<2x8x64xf32> {
  %t = bufferization.to_tensor %b restrict : memref<2x64xf32> to tensor<2x64xf32>
  // expected-remark @below {{not tiled with the norm next to it: it would be moved over 'func.call', which has effects}}
  %s = linalg.exp ins(%t : tensor<2x64xf32>) outs(%so : tensor<2x64xf32>) -> tensor<2x64xf32>
  func.call @other() : () -> ()
  %a = rmsnorm.forward input(%x : tensor<2x8x64xf32>) output(%o : tensor<2x8x64xf32>) eps = 1.0e-05 -> tensor<2x8x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %s : tensor<2x8x64xf32>, tensor<2x64xf32>) outs(%o : tensor<2x8x64xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %v = arith.mulf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}
// CHECK-LABEL: func.func @same_scale(
// CHECK:         call @other() : () -> ()
// CHECK:         rmsnorm.rows sizes [2, 8] columns(64) buffers(read %{{.*}} : tensor<2x8x64xf32>, read %{{.*}} : tensor<2x64xf32>, write %{{.*}} : tensor<2x8x64xf32>)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<2x8x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] map(r0, r1, c) -> (r0, c) : memref<2x64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<2x8x64xf32>
// CHECK:         return
func.func @same_scale(%x: tensor<2x8x64xf32>, %t: tensor<2x64xf32>, %o: tensor<2x8x64xf32>, %so: tensor<2x64xf32>) -> tensor<2x8x64xf32> {
  %s = linalg.exp ins(%t : tensor<2x64xf32>) outs(%so : tensor<2x64xf32>) -> tensor<2x64xf32>
  func.call @other() : () -> ()
  %a = rmsnorm.forward input(%x : tensor<2x8x64xf32>) output(%o : tensor<2x8x64xf32>) eps = 1.0e-05 -> tensor<2x8x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %s : tensor<2x8x64xf32>, tensor<2x64xf32>) outs(%o : tensor<2x8x64xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %v = arith.mulf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}
func.func private @other()

// -----

// A norm of nothing.
// CHECK-LABEL: func.func @nothing(
// CHECK:         rmsnorm.forward
// CHECK:         return
func.func @nothing(%o: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %x = tensor.empty() : tensor<8x64xf32>
  // expected-remark @below {{not made a kernel of: it reads a tensor without contents}}
  %a = rmsnorm.forward input(%x : tensor<8x64xf32>) output(%o : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  return %a : tensor<8x64xf32>
}

// -----

// The neighbour of a norm that none is made of does not say so again.
// CHECK-LABEL: func.func @norms(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(64) buffers(read %{{.*}} : tensor<?x?xf32>, read %{{.*}} : tensor<64xf32>, read %{{.*}} : tensor<?xf32>, write %{{.*}} : tensor<?x?xf32>) scalars(%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32)
// CHECK:         rmsnorm.tile_load tile %{{.*}}[%{{.*}}] : memref<?x?xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<64xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.row_reduce add(%{{.*}}) : vector<1x64xf32> -> vector<1x1xf32>
// CHECK:         rmsnorm.tile_load column %{{.*}} : memref<?xf32> -> vector<1x64xf32>
// CHECK:         rmsnorm.tile_store tile %{{.*}}, %{{.*}}[%{{.*}}] : vector<1x64xf32>, memref<?x?xf32>
// CHECK:         return
func.func @norms(%x: tensor<?x?xf32>, %w: tensor<64xf32>, %v: tensor<?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %a = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  %b = rmsnorm.forward input(%a : tensor<?x?xf32>) weight(%w : tensor<64xf32>) output(%o : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  %c = rmsnorm.forward input(%b : tensor<?x?xf32>) weight(%v : tensor<?xf32>) output(%o : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// -----

// A row's value repeated for columns that the rows do not have is left out.
// CHECK-LABEL: func.func @other_columns(
// CHECK:         rmsnorm.rows sizes [%{{.*}}] columns(32) buffers(read %{{.*}} : tensor<?x32xf32>, write %{{.*}} : tensor<?xf32>) -> tensor<?xf32> {
// CHECK:         linalg.broadcast
func.func @other_columns(%x: tensor<?x32xf32>, %e: tensor<?x32xf32>, %d: tensor<?xf32>, %p: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x32xf32>) output(%e : tensor<?x32xf32>) eps = 1.0e-5 -> tensor<?x32xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %init = linalg.fill ins(%lowest : f32) outs(%d : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce ins(%y : tensor<?x32xf32>) outs(%init : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %m = arith.maximumf %a, %b : f32  linalg.yield %m : f32 }
  // expected-remark @below {{not tiled with the norm next to it}}
  %r = linalg.broadcast ins(%s : tensor<?xf32>) outs(%p : tensor<?x2xf32>) dimensions = [1]
  return %r : tensor<?x2xf32>
}

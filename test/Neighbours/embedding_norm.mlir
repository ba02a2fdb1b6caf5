// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: norm-run %s --device=sim:sm_90 --rows=67 --schedule=static_persistent,cache=shared,stages=2
// RUN: norm-run %s --device=sim:sm_90 --rows=67 --schedule=multi_wave_reload

// A model's first norm: its rows are those of the embedding that tokens say,
// which are also what the residual begins with. The index is wrapped where it is
// negative, as PyTorch does it, then clamped, as JAX does it; the indices are
// read by the numbers of the loops.
// CHECK: rmsnorm.rows sizes [%{{.*}}, %{{.*}}] columns(512)
// CHECK: %[[ID:.*]] = rmsnorm.tile_load row %{{[a-z0-9]*}}[%{{.*}}] : memref<?x?xi32{{.*}}> -> vector<1x1xi32>
// CHECK: arith.select
// CHECK: arith.maxsi
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}} : vector<1x1xindex>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}} at(%[[ROW]] : vector<1x1xindex>) : memref<?x512xf32, strided<[?, 1]>> -> vector<1x512xf32>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<512xf32>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x512xf32>, memref<?x?x512xf32
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x512xf32>, memref<?x?x512xf32
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @embedding_norm(%table: tensor<?x512xf32>, %tokens: tensor<?x?xi32>, %w: tensor<512xf32>) -> (tensor<?x?x512xf32>, tensor<?x?x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %tokens, %c0 : tensor<?x?xi32>
  %t = tensor.dim %tokens, %c1 : tensor<?x?xi32>
  %p = tensor.dim %table, %c0 : tensor<?x512xf32>
  %last = arith.subi %p, %c1 : index
  %e = tensor.empty(%b, %t) : tensor<?x?x512xf32>
  %x = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x512xf32>) {
  ^bb0(%z: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %token = tensor.extract %tokens[%i, %j] : tensor<?x?xi32>
    %row = arith.index_cast %token : i32 to index
    %behind = arith.addi %row, %p : index
    %negative = arith.cmpi slt, %row, %c0 : index
    %wrapped = arith.select %negative, %behind, %row : index
    %low = arith.maxsi %wrapped, %c0 : index
    %clamped = arith.minsi %low, %last : index
    %v = tensor.extract %table[%clamped, %k] : tensor<?x512xf32>
    linalg.yield %v : f32
  } -> tensor<?x?x512xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x512xf32>) weight(%w : tensor<512xf32>) output(%e : tensor<?x?x512xf32>) eps = 1.0e-05 -> tensor<?x?x512xf32>
  return %x, %y : tensor<?x?x512xf32>, tensor<?x?x512xf32>
}

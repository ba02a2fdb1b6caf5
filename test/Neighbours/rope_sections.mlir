// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --dim=s0=37
// Vectors of which several sections have elements, and all of them.
// RUN: norm-compile %s --target=sim:sm_90,oracle --schedule=threads_per_row=4,vector_width=8 -o %t.8.rmsn
// RUN: norm-run %t.8.rmsn --device=sim:sm_90 --dim=s0=37
// RUN: norm-run %t.8.rmsn --device=sim:sm_90 --dim=s0=37 --unaligned
// RUN: norm-compile %s --target=sim:sm_90,oracle --schedule=threads_per_row=1,vector_width=4 -o %t.1.rmsn
// RUN: norm-run %t.1.rmsn --device=sim:sm_90 --dim=s0=37

// Heads that are normed and rotated by halves: sections of the columns by the
// positions of time, height and width. No section meets another one, so threads
// share them.
#token = affine_map<(t, c) -> (t)>
#row = affine_map<(t, c) -> (t, c)>
#half = affine_map<(t, h, c) -> (t, h, c)>
#table = affine_map<(t, h, c) -> (t, c)>
#column = affine_map<(t, h, c) -> (c)>

// CHECK-LABEL: func.func @sections(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 8, 4]
// CHECK: rmsnorm.put %{{.*}}, %{{.*}} at [0, 0, 0] : vector<1x1x3x4xf32>, vector<1x1x8x4xf32>
// CHECK: rmsnorm.put %{{.*}}, %{{.*}} at [0, 3, 0] : vector<1x1x2x4xf32>, vector<1x1x8x4xf32>
// CHECK: rmsnorm.put %{{.*}}, %{{.*}} at [0, 5, 0] : vector<1x1x3x4xf32>, vector<1x1x8x4xf32>
// CHECK-NOT: rmsnorm.rows
func.func @sections(%x: tensor<?x3x64xbf16>, %w: tensor<64xbf16>, %table: tensor<?x64xf32>, %pt: tensor<?xi64>, %ph: tensor<?xi64>, %pw: tensor<?xi64>) -> tensor<?x3x64xbf16> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<?x3x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x3x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<?x3x64xf32>) eps = 1.0e-06 -> tensor<?x3x64xf32>
  %c_ = tensor.empty(%m) : tensor<?x32xf32>
  %c0e = tensor.empty(%m) : tensor<?x12xf32>
  %c0 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%pt : tensor<?xi64>) outs(%c0e : tensor<?x12xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 0 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  %cp0 = tensor.insert_slice %c0 into %c_[0, 0] [%m, 12] [1, 1] : tensor<?x12xf32> into tensor<?x32xf32>
  %c1e = tensor.empty(%m) : tensor<?x8xf32>
  %c1 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%ph : tensor<?xi64>) outs(%c1e : tensor<?x8xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 12 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %cp1 = tensor.insert_slice %c1 into %cp0[0, 12] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x32xf32>
  %c2e = tensor.empty(%m) : tensor<?x12xf32>
  %c2 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%pw : tensor<?xi64>) outs(%c2e : tensor<?x12xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 20 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  %cp2 = tensor.insert_slice %c2 into %cp1[0, 20] [%m, 12] [1, 1] : tensor<?x12xf32> into tensor<?x32xf32>
  %s_ = tensor.empty(%m) : tensor<?x32xf32>
  %s0e = tensor.empty(%m) : tensor<?x12xf32>
  %s0 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%pt : tensor<?xi64>) outs(%s0e : tensor<?x12xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 32 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  %sp0 = tensor.insert_slice %s0 into %s_[0, 0] [%m, 12] [1, 1] : tensor<?x12xf32> into tensor<?x32xf32>
  %s1e = tensor.empty(%m) : tensor<?x8xf32>
  %s1 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%ph : tensor<?xi64>) outs(%s1e : tensor<?x8xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 44 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %sp1 = tensor.insert_slice %s1 into %sp0[0, 12] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x32xf32>
  %s2e = tensor.empty(%m) : tensor<?x12xf32>
  %s2 = linalg.generic {indexing_maps = [#token, #row], iterator_types = ["parallel", "parallel"]} ins(%pw : tensor<?xi64>) outs(%s2e : tensor<?x12xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %o = arith.constant 52 : index
    %k = arith.addi %j, %o : index
    %t = tensor.extract %table[%i, %k] : tensor<?x64xf32>
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  %sp2 = tensor.insert_slice %s2 into %sp1[0, 20] [%m, 12] [1, 1] : tensor<?x12xf32> into tensor<?x32xf32>
  %qa = tensor.extract_slice %y[0, 0, 0] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<?x3x32xf32>
  %qb = tensor.extract_slice %y[0, 0, 32] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<?x3x32xf32>
  %qh = tensor.empty(%m) : tensor<?x3x32xbf16>
  %qr0 = linalg.generic {indexing_maps = [#half, #half, #table, #table, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qa, %qb, %cp2, %sp2 : tensor<?x3x32xf32>, tensor<?x3x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qh : tensor<?x3x32xbf16>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %z: bf16):
    %0 = arith.mulf %u, %c : f32
    %1 = arith.mulf %v, %s : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<?x3x32xbf16>
  %qr1 = linalg.generic {indexing_maps = [#half, #half, #table, #table, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qb, %qa, %cp2, %sp2 : tensor<?x3x32xf32>, tensor<?x3x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%qh : tensor<?x3x32xbf16>) {
  ^bb0(%u: f32, %v: f32, %c: f32, %s: f32, %z: bf16):
    %0 = arith.mulf %u, %c : f32
    %1 = arith.mulf %v, %s : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<?x3x32xbf16>
  %qy = tensor.concat dim(2) %qr0, %qr1 : (tensor<?x3x32xbf16>, tensor<?x3x32xbf16>) -> tensor<?x3x64xbf16>
  return %qy : tensor<?x3x64xbf16>
}

// The last 24 of 32 columns of the sum of halves, times a table, stored alone.
// CHECK-LABEL: func.func @rest(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 4, 8]
// CHECK-NOT: rmsnorm.rows
func.func @rest(%x: tensor<?x3x64xbf16>, %t: tensor<?x24xbf16>) -> tensor<?x3x24xbf16> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<?x3x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x3x64xbf16>) output(%e : tensor<?x3x64xbf16>) eps = 1.0e-06 -> tensor<?x3x64xbf16>
  %h = tensor.extract_slice %y[0, 0, 0] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %l = tensor.extract_slice %y[0, 0, 32] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %f = tensor.empty(%m) : tensor<?x3x32xbf16>
  %a = linalg.add ins(%h, %l : tensor<?x3x32xbf16>, tensor<?x3x32xbf16>) outs(%f : tensor<?x3x32xbf16>) -> tensor<?x3x32xbf16>
  %p = tensor.extract_slice %a[0, 0, 8] [%m, 3, 24] [1, 1, 1] : tensor<?x3x32xbf16> to tensor<?x3x24xbf16>
  %g = tensor.empty(%m) : tensor<?x3x24xbf16>
  %q = linalg.generic {indexing_maps = [#half, #table, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %t : tensor<?x3x24xbf16>, tensor<?x24xbf16>) outs(%g : tensor<?x3x24xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %z: bf16):
    %0 = arith.mulf %u, %v : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x3x24xbf16>
  return %q : tensor<?x3x24xbf16>
}

// Weights of a section, which are the same for all rows of a tile.
// CHECK-LABEL: func.func @weights(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 3] columns [2, 8, 4]
// CHECK-NOT: rmsnorm.rows
func.func @weights(%x: tensor<?x3x64xbf16>, %t: tensor<20xbf16>) -> tensor<?x3x20xbf16> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<?x3x64xbf16>
  %e = tensor.empty(%m) : tensor<?x3x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x3x64xbf16>) output(%e : tensor<?x3x64xbf16>) eps = 1.0e-06 -> tensor<?x3x64xbf16>
  %h = tensor.extract_slice %y[0, 0, 0] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %l = tensor.extract_slice %y[0, 0, 32] [%m, 3, 32] [1, 1, 1] : tensor<?x3x64xbf16> to tensor<?x3x32xbf16>
  %f = tensor.empty(%m) : tensor<?x3x32xbf16>
  %a = linalg.add ins(%h, %l : tensor<?x3x32xbf16>, tensor<?x3x32xbf16>) outs(%f : tensor<?x3x32xbf16>) -> tensor<?x3x32xbf16>
  %p = tensor.extract_slice %a[0, 0, 12] [%m, 3, 20] [1, 1, 1] : tensor<?x3x32xbf16> to tensor<?x3x20xbf16>
  %g = tensor.empty(%m) : tensor<?x3x20xbf16>
  %q = linalg.generic {indexing_maps = [#half, #column, #half], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %t : tensor<?x3x20xbf16>, tensor<20xbf16>) outs(%g : tensor<?x3x20xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %z: bf16):
    %0 = arith.mulf %u, %v : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x3x20xbf16>
  return %q : tensor<?x3x20xbf16>
}

// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="rmsnorm.rows " --implicit-check-not=group_reduce
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=3,67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --dim=s0=67 | FileCheck %s --check-prefix=RAN
// RUN: norm-run %t.rmsn --device=sim:gfx942 --dim=s0=3 | FileCheck %s --check-prefix=RAN
// RAN-COUNT-4: ok

// Rows that are one group: a head of 128 with a scale for 128 columns. They are
// reduced as rows are.
// CHECK-LABEL: func.func @heads(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns(128)
// CHECK: rmsnorm.row_reduce
func.func @heads(%x: tensor<?x4x128xbf16>) -> (tensor<?x4x128xf8E4M3FN>, tensor<?x4x1xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x128xbf16>
  %e = tensor.empty(%m) : tensor<?x4x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4x128xbf16>) output(%e : tensor<?x4x128xf32>) eps = 1.0e-05 -> tensor<?x4x128xf32>
  %groups = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%m, 4, 1, 128] : tensor<?x4x128xf32> into tensor<?x4x1x128xf32>
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty(%m) : tensor<?x4x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%se : tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, h, j, k) -> (i, h, j, k)>, affine_map<(i, h, j, k) -> (i, h, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x4x1x128xf32>) outs(%zeros : tensor<?x4x1xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x4x1xf32>
  %qe = tensor.empty(%m) : tensor<?x4x1x128xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [affine_map<(i, h, j, k) -> (i, h, j, k)>, affine_map<(i, h, j, k) -> (i, h, j)>, affine_map<(i, h, j, k) -> (i, h, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%groups, %s : tensor<?x4x1x128xf32>, tensor<?x4x1xf32>) outs(%qe : tensor<?x4x1x128xf8E4M3FN>) {
  ^bb0(%value: f32, %scale: f32, %out: f8E4M3FN):
    %share = arith.divf %value, %scale : f32
    %byte = arith.truncf %share : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x4x1x128xf8E4M3FN>
  %whole = tensor.collapse_shape %q [[0], [1], [2, 3]] : tensor<?x4x1x128xf8E4M3FN> into tensor<?x4x128xf8E4M3FN>
  return %whole, %s : tensor<?x4x128xf8E4M3FN>, tensor<?x4x1xf32>
}

// What is stored keeps its groups; the scales go through another op, and
// a group of the weight's.
// CHECK-LABEL: func.func @groups_out(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64)
func.func @groups_out(%x: tensor<?x64xf16>, %w: tensor<1x64xf32>) -> (tensor<?x1x64xf16>, tensor<?x1xf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf16>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %groups = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty(%m) : tensor<?x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%se : tensor<?x1xf32>) -> tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%groups : tensor<?x1x64xf32>) outs(%zeros : tensor<?x1xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?x1xf32>
  %he = tensor.empty(%m) : tensor<?x1xf16>
  %half = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x1xf32>) outs(%he : tensor<?x1xf16>) {
  ^bb0(%value: f32, %out: f16):
    %narrow = arith.truncf %value : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<?x1xf16>
  %qe = tensor.empty(%m) : tensor<?x1x64xf16>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %half, %w : tensor<?x1x64xf32>, tensor<?x1xf16>, tensor<1x64xf32>) outs(%qe : tensor<?x1x64xf16>) {
  ^bb0(%value: f32, %scale: f16, %weight: f32, %out: f16):
    %wide = arith.extf %scale : f16 to f32
    %share = arith.divf %value, %wide : f32
    %scaled = arith.mulf %share, %weight : f32
    %narrow = arith.truncf %scaled : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<?x1x64xf16>
  return %q, %half : tensor<?x1x64xf16>, tensor<?x1xf16>
}

// A leading dimension of 1 is one of rows, not of groups.
// CHECK-LABEL: func.func @one_token(
// CHECK: rmsnorm.rows sizes [%{{[a-z0-9_]*}}] columns(64)
func.func @one_token(%x: tensor<?x1x64xf32>, %z: tensor<?x1x64xf32>) -> tensor<?x1x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1x64xf32>
  %e = tensor.empty(%m) : tensor<?x1x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1x64xf32>) output(%e : tensor<?x1x64xf32>) eps = 1.0e-05 -> tensor<?x1x64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %z : tensor<?x1x64xf32>, tensor<?x1x64xf32>) outs(%e : tensor<?x1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %both = arith.addf %a, %b : f32
    linalg.yield %both : f32
  } -> tensor<?x1x64xf32>
  return %sum : tensor<?x1x64xf32>
}

// Also beside rows that could have groups.
// CHECK-LABEL: func.func @both(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(64)
// CHECK: rmsnorm.rows sizes [%{{[a-z0-9_]*}}] columns(64)
// CHECK-NOT: rmsnorm.rows
func.func @both(%h: tensor<?x64xf32>, %x: tensor<?x1x64xf32>, %z: tensor<?x1x64xf32>) -> (tensor<?x64xf32>, tensor<?x1x64xf32>) {
  %c0 = arith.constant 0 : index
  %mh = tensor.dim %h, %c0 : tensor<?x64xf32>
  %eh = tensor.empty(%mh) : tensor<?x64xf32>
  %yh = rmsnorm.forward input(%h : tensor<?x64xf32>) output(%eh : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %m = tensor.dim %x, %c0 : tensor<?x1x64xf32>
  %e = tensor.empty(%m) : tensor<?x1x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x1x64xf32>) output(%e : tensor<?x1x64xf32>) eps = 1.0e-05 -> tensor<?x1x64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %z : tensor<?x1x64xf32>, tensor<?x1x64xf32>) outs(%e : tensor<?x1x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %both = arith.addf %a, %b : f32
    linalg.yield %both : f32
  } -> tensor<?x1x64xf32>
  return %yh, %sum : tensor<?x64xf32>, tensor<?x1x64xf32>
}

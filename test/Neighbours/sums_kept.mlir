// Sums over rows whose results have dimensions of one element, as sums that keep their dimensions have, or are reshaped: one kernel.
// RUN: norm-run %s --device=sim:sm_90 --rows=7 | FileCheck %s --implicit-check-not=WRONG
// RUN: norm-run %s --device=sim:gfx942 --rows=7 --unaligned | FileCheck %s --implicit-check-not=WRONG
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s --check-prefix=EMBED
// CHECK-COUNT-5: {{^[a-z_0-9]+ .* ok$}}
// EMBED: {{^}}10 results, 0 wrong
func.func @gradient(%x: tensor<?x64xf32>, %dy: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<1x1x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %ew = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x64xf32>) input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) dx(%e : tensor<?x64xf32>) dweight(%ew : tensor<64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>, tensor<64xf32>
  %v = tensor.expand_shape %dw [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
  return %dx, %v : tensor<?x64xf32>, tensor<1x1x64xf32>
}

func.func @kept(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m0) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<1x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%ew : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%fill : tensor<1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<1x64xf32>
  return %y, %s : tensor<?x64xf32>, tensor<1x64xf32>
}

func.func @kept_collapsed(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m0) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<1x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%ew : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%fill : tensor<1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<1x64xf32>
  %v = tensor.collapse_shape %s [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
  return %y, %v : tensor<?x64xf32>, tensor<64xf32>
}

func.func @of_batches(%x: tensor<?x5x64xf32>) -> (tensor<?x5x64xf32>, tensor<?x1x64xf32>) {
  %c0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %c0 : tensor<?x5x64xf32>
  %e = tensor.empty(%m0) : tensor<?x5x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x5x64xf32>) output(%e : tensor<?x5x64xf32>) eps = 1.0e-05 -> tensor<?x5x64xf32>
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty(%m0) : tensor<?x1x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%ew : tensor<?x1x64xf32>) -> tensor<?x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, 0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%y : tensor<?x5x64xf32>) outs(%fill : tensor<?x1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x1x64xf32>
  return %y, %s : tensor<?x5x64xf32>, tensor<?x1x64xf32>
}

func.func @of_all(%x: tensor<3x?x64xf32>) -> (tensor<3x?x64xf32>, tensor<1x1x64xf32>) {
  %c1 = arith.constant 1 : index
  %m1 = tensor.dim %x, %c1 : tensor<3x?x64xf32>
  %e = tensor.empty(%m1) : tensor<3x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<3x?x64xf32>) output(%e : tensor<3x?x64xf32>) eps = 1.0e-05 -> tensor<3x?x64xf32>
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<1x1x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%ew : tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, 0, d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%y : tensor<3x?x64xf32>) outs(%fill : tensor<1x1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<1x1x64xf32>
  return %y, %s : tensor<3x?x64xf32>, tensor<1x1x64xf32>
}


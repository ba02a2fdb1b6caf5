// One value that is put into a whole more than once, of which a view is used: all of it is stored.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=7 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=7 | FileCheck %s --implicit-check-not=WRONG
// RUN: norm-compile %s --target=sim:gfx942,oracle --rows=7 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=7 --unaligned | FileCheck %s --implicit-check-not=WRONG
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s --check-prefix=EMBED
// CHECK-COUNT-11: {{^[a-z_0-9]+ .* ok$}}
// EMBED: {{^}}15 results, 0 wrong
func.func @halves(%a0: tensor<?x64xf32>) -> (tensor<?x2x64xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.empty(%m) : tensor<?x128xf32>
  %v5 = tensor.insert_slice %v3 into %v4[0, 0] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x128xf32>
  %v6 = tensor.insert_slice %v3 into %v5[0, 64] [%m, 64] [1, 1] : tensor<?x64xf32> into tensor<?x128xf32>
  %v7 = tensor.expand_shape %v6 [[0], [1, 2]] output_shape [%m, 2, 64] : tensor<?x128xf32> into tensor<?x2x64xf32>
  return %v7 : tensor<?x2x64xf32>
}

func.func @rows_padded(%a0: tensor<5x64xf32>) -> (tensor<13x64xf32>) {
  %v1 = tensor.empty() : tensor<5x64xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<5x64xf32>) output(%v1 : tensor<5x64xf32>) eps = 1.0e-03 -> tensor<5x64xf32>
  %v3 = tensor.concat dim(0) %v2, %v2 : (tensor<5x64xf32>, tensor<5x64xf32>) -> tensor<10x64xf32>
  %v4 = arith.constant 2.0 : f32
  %v5 = tensor.pad %v3 low[0, 0] high[3, 0] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v4 : f32
  } : tensor<10x64xf32> to tensor<13x64xf32>
  return %v5 : tensor<13x64xf32>
}

func.func @columns_padded(%a0: tensor<?x64xf32>) -> (tensor<?x136xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.concat dim(1) %v3, %v3 : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x128xf32>
  %v5 = arith.constant 2.0 : f32
  %v6 = tensor.pad %v4 low[0, 0] high[0, 8] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v5 : f32
  } : tensor<?x128xf32> to tensor<?x136xf32>
  return %v6 : tensor<?x136xf32>
}

func.func @into_argument(%a0: tensor<?x64xf32>, %a1: tensor<?x256xf32>) -> (tensor<?x256xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.concat dim(1) %v3, %v3 : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x128xf32>
  %v5 = tensor.insert_slice %v4 into %a1[0, 0] [%m, 128] [1, 1] : tensor<?x128xf32> into tensor<?x256xf32>
  return %v5 : tensor<?x256xf32>
}

func.func @three(%a0: tensor<?x64xf32>) -> (tensor<?x192xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.empty(%m) : tensor<?x3x64xf32>
  %v5 = tensor.insert_slice %v3 into %v4[0, 0, 0] [%m, 1, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<?x3x64xf32>
  %v6 = tensor.insert_slice %v3 into %v5[0, 1, 0] [%m, 1, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<?x3x64xf32>
  %v7 = tensor.empty(%m) : tensor<?x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v3 : tensor<?x64xf32>) outs(%v7 : tensor<?x64xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %r = arith.negf %x0 : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %v9 = tensor.insert_slice %v8 into %v6[0, 2, 0] [%m, 1, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<?x3x64xf32>
  %v10 = tensor.collapse_shape %v9 [[0], [1, 2]] : tensor<?x3x64xf32> into tensor<?x192xf32>
  return %v10 : tensor<?x192xf32>
}

func.func @heads_repeated(%a0: tensor<?x2x64xf32>) -> (tensor<?x4x64xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x2x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x2x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x2x64xf32>) output(%v2 : tensor<?x2x64xf32>) eps = 1.0e-03 -> tensor<?x2x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2], [3]] output_shape [%m, 2, 1, 64] : tensor<?x2x64xf32> into tensor<?x2x1x64xf32>
  %v5 = tensor.concat dim(2) %v4, %v4 : (tensor<?x2x1x64xf32>, tensor<?x2x1x64xf32>) -> tensor<?x2x2x64xf32>
  %v6 = tensor.collapse_shape %v5 [[0], [1, 2], [3]] : tensor<?x2x2x64xf32> into tensor<?x4x64xf32>
  return %v6 : tensor<?x4x64xf32>
}

func.func @table(%a0: tensor<?x32xf32>) -> (tensor<?x2x32xf32>, tensor<?x2x32xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x32xf32>
  %v2 = tensor.empty(%m) : tensor<?x32xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<?x32xf32>) outs(%v2 : tensor<?x32xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %r = math.cos %x0 : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  %v4 = tensor.empty(%m) : tensor<?x32xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<?x32xf32>) outs(%v4 : tensor<?x32xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %r = math.sin %x0 : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  %v6 = tensor.concat dim(1) %v3, %v3 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %v7 = tensor.expand_shape %v6 [[0], [1, 2]] output_shape [%m, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
  %v8 = tensor.concat dim(1) %v5, %v5 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %v9 = tensor.expand_shape %v8 [[0], [1, 2]] output_shape [%m, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
  return %v7, %v9 : tensor<?x2x32xf32>, tensor<?x2x32xf32>
}

// Beside its pad, which embedding leaves to others: so is all that the same tensor is put into.
func.func @four_times(%a0: tensor<?x2x32xf32>) -> (tensor<?x256xf32>, tensor<?x130xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x2x32xf32>
  %v1 = tensor.empty(%d0) : tensor<?x2x32xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x2x32xf32>) output(%v1 : tensor<?x2x32xf32>) eps = 1.0e-03 -> tensor<?x2x32xf32>
  %v3 = tensor.collapse_shape %v2 [[0], [1, 2]] : tensor<?x2x32xf32> into tensor<?x64xf32>
  %v4 = tensor.concat dim(1) %v3, %v3 : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x128xf32>
  %v5 = arith.constant 0.0 : f32
  %v6 = tensor.pad %v4 low[0, 0] high[0, 2] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v5 : f32
  } : tensor<?x128xf32> to tensor<?x130xf32>
  %v7 = tensor.concat dim(1) %v4, %v4 : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x256xf32>
  return %v7, %v6 : tensor<?x256xf32>, tensor<?x130xf32>
}

// Rows put together of parts, twice, into a part of an argument.
func.func @assembled_rows(%a0: tensor<3x64xf32>, %a1: tensor<6x128xf32>) -> (tensor<64xf32>, tensor<6x128xf32>) {
  %v1 = tensor.empty() : tensor<3x64xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<3x64xf32>) output(%v1 : tensor<3x64xf32>) eps = 1.0e-03 -> tensor<3x64xf32>
  %v3 = tensor.extract_slice %v2[0, 0] [3, 32] [1, 1] : tensor<3x64xf32> to tensor<3x32xf32>
  %v4 = tensor.extract_slice %v2[0, 32] [3, 32] [1, 1] : tensor<3x64xf32> to tensor<3x32xf32>
  %v5 = tensor.empty() : tensor<3x64xf32>
  %v6 = tensor.insert_slice %v3 into %v5[0, 0] [3, 32] [1, 1] : tensor<3x32xf32> into tensor<3x64xf32>
  %v7 = tensor.insert_slice %v4 into %v6[0, 32] [3, 32] [1, 1] : tensor<3x32xf32> into tensor<3x64xf32>
  %v8 = arith.constant 0.0 : f32
  %v9 = tensor.empty() : tensor<64xf32>
  %v10 = linalg.fill ins(%v8 : f32) outs(%v9 : tensor<64xf32>) -> tensor<64xf32>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%v7 : tensor<3x64xf32>) outs(%v10 : tensor<64xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %m = math.absf %x0 : f32
    %r = arith.maximumf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v12 = tensor.concat dim(0) %v7, %v7 : (tensor<3x64xf32>, tensor<3x64xf32>) -> tensor<6x64xf32>
  %v13 = tensor.insert_slice %v12 into %a1[0, 0] [6, 64] [1, 1] : tensor<6x64xf32> into tensor<6x128xf32>
  return %v11, %v13 : tensor<64xf32>, tensor<6x128xf32>
}

// Into rows that are longer than their digits: a tail is padded.
func.func @twice_in_padded_rows(%a0: tensor<5x5x48xf32>, %a1: tensor<48xf32>) -> (tensor<5x482xf32>) {
  %v1 = tensor.empty() : tensor<5x5x48xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<5x5x48xf32>) weight(%a1 : tensor<48xf32>) output(%v1 : tensor<5x5x48xf32>) eps = 1.0e-03 offset = 1.0 -> tensor<5x5x48xf32>
  %v3 = tensor.concat dim(2) %v2, %v2 : (tensor<5x5x48xf32>, tensor<5x5x48xf32>) -> tensor<5x5x96xf32>
  %v4 = tensor.collapse_shape %v3 [[0], [1, 2]] : tensor<5x5x96xf32> into tensor<5x480xf32>
  %v5 = arith.constant 0.0 : f32
  %v6 = tensor.pad %v4 low[0, 0] high[0, 2] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v5 : f32
  } : tensor<5x480xf32> to tensor<5x482xf32>
  return %v6 : tensor<5x482xf32>
}

// Nothing is left of the fill.
func.func @covers_a_fill(%a0: tensor<3x16xf32>) -> (tensor<3x16xf32>, tensor<3x32xf32>) {
  %e = tensor.empty() : tensor<3x16xf32>
  %y = rmsnorm.forward input(%a0 : tensor<3x16xf32>) output(%e : tensor<3x16xf32>) eps = 1.0e-03 -> tensor<3x16xf32>
  %b = tensor.empty() : tensor<3x32xf32>
  %c = arith.constant 1.5 : f32
  %f = linalg.fill ins(%c : f32) outs(%b : tensor<3x32xf32>) -> tensor<3x32xf32>
  %i0 = tensor.insert_slice %y into %f[0, 16] [3, 16] [1, 1] : tensor<3x16xf32> into tensor<3x32xf32>
  %i2 = tensor.insert_slice %y into %i0[0, 0] [3, 16] [1, 1] : tensor<3x16xf32> into tensor<3x32xf32>
  return %y, %i2 : tensor<3x16xf32>, tensor<3x32xf32>
}

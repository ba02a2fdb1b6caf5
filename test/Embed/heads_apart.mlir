// Rows that others put apart: into heads that are wider, or every second column. The norm is a kernel, whose result they copy.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --embed=sim:sm_90,direct | FileCheck %s
// CHECK-DAG: launched concat{{.*}} 1 times
// CHECK-DAG: launched kept{{.*}} 1 times
// CHECK-DAG: launched pad{{.*}} 1 times
// CHECK-DAG: launched insert{{.*}} 1 times
// CHECK-DAG: launched strided{{.*}} 1 times
// CHECK-DAG: launched transposed{{.*}} 1 times
// CHECK-DAG: launched padded_strided{{.*}} 1 times
// CHECK-DAG: launched factor{{.*}} 1 times
// CHECK-DAG: launched from_one_empty{{.*}} 1 times
// CHECK-DAG: launched sum_in_column{{.*}}_sum_rows{{.*}} 1 times
// CHECK: {{^}}17 results, 0 wrong
func.func @concat(%a0: tensor<?x64xf32>, %a1: tensor<?x4x8xf32>) -> (tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.concat dim(2) %v4, %a1 : (tensor<?x4x16xf32>, tensor<?x4x8xf32>) -> tensor<?x4x24xf32>
  return %v5 : tensor<?x4x24xf32>
}

func.func @kept(%a0: tensor<?x64xf32>, %a1: tensor<?x4x8xf32>) -> (tensor<?x64xf32>, tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.concat dim(2) %v4, %a1 : (tensor<?x4x16xf32>, tensor<?x4x8xf32>) -> tensor<?x4x24xf32>
  return %v3, %v5 : tensor<?x64xf32>, tensor<?x4x24xf32>
}

func.func @pad(%a0: tensor<?x64xf32>) -> (tensor<?x4x20xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = arith.constant 1.0 : f32
  %v6 = tensor.pad %v4 low[0, 0, 0] high[0, 0, 4] {
  ^bb0(%p0: index, %p1: index, %p2: index):
    tensor.yield %v5 : f32
  } : tensor<?x4x16xf32> to tensor<?x4x20xf32>
  return %v6 : tensor<?x4x20xf32>
}

func.func @insert(%a0: tensor<?x64xf32>, %a1: tensor<?x4x24xf32>) -> (tensor<?x4x24xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.expand_shape %v3 [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %v5 = tensor.insert_slice %v4 into %a1[0, 0, 8] [%m, 4, 16] [1, 1, 1] : tensor<?x4x16xf32> into tensor<?x4x24xf32>
  return %v5 : tensor<?x4x24xf32>
}

func.func @strided(%a0: tensor<?x64xf32>, %a1: tensor<?x128xf32>) -> (tensor<?x128xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v2 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v4 = tensor.insert_slice %v3 into %a1[0, 0] [%m, 64] [1, 2] : tensor<?x64xf32> into tensor<?x128xf32>
  return %v4 : tensor<?x128xf32>
}

// Even columns, then odd ones: their rows are transposed.
func.func @transposed(%a0: tensor<3x?x?x4xf32>, %a1: tensor<4xf32>) -> (tensor<?x?x3x4xf32>) {
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %a0, %i1 : tensor<3x?x?x4xf32>
  %i2 = arith.constant 2 : index
  %d2 = tensor.dim %a0, %i2 : tensor<3x?x?x4xf32>
  %v1 = tensor.empty(%d1, %d2) : tensor<3x?x?x4xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<3x?x?x4xf32>) weight(%a1 : tensor<4xf32>) output(%v1 : tensor<3x?x?x4xf32>) eps = 1.0e-03 -> tensor<3x?x?x4xf32>
  %v3 = tensor.extract_slice %v2[0, 0, 0, 0] [3, %d1, %d2, 2] [1, 1, 1, 2] : tensor<3x?x?x4xf32> to tensor<3x?x?x2xf32>
  %v4 = tensor.extract_slice %v2[0, 0, 0, 1] [3, %d1, %d2, 2] [1, 1, 1, 2] : tensor<3x?x?x4xf32> to tensor<3x?x?x2xf32>
  %v5 = tensor.empty(%d1, %d2) : tensor<3x?x?x4xf32>
  %v6 = tensor.insert_slice %v3 into %v5[0, 0, 0, 0] [3, %d1, %d2, 2] [1, 1, 1, 1] : tensor<3x?x?x2xf32> into tensor<3x?x?x4xf32>
  %v7 = tensor.insert_slice %v4 into %v6[0, 0, 0, 2] [3, %d1, %d2, 2] [1, 1, 1, 1] : tensor<3x?x?x2xf32> into tensor<3x?x?x4xf32>
  %v8 = tensor.empty(%d2, %d1) : tensor<?x?x3x4xf32>
  %v9 = linalg.transpose ins(%v7 : tensor<3x?x?x4xf32>) outs(%v8 : tensor<?x?x3x4xf32>) permutation = [2, 1, 0, 3]
  return %v9 : tensor<?x?x3x4xf32>
}

func.func @padded_strided(%a0: tensor<?x32xf32>, %a1: tensor<?x74xf32>) -> (tensor<?x74xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x32xf32>
  %v1 = tensor.empty(%d0) : tensor<?x32xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x32xf32>) output(%v1 : tensor<?x32xf32>) eps = 1.0e-03 -> tensor<?x32xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = tensor.pad %v2 low[0, 0] high[0, 5] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v3 : f32
  } : tensor<?x32xf32> to tensor<?x37xf32>
  %v5 = tensor.insert_slice %v4 into %a1[0, 1] [%d0, 37] [1, 2] : tensor<?x37xf32> into tensor<?x74xf32>
  return %v5 : tensor<?x74xf32>
}

// A factor for each column of what is put together to fewer columns than the norm has.
func.func @factor(%a0: tensor<?x8xf16>, %a1: tensor<8xf32>, %a2: tensor<7xf16>) -> (tensor<?x7xf16>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x8xf16>
  %v1 = tensor.empty(%d0) : tensor<?x8xf16>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x8xf16>) weight(%a1 : tensor<8xf32>) output(%v1 : tensor<?x8xf16>) eps = 1.0e-03 -> tensor<?x8xf16>
  %v3 = tensor.extract_slice %v2[0, 0] [%d0, 4] [1, 1] : tensor<?x8xf16> to tensor<?x4xf16>
  %v4 = arith.constant 1.5 : f16
  %v5 = tensor.pad %v3 low[0, 2] high[0, 1] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v4 : f16
  } : tensor<?x4xf16> to tensor<?x7xf16>
  %v6 = tensor.empty(%d0) : tensor<?x7xf16>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v5, %a2 : tensor<?x7xf16>, tensor<7xf16>) outs(%v6 : tensor<?x7xf16>) {
  ^bb0(%x0: f16, %x1: f16, %o: f16):
    %r = arith.mulf %x0, %x1 : f16
    linalg.yield %r : f16
  } -> tensor<?x7xf16>
  return %v7 : tensor<?x7xf16>
}

// The norm and the copy of its rows have one tensor.empty, as CSE leaves it.
func.func @from_one_empty(%arg0: tensor<3x3x3x6xf32>) -> tensor<3x3x6xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<3x3x3x6xf32>
  %1 = rmsnorm.forward input(%arg0 : tensor<3x3x3x6xf32>) output(%0 : tensor<3x3x3x6xf32>) eps = 1.000000e-03 -> tensor<3x3x3x6xf32>
  %extracted_slice = tensor.extract_slice %1[0, 0, 0, 1] [3, 3, 3, 3] [1, 1, 1, 2] : tensor<3x3x3x6xf32> to tensor<3x3x3x3xf32>
  %extracted_slice_0 = tensor.extract_slice %1[0, 0, 0, 0] [3, 3, 3, 3] [1, 1, 1, 1] : tensor<3x3x3x6xf32> to tensor<3x3x3x3xf32>
  %concat = tensor.concat dim(3) %extracted_slice, %extracted_slice_0 : (tensor<3x3x3x3xf32>, tensor<3x3x3x3xf32>) -> tensor<3x3x3x6xf32>
  %transposed = linalg.transpose ins(%concat : tensor<3x3x3x6xf32>) outs(%0 : tensor<3x3x3x6xf32>) permutation = [2, 1, 0, 3] 
  %2 = tensor.empty() : tensor<3x3x6xf32>
  %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<3x3x6xf32>) -> tensor<3x3x6xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%transposed : tensor<3x3x3x6xf32>) outs(%3 : tensor<3x3x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = math.absf %in : f32
    %6 = arith.maximumf %out, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<3x3x6xf32>
  return %4 : tensor<3x3x6xf32>
}

// Every second column, of which a half is normed in place, twice: the second norm has no columns side by side, either.
func.func @strided_twice(%a0: tensor<?x5x1x48xf32>, %a1: tensor<12xf32>) -> (tensor<?x5x1x24xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x5x1x48xf32>
  %v1 = tensor.extract_slice %a0[0, 0, 0, 1] [%d0, 5, 1, 24] [1, 1, 1, 2] : tensor<?x5x1x48xf32> to tensor<?x5x1x24xf32>
  %v2 = tensor.extract_slice %v1[0, 0, 0, 12] [%d0, 5, 1, 12] [1, 1, 1, 1] : tensor<?x5x1x24xf32> to tensor<?x5x1x12xf32>
  %v3 = tensor.empty(%d0) : tensor<?x5x1x12xf32>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x5x1x12xf32>) weight(%a1 : tensor<12xf32>) output(%v3 : tensor<?x5x1x12xf32>) eps = 1.0e-03 offset = 1.0 -> tensor<?x5x1x12xf32>
  %v5 = tensor.insert_slice %v4 into %v1[0, 0, 0, 12] [%d0, 5, 1, 12] [1, 1, 1, 1] : tensor<?x5x1x12xf32> into tensor<?x5x1x24xf32>
  %v6 = tensor.extract_slice %v5[0, 0, 0, 12] [%d0, 5, 1, 12] [1, 1, 1, 1] : tensor<?x5x1x24xf32> to tensor<?x5x1x12xf32>
  %v7 = tensor.empty(%d0) : tensor<?x5x1x12xf32>
  %v8 = rmsnorm.forward input(%v6 : tensor<?x5x1x12xf32>) output(%v7 : tensor<?x5x1x12xf32>) eps = 1.0e-03 -> tensor<?x5x1x12xf32>
  %v9 = tensor.insert_slice %v8 into %v5[0, 0, 0, 12] [%d0, 5, 1, 12] [1, 1, 1, 1] : tensor<?x5x1x12xf32> into tensor<?x5x1x24xf32>
  return %v9 : tensor<?x5x1x24xf32>
}

// No thread holds what is read as two halves and interleaved, in registers of which half are left.
func.func @in_registers(%a0: tensor<?x64xf32>) -> (tensor<?x66xf32>) {
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %a0, %i0 : tensor<?x64xf32>
  %v1 = tensor.empty(%d0) : tensor<?x64xf32>
  %v2 = rmsnorm.forward input(%a0 : tensor<?x64xf32>) output(%v1 : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = tensor.pad %v2 low[0, 0] high[0, 2] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v3 : f32
  } : tensor<?x64xf32> to tensor<?x66xf32>
  %v5 = tensor.extract_slice %v4[0, 0] [%d0, 33] [1, 1] : tensor<?x66xf32> to tensor<?x33xf32>
  %v6 = tensor.extract_slice %v4[0, 33] [%d0, 33] [1, 1] : tensor<?x66xf32> to tensor<?x33xf32>
  %v7 = tensor.empty(%d0) : tensor<?x33x2xf32>
  %v8 = tensor.insert_slice %v5 into %v7[0, 0, 0] [%d0, 33, 1] [1, 1, 1] : tensor<?x33xf32> into tensor<?x33x2xf32>
  %v9 = tensor.insert_slice %v6 into %v8[0, 0, 1] [%d0, 33, 1] [1, 1, 1] : tensor<?x33xf32> into tensor<?x33x2xf32>
  %v10 = tensor.collapse_shape %v9 [[0], [1, 2]] : tensor<?x33x2xf32> into tensor<?x66xf32>
  %v11 = tensor.empty(%d0) : tensor<?x66xf32>
  %v12 = rmsnorm.forward input(%v10 : tensor<?x66xf32>) output(%v11 : tensor<?x66xf32>) eps = 1.0e-03 -> tensor<?x66xf32>
  return %v12 : tensor<?x66xf32>
}

// Pairs of columns of an odd number have no vectors.
func.func @pairs_of_odd(%a0: tensor<2x8xbf16>, %a1: tensor<8xbf16>, %a2: tensor<9xf32>) -> (tensor<2x9xbf16>) {
  %v1 = tensor.empty() : tensor<2x8xbf16>
  %v2 = rmsnorm.forward input(%a0 : tensor<2x8xbf16>) weight(%a1 : tensor<8xbf16>) output(%v1 : tensor<2x8xbf16>) eps = 1.0e-03 -> tensor<2x8xbf16>
  %v3 = tensor.extract_slice %v2[0, 0] [2, 4] [1, 2] : tensor<2x8xbf16> to tensor<2x4xbf16>
  %v4 = tensor.extract_slice %v2[0, 4] [2, 4] [1, 1] : tensor<2x8xbf16> to tensor<2x4xbf16>
  %v5 = tensor.empty() : tensor<2x8xbf16>
  %v6 = tensor.insert_slice %v3 into %v5[0, 0] [2, 4] [1, 2] : tensor<2x4xbf16> into tensor<2x8xbf16>
  %v7 = tensor.insert_slice %v4 into %v6[0, 1] [2, 4] [1, 2] : tensor<2x4xbf16> into tensor<2x8xbf16>
  %v8 = arith.constant 0.0 : bf16
  %v9 = tensor.pad %v7 low[0, 1] high[0, 0] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v8 : bf16
  } : tensor<2x8xbf16> to tensor<2x9xbf16>
  %v10 = tensor.empty() : tensor<2x9xbf16>
  %v11 = rmsnorm.forward input(%v9 : tensor<2x9xbf16>) weight(%a2 : tensor<9xf32>) output(%v10 : tensor<2x9xbf16>) eps = 1.0e-03 offset = 1.0 -> tensor<2x9xbf16>
  %v12 = tensor.empty() : tensor<2x9xbf16>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v11, %a2 : tensor<2x9xbf16>, tensor<9xf32>) outs(%v12 : tensor<2x9xbf16>) {
  ^bb0(%x0: bf16, %x1: f32, %o: bf16):
    %w = arith.truncf %x1 : f32 to bf16
    %r = arith.mulf %x0, %w : bf16
    linalg.yield %r : bf16
  } -> tensor<2x9xbf16>
  %v14 = tensor.empty() : tensor<2x9xbf16>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v9, %a2 : tensor<2x9xbf16>, tensor<9xf32>) outs(%v14 : tensor<2x9xbf16>) {
  ^bb0(%x0: bf16, %x1: f32, %o: bf16):
    %w = arith.truncf %x1 : f32 to bf16
    %r = arith.mulf %x0, %w : bf16
    linalg.yield %r : bf16
  } -> tensor<2x9xbf16>
  return %v13 : tensor<2x9xbf16>
}

// A sum for each column that others put into one column; one that goes on from what is in one.
func.func @sum_in_column(%x: tensor<?x64xf32>, %big: tensor<64x5xf32>) -> (tensor<?x64xf32>, tensor<64x5xf32>) {
  %c0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m0) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ew : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %v = tensor.insert_slice %s into %big[0, 2] [64, 1] [1, 1] : tensor<64xf32> into tensor<64x5xf32>
  return %y, %v : tensor<?x64xf32>, tensor<64x5xf32>
}

func.func @sum_of_column(%x: tensor<?x64xf32>, %big: tensor<64x130xf32>) -> (tensor<?x64xf32>, tensor<64x130xf32>) {
  %c0 = arith.constant 0 : index
  %m0 = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m0) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-03 -> tensor<?x64xf32>
  %acc = tensor.extract_slice %big[0, 2] [64, 1] [1, 1] : tensor<64x130xf32> to tensor<64x1xf32>
  %zero = arith.constant 0.0 : f32
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, 0)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%acc : tensor<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    %b = arith.maximumf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<64x1xf32>
  %v = tensor.insert_slice %s into %big[0, 2] [64, 1] [1, 1] : tensor<64x1xf32> into tensor<64x130xf32>
  return %y, %v : tensor<?x64xf32>, tensor<64x130xf32>
}

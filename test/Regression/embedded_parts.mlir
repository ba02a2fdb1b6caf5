// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py --embed=sim:sm_90,direct %s | FileCheck %s
// RUN: norm-opt %s --rmsnorm-embed-tensors | FileCheck %s --check-prefix=TENSORS

// Found by random programs.
// CHECK: {{^}}8 results, 0 wrong

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// A value for each digit in the middle of the columns was taken for one of each group of them.
// TENSORS-LABEL: func.func @middle_digit(
// TENSORS:         rmsnorm.rows {{.*}} columns [2, 2, 2]
// TENSORS-NOT:     linalg.generic
func.func @middle_digit(%x: tensor<16x8xf32>, %v: tensor<2xf32>) -> tensor<16x2x2x2xf32> {
  %e = tensor.empty() : tensor<16x8xf32>
  %y = rmsnorm.forward input(%x : tensor<16x8xf32>) output(%e : tensor<16x8xf32>) eps = 1.0e-03 -> tensor<16x8xf32>
  %g = tensor.expand_shape %y [[0], [1, 2, 3]] output_shape [16, 2, 2, 2] : tensor<16x8xf32> into tensor<16x2x2x2xf32>
  %d = tensor.empty() : tensor<16x2x2x2xf32>
  %r = linalg.generic {indexing_maps = [#id4, affine_map<(d0, d1, d2, d3) -> (d2)>, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%g, %v : tensor<16x2x2x2xf32>, tensor<2xf32>) outs(%d : tensor<16x2x2x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<16x2x2x2xf32>
  return %r : tensor<16x2x2x2xf32>
}

// A value of the row beside a part of two columns was interleaved with itself, as if it were one of each pair: a crash.
// TENSORS-LABEL: func.func @row_value(
// TENSORS:         vector.broadcast %{{.*}} : vector<1x1x1xf32> to vector<1x1x2xf32>
// TENSORS-NOT:     linalg.generic
func.func @row_value(%x: tensor<16x4xf32>, %v: tensor<16xf32>) -> tensor<16x2xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %y = rmsnorm.forward input(%x : tensor<16x4xf32>) output(%e : tensor<16x4xf32>) eps = 1.0e-03 -> tensor<16x4xf32>
  %p = tensor.extract_slice %y[0, 2] [16, 2] [1, 1] : tensor<16x4xf32> to tensor<16x2xf32>
  %d = tensor.empty() : tensor<16x2xf32>
  %r = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d0)>, #id2], iterator_types = ["parallel", "parallel"]} ins(%p, %v : tensor<16x2xf32>, tensor<16xf32>) outs(%d : tensor<16x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<16x2xf32>
  return %r : tensor<16x2xf32>
}

// The pairs that %i is put into are put together outside, of what the kernel computes: it read them before they were there.
// TENSORS-LABEL: func.func @outside(
// TENSORS:         rmsnorm.rows
// TENSORS:         tensor.insert_slice
func.func @outside(%x: tensor<16x64xbf16>, %z: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %e = tensor.empty() : tensor<16x64xbf16>
  %y = rmsnorm.forward input(%x : tensor<16x64xbf16>) output(%e : tensor<16x64xbf16>) eps = 1.0e-03 -> tensor<16x64xbf16>
  %even = tensor.extract_slice %y[0, 0] [16, 32] [1, 2] : tensor<16x64xbf16> to tensor<16x32xbf16>
  %last = tensor.extract_slice %even[0, 16] [16, 16] [1, 1] : tensor<16x32xbf16> to tensor<16x16xbf16>
  %pairs = tensor.expand_shape %even [[0], [1, 2]] output_shape [16, 16, 2] : tensor<16x32xbf16> into tensor<16x16x2xbf16>
  %first = tensor.extract_slice %pairs[0, 0, 0] [16, 16, 1] [1, 1, 1] : tensor<16x16x2xbf16> to tensor<16x16xbf16>
  %d = tensor.empty() : tensor<16x16x2xbf16>
  %h = tensor.insert_slice %first into %d[0, 0, 1] [16, 16, 1] [1, 1, 1] : tensor<16x16xbf16> into tensor<16x16x2xbf16>
  %i = tensor.insert_slice %last into %h[0, 0, 0] [16, 16, 1] [1, 1, 1] : tensor<16x16xbf16> into tensor<16x16x2xbf16>
  %c = tensor.collapse_shape %i [[0], [1, 2]] : tensor<16x16x2xbf16> into tensor<16x32xbf16>
  %r = tensor.insert_slice %c into %z[0, 32] [16, 32] [1, 1] : tensor<16x32xbf16> into tensor<16x64xbf16>
  return %r : tensor<16x64xbf16>
}

// Every second pair of columns is a row, from the 13th pair on: 26 columns are six rows of four, and two.
// TENSORS-LABEL: func.func @offset_of_digits(
// TENSORS:         rmsnorm.tile_load tile %{{.*}} map(r, c) -> (0, ((r * 4) + c) + 26)
func.func @offset_of_digits(%x: tensor<1x48xf32>) -> tensor<12x1x2xf32> {
  %g = tensor.expand_shape %x [[0], [1, 2]] output_shape [1, 24, 2] : tensor<1x48xf32> into tensor<1x24x2xf32>
  %e = tensor.empty() : tensor<24x1x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g : tensor<1x24x2xf32>) outs(%e : tensor<24x1x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<24x1x2xf32>
  %s = tensor.extract_slice %t[1, 0, 0] [12, 1, 2] [2, 1, 1] : tensor<24x1x2xf32> to tensor<12x1x2xf32>
  %p = tensor.extract_slice %s[6, 0, 0] [6, 1, 2] [1, 1, 1] : tensor<12x1x2xf32> to tensor<6x1x2xf32>
  %d = tensor.empty() : tensor<6x1x2xf32>
  %y = rmsnorm.forward input(%p : tensor<6x1x2xf32>) output(%d : tensor<6x1x2xf32>) eps = 1.0e-03 -> tensor<6x1x2xf32>
  %r = tensor.insert_slice %y into %s[6, 0, 0] [6, 1, 2] [1, 1, 1] : tensor<6x1x2xf32> into tensor<12x1x2xf32>
  return %r : tensor<12x1x2xf32>
}

// A chip's threads do not hold the row if each has as many elements as one access of i8 takes: 24 columns of a part are three of
// those.
// TENSORS-LABEL: func.func @narrow_result(
// TENSORS-NOT:     linalg.generic
func.func @narrow_result(%x: tensor<16x48xf32>, %w: tensor<48xf32>) -> (tensor<16x48xi8>, tensor<16xf32>) {
  %high = tensor.extract_slice %x[0, 24] [16, 24] [1, 1] : tensor<16x48xf32> to tensor<16x24xf32>
  %low = tensor.extract_slice %x[0, 0] [16, 24] [1, 1] : tensor<16x48xf32> to tensor<16x24xf32>
  %e = tensor.empty() : tensor<16x48xf32>
  %i = tensor.insert_slice %high into %e[0, 0] [16, 24] [1, 1] : tensor<16x24xf32> into tensor<16x48xf32>
  %j = tensor.insert_slice %low into %i[0, 24] [16, 24] [1, 1] : tensor<16x24xf32> into tensor<16x48xf32>
  %y = rmsnorm.forward input(%j : tensor<16x48xf32>) weight(%w : tensor<48xf32>) output(%e : tensor<16x48xf32>) eps = 1.0e-03 -> tensor<16x48xf32>
  %zero = arith.constant 0.0 : f32
  %d = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<16x48xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<16xf32>
  %q = tensor.empty() : tensor<16x48xi8>
  %r = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d0)>, #id2], iterator_types = ["parallel", "parallel"]} ins(%y, %m : tensor<16x48xf32>, tensor<16xf32>) outs(%q : tensor<16x48xi8>) {
  ^bb0(%a: f32, %b: f32, %o: i8):
    %most = arith.constant 127.0 : f32
    %1 = arith.divf %a, %b : f32
    %2 = arith.mulf %1, %most : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.fptosi %3 : f32 to i8
    linalg.yield %4 : i8
  } -> tensor<16x48xi8>
  return %r, %m : tensor<16x48xi8>, tensor<16xf32>
}

// A kernel of one row stores its groups in the order in which they lie.
// TENSORS-LABEL: func.func @transposed_groups(
// TENSORS:         rmsnorm.rows
// TENSORS:         linalg.generic
func.func @transposed_groups(%x: tensor<1x32xf32>) -> tensor<4x2xf32> {
  %e = tensor.empty() : tensor<1x32xf32>
  %y = rmsnorm.forward input(%x : tensor<1x32xf32>) output(%e : tensor<1x32xf32>) eps = 1.0e-03 -> tensor<1x32xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [1, 2, 16] : tensor<1x32xf32> into tensor<1x2x16xf32>
  %c = tensor.collapse_shape %h [[0, 1], [2]] : tensor<1x2x16xf32> into tensor<2x16xf32>
  %g = tensor.expand_shape %c [[0], [1, 2]] output_shape [2, 4, 4] : tensor<2x16xf32> into tensor<2x4x4xf32>
  %zero = arith.constant 0.0 : f32
  %d = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = linalg.generic {indexing_maps = [#id3, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<2x4x4xf32>) outs(%f : tensor<2x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<2x4xf32>
  %t = tensor.empty() : tensor<4x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id2], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<2x4xf32>) outs(%t : tensor<4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// One half was stored where both are put together, the other, which others put
// there, was lost.
// TENSORS-LABEL: func.func @beside_others(
// TENSORS:         rmsnorm.rows
// TENSORS:         tensor.insert_slice
func.func @beside_others(%arg0: tensor<2x4x48xf32>, %arg2: tensor<2x4x96xf32>) -> tensor<2x4x96xf32> {
  %0 = tensor.empty() : tensor<2x4x48xf32>
  %1 = arith.addf %arg0, %arg0 : tensor<2x4x48xf32>
  %e2 = tensor.empty() : tensor<2x4x48xf32>
  %2 = rmsnorm.forward input(%1 : tensor<2x4x48xf32>) output(%0 : tensor<2x4x48xf32>) eps = 1.000000e-03 -> tensor<2x4x48xf32>
  %expanded = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [2, 4, 24, 2] : tensor<2x4x48xf32> into tensor<2x4x24x2xf32>
  %extracted_slice = tensor.extract_slice %expanded[0, 0, 0, 1] [2, 4, 24, 1] [1, 1, 1, 1] : tensor<2x4x24x2xf32> to tensor<2x4x24xf32>
  %extracted_slice_0 = tensor.extract_slice %2[0, 0, 0] [2, 4, 24] [1, 1, 1] : tensor<2x4x48xf32> to tensor<2x4x24xf32>
  %inserted_slice = tensor.insert_slice %extracted_slice into %e2[0, 0, 0] [2, 4, 24] [1, 1, 2] : tensor<2x4x24xf32> into tensor<2x4x48xf32>
  %inserted_slice_1 = tensor.insert_slice %extracted_slice_0 into %inserted_slice[0, 0, 1] [2, 4, 24] [1, 1, 2] : tensor<2x4x24xf32> into tensor<2x4x48xf32>
  %expanded_2 = tensor.expand_shape %inserted_slice_1 [[0], [1], [2, 3]] output_shape [2, 4, 24, 2] : tensor<2x4x48xf32> into tensor<2x4x24x2xf32>
  %extracted_slice_3 = tensor.extract_slice %expanded_2[0, 0, 0, 0] [2, 4, 24, 1] [1, 1, 1, 1] : tensor<2x4x24x2xf32> to tensor<2x4x24xf32>
  %concat = tensor.concat dim(2) %extracted_slice_0, %extracted_slice_3 : (tensor<2x4x24xf32>, tensor<2x4x24xf32>) -> tensor<2x4x48xf32>
  %inserted_slice_4 = tensor.insert_slice %concat into %arg2[0, 0, 0] [2, 4, 48] [1, 1, 1] : tensor<2x4x48xf32> into tensor<2x4x96xf32>
  return %inserted_slice_4 : tensor<2x4x96xf32>
}

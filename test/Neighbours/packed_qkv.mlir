// RUN: norm-opt %s --rmsnorm-tensor-half --rmsnorm-memref-half=target=sm_90 | FileCheck %s
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=19 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=19
// RUN: norm-run %t.rmsn --device=sim:gfx942 --rows=19 --unaligned
// RUN: env LIBDIR=%libdir LLVM_LIBDIR=%llvm_libdir %python %source/scripts/compare.py %s --embed=sim:sm_90,direct --size=4

// Heads of q and of k, in place in packed columns, have no element in common:
// one launch, whether the slice or the reshape comes first.
// CHECK-LABEL: func.func @slice_first(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @slice_first(%qkv: tensor<?x512xbf16>, %wq: tensor<64xbf16>, %wk: tensor<64xbf16>) -> (tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x512xbf16>
  %v1 = tensor.extract_slice %qkv[0, 0] [%m, 256] [1, 1] : tensor<?x512xbf16> to tensor<?x256xbf16>
  %v2 = tensor.expand_shape %v1 [[0], [1, 2]] output_shape [%m, 4, 64] : tensor<?x256xbf16> into tensor<?x4x64xbf16>
  %v3 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x4x64xbf16>) weight(%wq : tensor<64xbf16>) output(%v3 : tensor<?x4x64xbf16>) eps = 1.000000000e-06 -> tensor<?x4x64xbf16>
  %v5 = tensor.collapse_shape %v4 [[0], [1, 2]] : tensor<?x4x64xbf16> into tensor<?x256xbf16>
  %v6 = tensor.insert_slice %v5 into %qkv[0, 0] [%m, 256] [1, 1] : tensor<?x256xbf16> into tensor<?x512xbf16>
  %v7 = tensor.extract_slice %v6[0, 256] [%m, 128] [1, 1] : tensor<?x512xbf16> to tensor<?x128xbf16>
  %v8 = tensor.expand_shape %v7 [[0], [1, 2]] output_shape [%m, 2, 64] : tensor<?x128xbf16> into tensor<?x2x64xbf16>
  %v9 = tensor.empty(%m) : tensor<?x2x64xbf16>
  %v10 = rmsnorm.forward input(%v8 : tensor<?x2x64xbf16>) weight(%wk : tensor<64xbf16>) output(%v9 : tensor<?x2x64xbf16>) eps = 1.000000000e-06 -> tensor<?x2x64xbf16>
  %v11 = tensor.collapse_shape %v10 [[0], [1, 2]] : tensor<?x2x64xbf16> into tensor<?x128xbf16>
  %v12 = tensor.insert_slice %v11 into %v6[0, 256] [%m, 128] [1, 1] : tensor<?x128xbf16> into tensor<?x512xbf16>
  return %v12 : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @heads(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @heads(%qkv: tensor<?x8x64xbf16>, %wq: tensor<64xbf16>, %wk: tensor<64xbf16>) -> (tensor<?x8x64xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x8x64xbf16>
  %v1 = tensor.extract_slice %qkv[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x4x64xbf16>
  %v2 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %v3 = rmsnorm.forward input(%v1 : tensor<?x4x64xbf16>) weight(%wq : tensor<64xbf16>) output(%v2 : tensor<?x4x64xbf16>) eps = 1.000000000e-06 -> tensor<?x4x64xbf16>
  %v4 = tensor.insert_slice %v3 into %qkv[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x8x64xbf16>
  %v5 = tensor.extract_slice %v4[0, 4, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x8x64xbf16> to tensor<?x2x64xbf16>
  %v6 = tensor.empty(%m) : tensor<?x2x64xbf16>
  %v7 = rmsnorm.forward input(%v5 : tensor<?x2x64xbf16>) weight(%wk : tensor<64xbf16>) output(%v6 : tensor<?x2x64xbf16>) eps = 1.000000000e-06 -> tensor<?x2x64xbf16>
  %v8 = tensor.insert_slice %v7 into %v4[0, 4, 0] [%m, 2, 64] [1, 1, 1] : tensor<?x2x64xbf16> into tensor<?x8x64xbf16>
  return %v8 : tensor<?x8x64xbf16>
}

// CHECK-LABEL: func.func @reshape_first(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @reshape_first(%qkv: tensor<?x384xbf16>) -> (tensor<?x384xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x384xbf16>
  %v1 = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [%m, 6, 64] : tensor<?x384xbf16> into tensor<?x6x64xbf16>
  %v2 = tensor.extract_slice %v1[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x6x64xbf16> to tensor<?x4x64xbf16>
  %v3 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %v4 = rmsnorm.forward input(%v2 : tensor<?x4x64xbf16>) output(%v3 : tensor<?x4x64xbf16>) eps = 1.000000000e-06 -> tensor<?x4x64xbf16>
  %v5 = tensor.insert_slice %v4 into %v1[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x6x64xbf16>
  %v6 = tensor.collapse_shape %v5 [[0], [1, 2]] : tensor<?x6x64xbf16> into tensor<?x384xbf16>
  return %v6 : tensor<?x384xbf16>
}

// q, k and v of each head lie beside one another: only the remainder by a head's
// columns tells them apart.
// CHECK-LABEL: func.func @of_each_head(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @of_each_head(%qkv: tensor<?x768xbf16>, %w: tensor<64xbf16>) -> tensor<?x768xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x768xbf16>
  %heads = tensor.expand_shape %qkv [[0], [1, 2]] output_shape [%m, 4, 192] : tensor<?x768xbf16> into tensor<?x4x192xbf16>
  %q = tensor.extract_slice %heads[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x192xbf16> to tensor<?x4x64xbf16>
  %qe = tensor.empty(%m) : tensor<?x4x64xbf16>
  %qn = rmsnorm.forward input(%q : tensor<?x4x64xbf16>) weight(%w : tensor<64xbf16>) output(%qe : tensor<?x4x64xbf16>) eps = 1.0e-06 -> tensor<?x4x64xbf16>
  %with_q = tensor.insert_slice %qn into %heads[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x4x192xbf16>
  %k = tensor.extract_slice %with_q[0, 0, 64] [%m, 4, 64] [1, 1, 1] : tensor<?x4x192xbf16> to tensor<?x4x64xbf16>
  %ke = tensor.empty(%m) : tensor<?x4x64xbf16>
  %kn = rmsnorm.forward input(%k : tensor<?x4x64xbf16>) output(%ke : tensor<?x4x64xbf16>) eps = 1.0e-06 -> tensor<?x4x64xbf16>
  %with_k = tensor.insert_slice %kn into %with_q[0, 0, 64] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x4x192xbf16>
  %all = tensor.collapse_shape %with_k [[0], [1, 2]] : tensor<?x4x192xbf16> into tensor<?x768xbf16>
  return %all : tensor<?x768xbf16>
}

// Heads in the middle of a packed projection, where they begin known only at a
// call: on 16 bytes and beside it. A kernel of each kind runs; the simulator
// would report a wide access to the odd ones.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s
// RUN: %{compare} --embed=sim:sm_90,direct | FileCheck %s
// RUN: %{compare} --embed=sim:sm_90,gpu | FileCheck %s
// CHECK-DAG: launched heads_raised_{{.*}}a16 2 times
// CHECK-DAG: launched heads_raised_{{.*}}a1 1 times
// CHECK: {{^}}3 results, 0 wrong

func.func @odd(%qkv: tensor<16x512xbf16>, %w: tensor<64xbf16>) -> (tensor<16x4x64xbf16>, tensor<16x4x64xbf16>, tensor<16x4x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %a = call @heads(%qkv, %w, %c0) : (tensor<16x512xbf16>, tensor<64xbf16>, index) -> tensor<16x4x64xbf16>
  %b = call @heads(%qkv, %w, %c3) : (tensor<16x512xbf16>, tensor<64xbf16>, index) -> tensor<16x4x64xbf16>
  %c = call @heads(%qkv, %w, %c8) : (tensor<16x512xbf16>, tensor<64xbf16>, index) -> tensor<16x4x64xbf16>
  return %a, %b, %c : tensor<16x4x64xbf16>, tensor<16x4x64xbf16>, tensor<16x4x64xbf16>
}

func.func private @heads(%qkv: tensor<16x512xbf16>, %w: tensor<64xbf16>, %first: index) -> tensor<16x4x64xbf16> {
  %q = tensor.extract_slice %qkv[0, %first] [16, 256] [1, 1] : tensor<16x512xbf16> to tensor<16x256xbf16>
  %h = tensor.expand_shape %q [[0], [1, 2]] output_shape [16, 4, 64] : tensor<16x256xbf16> into tensor<16x4x64xbf16>
  %e = tensor.empty() : tensor<16x4x64xbf16>
  %n = rmsnorm.forward input(%h : tensor<16x4x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<16x4x64xbf16>) eps = 1.0e-05 -> tensor<16x4x64xbf16>
  return %n : tensor<16x4x64xbf16>
}

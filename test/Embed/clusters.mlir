// Rows that the blocks of a cluster share, in a persistent grid: its size follows
// from what the device holds, which the host asks for before it launches.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s
// RUN: %{compare} --embed=sim:sm_90,direct --options=schedule=static_persistent | FileCheck %s
// RUN: %{compare} --embed=sim:sm_90,gpu --options=schedule=static_persistent | FileCheck %s
// CHECK: {{^}}1 results, 0 wrong

// RUN: norm-opt %s --rmsnorm-tensor-half --rmsnorm-embed-memrefs="target=sim:sm_90 schedule=static_persistent" | FileCheck %s --check-prefix=IR
// IR: rmsnorm.resident_clusters
// IR: gpu.launch_func {{.*}} clusters in

func.func @wide(%x: tensor<3x131072xbf16>, %w: tensor<131072xbf16>) -> tensor<3x131072xbf16> {
  %e = tensor.empty() : tensor<3x131072xbf16>
  %n = rmsnorm.forward input(%x : tensor<3x131072xbf16>) weight(%w : tensor<131072xbf16>) output(%e : tensor<3x131072xbf16>) eps = 1.0e-05 -> tensor<3x131072xbf16>
  return %n : tensor<3x131072xbf16>
}

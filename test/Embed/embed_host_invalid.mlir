// As text: lld, which links the others, resets the options of its process.
// RUN: not norm-opt %s --rmsnorm-embed-host=format=isa --split-input-file 2>&1 | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-embed-host=host=cuda --split-input-file 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not norm-opt %s --rmsnorm-embed-host=format=elf --split-input-file 2>&1 | FileCheck %s --check-prefix=FORMAT
// HOST: Cannot find option named 'cuda'
// FORMAT: Cannot find option named 'elf'

module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    // CHECK: error: 'gpu.func' op expected a finalized kernel
    // CHECK: note: rmsnorm-finalize-nvvm, -rocdl and -sim make it so
    gpu.func @k() kernel { gpu.return }
  }
}

// -----

func.func @left(%x: memref<4x64xf32>, %y: memref<4x64xf32>) {
  // CHECK: error: 'rmsnorm.forward' op expected no op of ours to be left in host code: run rmsnorm-embed-tensors, bufferization and rmsnorm-embed-memrefs before rmsnorm-embed-host
  rmsnorm.forward input(%x : memref<4x64xf32>) output(%y : memref<4x64xf32>) eps = 1.0e-05
  return
}

// -----

// Once, not for each op.
func.func @tiles(%x: memref<4x64xf32>) {
  // CHECK: error: 'rmsnorm.rows' op expected no op of ours to be left in host code: run rmsnorm-embed-memrefs before rmsnorm-embed-host
  // CHECK-NOT: left in host code
  rmsnorm.rows sizes [4] columns(64) buffers(update %x : memref<4x64xf32>) {
  ^bb0(%b: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%r: index):
      %v = rmsnorm.tile_load tile %b[%r] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %v, %b[%r] : vector<1x64xf32>, memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    llvm.func @k() attributes {gpu.kernel} { llvm.return }
  }
  func.func @tokens(%n: index) {
    %t = gpu.wait async
    // CHECK: error: 'gpu.launch_func' op expected a launch without tokens and stream for host=direct
    %u = gpu.launch_func async [%t] @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n : index)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    llvm.func @k() attributes {gpu.kernel} { llvm.return }
  }
  func.func @threads(%n: index) {
    %c1 = arith.constant 1 : index
    // CHECK: error: 'gpu.launch_func' op expected a constant block size, got
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1) args(%n : index)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    llvm.func @k() attributes {gpu.kernel} { llvm.return }
  }
  func.func @type(%n: index, %h: f64) {
    %c1 = arith.constant 1 : index
    // CHECK: error: 'gpu.launch_func' op expected parameters of type !llvm.ptr, index, i64, i32 or f32, got 'f64'
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%h : f64)
    return
  }
}

// -----

func.func @clusters() -> index {
  // CHECK: error: 'rmsnorm.resident_clusters' op expected the grid of a launch in clusters to follow from it
  %n = rmsnorm.resident_clusters
  return %n : index
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    llvm.func @k() attributes {gpu.kernel} { llvm.return }
  }
  func.func @workspace(%i: index) -> f32 {
    %w = rmsnorm.workspace() : memref<8xf32>
    // CHECK: error: 'memref.load' op expected only launches to use a workspace
    %v = memref.load %w[%i] : memref<8xf32>
    return %v : f32
  }
}

// -----

module attributes {gpu.container_module} {
  llvm.func @rmsnorm_gpu_multiprocessor_count() -> i64
  func.func @count() -> index {
    // CHECK: error: expected 'rmsnorm_gpu_multiprocessor_count' to be the runtime's, see rmsnorm/embed.h
    %n = rmsnorm.multiprocessor_count
    return %n : index
  }
}

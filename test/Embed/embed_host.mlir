// RUN: norm-opt %s --rmsnorm-embed-host=host=gpu | FileCheck %s --check-prefixes=CHECK,GPU --implicit-check-not=rmsnorm.
// RUN: norm-opt %s --rmsnorm-embed-host | FileCheck %s --check-prefixes=CHECK,DIRECT --implicit-check-not=rmsnorm. --implicit-check-not=gpu.launch
// RUN: norm-opt %s --rmsnorm-embed-host=synchronize=false | FileCheck %s --check-prefix=NO-WAIT

// NO-WAIT-NOT: @rmsnorm_gpu_synchronize

module attributes {gpu.container_module, rmsnorm.target = #rmsnorm.target<sim "sim64">} {
  // What the launches do not say of simulated kernels stands beside them.
  // GPU: gpu.module @kernels [#rmsnorm.target<sim "sim64">] {
  // GPU-DAG: llvm.mlir.global external constant @rmsnorm_sim_subgroup_size(64 : i32)
  // GPU-DAG: llvm.mlir.global external constant @k.parameters("plif\00")
  // GPU-DAG: llvm.mlir.global external constant @clustered.parameters("pp\00")

  // The runtime's tables: rmsnorm_gpu_kernel, rmsnorm_gpu_object.
  // DIRECT: llvm.mlir.global internal @k_kernel() {{.*}} : !llvm.struct<(ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, i32, i32, ptr)> {
  // DIRECT: llvm.mlir.addressof @kernels_object
  // DIRECT: llvm.mlir.addressof @k_name
  // DIRECT: llvm.mlir.addressof @k_parameters
  // DIRECT: constant(128 : i32)
  // DIRECT: constant(1 : i32)
  // DIRECT: constant(1 : i32)
  // DIRECT: constant(1 : i32)
  // DIRECT: constant(256 : i32)
  // DIRECT: constant(3 : i32)
  // DIRECT: constant(64 : i32)
  // DIRECT: constant(1 : i32)
  // DIRECT: llvm.mlir.zero : !llvm.ptr
  // DIRECT: @k_parameters("clif\00")
  // DIRECT: @k_name("k\00")
  // DIRECT: @kernels_object()
  // DIRECT: @kernels_target("sim:sim64\00")
  // DIRECT: @kernels_code("\7FELF
  gpu.module @kernels [#rmsnorm.target<sim "sim64">] {
    llvm.func @k(%a: !llvm.ptr, %b: !llvm.ptr) -> !llvm.ptr attributes {gpu.kernel} {
      llvm.return %a : !llvm.ptr
    }
    llvm.func @clustered(%a: !llvm.ptr, %b: !llvm.ptr) -> !llvm.ptr attributes {gpu.kernel} {
      llvm.return %a : !llvm.ptr
    }
  }

  // A kernel of somebody else's is none of our business.
  gpu.module @theirs [#nvvm.target] {
    gpu.func @mine() kernel { gpu.return }
  }

  // CHECK-LABEL: func.func @launch
  // CHECK-SAME: (%[[X:.*]]: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %[[A:.*]]: memref<8xf32, strided<[1], offset: 3>>, %[[N:.*]]: index)
  func.func @launch(%x: memref<?x64xbf16, strided<[?, 1], offset: ?>> {rmsnorm.constant}, %a: memref<8xf32, strided<[1], offset: 3>>, %n: index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant 256 : i32
    %i = arith.constant 7 : i32
    %f = arith.constant 0.5 : f32
    // On the stack, once.
    // DIRECT-COUNT-6: llvm.alloca
    // CHECK-DAG: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
    // CHECK-DAG: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
    // CHECK: %[[BYTES:.*]] = arith.muli %[[OFFSET]], %c2
    // CHECK: %[[ADDRESS:.*]] = arith.addi %[[P]], %[[BYTES]]
    // CHECK: %[[INT:.*]] = arith.index_cast %[[ADDRESS]] : index to i64
    // CHECK: %[[PX:.*]] = llvm.inttoptr %[[INT]] : i64 to !llvm.ptr<1>
    %px = rmsnorm.buffer_pointer %x : memref<?x64xbf16, strided<[?, 1], offset: ?>>
    // CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
    // CHECK: %[[BYTES:.*]] = arith.constant 12
    // CHECK: arith.addi %[[P]], %[[BYTES]]
    %pa = rmsnorm.buffer_pointer %a : memref<8xf32, strided<[1], offset: 3>>
    // GPU: llvm.mlir.zero : !llvm.ptr
    // DIRECT: llvm.mlir.addressof @kernels_object
    // CHECK: llvm.call @rmsnorm_gpu_multiprocessor_count
    %count = rmsnorm.multiprocessor_count
    // CHECK: llvm.mlir.addressof @clustered_kernel
    // CHECK: %[[CLUSTERS:.*]] = llvm.call @rmsnorm_gpu_resident_clusters
    // CHECK: arith.index_cast %[[CLUSTERS]]
    %clusters = rmsnorm.resident_clusters
    %blocks = arith.muli %clusters, %c2 : index
    // GPU: %[[W:.*]] = memref.alloc(%{{.*}}) {alignment = 256 : i64} : memref<?x16xf32>
    // DIRECT: %[[BYTES:.*]] = arith.index_cast %{{.*}} : index to i64
    // DIRECT: %[[W:.*]] = llvm.call @rmsnorm_gpu_workspace(%{{.*}}, %[[BYTES]])
    // DIRECT: llvm.addrspacecast %[[W]] : !llvm.ptr to !llvm.ptr<1>
    %w = rmsnorm.workspace(%count) : memref<?x16xf32>
    %pw = rmsnorm.buffer_pointer %w : memref<?x16xf32>
    // GPU: gpu.launch_func @kernels::@k
    // DIRECT: llvm.store %[[PX]], %{{.*}} : !llvm.ptr<1>, !llvm.ptr
    // DIRECT: llvm.call @rmsnorm_gpu_launch
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%px : !llvm.ptr<1>, %n : index, %i : i32, %f : f32) {rmsnorm.blocks_per_multiprocessor = 3 : i32, rmsnorm.programmatic_dependent_launch}
    // One after the other, without a wait.
    // DIRECT-NOT: synchronize
    // GPU: gpu.launch_func @kernels::@clustered clusters in
    // GPU: memref.dealloc %[[W]]
    // DIRECT: llvm.call @rmsnorm_gpu_launch
    // DIRECT: llvm.call @rmsnorm_gpu_release_workspace(%[[W]])
    // DIRECT: llvm.call @rmsnorm_gpu_synchronize
    gpu.launch_func @kernels::@clustered clusters in (%c2, %c1, %c1) blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1) args(%pw : !llvm.ptr<1>, %pa : !llvm.ptr<1>)
    // CHECK: memref.load
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0] : memref<8xf32, strided<[1], offset: 3>>
    // CHECK: return
    return
  }

  // A loop of launches is waited for after it; what it stores is stored anew,
  // but not allocated.
  // CHECK-LABEL: func.func @loop
  func.func @loop(%x: memref<64xf32>, %n: index, %c: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    // DIRECT-COUNT-3: llvm.alloca
    // CHECK: scf.for
    // DIRECT-NOT: alloca
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: scf.if
      scf.if %c {
        %p = rmsnorm.buffer_pointer %x : memref<64xf32>
        // DIRECT: llvm.call @rmsnorm_gpu_launch
        // DIRECT-NOT: synchronize
        gpu.launch_func @kernels::@clustered blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1) args(%p : !llvm.ptr<1>, %p : !llvm.ptr<1>)
      }
    }
    // CHECK: }
    // CHECK-NEXT: }
    // DIRECT-NEXT: llvm.call @rmsnorm_gpu_synchronize
    // CHECK: return
    return
  }

  // An op with a body and effects of its own is waited for, too.
  // CHECK-LABEL: func.func @linalg
  func.func @linalg(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %p = rmsnorm.buffer_pointer %x : memref<64xf32>
    // DIRECT: llvm.call @rmsnorm_gpu_launch
    // DIRECT-NEXT: llvm.call @rmsnorm_gpu_synchronize
    gpu.launch_func @kernels::@clustered blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !llvm.ptr<1>, %p : !llvm.ptr<1>)
    // CHECK: linalg.generic
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %in : f32
      linalg.yield %sum : f32
    }
    // DIRECT: llvm.call @rmsnorm_gpu_launch
    // DIRECT-NEXT: llvm.call @rmsnorm_gpu_synchronize
    gpu.launch_func @kernels::@clustered blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !llvm.ptr<1>, %p : !llvm.ptr<1>)
    return
  }

  // A module in a module has kernels of its own.
  // GPU: module @inner
  // GPU: gpu.module @kernels [#rmsnorm.target<sim "sim32">]
  // GPU: llvm.mlir.global external constant @k.parameters("p\00")
  // DIRECT: module @inner
  // DIRECT: @kernels_object
  // CHECK-LABEL: func.func @nested
  // DIRECT: llvm.call @rmsnorm_gpu_launch
  module @inner attributes {gpu.container_module} {
    gpu.module @kernels [#rmsnorm.target<sim "sim32">] {
      llvm.func @k(%a: !llvm.ptr, %b: !llvm.ptr) -> !llvm.ptr attributes {gpu.kernel} {
        llvm.return %a : !llvm.ptr
      }
    }
    func.func @nested(%x: memref<64xf32>) {
      %c1 = arith.constant 1 : index
      %p = rmsnorm.buffer_pointer %x : memref<64xf32>
      gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !llvm.ptr<1>)
      return
    }
  }

  // Not so where the loop looks at what is computed.
  // CHECK-LABEL: func.func @look
  func.func @look(%x: memref<64xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = rmsnorm.buffer_pointer %x : memref<64xf32>
      // DIRECT: llvm.call @rmsnorm_gpu_launch
      // DIRECT-NEXT: llvm.call @rmsnorm_gpu_synchronize
      // CHECK: memref.store
      gpu.launch_func @kernels::@clustered blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1) args(%p : !llvm.ptr<1>, %p : !llvm.ptr<1>)
      %f = arith.constant 0.5 : f32
      memref.store %f, %x[%c0] : memref<64xf32>
    }
    return
  }
}

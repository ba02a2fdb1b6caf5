// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefix=NV
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | norm-opt --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefix=AMD
// RUN: sed 's/TARGET/sim "sim32"/' %s | norm-opt --rmsnorm-finalize-sim | FileCheck %s --check-prefix=SIM

gpu.module @kernels [#rmsnorm.target<TARGET>] {
  // Pieces of up to 16 bytes; the constant of an offset is a step of its own.
  // NV-LABEL: llvm.func @copies
  // NV: %[[BASE:.*]] = llvm.mlir.addressof @rmsnorm_workgroup
  // NV: %[[TO:.*]] = llvm.getelementptr inbounds %[[BASE]][%arg3]
  // NV: %[[FAR:.*]] = llvm.getelementptr inbounds %[[TO]][4096]
  // NV: nvvm.cp.async.shared.global %[[FAR]], %{{.*}}, 16, cache = cg :
  // NV: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
  // NV: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg :
  // NV: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca :
  // NV: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca :
  // NV-NEXT: nvvm.cp.async.commit.group
  // NV-NEXT: nvvm.cp.async.wait.group 2
  // AMD-LABEL: llvm.func @copies
  // AMD: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
  // AMD: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
  // AMD-NOT: nvvm
  // SIM-LABEL: llvm.func @copies
  // SIM: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64, i64, i32, i32, i32) -> !llvm.ptr
  gpu.func @copies(%x: !llvm.ptr<1>, %row: i64, %column: i32, %to: i32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c4096 = arith.constant 4096 : i32
    %far = arith.addi %to, %c4096 overflow<nsw, nuw> : i32
    rmsnorm.async_copy %x[%row, %column] to %far alignment(16) : vector<8xbf16>
    rmsnorm.async_copy %x[%row, %column] to %to alignment(16) : vector<8xf32>
    // Less than 16 bytes go through L1.
    rmsnorm.async_copy %x[%row, %column] to %to alignment(8) : vector<8xbf16>
    rmsnorm.copy_commit
    rmsnorm.copy_wait 2
    gpu.return
  }

  // Of what is not valid nothing is read, and zeros are written.
  // NV-LABEL: llvm.func @predicated
  // NV: %[[P:.*]] = llvm.icmp "sgt" %arg4
  // NV: %[[BYTES:.*]] = llvm.select %[[P]], %{{.*}}, %{{.*}} : i1, i32
  // NV: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
  // cp.async does not copy 2 bytes.
  // NV-NOT: nvvm.cp.async
  // NV-COUNT-2: ld.global.b16
  // NV: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<3>
  gpu.func @predicated(%x: !llvm.ptr<1>, %row: i64, %column: i32, %to: i32, %n: i32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    rmsnorm.async_copy %x[%row, %column] to %to valid(%n) alignment(16) : vector<4xf32>
    rmsnorm.async_copy %x[%row, %column] to %to valid(%n) alignment(2) : vector<2xbf16>
    gpu.return
  }

  // A later segment loads from an offset that nobody knows to be the same.
  // NV-LABEL: llvm.func @segments
  // NV: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // NV: %[[HIDDEN:.*]] = llvm.inline_asm asm_dialect = att "// segment 1", "=r,0" %arg1
  // NV: %[[AT:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[HIDDEN]]]
  // NV: llvm.load %[[AT]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  // NV-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
  // AMD-LABEL: llvm.func @segments
  // AMD: llvm.inline_asm asm_dialect = att "// segment 1", "=v,0" %arg1
  gpu.func @segments(%y: !llvm.ptr<1>, %at: i32, %row: i64, %v: f32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %0 = rmsnorm.workgroup_load %at : vector<8xbf16>
    %1 = rmsnorm.workgroup_load %at segment(1) : vector<8xbf16>
    rmsnorm.global_store %0, %y[%row, %at] alignment(16) : vector<8xbf16>
    rmsnorm.global_store %1, %y[%row, %at] alignment(16) : vector<8xbf16>
    %2 = vector.broadcast %v : f32 to vector<8xf32>
    rmsnorm.workgroup_store %2, %at : vector<8xf32>
    gpu.return
  }
}

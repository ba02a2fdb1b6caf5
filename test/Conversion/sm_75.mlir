// Without copies in the background these are loads and stores, for which nobody
// waits; without cache policies there are none.
// RUN: sed 's/CHIP/sm_75/' %s | norm-opt --rmsnorm-attach-target=target=sm_75 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefix=OLD --implicit-check-not=createpolicy --implicit-check-not=cp.async
// RUN: sed 's/CHIP/sm_80/' %s | norm-opt --rmsnorm-attach-target=target=sm_80 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefix=NEW

// OLD: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// OLD: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
// OLD: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// OLD: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>

// NEW: createpolicy.fractional.L2::evict_last
// NEW: nvvm.cp.async.shared.global
// NEW: nvvm.cp.async.commit.group
// NEW: nvvm.cp.async.wait.group 0
// NEW: L1::evict_last.L2::cache_hint
gpu.module @kernels [#rmsnorm.target<nvvm "CHIP">] {
  gpu.func @row(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32, %to: i32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    rmsnorm.async_copy %x[%row, %column] to %to alignment(16) : vector<8xbf16>
    rmsnorm.copy_commit
    rmsnorm.copy_wait 0
    %v = rmsnorm.global_load %x[%row, %column] alignment(16) policy(evict_last) : vector<8xbf16>
    rmsnorm.global_store %v, %y[%row, %column] alignment(16) policy(evict_first) : vector<8xbf16>
    gpu.return
  }
}

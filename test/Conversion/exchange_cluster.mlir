// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_80 --rmsnorm-finalize-nvvm 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not norm-opt %s --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl 2>&1 | FileCheck %s --check-prefix=AMD

// SM80: error: expected an exchange between at most 1 blocks on sm_80, got 4
// AMD: error: expected an exchange between at most 1 blocks on gfx942, got 4

// One arrival a phase: that of the thread that says how many bytes are to come,
// of 2 values of 4 x 8 subgroups.

// CHECK-LABEL: llvm.func @cluster
// CHECK-DAG:     %[[FOUR:.+]] = llvm.mlir.constant(4 : i32)
// CHECK:         "@$1 mbarrier.init.shared::cta.b64 [$0], 1;\0A\09@$1 fence.mbarrier_init.release.cluster;", "r,b,~{memory}"
// CHECK-NEXT:    nvvm.cluster.arrive.relaxed {aligned}
// CHECK:         nvvm.cluster.wait {aligned}
// CHECK:         %[[LANE0:.+]] = llvm.icmp "eq" %[[LANE:.+]], %{{.+}} : i32
// CHECK:         %[[SUBGROUP0:.+]] = llvm.icmp "eq" %arg4, %{{.+}} : i32
// CHECK:         %[[FIRST:.+]] = llvm.and %[[LANE0]], %[[SUBGROUP0]]  : i1
// CHECK:         "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 256;", "r,b,~{memory}" %[[BARRIER:.+]], %[[FIRST]]
// Lane r sends to rank r.
// CHECK:         %[[SENDS:.+]] = llvm.icmp "ult" %[[LANE]], %[[FOUR]] : i32
// CHECK:         llvm.cond_br %[[SENDS]]
// CHECK:         nvvm.read.ptx.sreg.cluster.ctarank
// CHECK:         %[[REMOTE:.+]] = llvm.inline_asm asm_dialect = att "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r" %{{.+}}, %[[LANE]]
// CHECK:         %[[REMOTE_BARRIER:.+]] = llvm.inline_asm asm_dialect = att "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r" %[[BARRIER]], %[[LANE]]
// CHECK:         "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0+0], $1, [$2];", "r,f,r,~{memory}" %[[REMOTE]], %arg0, %[[REMOTE_BARRIER]]
// CHECK:         "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0+128], $1, [$2];", "r,f,r,~{memory}" %[[REMOTE]], %arg1, %[[REMOTE_BARRIER]]
// CHECK:         mbarrier.try_wait.parity.shared::cta.b64
gpu.module @cluster_module {
  gpu.func @cluster(%x: f32, %y: f32, %n: i32, %g: i32, %s: i32)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    rmsnorm.exchange_init <values = 2, subgroups = 8, cluster = 4>
    rmsnorm.exchange_ready <values = 2, subgroups = 8, cluster = 4>
    rmsnorm.exchange_publish %x, %y number(%n) group(%g) subgroup(%s) <values = 2, subgroups = 8, cluster = 4> : f32, f32
    rmsnorm.exchange_await number(%n) group(%g) <values = 2, subgroups = 8, cluster = 4>
    gpu.return
  }
}

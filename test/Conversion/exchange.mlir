// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefix=NV
// RUN: sed 's/TARGET/sim "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sim:sm_90 --rmsnorm-finalize-sim | FileCheck %s --check-prefix=SIM
// RUN: sed 's/TARGET/nvvm "sm_80"/' %s | not norm-opt --rmsnorm-attach-target=target=sm_80 --rmsnorm-finalize-nvvm 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | not norm-opt --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl 2>&1 | FileCheck %s --check-prefix=AMD

// SM80: error: expected an exchange between at most 1 blocks on sm_80, got 4
// AMD: error: expected an exchange between at most 1 blocks on gfx942, got 4

// Eight subgroups of each of four blocks: 4 slots of 2 x 32 values from byte 32
// on, then 4 barriers at 1056. One arrival a phase: that of the thread that says
// how many bytes are to come, the 2 values of all.

// NV-LABEL: llvm.func @cluster
// NV-DAG:     %[[ONE:.+]] = llvm.mlir.constant(1 : i32)
// NV-DAG:     %[[TWO:.+]] = llvm.mlir.constant(2 : i32)
// NV-DAG:     %[[THREE:.+]] = llvm.mlir.constant(3 : i32)
// NV-DAG:     %[[FOUR:.+]] = llvm.mlir.constant(4 : i32)
// NV-DAG:     %[[EIGHT:.+]] = llvm.mlir.constant(8 : i32)
// NV-DAG:     %[[SLOT_BYTES:.+]] = llvm.mlir.constant(256 : i32)
// NV-DAG:     %[[FIRST_VALUE:.+]] = llvm.mlir.constant(32 : i32)
// NV-DAG:     %[[SECOND_VALUE:.+]] = llvm.mlir.constant(160 : i32)
// NV-DAG:     %[[BARRIERS:.+]] = llvm.mlir.constant(1056 : i32)
// NV-DAG:     %[[BUFFER:.+]] = llvm.mlir.addressof @rmsnorm_workgroup
// A thread for each barrier.
// NV:         %[[MINE:.+]] = llvm.icmp "ult" %[[THREAD:.+]], %[[FOUR]] : i32
// NV:         %[[BYTES:.+]] = llvm.mul %[[THREAD]], %[[EIGHT]] : i32
// NV:         %[[OFFSET:.+]] = llvm.add %[[BYTES]], %[[BARRIERS]] : i32
// NV:         %[[BASE:.+]] = llvm.ptrtoint %[[BUFFER]] : !llvm.ptr<3> to i32
// NV:         %[[ADDRESS:.+]] = llvm.add %[[BASE]], %[[OFFSET]] : i32
// NV:         %[[END:.+]] = llvm.add
// After a branch, in a loop: what is only switched off counts as done for compute-sanitizer.
// NV:         @!$2 bra DONE_${:uid};\0AINIT_${:uid}:\0A\09mbarrier.init.shared::cta.b64 [at], 1;
// NV-SAME:    @more bra INIT_${:uid};\0ADONE_${:uid}:\0A\09}\0A\09@$2 fence.mbarrier_init.release.cluster;", "r,r,b,~{memory}" %[[ADDRESS]], %[[END]], %[[MINE]]
// NV-NEXT:    nvvm.cluster.arrive.relaxed {aligned}
// NV:         nvvm.cluster.wait {aligned}
// The slot is the number modulo 4.
// NV:         %[[SLOT:.+]] = llvm.and %arg2, %[[THREE]] : i32
// NV:         %[[SLOT_BARRIER:.+]] = llvm.mul %[[SLOT]], %[[EIGHT]] : i32
// NV:         %[[BARRIER_OFFSET:.+]] = llvm.add %[[SLOT_BARRIER]], %[[BARRIERS]] : i32
// NV:         %[[BARRIER:.+]] = llvm.add %{{.+}}, %[[BARRIER_OFFSET]] : i32
// NV:         %[[LANE0:.+]] = llvm.icmp "eq" %[[LANE:.+]], %{{.+}} : i32
// NV:         %[[SUBGROUP0:.+]] = llvm.icmp "eq" %arg3, %{{.+}} : i32
// NV:         %[[FIRST:.+]] = llvm.and %[[LANE0]], %[[SUBGROUP0]]  : i1
// NV:         "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 256;", "r,b,~{memory}" %[[BARRIER]], %[[FIRST]]
// Lane r sends to rank r.
// NV:         %[[SENDS:.+]] = llvm.icmp "ult" %[[LANE]], %[[FOUR]] : i32
// NV:         llvm.cond_br %[[SENDS]]
// NV:         %[[RANK:.+]] = nvvm.read.ptx.sreg.cluster.ctarank
// NV:         %[[BEFORE:.+]] = llvm.mul %[[RANK]], %[[EIGHT]] : i32
// NV:         %[[PUBLISHER:.+]] = llvm.add %[[BEFORE]], %arg3 : i32
// NV:         %[[SLOT_OFFSET:.+]] = llvm.mul %[[SLOT]], %[[SLOT_BYTES]] : i32
// NV:         %[[PUBLISHER_OFFSET:.+]] = llvm.mul %[[PUBLISHER]], %[[FOUR]] : i32
// NV:         %[[SUM:.+]] = llvm.add %[[SLOT_OFFSET]], %[[PUBLISHER_OFFSET]] : i32
// NV:         %[[VALUE_OFFSET:.+]] = llvm.add %[[SUM]], %[[FIRST_VALUE]] : i32
// NV:         %[[VALUE:.+]] = llvm.add %{{.+}}, %[[VALUE_OFFSET]] : i32
// NV:         %[[REMOTE:.+]] = llvm.inline_asm asm_dialect = att "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r" %[[VALUE]], %[[LANE]]
// NV:         %[[REMOTE_BARRIER:.+]] = llvm.inline_asm asm_dialect = att "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r" %[[BARRIER]], %[[LANE]]
// NV:         "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0+0], $1, [$2];", "r,f,r,~{memory}" %[[REMOTE]], %arg0, %[[REMOTE_BARRIER]]
// NV:         "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0+128], $1, [$2];", "r,f,r,~{memory}" %[[REMOTE]], %arg1, %[[REMOTE_BARRIER]]
// The phase is the next bit of the number.
// NV:         %[[USE:.+]] = llvm.lshr %arg2, %[[TWO]] : i32
// NV:         %[[PHASE:.+]] = llvm.and %[[USE]], %[[ONE]] : i32
// NV:         llvm.inline_asm has_side_effects asm_dialect = att "{{.*}}mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1, 10000000;{{.*}}", "r,r,~{memory}" %{{.+}}, %[[PHASE]]
// The second value of all publishers lies after the first ones.
// NV:         %[[PLACE:.+]] = llvm.add %{{.+}}, %[[SECOND_VALUE]] : i32
// NV:         %[[POINTER:.+]] = llvm.getelementptr inbounds %[[BUFFER]][%[[PLACE]]]
// NV:         llvm.load %[[POINTER]] : !llvm.ptr<3> -> f32

// SIM-LABEL: llvm.func @cluster
// SIM-SAME:      (%{{.+}}: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// The fields, from the offset on.
// SIM:         %[[OFFSET:.+]] = llvm.mlir.constant(32 : i32)
// SIM:         %[[BYTES:.+]] = llvm.mlir.constant(1056 : i32)
// SIM:         %[[SLOTS:.+]] = llvm.mlir.constant(4 : i32)
// SIM:         %[[VALUES:.+]] = llvm.mlir.constant(2 : i32)
// SIM:         %[[SUBGROUPS:.+]] = llvm.mlir.constant(8 : i32)
// SIM:         %[[CLUSTER:.+]] = llvm.mlir.constant(4 : i32)
// SIM:         llvm.call %{{.+}}(%[[THREAD]], %[[OFFSET]], %[[BYTES]], %[[SLOTS]], %[[VALUES]], %[[SUBGROUPS]], %[[CLUSTER]]) : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, i32, i32) -> !llvm.ptr
// SIM:         llvm.mlir.constant(4 : i32)
// SIM:         llvm.intr.coro.suspend
// SIM-COUNT-2: llvm.call %{{.+}} : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, f32) -> !llvm.ptr
// SIM:         %[[NUMBER:.+]] = llvm.getelementptr %[[THREAD]][36]
// SIM:         llvm.store %{{.+}}, %[[NUMBER]]
// SIM:         llvm.mlir.constant(5 : i32)
// SIM:         llvm.intr.coro.suspend
// SIM:         %[[ADDRESS:.+]] = llvm.call %{{.+}} : !llvm.ptr, (!llvm.ptr, i32, i32, i32) -> !llvm.ptr
// SIM:         llvm.load %[[ADDRESS]] : !llvm.ptr -> f32
gpu.module @cluster_module [#rmsnorm.target<TARGET>] {
  gpu.func @cluster(%x: f32, %y: f32, %n: i32, %s: i32, %p: i32, %out: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    rmsnorm.exchange_init <values = 2, subgroups = 8, cluster = 4, offset = 32>
    rmsnorm.exchange_ready <values = 2, subgroups = 8, cluster = 4, offset = 32>
    rmsnorm.exchange_publish %x, %y number(%n) subgroup(%s) <values = 2, subgroups = 8, cluster = 4, offset = 32> : f32, f32
    rmsnorm.exchange_await number(%n) <values = 2, subgroups = 8, cluster = 4, offset = 32>
    %z = rmsnorm.exchange_read number(%n) publisher(%p) value(1) <values = 2, subgroups = 8, cluster = 4, offset = 32> : f32
    %v = vector.broadcast %z : f32 to vector<1xf32>
    rmsnorm.global_store %v, %out[%row, %c0] alignment(4) : vector<1xf32>
    gpu.return
  }
}

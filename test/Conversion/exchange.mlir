// RUN: norm-opt %s --split-input-file --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefix=NV
// RUN: norm-opt %s --split-input-file --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefix=AMD
// RUN: norm-opt %s --split-input-file --rmsnorm-attach-target=target=sim:sm_90 --rmsnorm-finalize-sim | FileCheck %s --check-prefix=SIM

// Two row groups of four subgroups: 4 slots of 2 x 2 x 4 values from byte 32
// on, then 4 x 2 barriers at 288.

// NV-LABEL: llvm.func @row_groups
// NV-DAG:     %[[ONE:.+]] = llvm.mlir.constant(1 : i32)
// NV-DAG:     %[[TWO:.+]] = llvm.mlir.constant(2 : i32)
// NV-DAG:     %[[THREE:.+]] = llvm.mlir.constant(3 : i32)
// NV-DAG:     %[[EIGHT:.+]] = llvm.mlir.constant(8 : i32)
// NV-DAG:     %[[SECOND:.+]] = llvm.mlir.constant(48 : i32)
// NV-DAG:     %[[BARRIERS:.+]] = llvm.mlir.constant(288 : i32)
// NV-DAG:     %[[BUFFER:.+]] = llvm.mlir.addressof @rmsnorm_workgroup
// NV:         %[[MINE:.+]] = llvm.icmp "ult" %[[THREAD:.+]], %[[EIGHT]] : i32
// NV:         %[[BYTES:.+]] = llvm.mul %[[THREAD]], %[[EIGHT]] : i32
// NV:         %[[OFFSET:.+]] = llvm.add %[[BYTES]], %[[BARRIERS]] : i32
// NV:         %[[BASE:.+]] = llvm.ptrtoint %[[BUFFER]] : !llvm.ptr<3> to i32
// NV:         %[[ADDRESS:.+]] = llvm.add %[[BASE]], %[[OFFSET]] : i32
// NV:         llvm.inline_asm has_side_effects asm_dialect = att "@$1 mbarrier.init.shared::cta.b64 [$0], 4;", "r,b,~{memory}" %[[ADDRESS]], %[[MINE]]
// NV-NEXT:    nvvm.barrier
// The slot is the number modulo 4, the phase the next bit.
// NV:         %[[SLOT:.+]] = llvm.and %arg2, %[[THREE]] : i32
// NV:         llvm.cond_br
// NV-COUNT-2: llvm.store %{{.+}}, %{{.+}} : f32, !llvm.ptr<3>
// NV-NEXT:    "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"
// NV:         %[[USE:.+]] = llvm.lshr %arg2, %[[TWO]] : i32
// NV:         %[[PHASE:.+]] = llvm.and %[[USE]], %[[ONE]] : i32
// NV:         llvm.inline_asm has_side_effects asm_dialect = att "{{.*}}mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1, 10000000;{{.*}}", "r,r,~{memory}" %{{.+}}, %[[PHASE]]
// The second value of all four publishers lies behind the first ones.
// NV:         %[[PLACE:.+]] = llvm.add %{{.+}}, %[[SECOND]] : i32
// NV:         %[[POINTER:.+]] = llvm.getelementptr inbounds %[[BUFFER]][%[[PLACE]]]
// NV:         llvm.load %[[POINTER]] : !llvm.ptr<3> -> f32

// AMD-LABEL:  llvm.func @row_groups
// AMD-DAG:     %[[SECOND:.+]] = llvm.mlir.constant(48 : i32)
// AMD-DAG:     %[[BUFFER:.+]] = llvm.mlir.addressof @rmsnorm_workgroup
// AMD-NOT:     rocdl.s.barrier
// AMD:         llvm.cond_br
// AMD-COUNT-2: llvm.store %{{.+}}, %{{.+}} : f32, !llvm.ptr<3>
// AMD:         rocdl.s.barrier
// AMD:         %[[PLACE:.+]] = llvm.add %{{.+}}, %[[SECOND]] : i32
// AMD:         %[[POINTER:.+]] = llvm.getelementptr inbounds %[[BUFFER]][%[[PLACE]]]
// AMD:         llvm.load %[[POINTER]] : !llvm.ptr<3> -> f32

// SIM-LABEL: llvm.func @row_groups
// SIM-SAME:      (%{{.+}}: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// The fields, from the offset on.
// SIM:         %[[OFFSET:.+]] = llvm.mlir.constant(32 : i32)
// SIM:         %[[BYTES:.+]] = llvm.mlir.constant(320 : i32)
// SIM:         %[[OK:.+]] = llvm.call %{{.+}}(%[[THREAD]], %[[OFFSET]], %[[BYTES]], %{{.+}}) : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, i32, i32, i32) -> !llvm.ptr
// SIM:         llvm.icmp "ne" %[[OK]]
// SIM:         llvm.mlir.constant(5 : i32)
// SIM:         llvm.intr.coro.suspend
// SIM-COUNT-2: llvm.call %{{.+}} : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, i32, f32) -> !llvm.ptr
// SIM:         %[[NUMBER:.+]] = llvm.getelementptr %[[THREAD]][36]
// SIM:         llvm.store %{{.+}}, %[[NUMBER]]
// SIM:         llvm.mlir.constant(6 : i32)
// SIM:         llvm.intr.coro.suspend
// SIM:         %[[ADDRESS:.+]] = llvm.call %{{.+}} : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32) -> !llvm.ptr
// SIM:         llvm.load %[[ADDRESS]] : !llvm.ptr -> f32
gpu.module @row_groups_module {
  gpu.func @row_groups(%x: f32, %y: f32, %n: i32, %g: i32, %s: i32, %out: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    rmsnorm.exchange_init <values = 2, row_groups = 2, subgroups = 4, offset = 32>
    rmsnorm.exchange_ready <values = 2, row_groups = 2, subgroups = 4, offset = 32>
    rmsnorm.exchange_publish %x, %y number(%n) group(%g) subgroup(%s) <values = 2, row_groups = 2, subgroups = 4, offset = 32> : f32, f32
    rmsnorm.exchange_await number(%n) group(%g) <values = 2, row_groups = 2, subgroups = 4, offset = 32>
    %z = rmsnorm.exchange_read number(%n) group(%g) publisher(%s) value(1) <values = 2, row_groups = 2, subgroups = 4, offset = 32> : f32
    %v = vector.broadcast %z : f32 to vector<1xf32>
    rmsnorm.global_store %v, %out[%row, %c0] alignment(4) : vector<1xf32>
    gpu.return
  }
}

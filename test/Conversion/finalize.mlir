// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefixes=CHECK,NV
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | norm-opt --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefixes=CHECK,AMD,GFX9
// RUN: sed 's/TARGET/rocdl "gfx1100"/' %s | norm-opt --rmsnorm-attach-target=target=gfx1100 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefixes=CHECK,AMD,GFX11

// AMD: #mmra_tag = #llvm.mmra_tag<"amdgpu-synchronize-as":"local">
gpu.module @kernels [#rmsnorm.target<TARGET>] {
  // CHECK: llvm.mlir.global external @rmsnorm_workgroup() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

  // Neither noalias nor readonly on arguments: no load becomes .nc.
  // CHECK-LABEL: llvm.func @plain_access(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>, %arg2: i64, %arg3: i32)
  // NV-NOT: nvvm.minctasm
  // NV-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 512, 1, 1>
  // AMD-SAME: rocdl.flat_work_group_size = "512,512"
  // AMD-SAME: rocdl.kernel
  gpu.func @plain_access(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32)
      kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    // The constant is a step of its own, for the instruction's immediate.
    // CHECK: %[[BYTES:.*]] = llvm.shl %arg3, %{{.*}} overflow<nuw> : i32
    // CHECK: %[[ROW:.*]] = llvm.getelementptr inbounds %arg0[%arg2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    // CHECK: %[[OFFSET:.*]] = llvm.zext %[[BYTES]] : i32 to i64
    // CHECK: %[[START:.*]] = llvm.getelementptr inbounds %[[ROW]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %[[START]][4096] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: llvm.load %[[ADDRESS]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %c2048 = arith.constant 2048 : i32
    %far = arith.addi %column, %c2048 overflow<nsw, nuw> : i32
    %a = rmsnorm.global_load %x[%row, %far] alignment(16) : vector<8xbf16>
    // Wider than 16 bytes: two accesses.
    // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %b = rmsnorm.global_load %x[%row, %column] alignment(16) : vector<8xf32>
    // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    %c = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<8xf16>
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
    // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
    rmsnorm.global_store %a, %y[%row, %column] alignment(16) : vector<8xbf16>
    rmsnorm.global_store %b, %y[%row, %column] alignment(16) : vector<8xf32>
    rmsnorm.global_store %c, %y[%row, %column] alignment(8) : vector<8xf16>
    gpu.return
  }

  // Not the intrinsics: LLVM may move a load of memory above those.
  // CHECK-LABEL: llvm.func @grids
  // NV-NEXT: llvm.inline_asm has_side_effects asm_dialect = att "griddepcontrol.wait;", "~{memory}"
  // NV-NEXT: llvm.inline_asm has_side_effects asm_dialect = att "griddepcontrol.launch_dependents;", "~{memory}"
  // CHECK-NEXT: llvm.return
  gpu.func @grids() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    rmsnorm.grid_wait
    rmsnorm.launch_dependents
    gpu.return
  }

  // CHECK-LABEL: llvm.func @predicated_access
  gpu.func @predicated_access(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32, %n: i32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // NV: %[[P0:.*]] = llvm.icmp "sgt" %arg4, %{{.*}} : i32
    // NV: llvm.inline_asm has_side_effects asm_dialect = att "@$5 ld.global.v4.b32 {$0,$1,$2,$3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %{{[^,]*}}, %[[P0]]
    // NV: llvm.inline_asm has_side_effects asm_dialect = att "@$5 ld.global.v4.b32
    // AMD-NOT: llvm.cond_br
    // AMD: %[[P0:.*]] = llvm.icmp "sgt" %arg4, %{{.*}} : i32
    // AMD: llvm.select %[[P0]], %{{.*}}, %{{.*}} : i1, i32
    // AMD: %[[V:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    // AMD: llvm.select %[[P0]], %[[V]], %{{.*}} : i1, vector<4xf32>
    %a = rmsnorm.global_load %x[%row, %column] valid(%n) alignment(16) : vector<8xf32>
    // NV-COUNT-2: "@$2 ld.global.b16 $0, [$1];", "=h,l,b,0"
    // AMD: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> vector<1xbf16>
    %b = rmsnorm.global_load %x[%row, %column] valid(%n) alignment(2) : vector<2xbf16>
    // AMD: llvm.cond_br
    // NV-COUNT-2: "@$5 st.global.v4.b32 [$0], {$1,$2,$3,$4};", "l,r,r,r,r,b,~{memory}"
    rmsnorm.global_store %a, %y[%row, %column] valid(%n) alignment(16) : vector<8xf32>
    // NV-COUNT-2: "@$2 st.global.b16 [$0], $1;", "l,h,b,~{memory}"
    rmsnorm.global_store %b, %y[%row, %column] valid(%n) alignment(2) : vector<2xbf16>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @policy
  gpu.func @policy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // One policy register each, at the entry.
    // NV-DAG: %[[LAST:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l"  : () -> i64
    // NV-DAG: %[[FIRST:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"  : () -> i64
    // NV-COUNT-2: "ld.global.L1::evict_last.L2::cache_hint.v4.b32 {$0,$1,$2,$3}, [$4], $5;", "=r,=r,=r,=r,l,l" %{{[^,]*}}, %[[LAST]]
    // NV: "ld.global.L1::evict_first.L2::cache_hint.v4.b32 {$0,$1,$2,$3}, [$4], $5;", "=r,=r,=r,=r,l,l" %{{[^,]*}}, %[[FIRST]]
    // NV: "ld.global.v4.b32 {$0,$1,$2,$3}, [$4];"
    // NV: "st.global.L1::evict_first.L2::cache_hint.v4.b32 [$0], {$1,$2,$3,$4}, $5;"
    // The second segment's base is another pointer to LLVM.
    // AMD-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    // AMD: %[[BASE:.*]] = llvm.inline_asm asm_dialect = att "", "=s,0" %arg0 : (!llvm.ptr<1>) -> !llvm.ptr<1>
    // AMD: llvm.getelementptr inbounds %[[BASE]]
    // AMD: llvm.load %{{.*}} {alignment = 16 : i64, nontemporal} : !llvm.ptr<1> -> vector<8xbf16>
    // AMD: llvm.getelementptr inbounds %[[BASE]]
    // AMD: llvm.store %{{.*}} {alignment = 16 : i64, nontemporal}
    %a = rmsnorm.global_load %x[%row, %column] alignment(16) policy(evict_last) : vector<8xbf16>
    %b = rmsnorm.global_load %x[%row, %column] alignment(16) policy(evict_last) : vector<8xbf16>
    %c = rmsnorm.global_load %x[%row, %column] alignment(16) segment(1) policy(evict_first) : vector<8xbf16>
    %d = rmsnorm.global_load %x[%row, %column] alignment(16) segment(1) : vector<8xbf16>
    rmsnorm.global_store %c, %y[%row, %column] alignment(16) policy(evict_first) : vector<8xbf16>
    rmsnorm.global_store %a, %y[%row, %column] alignment(16) : vector<8xbf16>
    rmsnorm.global_store %b, %y[%row, %column] alignment(16) : vector<8xbf16>
    rmsnorm.global_store %d, %y[%row, %column] alignment(16) : vector<8xbf16>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @reduce
  gpu.func @reduce(%x: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // NV-COUNT-5: nvvm.shfl.sync bfly
    // GFX9: rocdl.update.dpp {{.*}} with 177, 15, 15, true : f32
    // GFX9: rocdl.update.dpp {{.*}} with 78, 15, 15, true : f32
    // GFX9: rocdl.update.dpp {{.*}} with 321, 15, 15, true : f32
    // GFX9: rocdl.update.dpp {{.*}} with 320, 15, 15, true : f32
    // GFX9: rocdl.ds_swizzle
    // GFX11-COUNT-4: rocdl.update.dpp
    // GFX11: rocdl.permlanex16
    %a = rmsnorm.subgroup_reduce add %x width(32) : f32
    // NV-COUNT-2: nvvm.shfl.sync bfly
    // AMD-COUNT-2: rocdl.update.dpp
    // CHECK-NOT: nvvm.shfl
    // CHECK-NOT: rocdl.update.dpp
    // CHECK: llvm.intr.maximum
    %b = rmsnorm.subgroup_reduce maximumf %a width(4) : f32
    %v = vector.broadcast %b : f32 to vector<1xf32>
    rmsnorm.global_store %v, %y[%row, %c0] alignment(4) : vector<1xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @workgroup
  gpu.func @workgroup(%x: f32, %offset: i32)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[BUFFER:.*]] = llvm.mlir.addressof @rmsnorm_workgroup : !llvm.ptr<3>
    // CHECK: %[[SLOT:.*]] = llvm.getelementptr inbounds %[[BUFFER]][%arg1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: llvm.store %arg0, %[[SLOT]]
    rmsnorm.workgroup_store %x, %offset : f32
    // NV: nvvm.barrier
    // AMD: llvm.fence syncscope("workgroup") release {llvm.mmra = #mmra_tag}
    // AMD: rocdl.s.barrier
    // AMD: llvm.fence syncscope("workgroup") acquire {llvm.mmra = #mmra_tag}
    rmsnorm.barrier
    %y = rmsnorm.workgroup_load %offset : f32
    rmsnorm.workgroup_store %y, %offset : f32
    gpu.return
  }

  // At 64 registers a thread ptxas sees through an empty asm: an xor with a
  // zero that only the hardware knows.
  // CHECK-LABEL: llvm.func @keep_tight
  gpu.func @keep_tight(%x: vector<4xbf16>, %after: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // NV: %[[ZERO:.*]] = llvm.inline_asm asm_dialect = att "mov.u32 $0, %ctaid.z;", "=r"
    // NV: %[[WORD:.*]] = llvm.inline_asm asm_dialect = att "", "=r,0,f" %{{.*}}, %arg1 : (i32, f32) -> i32
    // NV: llvm.xor %[[WORD]], %[[ZERO]] : i32
    // AMD-COUNT-2: llvm.inline_asm asm_dialect = att "", "=v,0,v" %{{.*}}, %arg1 : (i32, f32) -> i32
    %k = rmsnorm.keep %x after %after : vector<4xbf16>, f32
    rmsnorm.global_store %k, %y[%row, %c0] alignment(8) : vector<4xbf16>
    gpu.return
  }

  // After loads whose bits are given: on NVIDIA an instruction needs them and
  // the value, however many registers there are.
  // CHECK-LABEL: llvm.func @keep_after_loads
  // NV-SAME: %[[X:[^:]*]]: vector<4xbf16>, %[[BITS:[^:]*]]: vector<1xi32>
  // NV: %[[ZERO:.*]] = llvm.inline_asm asm_dialect = att "mov.u32 $0, %ctaid.z;", "=r"
  // NV: %[[NONE:.*]] = llvm.and %{{.*}}, %[[ZERO]] : i32
  // NV: llvm.xor %{{.*}}, %[[NONE]] : i32
  // NV-NOT: llvm.xor
  // AMD-NOT: llvm.inline_asm
  gpu.func @keep_after_loads(%x: vector<4xbf16>, %bits: vector<1xi32>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %k = rmsnorm.keep %x after %bits : vector<4xbf16>, vector<1xi32>
    rmsnorm.global_store %k, %y[%row, %c0] alignment(8) : vector<4xbf16>
    gpu.return
  }

  // The other keeps of such a kernel need no zero where registers are many.
  // CHECK-LABEL: llvm.func @keep_after_both
  // NV: %[[NONE:.*]] = llvm.and
  // NV: llvm.xor %{{.*}}, %[[NONE]] : i32
  // NV: llvm.inline_asm asm_dialect = att "", "=r,0,f" %{{.*}}, %{{.*}} : (i32, f32) -> i32
  // NV-NOT: llvm.xor
  gpu.func @keep_after_both(%x: vector<4xbf16>, %bits: vector<1xi32>, %after: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %k = rmsnorm.keep %x after %bits : vector<4xbf16>, vector<1xi32>
    %l = rmsnorm.keep %k after %after : vector<4xbf16>, f32
    rmsnorm.global_store %l, %y[%row, %c0] alignment(8) : vector<4xbf16>
    gpu.return
  }

  // The same where several blocks must fit together.
  // CHECK-LABEL: llvm.func @keep_blocks
  // NV-SAME: nvvm.minctasm = 3 : i32
  gpu.func @keep_blocks(%x: vector<4xbf16>, %after: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, rmsnorm.min_blocks = 3 : i64} {
    %c0 = arith.constant 0 : i32
    // NV: %[[ZERO:.*]] = llvm.inline_asm asm_dialect = att "mov.u32 $0, %ctaid.z;", "=r"
    // NV: %[[WORD:.*]] = llvm.inline_asm asm_dialect = att "", "=r,0,f" %{{.*}}, %arg1 : (i32, f32) -> i32
    // NV: llvm.xor %[[WORD]], %[[ZERO]] : i32
    %k = rmsnorm.keep %x after %after : vector<4xbf16>, f32
    rmsnorm.global_store %k, %y[%row, %c0] alignment(8) : vector<4xbf16>
    gpu.return
  }

  // Two bf16 of a word by a shift and a mask.
  // CHECK-LABEL: llvm.func @widen_bf16(
  // NV-SAME: %[[X:[^:]*]]: vector<4xbf16>
  // NV: %[[PAIRS:.*]] = llvm.bitcast %[[X]] : vector<4xbf16> to vector<2xi32>
  // NV: %[[LOW:.*]] = llvm.shl %[[PAIRS]], {{.*}} : vector<2xi32>
  // NV: %[[HIGH:.*]] = llvm.and %[[PAIRS]], {{.*}} : vector<2xi32>
  // NV: llvm.fpext %{{.*}} : vector<3xbf16> to vector<3xf32>
  // AMD-COUNT-2: llvm.fpext
  gpu.func @widen_bf16(%x: vector<4xbf16>, %odd: vector<3xbf16>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %0 = arith.extf %x : vector<4xbf16> to vector<4xf32>
    rmsnorm.global_store %0, %y[%row, %c0] alignment(16) : vector<4xf32>
    // No pairs.
    %1 = arith.extf %odd : vector<3xbf16> to vector<3xf32>
    rmsnorm.global_store %1, %y[%row, %c0] alignment(4) : vector<3xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @keep(
  gpu.func @keep(%x: vector<1xbf16>, %after: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // CHECK: llvm.zext %{{.*}} : i16 to i32
    // CHECK: llvm.inline_asm asm_dialect = att ""
    // CHECK-NOT: llvm.xor
    // CHECK: llvm.trunc %{{.*}} : i32 to i16
    %k = rmsnorm.keep %x after %after : vector<1xbf16>, f32
    rmsnorm.global_store %k, %y[%row, %c0] alignment(2) : vector<1xbf16>
    gpu.return
  }

  // A divisor out of f16 is neither flushed to zero nor is its reciprocal: two
  // instructions. Of a bf16 one may be, and a constant is left to LLVM.
  // CHECK-LABEL: llvm.func @divide
  gpu.func @divide(%x: vector<2xf32>, %half: vector<2xf16>, %b: vector<2xbf16>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %six = arith.constant dense<6.0> : vector<2xf32>
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rcp.f32"
    %0 = arith.extf %half : vector<2xf16> to vector<2xf32>
    %1 = arith.divf %x, %0 : vector<2xf32>
    // NV-COUNT-4: llvm.call_intrinsic "llvm.nvvm.div.full"
    // AMD-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.fdiv.fast"
    %2 = arith.extf %b : vector<2xbf16> to vector<2xf32>
    %3 = arith.divf %1, %2 : vector<2xf32>
    %4 = arith.divf %3, %six : vector<2xf32>
    rmsnorm.global_store %4, %y[%row, %c0] alignment(8) : vector<2xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @math
  gpu.func @math(%x: vector<2xf32>, %b: vector<2xbf16>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // CHECK-NOT: llvm.call @
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rsq.f32"
    // tanh: e^2|x| by one instruction, and 1 over what is at least 1.
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rcp.f32"
    // CHECK: llvm.select
    // erf: the same, without a division or a table.
    // CHECK-NOT: {{llvm.select|divide|div.full|fdiv}}
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"
    // CHECK-NOT: llvm.select
    // CHECK: llvm.intr.copysign
    // CHECK: llvm.select
    // CHECK-NOT: llvm.call @
    // NV-COUNT-2: llvm.call_intrinsic "llvm.nvvm.div.full"
    // AMD-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.fdiv.fast"
    // CHECK-NOT: llvm.call @
    %a = math.rsqrt %x : vector<2xf32>
    %c = math.tanh %a : vector<2xf32>
    %d = math.erf %c : vector<2xf32>
    %e = math.exp %d : vector<2xf32>
    %f = math.exp2 %e : vector<2xf32>
    %g = arith.minnumf %f, %x : vector<2xf32>
    %h = math.tanh %b : vector<2xbf16>
    %i = arith.extf %h : vector<2xbf16> to vector<2xf32>
    %j = math.fma %i, %g, %g : vector<2xf32>
    %k = arith.divf %j, %x : vector<2xf32>
    // CHECK: llvm.return
    rmsnorm.global_store %k, %y[%row, %c0] alignment(8) : vector<2xf32>
    gpu.return
  }

  // No polynomial, and nothing for divisors that cannot be.
  // CHECK-LABEL: llvm.func @sigmoid
  gpu.func @sigmoid(%x: vector<1xf32>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %one = arith.constant dense<1.0> : vector<1xf32>
    %n = arith.negf %x : vector<1xf32>
    // CHECK: %[[LOG2E:.*]] = llvm.mlir.constant(dense<1.44269502> : vector<1xf32>)
    // CHECK: llvm.fmul %{{.*}}, %[[LOG2E]]
    // NV: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
    // AMD: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"
    // CHECK: llvm.fadd
    // CHECK-NOT: llvm.fma
    // NV: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
    // AMD: llvm.call_intrinsic "llvm.amdgcn.rcp.f32"
    // CHECK: llvm.fmul
    %e = math.exp %n : vector<1xf32>
    %d = arith.addf %e, %one : vector<1xf32>
    %s = arith.divf %x, %d : vector<1xf32>
    rmsnorm.global_store %s, %y[%row, %c0] alignment(4) : vector<1xf32>
    gpu.return
  }

  // What is rounded to i8 comes from the lowest byte of a sum, a clamp in between
  // or not; what is truncated is converted.
  // CHECK-LABEL: llvm.func @bytes(
  // CHECK-SAME: %[[X:[^:]*]]: vector<4xf32>
  gpu.func @bytes(%x: vector<4xf32>, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %most = arith.constant dense<127.0> : vector<4xf32>
    %half = arith.constant dense<126.5> : vector<4xf32>
    %r = math.roundeven %x : vector<4xf32>
    %c = arith.minimumf %r, %most : vector<4xf32>
    // CHECK: %[[ROUNDER:.*]] = llvm.mlir.constant(dense<0x4B400000> : vector<4xf32>)
    // CHECK: %[[CLAMPED:.*]] = llvm.intr.minimum(%[[X]], %{{.*}})
    // CHECK: %[[SUM:.*]] = llvm.fadd %[[CLAMPED]], %[[ROUNDER]] : vector<4xf32>
    // CHECK: %[[BITS:.*]] = llvm.bitcast %[[SUM]] : vector<4xf32> to vector<4xi32>
    // CHECK: llvm.trunc %[[BITS]] : vector<4xi32> to vector<4xi8>
    %b = arith.fptosi %c : vector<4xf32> to vector<4xi8>
    rmsnorm.global_store %b, %y[%row, %c0] alignment(4) : vector<4xi8>
    // CHECK: llvm.fptosi
    %t = arith.fptosi %x : vector<4xf32> to vector<4xi8>
    rmsnorm.global_store %t, %y[%row, %c4] alignment(4) : vector<4xi8>
    // A clamp to what is no integer does not commute with rounding.
    // CHECK: %[[OTHER:.*]] = llvm.intr.minimum(%{{.*}}, %{{.*}})
    // CHECK: llvm.fptosi %[[OTHER]]
    %d = arith.minimumf %r, %half : vector<4xf32>
    %u = arith.fptosi %d : vector<4xf32> to vector<4xi8>
    rmsnorm.global_store %u, %y[%row, %c8] alignment(4) : vector<4xi8>
    gpu.return
  }

  // A scale of a row is stored, and compared with others'.
  // CHECK-LABEL: llvm.func @scale
  gpu.func @scale(%x: f32, %z: f32, %y: !llvm.ptr<1>, %row: i64)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    // CHECK: llvm.fdiv
    %s = arith.divf %x, %z : f32
    %v = vector.broadcast %s : f32 to vector<1xf32>
    rmsnorm.global_store %v, %y[%row, %c0] alignment(4) : vector<1xf32>
    gpu.return
  }

  // Upstream asks a device library for the size of the grid.
  // CHECK-LABEL: llvm.func @grid
  gpu.func @grid(%y: !llvm.ptr<1>, %n: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %one = arith.constant dense<1.0> : vector<1xf32>
    %b = gpu.block_id x
    // NV: nvvm.read.ptx.sreg.nctaid.x
    // AMD: llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
    %g = gpu.grid_dim x
    scf.for %i = %b to %n step %g {
      %row = arith.index_cast %i : index to i64
      rmsnorm.global_store %one, %y[%row, %c0] alignment(4) : vector<1xf32>
    }
    gpu.return
  }
}

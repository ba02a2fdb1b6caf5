// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefixes=CHECK,NV,NOF4
// RUN: sed 's/TARGET/nvvm "sm_100a"/' %s | norm-opt --rmsnorm-attach-target=target=sm_100a --rmsnorm-finalize-nvvm | FileCheck %s --check-prefixes=CHECK,NV,NV100
// RUN: sed 's/TARGET/nvvm "sm_80"/' %s | norm-opt --rmsnorm-attach-target=target=sm_80 --rmsnorm-finalize-nvvm | FileCheck %s --check-prefixes=CHECK,NONE,NOF4
// RUN: sed 's/TARGET/rocdl "gfx950"/' %s | norm-opt --rmsnorm-attach-target=target=gfx950 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefixes=CHECK,AMD,AMD950
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | norm-opt --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefixes=CHECK,FNUZ,NOF4
// RUN: sed 's/TARGET/rocdl "gfx1100"/' %s | norm-opt --rmsnorm-attach-target=target=gfx1100 --rmsnorm-finalize-rocdl | FileCheck %s --check-prefixes=CHECK,NONE,NOF4

gpu.module @kernels [#rmsnorm.target<TARGET>] {
  // What is too large is NaN: where the instruction saturates it gets a NaN.
  // CHECK-LABEL: llvm.func @open(
  // NV: llvm.fcmp "ogt"
  // NV: llvm.select
  // NV-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // AMD-NOT: llvm.select
  // AMD-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.cvt.pk.fp8.f32"
  // NONE-NOT: call_intrinsic
  // FNUZ-NOT: call_intrinsic
  // CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<8xi8>
  gpu.func @open(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %q = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
    rmsnorm.global_store %q, %y[%row, %column] alignment(16) : vector<8xf8E4M3FN>
    gpu.return
  }

  // A clamp to the largest numbers is what the instruction does by itself.
  // CHECK-LABEL: llvm.func @clamped(
  // NV-NOT: {{fcmp|select|maximum|minimum}}
  // NV-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // AMD: llvm.intr.minimum
  // AMD: llvm.intr.maximum
  // CHECK: llvm.store
  gpu.func @clamped(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %least = arith.constant dense<-448.0> : vector<8xf32>
    %most = arith.constant dense<448.0> : vector<8xf32>
    %a = arith.minimumf %x, %most : vector<8xf32>
    %b = arith.maximumf %a, %least : vector<8xf32>
    %q = arith.truncf %b : vector<8xf32> to vector<8xf8E4M3FN>
    rmsnorm.global_store %q, %y[%row, %column] alignment(16) : vector<8xf8E4M3FN>
    gpu.return
  }

  // A clamp that makes a number of NaN, or to less, stays, but nothing is left
  // that could be too large; a clamp to more leaves it all.
  // CHECK-LABEL: llvm.func @other_clamps(
  // NV: llvm.intr.minnum
  // NV: llvm.intr.maxnum
  // NV-NOT: fcmp
  // NV: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // NV: llvm.intr.minimum
  // NV: llvm.intr.maximum
  // NV-NOT: fcmp
  // NV: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // NV: llvm.intr.minimum
  // NV: llvm.intr.maximum
  // NV: llvm.fcmp "ogt"
  // NV: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
  // CHECK: llvm.return
  gpu.func @other_clamps(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %least = arith.constant dense<-448.0> : vector<4xf32>
    %most = arith.constant dense<448.0> : vector<4xf32>
    %a = arith.minnumf %x, %most : vector<4xf32>
    %b = arith.maxnumf %a, %least : vector<4xf32>
    %q = arith.truncf %b : vector<4xf32> to vector<4xf8E4M3FN>
    rmsnorm.global_store %q, %y[%row, %column] alignment(16) : vector<4xf8E4M3FN>
    %less = arith.constant dense<100.0> : vector<4xf32>
    %c = arith.minimumf %x, %less : vector<4xf32>
    %d = arith.maximumf %c, %least : vector<4xf32>
    %r = arith.truncf %d : vector<4xf32> to vector<4xf8E4M3FN>
    rmsnorm.global_store %r, %y[%row, %column] alignment(16) : vector<4xf8E4M3FN>
    %more = arith.constant dense<500.0> : vector<4xf32>
    %e = arith.minimumf %x, %more : vector<4xf32>
    %f = arith.maximumf %e, %least : vector<4xf32>
    %s = arith.truncf %f : vector<4xf32> to vector<4xf8E4M3FN>
    rmsnorm.global_store %s, %y[%row, %column] alignment(16) : vector<4xf8E4M3FN>
    gpu.return
  }

  // Infinity is beyond the largest number.
  // CHECK-LABEL: llvm.func @e5m2(
  // NV: llvm.fcmp "oge"
  // NV: llvm.call_intrinsic "llvm.nvvm.ff.to.e5m2x2.rn"
  // NV: llvm.zext %{{.*}} : vector<2xi1> to vector<2xi8>
  // NV: llvm.add
  // AMD: llvm.call_intrinsic "llvm.amdgcn.cvt.pk.bf8.f32"
  // CHECK: llvm.return
  gpu.func @e5m2(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<2xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %q = arith.truncf %x : vector<2xf32> to vector<2xf8E5M2>
    rmsnorm.global_store %q, %y[%row, %column] alignment(16) : vector<2xf8E5M2>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @fnuz(
  // FNUZ: llvm.call_intrinsic "llvm.amdgcn.cvt.pk.fp8.f32"
  // AMD-NOT: call_intrinsic
  // NV-NOT: call_intrinsic
  // CHECK: llvm.return
  gpu.func @fnuz(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %q = arith.truncf %x : f32 to f8E4M3FNUZ
    %v = vector.broadcast %q : f8E4M3FNUZ to vector<1xf8E4M3FNUZ>
    rmsnorm.global_store %v, %y[%row, %column] alignment(1) : vector<1xf8E4M3FNUZ>
    gpu.return
  }

  // Inputs; through bf16 to f32 at once, and arithmetic, which is done in f32.
  // CHECK-LABEL: llvm.func @inputs(
  // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xi8>
  // NV-COUNT-4: llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"
  // AMD-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.cvt.pk.f32.fp8"
  // CHECK-NOT: bf16
  // CHECK: llvm.fadd {{.*}} : vector<8xf32>
  // CHECK: llvm.store {{.*}} : vector<8xi8>
  gpu.func @inputs(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = rmsnorm.global_load %x[%row, %column] alignment(16) : vector<8xf8E4M3FN>
    %b = arith.extf %a : vector<8xf8E4M3FN> to vector<8xbf16>
    %c = arith.extf %b : vector<8xbf16> to vector<8xf32>
    rmsnorm.global_store %c, %y[%row, %column] alignment(16) : vector<8xf32>
    %two = arith.constant dense<2.0> : vector<8xf8E4M3FN>
    %d = arith.addf %a, %two : vector<8xf8E4M3FN>
    rmsnorm.global_store %d, %x[%row, %column] alignment(16) : vector<8xf8E4M3FN>
    gpu.return
  }

  // Powers of two: what is rounded upward carries into the exponent; what is
  // negative or too large is NaN; no zero comes back.
  // CHECK-LABEL: llvm.func @powers(
  // NOF4-NOT: call_intrinsic
  // NOF4: llvm.add
  // NOF4: llvm.lshr
  // NOF4: llvm.intr.umin
  // NOF4: llvm.trunc {{.*}} : vector<4xi32> to vector<4xi8>
  // Downward nothing does.
  // NOF4-NOT: llvm.add
  // NOF4: llvm.lshr
  // NOF4: llvm.zext {{.*}} : vector<4xi8> to vector<4xi32>
  // NOF4: llvm.intr.umax
  // AMD950-NOT: call_intrinsic
  // The instructions are of NVIDIA's chips, and drop the sign of what is negative.
  // NV100: llvm.fcmp "olt"
  // NV100: llvm.select
  // NV100: llvm.call_intrinsic "llvm.nvvm.ff.to.ue8m0x2.rp"
  // NV100: llvm.call_intrinsic "llvm.nvvm.ff.to.ue8m0x2.rz"
  // NV100-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ue8m0x2.to.bf16x2"
  // CHECK: llvm.return
  gpu.func @powers(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %p = arith.truncf %x upward : vector<4xf32> to vector<4xf8E8M0FNU>
    rmsnorm.global_store %p, %y[%row, %column] alignment(4) : vector<4xf8E8M0FNU>
    %q = arith.truncf %x downward : vector<4xf32> to vector<4xf8E8M0FNU>
    %z = arith.extf %q : vector<4xf8E8M0FNU> to vector<4xf32>
    rmsnorm.global_store %z, %y[%row, %column] alignment(16) : vector<4xf32>
    gpu.return
  }

  // To nearest there is no instruction.
  // CHECK-LABEL: llvm.func @nearest_power(
  // CHECK-NOT: call_intrinsic
  // CHECK: llvm.return
  gpu.func @nearest_power(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %p = arith.truncf %x : vector<4xf32> to vector<4xf8E8M0FNU>
    rmsnorm.global_store %p, %y[%row, %column] alignment(4) : vector<4xf8E8M0FNU>
    gpu.return
  }

  // f4, two a byte: of eight numbers three lines each, a word of their sizes and
  // one of their signs. A clamp to what the type holds is nothing, nor where an
  // instruction does it. Places are halved.
  // CHECK-LABEL: llvm.func @packed(
  // CHECK-NOT: {{llvm.intr.maximum|llvm.intr.minimum|fcmp|select}}
  // NOF4-COUNT-2: llvm.intr.fma
  // NOF4: llvm.intr.umin
  // NOF4: llvm.intr.fma
  // NOF4-COUNT-2: llvm.intr.umin
  // NOF4-COUNT-7: llvm.shl
  // NOF4-COUNT-3: llvm.lshr %{{.*}} : i32
  // NV100-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ff.to.e2m1x2.rn.satfinite"
  // AMD950-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.cvt.scalef32.pk.fp4.f32"
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xi8>
  gpu.func @packed(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %least = arith.constant dense<-6.0> : vector<8xf32>
    %most = arith.constant dense<6.0> : vector<8xf32>
    %a = arith.minimumf %x, %most : vector<8xf32>
    %b = arith.maximumf %a, %least : vector<8xf32>
    %q = arith.truncf %b : vector<8xf32> to vector<8xf4E2M1FN>
    rmsnorm.global_store %q, %y[%row, %column] alignment(8) : vector<8xf4E2M1FN>
    gpu.return
  }

  // Read, kept and extended, of a word of eight each number is shifted to the
  // top; a copy takes the bytes as they are. How much is valid may be negative.
  // CHECK-LABEL: llvm.func @packed_inputs(
  // NOF4-DAG: %[[MASK:.*]] = llvm.mlir.constant(dense<-2118123520> : vector<8xi32>)
  // NOF4-DAG: %[[TOPS:.*]] = llvm.mlir.constant(dense<[28, 24, 20, 16, 12, 8, 4, 0]> : vector<8xi32>)
  // CHECK: llvm.ashr %{{.*}} : i32
  // NOF4: %[[TOP:.*]] = llvm.shl %{{.*}}, %[[TOPS]]
  // NOF4: %[[SIGNED:.*]] = llvm.ashr %[[TOP]]
  // NOF4: llvm.and %[[SIGNED]], %[[MASK]]
  // NOF4: llvm.fmul %{{.*}} : vector<8xf32>
  // NV100-COUNT-4: llvm.call_intrinsic "llvm.nvvm.e2m1x2.to.f16x2.rn"
  // AMD950-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.cvt.scalef32.pk.f32.fp4"
  // CHECK: llvm.store %{{.*}} : vector<4xi8>, !llvm.ptr<1>
  gpu.func @packed_inputs(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %row: i64, %column: i32, %valid: i32, %sum: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = rmsnorm.global_load %x[%row, %column] valid(%valid) alignment(8) : vector<8xf4E2M1FN>
    %k = rmsnorm.keep %a after %sum : vector<8xf4E2M1FN>, f32
    %w = arith.extf %k : vector<8xf4E2M1FN> to vector<8xf32>
    rmsnorm.global_store %w, %y[%row, %column] alignment(16) : vector<8xf32>
    rmsnorm.global_store %a, %x[%row, %column] alignment(8) : vector<8xf4E2M1FN>
    gpu.return
  }
}

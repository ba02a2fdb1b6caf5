// A row norm as rmsnorm-distribute writes it, N = 4096, bf16, registers kept
// packed over the reduction. SUBGROUP, WARPS, ROWS are substituted.
module attributes {rmsnorm.target = #rmsnorm.target<BACKEND "CHIP">} {
  gpu.module @kernels [#rmsnorm.target<BACKEND "CHIP">] {
    gpu.func @row_norm(%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %y: !llvm.ptr<1>,
                       %rows: i64, %xs: i64, %ys: i64, %eps: f32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c0_i32 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      %c2_i32 = arith.constant 2 : i32
      %c8 = arith.constant 8 : index
      %tile = arith.constant 2048 : i32
      %subgroup = arith.constant SUBGROUP : i32
      %warps = arith.constant WARPS : i32
      %inv = arith.constant 2.44140625e-04 : f32
      %zero = arith.constant dense<0.0> : vector<8xf32>
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %g = gpu.grid_dim x
      %ti = arith.index_castui %t : index to i32
      %col8 = arith.muli %t, %c8 overflow<nsw, nuw> : index
      %col0 = arith.index_castui %col8 : index to i32
      %col1 = arith.addi %col0, %tile overflow<nsw, nuw> : i32
      %lane = arith.remui %ti, %subgroup : i32
      %warp = arith.divui %ti, %subgroup : i32
      %first = arith.cmpi eq, %lane, %c0_i32 : i32
      %slot = arith.shli %warp, %c2_i32 overflow<nsw, nuw> : i32
      %part = arith.remui %lane, %warps : i32
      %partslot = arith.shli %part, %c2_i32 overflow<nsw, nuw> : i32
      %rowsx = arith.index_cast %rows : i64 to index
      scf.for %row = %b to %rowsx step %g {
        %r = arith.index_cast %row : index to i64
        %xr = arith.muli %r, %xs : i64
        %yr = arith.muli %r, %ys : i64
        %x0 = rmsnorm.global_load %x[%xr, %col0] alignment(16) : vector<8xbf16>
        %x1 = rmsnorm.global_load %x[%xr, %col1] alignment(16) : vector<8xbf16>
        %f0 = arith.extf %x0 : vector<8xbf16> to vector<8xf32>
        %f1 = arith.extf %x1 : vector<8xbf16> to vector<8xf32>
        %q0 = math.fma %f0, %f0, %zero : vector<8xf32>
        %q1 = math.fma %f1, %f1, %q0 : vector<8xf32>
        %s = vector.reduction <add>, %q1 : vector<8xf32> into f32
        %sw = rmsnorm.subgroup_reduce add %s width(SUBGROUP) : f32
        scf.if %first {
          rmsnorm.workgroup_store %sw, %slot : f32
        }
        rmsnorm.barrier
        %p = rmsnorm.workgroup_load %partslot : f32
        rmsnorm.barrier
        %sum = rmsnorm.subgroup_reduce add %p width(WARPS) : f32
        %ms = math.fma %sum, %inv, %eps : f32
        %rstd = math.rsqrt %ms : f32
        %k0 = rmsnorm.keep %x0 after %rstd : vector<8xbf16>, f32
        %k1 = rmsnorm.keep %x1 after %rstd : vector<8xbf16>, f32
        %w0 = rmsnorm.global_load %w[%c0_i64, %col0] alignment(16) : vector<8xbf16>
        %w1 = rmsnorm.global_load %w[%c0_i64, %col1] alignment(16) : vector<8xbf16>
        %rv = vector.broadcast %rstd : f32 to vector<8xf32>
        %kf0 = arith.extf %k0 : vector<8xbf16> to vector<8xf32>
        %kf1 = arith.extf %k1 : vector<8xbf16> to vector<8xf32>
        %wf0 = arith.extf %w0 : vector<8xbf16> to vector<8xf32>
        %wf1 = arith.extf %w1 : vector<8xbf16> to vector<8xf32>
        %n0 = arith.mulf %kf0, %rv : vector<8xf32>
        %n1 = arith.mulf %kf1, %rv : vector<8xf32>
        %y0 = arith.mulf %n0, %wf0 : vector<8xf32>
        %y1 = arith.mulf %n1, %wf1 : vector<8xf32>
        %h0 = arith.truncf %y0 : vector<8xf32> to vector<8xbf16>
        %h1 = arith.truncf %y1 : vector<8xf32> to vector<8xbf16>
        rmsnorm.global_store %h0, %y[%yr, %col0] alignment(16) : vector<8xbf16>
        rmsnorm.global_store %h1, %y[%yr, %col1] alignment(16) : vector<8xbf16>
      }
      gpu.return
    }
  }
}

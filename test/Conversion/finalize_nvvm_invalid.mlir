// RUN: norm-opt %s --split-input-file --verify-diagnostics --rmsnorm-finalize-nvvm

// expected-error @below {{rmsnorm-finalize-nvvm: expected a module with 'rmsnorm.target' (run rmsnorm-attach-target), got none}}
module {
}

// -----

// expected-error @below {{rmsnorm-finalize-nvvm: expected an nvvm target, got 'gfx942'}}
module attributes {rmsnorm.target = #rmsnorm.target<rocdl "gfx942">} {
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @width(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-error @below {{expected a width up to the subgroup size 32, got 64}}
      %y = rmsnorm.subgroup_reduce add %x width(64) : f32
      gpu.return
    }
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @f64(%x: f64, %p: !llvm.ptr<1>) kernel {
      // expected-error @below {{'math.rsqrt' op expected f16, bf16 or f32, got 'f64'}}
      %y = math.rsqrt %x : f64
      llvm.store %y, %p : f64, !llvm.ptr<1>
      gpu.return
    }
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @no_lowering(%x: f32, %p: !llvm.ptr<1>) kernel {
      // expected-error @below {{'math.sincos' op is computed by no kernel: expected math.sin and math.cos}}
      %y, %z = math.sincos %x : f32
      llvm.store %y, %p : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    // expected-error @below {{expected device code without declared functions, got '__nv_expf'}}
    llvm.func @__nv_expf(f32) -> f32
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    llvm.func @__nv_expf(f32) -> f32
    gpu.func @library(%x: f32) kernel {
      // expected-error @below {{expected device code without library calls, got a call to '__nv_expf'}}
      %y = llvm.call @__nv_expf(%x) : (f32) -> f32
      gpu.return
    }
  }
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @float8(%y: !llvm.ptr<1>, %row: i64, %column: i32, %x: vector<8xf8E4M3FN>) kernel {
      // expected-error @below {{'math.absf' op expected f16, bf16 or f32, got 'f8E4M3FN'}}
      %a = math.absf %x : vector<8xf8E4M3FN>
      rmsnorm.global_store %a, %y[%row, %column] alignment(16) : vector<8xf8E4M3FN>
      gpu.return
    }
  }
}

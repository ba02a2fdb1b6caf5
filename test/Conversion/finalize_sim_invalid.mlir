// RUN: norm-opt %s --rmsnorm-finalize-sim --split-input-file --verify-diagnostics

gpu.module @chosen_base [#rmsnorm.target<sim "sim32">] {
  gpu.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %b: i1, %row: i64, %column: i32) kernel {
    %p = arith.select %b, %x, %y : !llvm.ptr<1>
    // expected-error @below {{'rmsnorm.global_load' op expected a base pointer computed from a kernel argument}}
    %v = rmsnorm.global_load %p[%row, %column] alignment(4) : vector<1xf32>
    gpu.return
  }
}

// -----

gpu.module @vector_argument [#rmsnorm.target<sim "sim32">] {
  gpu.func @k(%v: vector<1xf32>, %row: i64, %column: i32) kernel {
    // expected-error @above {{expected kernel arguments of type !llvm.ptr<1>, integer, index or f32, got 'vector<1xf32>' for argument 0}}
    gpu.return
  }
}

// -----

gpu.module @generic_pointer [#rmsnorm.target<sim "sim32">] {
  // expected-error @below {{expected kernel arguments of type !llvm.ptr<1>, integer, index or f32, got '!llvm.ptr' for argument 1}}
  gpu.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr) kernel {
    gpu.return
  }
}

// -----

gpu.module @wide_integer [#rmsnorm.target<sim "sim32">] {
  // expected-error @below {{got 'i128' for argument 0}}
  gpu.func @k(%x: i128) kernel {
    gpu.return
  }
}

// -----

gpu.module @two_dimensions [#rmsnorm.target<sim "sim32">] {
  gpu.func @k() kernel {
    // expected-error @below {{'gpu.thread_id' op expected dimension x, got y: kernels are 1-D}}
    %t = gpu.thread_id y
    gpu.return
  }
}

// -----

gpu.module @static_memory [#rmsnorm.target<sim "sim32">] {
  // expected-error @below {{expected workgroup memory to be the launch's dynamic one, got memory attributions}}
  gpu.func @k() workgroup(%m: memref<4xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @other_op [#rmsnorm.target<sim "sim32">] {
  gpu.func @k(%s: f32) kernel {
    // expected-error @below {{failed to legalize operation 'gpu.printf'}}
    gpu.printf "%f", %s : f32
    gpu.return
  }
}

// -----

gpu.module @helper [#rmsnorm.target<sim "sim32">] {
  // expected-error @below {{expected only gpu.func in a gpu.module, got llvm.func}}
  llvm.func @f()
}

// -----

// expected-error @below {{rmsnorm-finalize-sim: expected a sim target, got 'sm_90'}}
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @m [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

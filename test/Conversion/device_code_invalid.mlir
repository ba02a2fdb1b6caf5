// What no target has code for ends in a message with each of them.
// RUN: sed 's/TARGET/nvvm "sm_90"/' %s | norm-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --rmsnorm-attach-target=target=sm_90 --rmsnorm-finalize-nvvm
// RUN: sed 's/TARGET/rocdl "gfx942"/' %s | norm-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --rmsnorm-attach-target=target=gfx942 --rmsnorm-finalize-rocdl
// RUN: sed 's/TARGET/sim "sm_90"/' %s | norm-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --rmsnorm-attach-target=target=sim:sm_90 --rmsnorm-finalize-sim

gpu.module @beside_kernels [#rmsnorm.target<TARGET>] {
  // expected-error @below {{no lowering for 'foo.bar' in device code}}
  "foo.bar"() : () -> ()
}

// -----

gpu.module @in_a_kernel [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{no lowering for 'foo.bar' in device code}}
    "foo.bar"() : () -> ()
    gpu.return
  }
}

// -----

gpu.module @rounding [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: !llvm.ptr<1>, %row: i64, %column: i32, %value: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{'arith.truncf' op expected rounding to nearest even, got 'upward'}}
    %t = arith.truncf %value upward : f32 to bf16
    %v = vector.broadcast %t : bf16 to vector<1xbf16>
    rmsnorm.global_store %v, %x[%row, %column] alignment(2) : vector<1xbf16>
    gpu.return
  }
}

// -----

gpu.module @half_a_byte [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: !llvm.ptr<1>, %row: i64, %column: i32, %value: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %v = vector.broadcast %value : f32 to vector<1xf32>
    %t = arith.truncf %v : vector<1xf32> to vector<1xf4E2M1FN>
    // expected-error @below {{expected an even number of f4E2M1FN, of which two are a byte, got 'vector<1xf4E2M1FN>'}}
    rmsnorm.global_store %t, %x[%row, %column] alignment(1) : vector<1xf4E2M1FN>
    gpu.return
  }
}

// -----

gpu.module @f4_taken_apart [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: !llvm.ptr<1>, %row: i64, %column: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<8xf4E2M1FN>
    // expected-error @below {{expected f4E2M1FN, of which two are a byte, to be extended or stored once it is loaded}}
    %p = vector.extract_strided_slice %v {offsets = [0], sizes = [4], strides = [1]} : vector<8xf4E2M1FN> to vector<4xf4E2M1FN>
    %w = arith.extf %p : vector<4xf4E2M1FN> to vector<4xf32>
    rmsnorm.global_store %w, %x[%row, %column] alignment(16) : vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @f4_to_workgroup [#rmsnorm.target<TARGET>] {
  gpu.func @k(%value: f32, %offset: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = vector.broadcast %value : f32 to vector<8xf32>
    %v = arith.truncf %x : vector<8xf32> to vector<8xf4E2M1FN>
    // expected-error @below {{expected f4E2M1FN, of which two are a byte, to be loaded, copied and stored only}}
    rmsnorm.workgroup_store %v, %offset : vector<8xf4E2M1FN>
    gpu.return
  }
}

// -----

gpu.module @f64 [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: !llvm.ptr<1>, %row: i64, %column: i32, %value: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %v = vector.broadcast %value : f32 to vector<1xf32>
    // A number may be written in it.
    %c = arith.constant dense<0.1> : vector<1xf64>
    %t = arith.truncf %c : vector<1xf64> to vector<1xf32>
    %s = arith.addf %v, %t : vector<1xf32>
    // expected-error @below {{'arith.extf' op expected f16, bf16, f32, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E8M0FNU or f4E2M1FN, got 'f64'}}
    %w = arith.extf %s : vector<1xf32> to vector<1xf64>
    rmsnorm.global_store %w, %x[%row, %column] alignment(8) : vector<1xf64>
    gpu.return
  }
}

// -----

// Code generators unroll vectors: this one for hours.
gpu.module @wide [#rmsnorm.target<TARGET>] {
  gpu.func @k(%x: !llvm.ptr<1>, %row: i64, %column: i32, %value: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{expected vectors of at most 64 elements in device code, got 'vector<1048576xf32>'}}
    %v = vector.broadcast %value : f32 to vector<1048576xf32>
    gpu.return
  }
}

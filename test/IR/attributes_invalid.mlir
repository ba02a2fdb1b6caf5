// RUN: norm-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'rmsnorm.target' to be a #rmsnorm.target, got "sm_90"}}
module attributes {rmsnorm.target = "sm_90"} {}

// -----

// expected-error @below {{expected 'rmsnorm.sizes' to be an integer set of symbols of a function, got affine_set<(d0)[s0] : (d0 - s0 == 0)>}}
func.func private @sizes_of_dims() attributes {rmsnorm.sizes = affine_set<(d0)[s0] : (d0 - s0 == 0)>}

// -----

// expected-error @below {{expected 'rmsnorm.sizes' to be an integer set of symbols of a function, got unit}}
func.func private @sizes_unit() attributes {rmsnorm.sizes}

// -----

// expected-error @below {{expected 'rmsnorm.sizes' to be an integer set of symbols of a function, got "builtin.module"}}
module attributes {rmsnorm.sizes = affine_set<()[s0] : (s0 - 1 == 0)>} {}

// -----

// expected-error @below {{expected 'rmsnorm.row_wise' to be a unit attribute of a linalg op, got "func.func"}}
func.func private @row_wise_function() attributes {rmsnorm.row_wise}

// -----

// expected-error @below {{expected 'rmsnorm.min_blocks' to be a positive i64 of a function, got 0 : i64}}
func.func private @min_blocks_zero() attributes {rmsnorm.min_blocks = 0 : i64}

// -----

// expected-error @below {{expected 'rmsnorm.min_blocks' to be a positive i64 of a function, got 2 : i32}}
func.func private @min_blocks_i32() attributes {rmsnorm.min_blocks = 2 : i32}

// -----

// expected-error @below {{expected 'rmsnorm.min_blocks' to be a positive i64 of a function, got "builtin.module"}}
module attributes {rmsnorm.min_blocks = 2 : i64} {}

// -----

// expected-error @below {{expected 'rmsnorm.sim_argument' to be an i32 from 0 on of an access to memory, got "builtin.module"}}
module attributes {rmsnorm.sim_argument = 0 : i32} {}

// -----

// expected-error-re @below {{expected an attribute to be one of rmsnorm.target, rmsnorm.row_wise, {{.*}}, got 'rmsnorm.row_wize'}}
module attributes {rmsnorm.row_wize} {}

// -----

// expected-error-re @below {{expected an attribute to be one of {{.*}}, got 'rmsnorm.role'}}
module attributes {rmsnorm.role = "input"} {}

// -----

// expected-error @below {{expected an attribute of argument #0 to be one of rmsnorm.name, rmsnorm.role, rmsnorm.dims, rmsnorm.bounds, rmsnorm.distinct, rmsnorm.constant, got 'rmsnorm.argument'}}
func.func private @argument_of_argument(memref<8xf32> {rmsnorm.argument = 0 : i64})

// -----

// expected-error @below {{expected 'rmsnorm.name' of argument #0 to be a non-empty string, got 3 : i64}}
func.func private @name_number(memref<8xf32> {rmsnorm.name = 3 : i64})

// -----

// expected-error @below {{expected 'rmsnorm.name' of result #0 to be a non-empty string, got ""}}
func.func private @name_empty() -> (memref<8xf32> {rmsnorm.name = ""})

// -----

// expected-error @below {{expected 'rmsnorm.role' of argument #0 to be "input", "output" or "inout", got "in"}}
func.func private @role_text(memref<8xf32> {rmsnorm.role = "in"})

// -----

// expected-error @below {{expected 'rmsnorm.role' of argument #0 to be "input", "output" or "inout", got unit}}
func.func private @role_unit(memref<8xf32> {rmsnorm.role})

// -----

// expected-error @below {{expected 'rmsnorm.dims' of argument #0 to be an array of i64, one for each dimension of a tensor or memref and its size where that is static, got [-1, 8]}}
func.func private @dims_array(memref<?x8xf32> {rmsnorm.dims = [-1, 8]})

// -----

// expected-error-re @below {{expected 'rmsnorm.dims' of argument #0 to be {{.*}}, got memref<?x8xf32>}}
func.func private @dims_rank(memref<?x8xf32> {rmsnorm.dims = array<i64: -1>})

// -----

// expected-error-re @below {{expected 'rmsnorm.dims' of argument #0 to be {{.*}}, got array<i64: -1, 9>}}
func.func private @dims_size(memref<?x8xf32> {rmsnorm.dims = array<i64: -1, 9>})

// -----

// expected-error-re @below {{expected 'rmsnorm.dims' of argument #0 to be {{.*}}, got index}}
func.func private @dims_index(index {rmsnorm.dims = array<i64>})

// -----

// expected-error @below {{expected 'rmsnorm.bounds' of argument #0 to be an array of i64 of a tensor or memref of integers, got 50 : i64}}
func.func private @bounds_number(memref<8xi32> {rmsnorm.bounds = 50 : i64})

// -----

// expected-error @below {{expected 'rmsnorm.bounds' of argument #0 to be an array of i64 of a tensor or memref of integers, got memref<8xf32>}}
func.func private @bounds_floats(memref<8xf32> {rmsnorm.bounds = array<i64: 50>})

// -----

// expected-error @below {{expected 'rmsnorm.constant' of argument #0 to be a unit attribute of a tensor or memref that is only read, got true}}
func.func private @constant_value(memref<8xf32> {rmsnorm.constant = true})

// -----

// expected-error @below {{expected 'rmsnorm.constant' of argument #1 to be a unit attribute of a tensor or memref that is only read, got index}}
func.func private @constant_index(memref<8xf32>, index {rmsnorm.constant})

// -----

// expected-error @below {{expected 'rmsnorm.constant' of argument #0 to be a unit attribute of a tensor or memref that is only read, got "inout"}}
func.func private @constant_inout(memref<8xf32> {rmsnorm.constant, rmsnorm.role = "inout"})

// -----

// expected-error @below {{expected 'rmsnorm.argument' of result #0 to be an i64, the number of an argument that is a tensor or memref, got 99 : i64}}
func.func private @argument_beyond(memref<8xf32>) -> (memref<8xf32> {rmsnorm.argument = 99 : i64})

// -----

// expected-error-re @below {{expected 'rmsnorm.argument' of result #0 to be {{.*}}, got -1 : i64}}
func.func private @argument_negative(memref<8xf32>) -> (memref<8xf32> {rmsnorm.argument = -1 : i64})

// -----

// expected-error-re @below {{expected 'rmsnorm.argument' of result #0 to be {{.*}}, got 0 : i32}}
func.func private @argument_i32(memref<8xf32>) -> (memref<8xf32> {rmsnorm.argument = 0 : i32})

// -----

// expected-error-re @below {{expected 'rmsnorm.argument' of result #0 to be {{.*}}, got index}}
func.func private @argument_index(index) -> (memref<8xf32> {rmsnorm.argument = 0 : i64})

// -----

// expected-error @below {{expected an attribute of result #0 to be one of rmsnorm.name, rmsnorm.argument, got 'rmsnorm.role'}}
func.func private @role_of_result() -> (memref<8xf32> {rmsnorm.role = "output"})

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @dependent_launch_value(%n: index) {
    // expected-error @below {{expected 'rmsnorm.programmatic_dependent_launch' to be a unit attribute of a gpu.launch_func, got 1 : i64}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) {rmsnorm.programmatic_dependent_launch = 1 : i64}
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @blocks_unit(%n: index) {
    // expected-error @below {{expected 'rmsnorm.blocks_per_multiprocessor' to be a positive i32 of a gpu.launch_func, got unit}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) {rmsnorm.blocks_per_multiprocessor}
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @blocks_i64(%n: index) {
    // expected-error @below {{expected 'rmsnorm.blocks_per_multiprocessor' to be a positive i32 of a gpu.launch_func, got 2 : i64}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) {rmsnorm.blocks_per_multiprocessor = 2 : i64}
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @blocks_zero(%n: index) {
    // expected-error @below {{expected 'rmsnorm.blocks_per_multiprocessor' to be a positive i32 of a gpu.launch_func, got 0 : i32}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) {rmsnorm.blocks_per_multiprocessor = 0 : i32}
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @blocks_negative(%n: index) {
    // expected-error @below {{expected 'rmsnorm.blocks_per_multiprocessor' to be a positive i32 of a gpu.launch_func, got -1 : i32}}
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) {rmsnorm.blocks_per_multiprocessor = -1 : i32}
    return
  }
}

// -----

func.func @dependent_return() {
  // expected-error @below {{expected 'rmsnorm.programmatic_dependent_launch' to be a unit attribute of a gpu.launch_func, got "func.return"}}
  return {rmsnorm.programmatic_dependent_launch}
}

// -----

func.func @blocks_return() {
  // expected-error @below {{expected 'rmsnorm.blocks_per_multiprocessor' to be a positive i32 of a gpu.launch_func, got "func.return"}}
  return {rmsnorm.blocks_per_multiprocessor = 1 : i32}
}

// -----

func.func @row_wise_value(%x: tensor<?x64xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{expected 'rmsnorm.row_wise' to be a unit attribute of a linalg op, got true}}
  %y = linalg.reduce {arith.addf} ins(%x : tensor<?x64xf32>) outs(%e : tensor<?xf32>) dimensions = [1] {rmsnorm.row_wise = true}
  return %y : tensor<?xf32>
}

// -----

func.func @sim_argument_negative(%m: memref<4xf32>, %i: index) -> f32 {
  // expected-error @below {{expected 'rmsnorm.sim_argument' to be an i32 from 0 on of an access to memory, got -1 : i32}}
  %x = memref.load %m[%i] {rmsnorm.sim_argument = -1 : i32} : memref<4xf32>
  return %x : f32
}

// -----

func.func @elementwise_return() {
  // expected-error @below {{expected 'rmsnorm.elementwise' to be the name of an op, of a linalg op, a tensor.insert_slice or an rmsnorm.scatter, got "func.return"}}
  return {rmsnorm.elementwise}
}

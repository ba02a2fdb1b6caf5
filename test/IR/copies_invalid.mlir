// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @wait() {
  // expected-error @+1 {{expected a number of groups >= 0, got -1}}
  rmsnorm.copy_wait -1
  return
}

// -----

func.func @alignment(%p: !llvm.ptr<1>, %row: i64, %i: i32) {
  // expected-error @+1 {{expected an alignment that is a power of two from 4 to 16 bytes, got 2}}
  rmsnorm.async_copy %p[%row, %i] to %i alignment(2) : vector<4xf32>
  return
}

// -----

// expected-error @+1 {{expected cache = shared and blocks_per_sm >= 1 where stages >= 2, got cache = registers, blocks_per_sm = 1 and stages = 3}}
func.func private @stages() attributes {s = #rmsnorm.schedule<threads_per_row = 32, vector_width = 8, blocks_per_sm = 1, stages = 3>}

// -----

// expected-error @+1 {{expected cache = shared and blocks_per_sm >= 1 where stages >= 2, got cache = shared, blocks_per_sm = 0 and stages = 2}}
func.func private @multi_wave() attributes {s = #rmsnorm.schedule<threads_per_row = 32, vector_width = 8, cache = shared, stages = 2>}

// -----

// expected-error @+1 {{expected stages <= 8, got 9}}
func.func private @many() attributes {s = #rmsnorm.schedule<threads_per_row = 32, vector_width = 8, cache = shared, blocks_per_sm = 1, stages = 9>}

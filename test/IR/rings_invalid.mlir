// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @ring_space() {
  // expected-error @+1 {{expected a packed, static memref in workgroup memory, got 'memref<2x1x64xbf16>'}}
  %0 = rmsnorm.tile_ring : memref<2x1x64xbf16>
  return
}

// -----

func.func @copy_row(%x: memref<?x64xbf16>, %r: memref<2x1x64xbf16, #gpu.address_space<workgroup>>, %s: index) {
  // expected-error @+1 {{expected a row unless the base has rank 1, got rank 2}}
  rmsnorm.ring_copy %x to %r[%s] : memref<?x64xbf16>, memref<2x1x64xbf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_columns(%x: memref<?x32xbf16>, %r: memref<2x1x64xbf16, #gpu.address_space<workgroup>>, %s: index) {
  // expected-error @+1 {{expected base and ring to agree in element type and columns, got 'memref<?x32xbf16>' and}}
  rmsnorm.ring_copy %x[%s] to %r[%s] : memref<?x32xbf16>, memref<2x1x64xbf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @load_slot(%r: memref<2x1x64xbf16, #gpu.address_space<workgroup>>, %s: index) {
  // expected-error @+1 {{expected the vector of a slot, 'vector<1x64xbf16>', got 'vector<2x64xbf16>'}}
  %0 = rmsnorm.ring_load %r[%s] : memref<2x1x64xbf16, #gpu.address_space<workgroup>> -> vector<2x64xbf16>
  return
}

// -----

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

// -----

func.func @begin_shapes(%a: vector<2x64xf32>, %b: vector<2x32xf32>, %k: index) {
  // expected-error @+1 {{expected float inputs of shape 2x64, got 'vector<2x32xf32>'}}
  rmsnorm.row_reduce_begin add(%a), add(%b) number(%k) : vector<2x64xf32>, vector<2x32xf32>
  return
}

// -----

func.func @end_kinds(%k: index) {
  // expected-error @+1 {{expected as many kinds as results, at least one, got 1 kinds, 2 results}}
  %0:2 = rmsnorm.row_reduce_end [add] number(%k) : vector<2x1xf32>, vector<2x1xf32>
  return
}

// -----

func.func @end_result(%k: index) {
  // expected-error @+1 {{expected Rx1 floats, got 'vector<2x64xf32>'}}
  %0 = rmsnorm.row_reduce_end [add] number(%k) : vector<2x64xf32>
  return
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @load(%x: !llvm.ptr<1>, %row: i64, %column: i32) {
  // expected-error @below {{result #0 must be fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<65xf32>'}}
  %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<65xf32>
  return
}

// -----

func.func @store(%v: vector<1048576xf32>, %x: !llvm.ptr<1>, %row: i64, %column: i32) {
  // expected-error @below {{operand #0 must be fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<1048576xf32>'}}
  rmsnorm.global_store %v, %x[%row, %column] alignment(4) : vector<1048576xf32>
  return
}

// -----

func.func @copy(%x: !llvm.ptr<1>, %row: i64, %column: i32, %offset: i32) {
  // expected-error @below {{type attribute of fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes}}
  rmsnorm.async_copy %x[%row, %column] to %offset alignment(4) : vector<128xf32>
  return
}

// -----

func.func @workgroup_load(%offset: i32) {
  // expected-error @below {{result #0 must be floating-point or signless integer or fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<128xf32>'}}
  %v = rmsnorm.workgroup_load %offset : vector<128xf32>
  return
}

// -----

func.func @workgroup_store(%v: vector<128xf32>, %offset: i32) {
  // expected-error @below {{operand #0 must be floating-point or signless integer or fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<128xf32>'}}
  rmsnorm.workgroup_store %v, %offset : vector<128xf32>
  return
}

// -----

func.func @bits(%x: !llvm.ptr<1>, %row: i64, %column: i32) {
  // expected-error @below {{must be fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<8xi1>'}}
  %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<8xi1>
  return
}

// -----

func.func @half_bytes(%x: !llvm.ptr<1>, %row: i64, %column: i32) {
  // expected-error @below {{must be fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes, but got 'vector<8xi4>'}}
  %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<8xi4>
  return
}

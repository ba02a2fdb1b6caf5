// RUN: norm-opt %s --split-input-file --verify-diagnostics

// (C1)
func.func @type(%x: vector<1x64xf16>) {
  // expected-error @below {{expected elements of f32, got 'vector<1x64xf16>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf16> -> vector<1x4xf16>
  return
}

// -----

// (C2)
func.func @divides(%x: vector<1x64xf32>) {
  // expected-error @below {{expected RxN and RxK elements, where K divides N and 1 < K < N, got 'vector<1x64xf32>' and 'vector<1x5xf32>'}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf32> -> vector<1x5xf32>
  return
}

// -----

func.func @rows(%x: vector<2x4xf32>) {
  // expected-error @below {{got 'vector<1x64xf32>' and 'vector<2x4xf32>'}}
  %a = rmsnorm.group_broadcast %x : vector<2x4xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @one(%x: vector<1x64xf32>) {
  // expected-error @below {{1 < K < N}}
  %a = rmsnorm.group_reduce add(%x) : vector<1x64xf32> -> vector<1x1xf32>
  return
}

// -----

func.func @all(%x: vector<1x64xf32>) {
  // expected-error @below {{1 < K < N}}
  %a = rmsnorm.group_broadcast %x : vector<1x64xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @base(%s: memref<?x8xf32>, %row: index) {
  // expected-error @below {{expected 'group' to take a row unless the base has rank 1, no columns, and as many groups of a vector as the base has in its last dimension, got 'vector<1x4xf32>' and 'memref<?x8xf32>'}}
  %a = rmsnorm.tile_load group %s[%row] : memref<?x8xf32> -> vector<1x4xf32>
  return
}

// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @kept_scalar(%x: f32, %a: f32) {
  // expected-error @below {{operand #0 must be fixed-length vector of floating-point or integer values of ranks 1/2/3/4/5/6, but got 'f32'}}
  %y = "rmsnorm.keep"(%x, %a) : (f32, f32) -> f32
  return
}

// -----

func.func @kept_scalable(%x: vector<1x[8]xf32>, %a: index) {
  // expected-error-re @below {{operand #0 must be {{.*}}, but got 'vector<1x[8]xf32>'}}
  %y = rmsnorm.keep %x after %a : vector<1x[8]xf32>, index
  return
}

// -----

func.func @after_memref(%x: vector<1x8xf32>, %a: memref<8xf32>) {
  // expected-error-re @below {{operand #1 must be {{.*}}, but got 'memref<8xf32>'}}
  %y = rmsnorm.keep %x after %a : vector<1x8xf32>, memref<8xf32>
  return
}

// -----

func.func @after_i64(%x: vector<2xbf16>, %a: i64) {
  // expected-error-re @below {{operand #1 must be {{.*}}, but got 'i64'}}
  %y = rmsnorm.keep %x after %a : vector<2xbf16>, i64
  return
}

// -----

func.func @tile_after_scalar(%x: vector<1x64xbf16>, %a: f32) {
  // expected-error @below {{expected 'after' of 'vector<1x64xbf16>' to be a tile's number, per-row values in f32 or a tile of the same columns, and of as many rows unless one has 1, got 'f32'}}
  %y = rmsnorm.keep %x after %a : vector<1x64xbf16>, f32
  return
}

// -----

func.func @tile_after_fragment(%x: vector<1x64xbf16>, %a: vector<1xi32>) {
  // expected-error @below {{got 'vector<1xi32>'}}
  %y = rmsnorm.keep %x after %a : vector<1x64xbf16>, vector<1xi32>
  return
}

// -----

func.func @tile_after_columns(%x: vector<4x64xbf16>, %a: vector<4x32xbf16>) {
  // expected-error @below {{got 'vector<4x32xbf16>'}}
  %y = rmsnorm.keep %x after %a : vector<4x64xbf16>, vector<4x32xbf16>
  return
}

// -----

func.func @tile_after_rows(%x: vector<4x64xbf16>, %a: vector<2x1xf32>) {
  // expected-error @below {{got 'vector<2x1xf32>'}}
  %y = rmsnorm.keep %x after %a : vector<4x64xbf16>, vector<2x1xf32>
  return
}

// -----

func.func @tile_after_narrow(%x: vector<4x64xbf16>, %a: vector<4x1xbf16>) {
  // expected-error @below {{got 'vector<4x1xbf16>'}}
  %y = rmsnorm.keep %x after %a : vector<4x64xbf16>, vector<4x1xbf16>
  return
}

// -----

func.func @fragment_after_index(%x: vector<8xbf16>, %a: index) {
  // expected-error @below {{expected 'after' of a fragment to be f32, i32 or vector<1xi32>, got 'index'}}
  %y = rmsnorm.keep %x after %a : vector<8xbf16>, index
  return
}

// -----

func.func @fragment_after_fragment(%x: vector<8xbf16>, %a: vector<8xbf16>) {
  // expected-error @below {{expected 'after' of a fragment to be f32, i32 or vector<1xi32>, got 'vector<8xbf16>'}}
  %y = rmsnorm.keep %x after %a : vector<8xbf16>, vector<8xbf16>
  return
}

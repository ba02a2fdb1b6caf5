// RUN: norm-opt %s --split-input-file --verify-diagnostics

// Every constraint (Cn) of the operator level once or more, by its name.

func.func @forward_c1_vector(%x: vector<4x8xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of any type values or memref of any type values, but got 'vector<4x8xf32>'}}
  rmsnorm.forward input(%x : vector<4x8xf32>) output(%x : vector<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @forward_c1_unranked(%x: tensor<*xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of any type values or memref of any type values, but got 'tensor<*xf32>'}}
  rmsnorm.forward input(%x : tensor<*xf32>) output(%x : tensor<*xf32>) eps = 1.0
  return
}

// -----

func.func @forward_c1_mixed(%x: tensor<4x8xf32>, %w: memref<8xf32>) {
  // expected-error @below {{expected all operands to be tensors or all to be memrefs, got 'tensor<4x8xf32>' and 'memref<8xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) weight(%w : memref<8xf32>)
      output(%x : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_c1_encoding(%x: tensor<4x8xf32>, %y: tensor<4x8xf32, 1 : i64>) {
  // expected-error @below {{expected tensors without encoding, got 'tensor<4x8xf32, 1 : i64>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y : tensor<4x8xf32, 1 : i64>)
      eps = 1.0 -> tensor<4x8xf32, 1 : i64>
  return
}

// -----

func.func @forward_c2_input(%x: tensor<4x8xf64>, %y: tensor<4x8xf32>) {
  // expected-error @below {{expected input to have element type f16, bf16 or f32, got 'f64'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf64>) output(%y : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_c2_weight(%x: tensor<4x8xf32>, %w: tensor<8xi32>) {
  // expected-error @below {{expected weight to have element type f16, bf16 or f32, got 'i32'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) weight(%w : tensor<8xi32>)
      output(%x : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_c2_output(%x: tensor<4x8xf32>, %y: tensor<4x8xvector<2xf32>>) {
  // expected-error @below {{expected output to have element type f16, bf16 or f32, got 'vector<2xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y : tensor<4x8xvector<2xf32>>)
      eps = 1.0 -> tensor<4x8xvector<2xf32>>
  return
}

// -----

func.func @forward_c2_rstd(%x: tensor<4x8xf32>, %r: tensor<4xbf16>) {
  // expected-error @below {{expected rstd to have element type f32, got 'bf16'}}
  %0:2 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>)
      rstd(%r : tensor<4xbf16>) eps = 1.0 -> tensor<4x8xf32>, tensor<4xbf16>
  return
}

// -----

func.func @forward_c3_rank_0(%x: memref<f32>) {
  // expected-error @below {{expected input to have rank >= 1 and a last dimension that is not 0, got 'memref<f32>'}}
  rmsnorm.forward input(%x : memref<f32>) output(%x : memref<f32>) eps = 1.0
  return
}

// -----

func.func @forward_c3_no_columns(%x: tensor<4x0xf32>) {
  // expected-error @below {{expected input to have rank >= 1 and a last dimension that is not 0, got 'tensor<4x0xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x0xf32>) output(%x : tensor<4x0xf32>)
      eps = 1.0 -> tensor<4x0xf32>
  return
}

// -----

func.func @forward_c4(%x: tensor<?x8xf32>, %y: tensor<4x16xf32>) {
  // expected-error @below {{expected output to have the shape of input (?x8), got 'tensor<4x16xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<?x8xf32>) output(%y : tensor<4x16xf32>)
      eps = 1.0 -> tensor<4x16xf32>
  return
}

// -----

func.func @forward_c4_rank(%x: tensor<4x8xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{expected output to have the shape of input (4x8), got 'tensor<8xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y : tensor<8xf32>)
      eps = 1.0 -> tensor<8xf32>
  return
}

// -----

func.func @forward_c5_size(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{expected weight to have rank 1 and the size of input's last dimension (8), got 'tensor<4xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) weight(%w : tensor<4xf32>)
      output(%x : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_c5_rank(%x: tensor<4x8xf32>, %w: tensor<f32>) {
  // expected-error @below {{expected weight to have rank 1 and the size of input's last dimension (8), got 'tensor<f32>'}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) weight(%w : tensor<f32>)
      output(%x : tensor<4x8xf32>) eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

// Each agrees with input, but not with each other.
func.func @forward_c5_through_output(%x: tensor<?x?xf32>, %w: tensor<4xf32>,
                                     %y: tensor<?x8xf32>) {
  // expected-error @below {{expected weight to have rank 1 and the size of input's last dimension (8), got 'tensor<4xf32>'}}
  %0 = rmsnorm.forward input(%x : tensor<?x?xf32>) weight(%w : tensor<4xf32>)
      output(%y : tensor<?x8xf32>) eps = 1.0 -> tensor<?x8xf32>
  return
}

// -----

func.func @forward_c6(%x: tensor<4x3x8xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{expected rstd to have the shape of input without its last dimension (4x3), got 'tensor<4xf32>'}}
  %0:2 = rmsnorm.forward input(%x : tensor<4x3x8xf32>) output(%x : tensor<4x3x8xf32>)
      rstd(%r : tensor<4xf32>) eps = 1.0 -> tensor<4x3x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @forward_c7_layout(%x: memref<4x8xf32, affine_map<(i, j) -> (i, j mod 2)>>, %y: memref<4x8xf32>) {
  // expected-error @below {{expected strided memrefs, got 'memref<4x8xf32, affine_map<(d0, d1) -> (d0, d1 mod 2)>>'}}
  rmsnorm.forward input(%x : memref<4x8xf32, affine_map<(i, j) -> (i, j mod 2)>>) output(%y : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @forward_c7_inner_stride(%x: memref<4x8xf32, strided<[?, ?]>>, %y: memref<4x8xf32>) {
  // expected-error @below {{expected memrefs with an inner stride of 1, got 'memref<4x8xf32, strided<[?, ?]>>'}}
  rmsnorm.forward input(%x : memref<4x8xf32, strided<[?, ?]>>) output(%y : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @forward_c8_zero(%x: memref<4x8xf32>) {
  // expected-error @below {{expected eps to be finite and > 0, got 0.0}}
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>) eps = 0.0
  return
}

// -----

func.func @forward_c8_nan(%x: memref<4x8xf32>) {
  // expected-error @below {{expected eps to be finite and > 0, got}}
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>) eps = 0x7FC00000
  return
}

// -----

func.func @forward_c9_infinite(%x: memref<4x8xf32>, %w: memref<8xf32>) {
  // expected-error @below {{expected offset to be finite, got}}
  rmsnorm.forward input(%x : memref<4x8xf32>) weight(%w : memref<8xf32>)
      output(%x : memref<4x8xf32>) eps = 1.0 offset = 0x7F800000
  return
}

// -----

func.func @forward_c9_no_weight(%x: memref<4x8xf32>) {
  // expected-error @below {{expected offset to be 0 without weight, got 1.0}}
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>)
      eps = 1.0 offset = 1.0
  return
}

// -----

func.func @forward_c10_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected results of the destinations' types ('tensor<4x8xf32>'), got ('tensor<4x8xf16>')}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf16>
  return
}

// -----

func.func @forward_c10_count(%x: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{expected results of the destinations' types ('tensor<4x8xf32>', 'tensor<4xf32>'), got ('tensor<4x8xf32>')}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%x : tensor<4x8xf32>)
      rstd(%r : tensor<4xf32>) eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_c10_memref(%x: memref<4x8xf32>) {
  // expected-error @below {{expected no results on memrefs, got 1}}
  %0 = rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>)
      eps = 1.0 -> tensor<4x8xf32>
  return
}

// -----

func.func @forward_casting(%x: memref<4x8xf32>) {
  // expected-error @below {{expected one of [gemma, llama, none]}}
  rmsnorm.forward input(%x : memref<4x8xf32>) output(%x : memref<4x8xf32>) eps = 1.0 casting = mistral
  return
}

// -----

func.func @backward_c1(%x: memref<4x8xf32>, %t: tensor<4xf32>) {
  // expected-error @below {{expected all operands to be tensors or all to be memrefs, got 'memref<4x8xf32>' and 'tensor<4xf32>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      rstd(%t : tensor<4xf32>) dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c2_dy(%dy: memref<4x8xf64>, %x: memref<4x8xf32>) {
  // expected-error @below {{expected dy to have element type f16, bf16 or f32, got 'f64'}}
  rmsnorm.backward dy(%dy : memref<4x8xf64>) input(%x : memref<4x8xf32>)
      dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c2_dx(%dx: memref<4x8xi8>, %x: memref<4x8xf32>) {
  // expected-error @below {{expected dx to have element type f16, bf16 or f32, got 'i8'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%dx : memref<4x8xi8>) eps = 1.0
  return
}

// -----

func.func @backward_c2_rstd(%x: memref<4x8xf32>, %r: memref<4xf16>) {
  // expected-error @below {{expected rstd to have element type f32, got 'f16'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      rstd(%r : memref<4xf16>) dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c2_dweight(%x: memref<4x8xf32>, %w: memref<8xbf16>, %dw: memref<8xf16>) {
  // expected-error @below {{expected dweight to have element type f32 or that of weight ('bf16'), got 'f16'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      weight(%w : memref<8xbf16>) dx(%x : memref<4x8xf32>)
      dweight(%dw : memref<8xf16>) eps = 1.0
  return
}

// -----

func.func @backward_c3(%x: memref<4x0xf32>) {
  // expected-error @below {{expected input to have rank >= 1 and a last dimension that is not 0, got 'memref<4x0xf32>'}}
  rmsnorm.backward dy(%x : memref<4x0xf32>) input(%x : memref<4x0xf32>)
      dx(%x : memref<4x0xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c4_dy(%x: memref<4x8xf32>, %dy: memref<5x8xf32>) {
  // expected-error @below {{expected dy to have the shape of input (4x8), got 'memref<5x8xf32>'}}
  rmsnorm.backward dy(%dy : memref<5x8xf32>) input(%x : memref<4x8xf32>)
      dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c4_dx(%x: memref<4x8xf32>, %dx: memref<f32>) {
  // expected-error @below {{expected dx to have the shape of input (4x8), got 'memref<f32>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%dx : memref<f32>) eps = 1.0
  return
}

// -----

func.func @backward_c5_weight(%x: memref<4x8xf32>, %w: memref<1x8xf32>) {
  // expected-error @below {{expected weight to have rank 1 and the size of input's last dimension (8), got 'memref<1x8xf32>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      weight(%w : memref<1x8xf32>) dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c5_dweight(%x: memref<4x8xf32>, %w: memref<8xf32>, %dw: memref<4xf32>) {
  // expected-error @below {{expected dweight to have rank 1 and the size of input's last dimension (8), got 'memref<4xf32>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      weight(%w : memref<8xf32>) dx(%x : memref<4x8xf32>)
      dweight(%dw : memref<4xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c6(%x: memref<4x8xf32>, %r: memref<8xf32>) {
  // expected-error @below {{expected rstd to have the shape of input without its last dimension (4), got 'memref<8xf32>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      rstd(%r : memref<8xf32>) dx(%x : memref<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c7(%x: memref<4x8xf32>, %dx: memref<4x8xf32, strided<[16, 2]>>) {
  // expected-error @below {{expected memrefs with an inner stride of 1, got 'memref<4x8xf32, strided<[16, 2]>>'}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%dx : memref<4x8xf32, strided<[16, 2]>>) eps = 1.0
  return
}

// -----

func.func @backward_c8(%x: memref<4x8xf32>) {
  // expected-error @below {{expected eps to be finite and > 0, got -1.0}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%x : memref<4x8xf32>) eps = -1.0
  return
}

// -----

func.func @backward_c9(%x: memref<4x8xf32>) {
  // expected-error @below {{expected offset to be 0 without weight, got 1.0}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%x : memref<4x8xf32>) eps = 1.0 offset = 1.0
  return
}

// -----

func.func @backward_c10(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected results of the destinations' types ('tensor<4x8xf32>'), got ()}}
  rmsnorm.backward dy(%x : tensor<4x8xf32>) input(%x : tensor<4x8xf32>)
      dx(%x : tensor<4x8xf32>) eps = 1.0
  return
}

// -----

func.func @backward_c11(%x: memref<4x8xf32>, %dw: memref<8xf32>) {
  // expected-error @below {{expected dweight only with weight}}
  rmsnorm.backward dy(%x : memref<4x8xf32>) input(%x : memref<4x8xf32>)
      dx(%x : memref<4x8xf32>) dweight(%dw : memref<8xf32>) eps = 1.0
  return
}

// -----

func.func @accumulate_c1(%v: vector<1x8xf32>, %d: memref<1x8xf32>) {
  // expected-error @below {{expected dest to have rank 1 and element type f16, bf16 or f32, got 'memref<1x8xf32>'}}
  rmsnorm.accumulate %v into %d : vector<1x8xf32> into memref<1x8xf32>
  return
}

// -----

func.func @accumulate_c2(%v: vector<1x8xbf16>, %d: memref<8xf32>) {
  // expected-error @below {{operand #0 must be vector of 32-bit float values of ranks 2/3/4/5/6, but got 'vector<1x8xbf16>'}}
  rmsnorm.accumulate %v into %d : vector<1x8xbf16> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c3(%v: vector<1x8xf32>, %d: memref<?xf32>) {
  // expected-error @below {{expected dest to have a static size, got 'memref<?xf32>'}}
  rmsnorm.accumulate %v into %d : vector<1x8xf32> into memref<?xf32>
  return
}

// -----

func.func @accumulate_c6(%v: vector<1x8xf32>, %d: memref<8xf32>, %i: memref<8xi32>) {
  // expected-error @below {{expected init to have the shape of dest, 'memref<8xf32>', and element type f16, bf16 or f32, got 'memref<8xi32>'}}
  rmsnorm.accumulate %v into %d init(%i : memref<8xi32>) : vector<1x8xf32> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c6_mul(%v: vector<1x8xf32>, %d: memref<8xf32>) {
  // expected-error @below {{expected rows to be added up, or their maximum or minimum to be taken, got kind mul}}
  rmsnorm.accumulate %v into %d kind(mul) : vector<1x8xf32> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c6_start(%v: vector<1x8xf32>, %d: memref<8xf32>) {
  // expected-error @below {{expected no start of a sum, got 1.000000e+00 : f32}}
  rmsnorm.accumulate %v into %d start(1.0) : vector<1x8xf32> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c6_dims(%v: vector<1x8xf32>, %d: memref<4x4x8xf32>) {
  // expected-error @below {{expected 'map' to have increasing indices of rows, then the column or nothing, got affine_map<(d0, d1, d2) -> (d1, d0, d2)>}}
  rmsnorm.accumulate %v into %d map(r0, r1, c) -> (r1, r0, c) : vector<1x8xf32> into memref<4x4x8xf32>
  return
}

// -----

func.func @accumulate_c1_dims(%v: vector<1x8xf32>, %d: memref<8xf32>) {
  // expected-error @below {{expected dest to have rank 2 and element type f16, bf16 or f32, got 'memref<8xf32>'}}
  rmsnorm.accumulate %v into %d map(r0, r1, c) -> (r0, c) : vector<1x8xf32> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c1_value(%v: vector<1x8xf32>, %d: memref<f32>) {
  // expected-error @below {{expected dest to have rank 1 and element type f16, bf16 or f32, got 'memref<f32>'}}
  rmsnorm.accumulate %v into %d : vector<1x8xf32> into memref<f32>
  return
}

// -----

func.func @accumulate_c3_value(%v: vector<1x1xf32>, %d: memref<8xf32>) {
  // expected-error @below {{expected as many columns as dest has, got 'vector<1x1xf32>' and 'memref<8xf32>'}}
  rmsnorm.accumulate %v into %d : vector<1x1xf32> into memref<8xf32>
  return
}

// -----

func.func @accumulate_c4_start(%v: vector<1x8xf32>, %d: vector<1x8xf32>) {
  // expected-error @below {{and no 'init', 'start' or 'map', got 'vector<1x8xf32>' and 'vector<1x8xf32>'}}
  %0 = rmsnorm.accumulate %v into %d kind(maximumf) start(0.0) : vector<1x8xf32> into vector<1x8xf32> -> vector<1x8xf32>
  return
}

// -----

func.func @accumulate_c4_init(%v: vector<1x8xf32>, %d: vector<1x8xf32>, %i: memref<8xf32>) {
  // expected-error @below {{and no 'init', 'start' or 'map', got 'vector<1x8xf32>' and 'vector<1x8xf32>'}}
  %0 = rmsnorm.accumulate %v into %d init(%i : memref<8xf32>) : vector<1x8xf32> into vector<1x8xf32> -> vector<1x8xf32>
  return
}

// -----

func.func @workspace_c1(%n: index) {
  // expected-error @below {{expected as many sizes as dynamic dimensions, got 1 for 'memref<?x?xf32>'}}
  %0 = rmsnorm.workspace(%n) : memref<?x?xf32>
  return
}

// -----

func.func @workspace_c2_layout(%n: index) {
  // expected-error @below {{expected a packed memref without memory space, of elements of whole bytes, got 'memref<?x8xf32, strided<[16, 1]>>'}}
  %0 = rmsnorm.workspace(%n) : memref<?x8xf32, strided<[16, 1]>>
  return
}

// -----

func.func @workspace_c2_space(%n: index) {
  // expected-error @below {{expected a packed memref without memory space}}
  %0 = rmsnorm.workspace(%n) : memref<?x8xf32, 3>
  return
}

// -----

func.func @workspace_c2_element(%n: index) {
  // expected-error @below {{expected a packed memref without memory space, of elements of whole bytes, got 'memref<?xi1>'}}
  %0 = rmsnorm.workspace(%n) : memref<?xi1>
  return
}

// -----

func.func @workspace_c3() {
  // expected-error @below {{expected a buffer below 2^62 bytes, got 'memref<4294967296x4294967296xf32>'}}
  %0 = rmsnorm.workspace() : memref<4294967296x4294967296xf32>
  return
}

// -----

func.func @accumulate_no_result(%p: vector<4x64xf32>, %a: vector<2x64xf32>) {
  // expected-error @+1 {{expected a result of the type of dest if and only if that is a vector, got dest 'vector<2x64xf32>'}}
  rmsnorm.accumulate %p into %a : vector<4x64xf32> into vector<2x64xf32>
  return
}

// -----

func.func @accumulate_rows(%p: vector<4x64xf32>, %a: vector<3x64xf32>) {
  // expected-error @+1 {{expected a vector dest with as many columns as source, a divisor of its rows, and no 'init', 'start' or 'map', got 'vector<4x64xf32>' and 'vector<3x64xf32>'}}
  rmsnorm.accumulate %p into %a : vector<4x64xf32> into vector<3x64xf32> -> vector<3x64xf32>
  return
}

// -----

func.func @offset_twice(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{`offset` clause can appear at most once}}
  %0 = rmsnorm.forward input(%x : tensor<8xf32>) weight(%w : tensor<8xf32>) output(%x : tensor<8xf32>) eps = 1.0e-05 offset = 1.0 casting = llama offset = 1.0 -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

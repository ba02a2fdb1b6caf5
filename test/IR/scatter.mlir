// RUN: norm-opt %s --split-input-file --verify-diagnostics | norm-opt --split-input-file | FileCheck %s

// Slices of a cache, one value, an element of two dimensions; a batch of two
// dimensions.
// CHECK-LABEL: func.func @scatters(
// CHECK: rmsnorm.scatter %{{.*}} into %{{.*}} at(%{{.*}} : tensor<?xi64>) dims [0] skip_negative : tensor<?x8x128xbf16> into tensor<?x8x128xbf16>
// CHECK: rmsnorm.scatter %{{.*}} into %{{.*}} at(%{{.*}} : tensor<?xi64>) dims [0] : tensor<?xf32> into tensor<?xf32>
// CHECK: rmsnorm.scatter %{{.*}} into %{{.*}} at(%{{.*}}, %{{.*}} : tensor<?x?xi32>, tensor<?x?xi32>) dims [0, 2] : tensor<?x?x16xf32> into tensor<?x16x?xf32>
func.func @scatters(%k: tensor<?x8x128xbf16>, %s: tensor<?xf32>, %x: tensor<?x?x16xf32>, %slots: tensor<?xi64>, %i: tensor<?x?xi32>, %cache: tensor<?x8x128xbf16>, %scales: tensor<?xf32>, %t: tensor<?x16x?xf32>) -> (tensor<?x8x128xbf16>, tensor<?xf32>, tensor<?x16x?xf32>) {
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0] skip_negative : tensor<?x8x128xbf16> into tensor<?x8x128xbf16>
  %1 = rmsnorm.scatter %s into %scales at(%slots : tensor<?xi64>) dims [0] : tensor<?xf32> into tensor<?xf32>
  %2 = rmsnorm.scatter %x into %t at(%i, %i : tensor<?x?xi32>, tensor<?x?xi32>) dims [0, 2] : tensor<?x?x16xf32> into tensor<?x16x?xf32>
  return %0, %1, %2 : tensor<?x8x128xbf16>, tensor<?xf32>, tensor<?x16x?xf32>
}

// -----

func.func @c1(%k: tensor<?x128xbf16>, %slots: tensor<?xi64>, %cache: tensor<?x128xbf16, "e">) -> tensor<?x128xbf16, "e"> {
  // expected-error @below {{expected tensors without encoding, got 'tensor<?x128xbf16, "e">'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0] : tensor<?x128xbf16> into tensor<?x128xbf16, "e">
  return %0 : tensor<?x128xbf16, "e">
}

// -----

func.func @c2_count(%k: tensor<?x128xbf16>, %slots: tensor<?xi64>, %cache: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{expected 'dims' to name a dimension of 'dest' for each of 'at', ascending, at least one, got [0, 1] for 1 of 'at' and 'tensor<?x128xbf16>'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0, 1] : tensor<?x128xbf16> into tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

func.func @c2_order(%k: tensor<?x128xbf16>, %slots: tensor<?xi64>, %cache: tensor<?x16x128xbf16>) -> tensor<?x16x128xbf16> {
  // expected-error @below {{ascending, at least one, got [1, 0] for 2 of 'at'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots, %slots : tensor<?xi64>, tensor<?xi64>) dims [1, 0] : tensor<?x128xbf16> into tensor<?x16x128xbf16>
  return %0 : tensor<?x16x128xbf16>
}

// -----

func.func @c2_range(%k: tensor<?x128xbf16>, %slots: tensor<?xi64>, %cache: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{ascending, at least one, got [2] for 1 of 'at'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [2] : tensor<?x128xbf16> into tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

func.func @c3_indices(%k: tensor<5x128xbf16>, %a: tensor<5xi64>, %b: tensor<4xi64>, %cache: tensor<?x16x128xbf16>) -> tensor<?x16x128xbf16> {
  // expected-error @below {{expected all of 'at' to have one shape, got 'tensor<5xi64>' and 'tensor<4xi64>'}}
  %0 = rmsnorm.scatter %k into %cache at(%a, %b : tensor<5xi64>, tensor<4xi64>) dims [0, 1] : tensor<5x128xbf16> into tensor<?x16x128xbf16>
  return %0 : tensor<?x16x128xbf16>
}

// -----

func.func @c3_source(%k: tensor<?x1x128xbf16>, %slots: tensor<?xi64>, %cache: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{expected 'source' to have the shape of 'at', then the dimensions of 'dest' without 'dims', and its elements, got 'tensor<?x1x128xbf16>' for 'tensor<?xi64>' and 'tensor<?x128xbf16>'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0] : tensor<?x1x128xbf16> into tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

func.func @c3_elements(%k: tensor<?x128xf32>, %slots: tensor<?xi64>, %cache: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{and its elements, got 'tensor<?x128xf32>' for 'tensor<?xi64>' and 'tensor<?x128xbf16>'}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0] : tensor<?x128xf32> into tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// -----

func.func @index_type(%k: tensor<?x128xbf16>, %slots: tensor<?xf32>, %cache: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-error @below {{operand #2 must be variadic of ranked tensor of index or 8-bit signless integer}}
  %0 = rmsnorm.scatter %k into %cache at(%slots : tensor<?xf32>) dims [0] : tensor<?x128xbf16> into tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

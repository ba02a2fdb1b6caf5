// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=37 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=37

// A row that is put together in front of the norm is one of the kernel, and stays
// in registers.
#whole = affine_map<(t, h, c) -> (t, h, c)>
#table = affine_map<(t, h, c) -> (t, c)>

// Two halves, each computed of an argument of its own; the row is stored, too.
// CHECK-LABEL: func.func @halves(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [2, 32]
// CHECK-COUNT-2: tile_load tile %{{.*}} : memref<?x32xf32
// CHECK: rmsnorm.put
// CHECK: rmsnorm.row_reduce
// CHECK: tile_load column
// CHECK-COUNT-2: tile_store tile %{{.*}} : vector<1x2x32xf32>
func.func @halves(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x32xf32>
  %a = arith.addf %x, %x : tensor<?x32xf32>
  %b = arith.mulf %y, %y : tensor<?x32xf32>
  %q = tensor.concat dim(1) %a, %b : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %r = rmsnorm.forward input(%q : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  return %r, %q : tensor<?x64xf32>, tensor<?x64xf32>
}

// Heads whose first half passes as it is.
// CHECK-LABEL: func.func @passes(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [2, 32]
// CHECK-COUNT-3: tile_load tile %{{.*}} -> vector<1x1x32xbf16>
// CHECK: rmsnorm.row_reduce
// CHECK: tile_store tile %{{.*}} : vector<1x2x32xbf16>
func.func @passes(%x: tensor<?x4x64xbf16>, %cos: tensor<?x32xbf16>) -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %a = tensor.extract_slice %x[0, 0, 0] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %b = tensor.extract_slice %x[0, 0, 32] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<?x4x32xbf16>
  %h = tensor.empty(%n) : tensor<?x4x32xbf16>
  %d = linalg.generic {indexing_maps = [#whole, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %cos : tensor<?x4x32xbf16>, tensor<?x32xbf16>) outs(%h : tensor<?x4x32xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %o: bf16):
    %0 = arith.mulf %i, %j : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x4x32xbf16>
  %q = tensor.concat dim(2) %a, %d : (tensor<?x4x32xbf16>, tensor<?x4x32xbf16>) -> tensor<?x4x64xbf16>
  %e = tensor.empty(%n) : tensor<?x4x64xbf16>
  %r = rmsnorm.forward input(%q : tensor<?x4x64xbf16>) output(%e : tensor<?x4x64xbf16>) eps = 1.0e-05 -> tensor<?x4x64xbf16>
  return %r : tensor<?x4x64xbf16>
}

// The gradient of a norm of heads with a rotation after it: dy is rotated back.
// CHECK-LABEL: func.func @gradient(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [2, 32]
// CHECK-COUNT-5: tile_load tile
// CHECK: tile_load column
// CHECK: rmsnorm.row_reduce
// CHECK: tile_store tile %{{.*}} : vector<1x2x32xf32>
// CHECK: rmsnorm.accumulate
func.func @gradient(%dy: tensor<?x4x64xf32>, %x: tensor<?x4x64xf32>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>, %w: tensor<64xf32>) -> (tensor<?x4x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %a = tensor.extract_slice %dy[0, 0, 0] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xf32> to tensor<?x4x32xf32>
  %b = tensor.extract_slice %dy[0, 0, 32] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xf32> to tensor<?x4x32xf32>
  %h = tensor.empty(%n) : tensor<?x4x32xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole, #table, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xf32>, tensor<?x4x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%h : tensor<?x4x32xf32>) {
  ^bb0(%i: f32, %j: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %i, %c : f32
    %1 = arith.mulf %j, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x32xf32>
  %q = linalg.generic {indexing_maps = [#whole, #whole, #table, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x32xf32>, tensor<?x4x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%h : tensor<?x4x32xf32>) {
  ^bb0(%i: f32, %j: f32, %c: f32, %s: f32, %o: f32):
    %0 = arith.mulf %j, %c : f32
    %1 = arith.mulf %i, %s : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x32xf32>
  %e = tensor.empty(%n) : tensor<?x4x64xf32>
  %g1 = tensor.insert_slice %p into %e[0, 0, 0] [%n, 4, 32] [1, 1, 1] : tensor<?x4x32xf32> into tensor<?x4x64xf32>
  %g = tensor.insert_slice %q into %g1[0, 0, 32] [%n, 4, 32] [1, 1, 1] : tensor<?x4x32xf32> into tensor<?x4x64xf32>
  %w0 = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%g : tensor<?x4x64xf32>) input(%x : tensor<?x4x64xf32>) weight(%w : tensor<64xf32>) dx(%e : tensor<?x4x64xf32>) dweight(%w0 : tensor<64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>, tensor<64xf32>
  return %dx, %dw : tensor<?x4x64xf32>, tensor<64xf32>
}

// Halves that are padded to whole rows and added, as gradients of slices are.
// CHECK-LABEL: func.func @padded(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [2, 32]
// CHECK-COUNT-2: tile_load tile
// CHECK: tile_load column
// CHECK: rmsnorm.row_reduce
// CHECK: tile_store tile %{{.*}} : vector<1x2x32xf32>
// CHECK: rmsnorm.accumulate
func.func @padded(%x: tensor<?x4x64xf32>, %y: tensor<?x4x64xf32>, %w: tensor<64xf32>) -> (tensor<?x4x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %zero = arith.constant 0.0 : f32
  %m = arith.mulf %x, %x : tensor<?x4x64xf32>
  %a = tensor.extract_slice %m[0, 0, 0] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xf32> to tensor<?x4x32xf32>
  %b = tensor.extract_slice %m[0, 0, 32] [%n, 4, 32] [1, 1, 1] : tensor<?x4x64xf32> to tensor<?x4x32xf32>
  %na = arith.negf %a : tensor<?x4x32xf32>
  %p = tensor.pad %na low[0, 0, 32] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<?x4x32xf32> to tensor<?x4x64xf32>
  %q = tensor.pad %b low[0, 0, 0] high[0, 0, 32] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<?x4x32xf32> to tensor<?x4x64xf32>
  %s = arith.addf %x, %p : tensor<?x4x64xf32>
  %t = arith.addf %s, %q : tensor<?x4x64xf32>
  %e = tensor.empty(%n) : tensor<?x4x64xf32>
  %w0 = tensor.empty() : tensor<64xf32>
  %dx, %dw = rmsnorm.backward dy(%t : tensor<?x4x64xf32>) input(%y : tensor<?x4x64xf32>) weight(%w : tensor<64xf32>) dx(%e : tensor<?x4x64xf32>) dweight(%w0 : tensor<64xf32>) eps = 1.0e-05 -> tensor<?x4x64xf32>, tensor<64xf32>
  return %dx, %dw : tensor<?x4x64xf32>, tensor<64xf32>
}

// Halves of 40 columns, of which five of eight threads have a vector each.
// CHECK-LABEL: func.func @gradient_of_80(
// CHECK: rmsnorm.rows sizes [%{{.*}}, 4] columns [2, 40]
// CHECK-COUNT-5: tile_load tile
// CHECK: tile_load column
// CHECK: rmsnorm.row_reduce
// CHECK: tile_store tile %{{.*}} : vector<1x2x40xbf16>
// CHECK: rmsnorm.accumulate
func.func @gradient_of_80(%dy: tensor<?x4x80xbf16>, %x: tensor<?x4x80xbf16>, %cos: tensor<?x40xbf16>, %sin: tensor<?x40xbf16>, %w: tensor<80xbf16>) -> (tensor<?x4x80xbf16>, tensor<80xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x80xbf16>
  %a = tensor.extract_slice %dy[0, 0, 0] [%n, 4, 40] [1, 1, 1] : tensor<?x4x80xbf16> to tensor<?x4x40xbf16>
  %b = tensor.extract_slice %dy[0, 0, 40] [%n, 4, 40] [1, 1, 1] : tensor<?x4x80xbf16> to tensor<?x4x40xbf16>
  %h = tensor.empty(%n) : tensor<?x4x40xbf16>
  %p = linalg.generic {indexing_maps = [#whole, #whole, #table, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x40xbf16>, tensor<?x4x40xbf16>, tensor<?x40xbf16>, tensor<?x40xbf16>) outs(%h : tensor<?x4x40xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %c: bf16, %s: bf16, %o: bf16):
    %0 = arith.mulf %i, %c : bf16
    %1 = arith.mulf %j, %s : bf16
    %2 = arith.addf %0, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x4x40xbf16>
  %q = linalg.generic {indexing_maps = [#whole, #whole, #table, #table, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b, %cos, %sin : tensor<?x4x40xbf16>, tensor<?x4x40xbf16>, tensor<?x40xbf16>, tensor<?x40xbf16>) outs(%h : tensor<?x4x40xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %c: bf16, %s: bf16, %o: bf16):
    %0 = arith.mulf %j, %c : bf16
    %1 = arith.mulf %i, %s : bf16
    %2 = arith.subf %0, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x4x40xbf16>
  %e = tensor.empty(%n) : tensor<?x4x80xbf16>
  %g1 = tensor.insert_slice %p into %e[0, 0, 0] [%n, 4, 40] [1, 1, 1] : tensor<?x4x40xbf16> into tensor<?x4x80xbf16>
  %g = tensor.insert_slice %q into %g1[0, 0, 40] [%n, 4, 40] [1, 1, 1] : tensor<?x4x40xbf16> into tensor<?x4x80xbf16>
  %w0 = tensor.empty() : tensor<80xbf16>
  %dx, %dw = rmsnorm.backward dy(%g : tensor<?x4x80xbf16>) input(%x : tensor<?x4x80xbf16>) weight(%w : tensor<80xbf16>) dx(%e : tensor<?x4x80xbf16>) dweight(%w0 : tensor<80xbf16>) eps = 1.0e-05 -> tensor<?x4x80xbf16>, tensor<80xbf16>
  return %dx, %dw : tensor<?x4x80xbf16>, tensor<80xbf16>
}

// Integer constants, and copies of arguments that are updated then, in the oracle.
// RUN: norm-compile %s --target=sim:sm_90,oracle --rows=7 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=7 2>&1 | FileCheck %s --implicit-check-not=WRONG --implicit-check-not=undefined
// CHECK-COUNT-7: {{^[a-z_0-9]+ .* ok$}}
func.func @fill_i8(%x: tensor<4x8xi8>) -> tensor<4x8xi8> {
  %c = arith.constant 5 : i8
  %e = tensor.empty() : tensor<4x8xi8>
  %f = linalg.fill ins(%c : i8) outs(%e : tensor<4x8xi8>) -> tensor<4x8xi8>
  return %f : tensor<4x8xi8>
}
func.func @fill_i8_0(%x: tensor<4x8xi8>) -> tensor<4x8xi8> {
  %c = arith.constant 0 : i8
  %e = tensor.empty() : tensor<4x8xi8>
  %f = linalg.fill ins(%c : i8) outs(%e : tensor<4x8xi8>) -> tensor<4x8xi8>
  return %f : tensor<4x8xi8>
}
func.func @pad_i8(%a0: tensor<?x60xf32>) -> (tensor<?x64xi8>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x60xf32>
  %v2 = tensor.empty(%m) : tensor<?x60xf32>
  %v3 = rmsnorm.forward input(%a0 : tensor<?x60xf32>) output(%v2 : tensor<?x60xf32>) eps = 1.0e-03 -> tensor<?x60xf32>
  %v4 = tensor.empty(%m) : tensor<?x60xi8>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v3 : tensor<?x60xf32>) outs(%v4 : tensor<?x60xi8>) {
  ^bb0(%x0: f32, %o: i8):
    %bm = arith.constant 40.0 : f32
    %hi = arith.constant 127.0 : f32
    %lo = arith.constant -127.0 : f32
    %bq = arith.mulf %x0, %bm : f32
    %bn = math.roundeven %bq : f32
    %l = arith.maximumf %bn, %lo : f32
    %h = arith.minimumf %l, %hi : f32
    %i = arith.fptosi %h : f32 to i8
    linalg.yield %i : i8
  } -> tensor<?x60xi8>
  %v6 = arith.constant 5 : i8
  %v7 = tensor.pad %v5 low[0, 0] high[0, 4] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v6 : i8
  } : tensor<?x60xi8> to tensor<?x64xi8>
  return %v7 : tensor<?x64xi8>
}

func.func @copied(%a0: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x96xf32>
  %v2 = tensor.empty(%m) : tensor<?x96xf32>
  %v3 = linalg.transpose ins(%a0 : tensor<?x96xf32>) outs(%v2 : tensor<?x96xf32>) permutation = [0, 1]
  %v4 = tensor.empty(%m) : tensor<?x96xf32>
  %v5 = rmsnorm.forward input(%a0 : tensor<?x96xf32>) output(%v4 : tensor<?x96xf32>) eps = 1.0e-03 -> tensor<?x96xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v5 : tensor<?x96xf32>) outs(%a0 : tensor<?x96xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %r = math.tanh %x0 : f32
    linalg.yield %r : f32
  } -> tensor<?x96xf32>
  return %v6, %v3 : tensor<?x96xf32>, tensor<?x96xf32>
}

func.func @copied_part(%a0: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x96xf32>
  %v2 = tensor.empty(%m) : tensor<?x96xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<?x96xf32>) outs(%v2 : tensor<?x96xf32>) {
  ^bb0(%x0: f32, %o: f32):
    linalg.yield %x0 : f32
  } -> tensor<?x96xf32>
  %v4 = tensor.extract_slice %a0[0, 24] [%m, 24] [1, 1] : tensor<?x96xf32> to tensor<?x24xf32>
  %v5 = tensor.empty(%m) : tensor<?x24xf32>
  %v6 = rmsnorm.forward input(%v4 : tensor<?x24xf32>) output(%v5 : tensor<?x24xf32>) eps = 1.0e-03 -> tensor<?x24xf32>
  %v7 = tensor.insert_slice %v6 into %a0[0, 24] [%m, 24] [1, 1] : tensor<?x24xf32> into tensor<?x96xf32>
  return %v7, %v3 : tensor<?x96xf32>, tensor<?x96xf32>
}

func.func @i1_slice(%a0: tensor<?x64xi1>) -> (tensor<?x16xi1>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x64xi1>
  %v2 = tensor.extract_slice %a0[0, 8] [%m, 16] [1, 1] : tensor<?x64xi1> to tensor<?x16xi1>
  return %v2 : tensor<?x16xi1>
}

func.func @i1_pad(%a0: tensor<?x60xi32>) -> (tensor<?x64xi1>) {
  %v1 = arith.constant 0 : index
  %m = tensor.dim %a0, %v1 : tensor<?x60xi32>
  %v2 = tensor.empty(%m) : tensor<?x60xi1>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<?x60xi32>) outs(%v2 : tensor<?x60xi1>) {
  ^bb0(%x0: i32, %o: i1):
    %z = arith.constant 1 : i32
    %r = arith.cmpi sgt, %x0, %z : i32
    linalg.yield %r : i1
  } -> tensor<?x60xi1>
  %v4 = arith.constant 1 : i1
  %v5 = tensor.pad %v3 low[0, 0] high[0, 4] {
  ^bb0(%p0: index, %p1: index):
    tensor.yield %v4 : i1
  } : tensor<?x60xi1> to tensor<?x64xi1>
  return %v5 : tensor<?x64xi1>
}

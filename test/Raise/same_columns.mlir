// A row whose elements are one number, of a constant or broadcast, is no input of
// a norm: nothing is summed over the columns.
// RUN: norm-opt %s --rmsnorm-raise --canonicalize --cse 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark: < %t.remarks
// CHECK-NOT: rmsnorm
// REMARK-COUNT-2: remark: not raised to rmsnorm.forward: what is summed is the same in all columns

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @constant(%w: tensor<64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %x = arith.constant 0.25 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %full = tensor.empty() : tensor<8x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %xs = linalg.fill ins(%x : f32) outs(%full : tensor<8x64xf32>) -> tensor<8x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %square = arith.mulf %a, %a : f32
    %r = arith.addf %acc, %square : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%xs, %sum, %w : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>) outs(%full : tensor<8x64xf32>) {
  ^bb0(%a: f32, %s: f32, %weight: f32, %o: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %r = arith.mulf %normal, %weight : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

func.func @broadcast(%x: tensor<8xf32>, %w: tensor<64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %full = tensor.empty() : tensor<8x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %xs = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%full : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %square = arith.mulf %a, %a : f32
    %r = arith.addf %acc, %square : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%xs, %sum, %w : tensor<8x64xf32>, tensor<8xf32>, tensor<64xf32>) outs(%full : tensor<8x64xf32>) {
  ^bb0(%a: f32, %s: f32, %weight: f32, %o: f32):
    %mean = arith.divf %s, %n : f32
    %shifted = arith.addf %mean, %eps : f32
    %rstd = math.rsqrt %shifted : f32
    %normal = arith.mulf %a, %rstd : f32
    %r = arith.mulf %normal, %weight : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

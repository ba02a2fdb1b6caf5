// RUN: norm-opt %s --rmsnorm-tile-rows --split-input-file --verify-diagnostics

func.func @over_rows(%x: tensor<?x64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{but it combines rows, and not those of all its dimensions, or all but the first or last ones, by arith.addf, a maximum or a minimum in f32}}
  %y = linalg.reduce {arith.mulf} ins(%x : tensor<?x64xf32>) outs(%e : tensor<64xf32>) dimensions = [0] {rmsnorm.row_wise}
  return %y : tensor<64xf32>
}

// -----

func.func @transposed(%x: tensor<64x?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{but its operand #0 does not have the rows, or some of their dimensions, as its leading dimensions}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x?xf32>) outs(%e : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @memrefs(%x: memref<?x64xf32>, %e: memref<?xf32>) {
  // expected-error @below {{but it is not on tensors}}
  linalg.reduce {arith.addf} ins(%x : memref<?x64xf32>) outs(%e : memref<?xf32>) dimensions = [1] {rmsnorm.row_wise}
  return
}

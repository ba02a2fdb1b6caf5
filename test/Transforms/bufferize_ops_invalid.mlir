// RUN: norm-opt %s --one-shot-bufferize="bufferize-function-boundaries=true" --verify-diagnostics

func.func @column_sum_of_tensor(%t: tensor<128xf32>, %m: index,
                                %dw: tensor<128xf32>) -> tensor<128xf32> {
  %0 = scf.forall (%i) in (%m) shared_outs(%o = %dw) -> (tensor<128xf32>) {
    scf.forall.in_parallel {
      // expected-error @below {{expected a vector source, got 'tensor<128xf32>'; run rmsnorm-vectorize before bufferization}}
      // expected-error @below {{failed to bufferize op}}
      rmsnorm.column_sum %t into %o : tensor<128xf32> into tensor<128xf32>
    }
  }
  return %0 : tensor<128xf32>
}

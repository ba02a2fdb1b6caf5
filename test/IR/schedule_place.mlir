// RUN: norm-opt %s --split-input-file --verify-diagnostics

// A schedule belongs to a loop over rows; elsewhere it would be lost.
func.func @norm(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expected 'rmsnorm.schedule' on the loop over rows, which rmsnorm-tile-rows makes; for a norm give the pass option or norm-compile's --schedule}}
  %0 = rmsnorm.forward input(%x : tensor<4x8xf32>) output(%y : tensor<4x8xf32>) eps = 1.0e-05 {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>} -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{expected 'rmsnorm.schedule' on the loop over rows}}
func.func private @function() attributes {rmsnorm.schedule = #rmsnorm.schedule<threads_per_row = 32, vector_width = 4>}

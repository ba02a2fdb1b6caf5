// What has not been bufferized, or not outlined, is not passed over in silence.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sim --split-input-file --verify-diagnostics
// RUN: norm-opt %s --rmsnorm-attach-target=target=sim --rmsnorm-select-variants --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4x64xf32>, %y0: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @below {{expected bufferized programs over rows (rmsnorm-tensor-half, or rmsnorm-embed-tensors and bufferization), got a norm on tensors}}
  %y = rmsnorm.forward input(%x : tensor<4x64xf32>) output(%y0 : tensor<4x64xf32>) eps = 1.0e-5 -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

func.func @not_outlined(%x: memref<4x64xf32>) {
  // expected-error @below {{expected rmsnorm.rows, got a loop over rows (rmsnorm-outline-rows makes one of it)}}
  scf.forall (%row) in (4) {
    %t = rmsnorm.tile_load tile %x[%row] : memref<4x64xf32> -> vector<1x64xf32>
    rmsnorm.tile_store tile %t, %x[%row] : vector<1x64xf32>, memref<4x64xf32>
  } {rmsnorm.rows = 1 : i64}
  return
}

// -----

// A norm on memrefs is somebody's who lowers it by another way.
func.func @memrefs(%x: memref<4x64xf32>) {
  rmsnorm.forward input(%x : memref<4x64xf32>) output(%x : memref<4x64xf32>) eps = 1.0e-5
  return
}

// What has not been bufferized is not passed over in silence.
// RUN: norm-opt %s --rmsnorm-memref-half=target=sim --split-input-file --verify-diagnostics
// RUN: norm-opt %s --rmsnorm-attach-target=target=sim --rmsnorm-select-variants --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4x64xf32>, %y0: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @below {{expected bufferized programs over rows (rmsnorm-tensor-half, or rmsnorm-embed-tensors and bufferization), got a norm on tensors}}
  %y = rmsnorm.forward input(%x : tensor<4x64xf32>) output(%y0 : tensor<4x64xf32>) eps = 1.0e-5 -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

func.func @rows(%x: tensor<4x64xf32>, %y0: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @below {{expected bufferized programs over rows, got one on tensors: one-shot-bufferize comes first}}
  %y = rmsnorm.rows sizes [4] columns(64) buffers(read %x : tensor<4x64xf32>, write %y0 : tensor<4x64xf32>) -> tensor<4x64xf32> {
  ^bb0(%a: memref<4x64xf32>, %b: memref<4x64xf32>):
    rmsnorm.tiles body {
    ^bb0(%row: index):
      %t = rmsnorm.tile_load tile %a[%row] : memref<4x64xf32> -> vector<1x64xf32>
      rmsnorm.tile_store tile %t, %b[%row] : vector<1x64xf32>, memref<4x64xf32>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return %y : tensor<4x64xf32>
}

// -----

// A norm on memrefs is somebody's who lowers it by another way.
func.func @memrefs(%x: memref<4x64xf32>) {
  rmsnorm.forward input(%x : memref<4x64xf32>) output(%x : memref<4x64xf32>) eps = 1.0e-5
  return
}

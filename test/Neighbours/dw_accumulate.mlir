// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|tile_load|tile_store|accumulate}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// A gradient is added to what is there already: by the op that adds up what the
// blocks have come to, in place or not, rounded to the type of the accumulator.
// CHECK-LABEL: func.func @dw_accumulate(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<256xf32>) : vector<1x256xf32> into memref<256xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0) -> (d0)>
func.func @dw_accumulate(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %acc: tensor<256xf32>) -> (tensor<?x256xbf16>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %dwe = tensor.empty() : tensor<256xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x256xbf16>) input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) dx(%e : tensor<?x256xbf16>) dweight(%dwe : tensor<256xf32>) eps = 1.0e-05 -> tensor<?x256xbf16>, tensor<256xf32>
  %a = linalg.add ins(%dw, %acc : tensor<256xf32>, tensor<256xf32>) outs(%dwe : tensor<256xf32>) -> tensor<256xf32>
  return %dx, %a : tensor<?x256xbf16>, tensor<256xf32>
}

// CHECK-LABEL: func.func @in_place(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load column %{{[a-z0-9]*}} : memref<256xbf16>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.accumulate %{{.*}} into %[[A:.*]] init(%[[A]] : memref<256xf32>) : vector<1x256xf32> into memref<256xf32>
// CHECK: rmsnorm.accumulate %{{.*}} into %[[B:.*]] init(%[[B]] : memref<256xf32>) : vector<1x256xf32> into memref<256xf32>
func.func @in_place(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>, %w: tensor<256xbf16>, %dweight: tensor<256xf32>, %dbias: tensor<256xf32>) -> (tensor<?x256xbf16>, tensor<256xf32>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %dwe = tensor.empty() : tensor<256xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x256xbf16>) input(%x : tensor<?x256xbf16>) weight(%w : tensor<256xbf16>) dx(%e : tensor<?x256xbf16>) dweight(%dwe : tensor<256xf32>) eps = 1.0e-05 -> tensor<?x256xbf16>, tensor<256xf32>
  %a = linalg.add ins(%dweight, %dw : tensor<256xf32>, tensor<256xf32>) outs(%dweight : tensor<256xf32>) -> tensor<256xf32>
  %b = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%dy : tensor<?x256xbf16>) outs(%dbias : tensor<256xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %q = arith.extf %p : bf16 to f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  return %dx, %a, %b : tensor<?x256xbf16>, tensor<256xf32>, tensor<256xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_load tile %{{[a-z0-9]*}}[%{{.*}}] : memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.tile_store tile %{{.*}} : vector<1x256xbf16>, memref<?x256xbf16, strided<[?, 1]>>
// CHECK: rmsnorm.accumulate %{{.*}} into %{{.*}} init(%{{.*}} : memref<256xbf16>) : vector<1x256xf32> into memref<256xbf16>
// CHECK: rmsnorm.accumulate %{{[a-z0-9]*}} into %{{[a-z0-9]*}} : vector<1x256xf32> into memref<256xf16>
func.func @narrow(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>, %acc: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %e1 = tensor.empty() : tensor<256xf32>
  %e2 = tensor.empty() : tensor<256xbf16>
  %e3 = tensor.empty() : tensor<256xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256xf32>) -> tensor<256xf32>
  %dx = rmsnorm.backward dy(%dy : tensor<?x256xbf16>) input(%x : tensor<?x256xbf16>) dx(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%dy : tensor<?x256xbf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %q = arith.extf %p : bf16 to f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %a = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%acc, %s : tensor<256xbf16>, tensor<256xf32>) outs(%e2 : tensor<256xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %u = arith.extf %p : bf16 to f32
    %v = arith.addf %u, %q : f32
    %r = arith.truncf %v : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<256xbf16>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256xf32>) -> tensor<256xf32>
  %t = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%dx : tensor<?x256xbf16>) outs(%f2 : tensor<256xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %q = arith.extf %p : bf16 to f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %b = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%t : tensor<256xf32>) outs(%e3 : tensor<256xf16>) {
  ^bb0(%p: f32, %o: f16):
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<256xf16>
  return %dx, %a, %b : tensor<?x256xbf16>, tensor<256xbf16>, tensor<256xf16>
}

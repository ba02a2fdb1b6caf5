// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="rmsnorm.rows "
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67

// A norm of each head, then a LayerNorm of all: a row is a token, and holds the
// heads' rows. Nothing marks the LayerNorm.
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns [8, 64]
#id = affine_map<(t, c) -> (t, c)>
#row = affine_map<(t, c) -> (t)>
func.func @layer_of_heads(%x: tensor<?x512xbf16>, %w: tensor<64xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %heads = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 8, 64] : tensor<?x512xbf16> into tensor<?x8x64xbf16>
  %ne = tensor.empty(%m) : tensor<?x8x64xbf16>
  %n = rmsnorm.forward input(%heads : tensor<?x8x64xbf16>) weight(%w : tensor<64xbf16>) output(%ne : tensor<?x8x64xbf16>) eps = 1.0e-06 -> tensor<?x8x64xbf16>
  %token = tensor.collapse_shape %n [[0], [1, 2]] : tensor<?x8x64xbf16> into tensor<?x512xbf16>
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty(%m) : tensor<?xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%token : tensor<?x512xbf16>) outs(%rf, %rf : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%b: bf16, %s: f32, %q: f32):
    %a = arith.extf %b : bf16 to f32
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  %e = tensor.empty(%m) : tensor<?x512xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%token, %sums#0, %sums#1 : tensor<?x512xbf16>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x512xbf16>) {
  ^bb0(%b: bf16, %s: f32, %q: f32, %o: bf16):
    %c = arith.constant 512.0 : f32
    %eps = arith.constant 1.0e-06 : f32
    %a = arith.extf %b : bf16 to f32
    %0 = arith.divf %s, %c : f32
    %1 = arith.divf %q, %c : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.subf %1, %2 : f32
    %4 = arith.addf %3, %eps : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.subf %a, %0 : f32
    %7 = arith.mulf %6, %5 : f32
    %8 = arith.truncf %7 : f32 to bf16
    linalg.yield %8 : bf16
  } -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}

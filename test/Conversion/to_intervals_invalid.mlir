// RUN: norm-opt %s --rmsnorm-to-intervals --split-input-file --verify-diagnostics

#id = affine_map<(d0) -> (d0)>
func.func @no_rule(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{'math.sincos' op is computed by no kernel: expected math.sin and math.cos}}
    %r, %q = math.sincos %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @wide(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%a: f64, %o: f64):
    // expected-error @below {{'arith.addf' op expected f16, bf16, f32, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E8M0FNU or f4E2M1FN, got 'f64'}}
    %r = arith.addf %a, %a : f64
    linalg.yield %r : f64
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @other_rounding(%x: memref<?xf32>, %y: memref<?xbf16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    // expected-error @below {{'arith.truncf' op expected rounding to nearest even, got 'downward'}}
    %r = arith.truncf %a downward : f32 to bf16
    linalg.yield %r : bf16
  }
  return
}

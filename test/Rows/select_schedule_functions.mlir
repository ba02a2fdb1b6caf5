// What takes many instructions: values computed ahead of a reduction and needed after it are held, not computed again with a
// row that is read again; functions after it have fewer threads with more to do at once.
// RUN: norm-opt %s --rmsnorm-tensor-half --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>

// CHECK-LABEL: func.func @before
// CHECK: #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, mask_bf16 = true>
func.func @before(%x: tensor<?x4096xbf16>, %z: tensor<?x4096xbf16>, %y0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4096xbf16>) outs(%z : tensor<?x4096xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %e = math.exp %a : bf16
    linalg.yield %e : bf16
  } -> tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x4096xbf16>) output(%y0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

// CHECK-LABEL: func.func @behind
// CHECK: #rmsnorm.schedule<threads_per_row = 128, vector_width = 8, vectors_in_flight = 4, cache = reload>
func.func @behind(%x: tensor<?x4096xbf16>, %y0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) output(%y0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %q = linalg.exp ins(%y : tensor<?x4096xbf16>) outs(%y0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %q : tensor<?x4096xbf16>
}

// Cheap math is none.
// CHECK-LABEL: func.func @neither
// CHECK: #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload>
func.func @neither(%x: tensor<?x4096xbf16>, %y0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) output(%y0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %q = linalg.abs ins(%y : tensor<?x4096xbf16>) outs(%y0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %q : tensor<?x4096xbf16>
}

// Values computed ahead of a reduction and needed after it are held with the
// row, not computed again.
// RUN: norm-opt %s --rmsnorm-tensor-half --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>

// CHECK-LABEL: func.func @before
// CHECK: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8{{[,>]}}
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
// CHECK: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8{{[,>]}}
func.func @behind(%x: tensor<?x4096xbf16>, %y0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) output(%y0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %q = linalg.exp ins(%y : tensor<?x4096xbf16>) outs(%y0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %q : tensor<?x4096xbf16>
}

// Cheap math is none.
// CHECK-LABEL: func.func @neither
// CHECK: #rmsnorm.schedule<{{(row_groups = [0-9]+, )?}}threads_per_row = {{[0-9]+}}, vector_width = 8{{[,>]}}
func.func @neither(%x: tensor<?x4096xbf16>, %y0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) output(%y0 : tensor<?x4096xbf16>) eps = 1.0e-05 -> tensor<?x4096xbf16>
  %q = linalg.abs ins(%y : tensor<?x4096xbf16>) outs(%y0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %q : tensor<?x4096xbf16>
}

// Where a chip holds no program of the kind, what is said is what the program has,
// at the op that has it: nobody gave a schedule.
// RUN: rm -rf %t && split-file %s %t
// RUN: not norm-compile %t/parts.mlir --target=sm_90 -o %t/none 2>&1 | FileCheck %s --check-prefix=PARTS --implicit-check-not="schedule: "
// RUN: norm-opt %t/groups.mlir --rmsnorm-tensor-half | sed 's/128/96/g; s/32xf32/24xf32/g; s/, 32\]/, 24]/' > %t/of_24.mlir
// RUN: not norm-opt %t/of_24.mlir --rmsnorm-memref-half=target=sm_90 2>&1 | FileCheck %s --check-prefix=GROUPS --implicit-check-not="schedule: "

// PARTS: parts.mlir:7:{{.*}}error: expected rows of at most {{[0-9]+}} columns on sm_90, as their parts begin and end at multiples of 1 column, got 194 columns
// GROUPS: error: expected groups of a power of two of columns, at most 128 on sm_90, got groups of 24

//--- parts.mlir
func.func @swap(%x: tensor<?x194xf32>) -> tensor<?x194xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x194xf32>
  %e = tensor.empty(%m) : tensor<?x194xf32>
  %y = rmsnorm.forward input(%x : tensor<?x194xf32>) output(%e : tensor<?x194xf32>) eps = 1.0e-06 -> tensor<?x194xf32>
  %a = tensor.extract_slice %y[0, 0] [%m, 3] [1, 1] : tensor<?x194xf32> to tensor<?x3xf32>
  %b = tensor.extract_slice %y[0, 3] [%m, 3] [1, 1] : tensor<?x194xf32> to tensor<?x3xf32>
  %r = tensor.extract_slice %y[0, 6] [%m, 188] [1, 1] : tensor<?x194xf32> to tensor<?x188xf32>
  %i1 = tensor.insert_slice %b into %e[0, 0] [%m, 3] [1, 1] : tensor<?x3xf32> into tensor<?x194xf32>
  %i2 = tensor.insert_slice %a into %i1[0, 3] [%m, 3] [1, 1] : tensor<?x3xf32> into tensor<?x194xf32>
  %i3 = tensor.insert_slice %r into %i2[0, 6] [%m, 188] [1, 1] : tensor<?x188xf32> into tensor<?x194xf32>
  return %i3 : tensor<?x194xf32>
}
//--- groups.mlir
func.func @groups(%x: tensor<?x128xf32>) -> (tensor<?x128xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %y = rmsnorm.forward input(%x : tensor<?x128xf32>) output(%e : tensor<?x128xf32>) eps = 1.0e-05 -> tensor<?x128xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [%m, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty(%m) : tensor<?x4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x4x32xf32>) outs(%i : tensor<?x4xf32>) {
  ^bb0(%a: f32, %q: f32):
    %r = arith.maximumf %q, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  return %y, %s : tensor<?x128xf32>, tensor<?x4xf32>
}

// Sizes that follow from others: inferred where they are not given, checked where they are.
// RUN: rm -rf %t && split-file %s %t
// RUN: norm-compile %t/merged.mlir --target=sim:sm_90 --target=oracle -o %t/merged.rmsn
// RUN: norm-inspect %t/merged.rmsn | FileCheck %s --check-prefix=INSPECT
// INSPECT: argument 2 output: output bf16[s2, 256], dense
// INSPECT-NEXT: size(output, 0) = size(input, 0) * size(input, 1)
// RUN: norm-run %t/merged.rmsn --device=sim:sm_90 | FileCheck %s --check-prefix=MERGED
// MERGED: merged 2x151x256 {{.*}} ok
// RUN: norm-run %t/merged.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5
// RUN: norm-run %t/merged.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5 --dim=s2=15
// RUN: norm-run %t/merged.rmsn --device=sim:sm_90 --dim=s0=0
// RUN: not norm-run %t/merged.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5 --dim=s2=14 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not norm-run %t/merged.rmsn --device=sim:sm_90 --dim=s0=3 --dim=s1=5 --dim=s2=16 2>&1 | FileCheck %s --check-prefix=LARGE
// SMALL: merged.rmsn: entry 'merged': argument 'output': expected size 15 in dimension 0, size(input, 0) * size(input, 1), got 14
// LARGE: merged.rmsn: entry 'merged': argument 'output': expected size 15 in dimension 0, size(input, 0) * size(input, 1), got 16

// A C program asks what follows, and is told what does not fit.
// RUN: launch %t/merged.rmsn sim merged 3 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: merged on
// RUN: norm-compile %t/split.mlir --target=sim:sm_90 -o %t/split.rmsn
// RUN: launch %t/split.rmsn sim split 8 | FileCheck %s --check-prefix=LAUNCH8
// LAUNCH8: split on
// RUN: not launch %t/split.rmsn sim split 6 2>&1 | FileCheck %s --check-prefix=LAUNCH6
// LAUNCH6: argument 'input': expected size 4 in dimension 0, {{.*}}, got 6

// RUN: norm-run %t/residual.mlir --device=sim:sm_90
// RUN: norm-run %t/residual.mlir --device=sim:gfx942 --dim=s0=3 --dim=s1=7 --strided
// RUN: not norm-run %t/residual.mlir --device=sim:sm_90 --dim=s0=3 --dim=s1=7 --dim=s2=22 2>&1 | FileCheck %s --check-prefix=RESIDUAL
// RESIDUAL: argument 'arg1': expected size 21 in dimension 0, size(arg0, 0) * size(arg0, 1), got 22

// Rows that are a multiple of 4: the next are taken.
// RUN: norm-run %t/split.mlir --device=sim:sm_90 | FileCheck %s --check-prefix=SPLIT
// SPLIT: split 76x4x256 {{.*}} ok
// RUN: norm-run %t/split.mlir --device=sim:sm_90 --rows=1 | FileCheck %s --check-prefix=ONE
// ONE: split 1x4x256 {{.*}} ok
// RUN: not norm-run %t/split.mlir --device=sim:sm_90 --dim=s0=7 2>&1 | FileCheck %s --check-prefix=REST
// REST: argument 'input': expected size 4 in dimension 0, {{.*}}, got 7

// RUN: norm-run %t/destination.mlir --device=sim:sm_90
// RUN: norm-run %t/destination.mlir --device=sim:sm_90 --dim=s0=15 --dim=s1=3 --dim=s2=5
// RUN: not norm-run %t/destination.mlir --device=sim:sm_90 --dim=s0=15 --dim=s1=3 --dim=s2=4 2>&1 | FileCheck %s --check-prefix=DESTINATION
// DESTINATION: argument 'input': expected size 12 in dimension 0, size(arg1, 0) * size(arg1, 1), got 15

// RUN: norm-run %t/slice.mlir --device=sim:sm_90 --dim=s0=8 --dim=s1=5
// RUN: norm-run %t/slice.mlir --device=sim:sm_90
// RUN: not norm-run %t/slice.mlir --device=sim:sm_90 --dim=s0=8 --dim=s1=6 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: argument 'arg1': expected a size of at most 5 in dimension 0, {{.*}}, got 6

// RUN: norm-run %t/half.mlir --device=sim:sm_90
// RUN: norm-run %t/half.mlir --device=sim:sm_90 --dim=s0=7
// RUN: not norm-run %t/half.mlir --device=sim:sm_90 --dim=s0=7 --dim=s1=4 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: argument 'output': expected size 3 in dimension 0, floordiv(size(arg0, 0), 2), got 4

// An operand in groups of rows: their number follows, and there is no rest.
// RUN: norm-compile %t/groups.mlir --target=sim:sm_90 --target=oracle -o %t/groups.rmsn
// RUN: norm-inspect %t/groups.rmsn | FileCheck %s --check-prefix=GROUPS
// GROUPS: size(arg1, 0) = floordiv(size(arg0, 0), 4)
// GROUPS-NEXT: size(arg0, 0) = {{.*}}
// GROUPS-NEXT: program
// RUN: norm-run %t/groups.rmsn --device=sim:sm_90 --rows=17 | FileCheck %s --check-prefix=GROUPS20
// GROUPS20: groups 5x4x256 {{.*}} ok
// RUN: not norm-run %t/groups.rmsn --device=sim:sm_90 --dim=s0=20 --dim=s1=4 2>&1 | FileCheck %s --check-prefix=GROUPS4
// GROUPS4: argument 'arg1': expected size 5 in dimension 0, floordiv(size(arg0, 0), 4), got 4

//--- groups.mlir
func.func @groups(%x: tensor<?x256xbf16>, %r: tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %r, %c0 : tensor<?x4x256xbf16>
  %g = tensor.expand_shape %x [[0, 1], [2]] output_shape [%b, 4, 256] : tensor<?x256xbf16> into tensor<?x4x256xbf16>
  %e = tensor.empty(%b) : tensor<?x4x256xbf16>
  %s = linalg.add ins(%g, %r : tensor<?x4x256xbf16>, tensor<?x4x256xbf16>) outs(%e : tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16>
  %y = rmsnorm.forward input(%s : tensor<?x4x256xbf16>) output(%e : tensor<?x4x256xbf16>) eps = 1.0e-05 -> tensor<?x4x256xbf16>
  return %y : tensor<?x4x256xbf16>
}
//--- merged.mlir
func.func @merged(%x: tensor<?x?x256xbf16>, %w: tensor<256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %e = tensor.empty(%b, %t) : tensor<?x?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?x256xbf16>) weight(%w : tensor<256xbf16>) output(%e : tensor<?x?x256xbf16>) eps = 1.0e-05 -> tensor<?x?x256xbf16>
  %q = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x?x256xbf16> into tensor<?x256xbf16>
  return %q : tensor<?x256xbf16>
}
//--- residual.mlir
func.func @residual(%x: tensor<?x?x256xbf16>, %r: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %q = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x256xbf16> into tensor<?x256xbf16>
  %m = tensor.dim %r, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %s = linalg.add ins(%q, %r : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = rmsnorm.forward input(%s : tensor<?x256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
//--- split.mlir
func.func @split(%x: tensor<?x256xbf16>) -> tensor<?x4x256xbf16> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %b = arith.divui %m, %c4 : index
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %q = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, 4, 256] : tensor<?x256xbf16> into tensor<?x4x256xbf16>
  return %q : tensor<?x4x256xbf16>
}
//--- destination.mlir
func.func @destination(%x: tensor<?x256xbf16>, %o: tensor<?x?x256xbf16>) -> tensor<?x?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tensor.collapse_shape %o [[0, 1], [2]] : tensor<?x?x256xbf16> into tensor<?x256xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x256xbf16>) output(%q : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  %b = tensor.dim %o, %c0 : tensor<?x?x256xbf16>
  %t = tensor.dim %o, %c1 : tensor<?x?x256xbf16>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %t, 256] : tensor<?x256xbf16> into tensor<?x?x256xbf16>
  return %r : tensor<?x?x256xbf16>
}
//--- slice.mlir
func.func @slice(%x: tensor<?x256xbf16>, %r: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %r, %c0 : tensor<?x256xbf16>
  %s = tensor.extract_slice %x[3, 0] [%m, 256] [1, 1] : tensor<?x256xbf16> to tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256xbf16>
  %a = linalg.add ins(%s, %r : tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%e : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = rmsnorm.forward input(%a : tensor<?x256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
//--- half.mlir
func.func @half(%x: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %b = arith.divui %m, %c2 : index
  %s = tensor.extract_slice %x[%b, 0] [%b, 256] [1, 1] : tensor<?x256xbf16> to tensor<?x256xbf16>
  %e = tensor.empty(%b) : tensor<?x256xbf16>
  %y = rmsnorm.forward input(%s : tensor<?x256xbf16>) output(%e : tensor<?x256xbf16>) eps = 1.0e-05 -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

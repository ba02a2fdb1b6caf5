// RUN: norm-opt %s --rmsnorm-to-oracle \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm_libdir/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: norm-opt %s --pass-pipeline="builtin.module(rmsnorm-decompose{compute-type=f32},rmsnorm-to-oracle)" \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm_libdir/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

// The oracle of rmsnorm.forward in its three casting modes: strided rows of
// bf16, an f32 weight with offset 1, the row statistic. The numbers expected
// were computed with numpy in f64 by the formulas of the op's text, where
// round_bf16(v) is ldexp(rint(ldexp(m, 8)), e - 8) with m, e = frexp(v). The last
// column of each row is padding and stays. The second run is the definition in
// f32, which agrees in the digits printed.

func.func @gemma(%x: tensor<?x?xbf16> {bufferization.writable = false},
    %w: tensor<?xf32> {bufferization.writable = false}, %y: tensor<?x?xbf16>,
    %r: tensor<?xf32>) -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<?x?xbf16>)
      weight(%w : tensor<?xf32>) output(%y : tensor<?x?xbf16>)
      rstd(%r : tensor<?xf32>) eps = 1.0e-05 offset = 1.0 casting = gemma
      -> tensor<?x?xbf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xbf16>, tensor<?xf32>
}
// CHECK: -0.388672, 1.55469, 0.578125, -0.0319824, -0.0961914, 99, -0.535156, -1.19531, -0.375, 0.101562, -0.21582, 99,
// CHECK-NEXT: 0.38249, 0.384832,
func.func @llama(%x: tensor<?x?xbf16> {bufferization.writable = false},
    %w: tensor<?xf32> {bufferization.writable = false}, %y: tensor<?x?xbf16>,
    %r: tensor<?xf32>) -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<?x?xbf16>)
      weight(%w : tensor<?xf32>) output(%y : tensor<?x?xbf16>)
      rstd(%r : tensor<?xf32>) eps = 1.0e-05 offset = 1.0 casting = llama
      -> tensor<?x?xbf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xbf16>, tensor<?xf32>
}
// CHECK: -0.388672, 1.5625, 0.578125, -0.0322266, -0.0957031, 99, -0.535156, -1.1875, -0.375, 0.101562, -0.21582, 99,
// CHECK-NEXT: 0.38249, 0.384832,
func.func @none(%x: tensor<?x?xbf16> {bufferization.writable = false},
    %w: tensor<?xf32> {bufferization.writable = false}, %y: tensor<?x?xbf16>,
    %r: tensor<?xf32>) -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<?x?xbf16>)
      weight(%w : tensor<?xf32>) output(%y : tensor<?x?xbf16>)
      rstd(%r : tensor<?xf32>) eps = 1.0e-05 offset = 1.0 casting = none
      -> tensor<?x?xbf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xbf16>, tensor<?xf32>
}
// CHECK: -0.388672, 1.55469, 0.574219, -0.0319824, -0.0957031, 99, -0.535156, -1.1875, -0.373047, 0.101562, -0.216797, 99,
// CHECK-NEXT: 0.382812, 0.384766,

llvm.mlir.global internal @x(dense<[-1.078125, 3.609375, 4.1875, 0.953125, 1.2421875, 99.0, -1.46875, -2.75, -2.703125, -3.0, 2.78125, 99.0]>
    : tensor<12xbf16>) : !llvm.array<12 x bf16>
llvm.mlir.global internal @w(dense<[-0.0560000017285347, 0.12800000607967377, -0.6399999856948853, -1.0880000591278076, -1.2020000219345093]>
    : tensor<5xf32>) : !llvm.array<5 x f32>
llvm.mlir.global internal @y(dense<[99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0]>
    : tensor<12xbf16>) : !llvm.array<12 x bf16>
llvm.mlir.global internal @r(dense<[0.0, 0.0]>
    : tensor<2xf32>) : !llvm.array<2 x f32>
llvm.func @oracle_gemma(!llvm.ptr)
llvm.func @oracle_llama(!llvm.ptr)
llvm.func @oracle_none(!llvm.ptr)

// The harness: descriptors of a buffer with 2 rows of 5 columns, 6 apart, of
// 5 columns, and of 2 rows; an array of them; a printer per element type.

llvm.func @printF32(f32)
llvm.func @printComma()
llvm.func @printNewline()

llvm.func internal @describe(%base: !llvm.ptr, %rank: i64, %size: i64) -> !llvm.ptr {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %c2 = llvm.mlir.constant(2 : i64) : i64
  %c5 = llvm.mlir.constant(5 : i64) : i64
  %c6 = llvm.mlir.constant(6 : i64) : i64
  %bytes = llvm.mlir.constant(56 : i64) : i64
  %d = llvm.call @malloc(%bytes) : (i64) -> !llvm.ptr
  %p1 = llvm.getelementptr %d[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %p2 = llvm.getelementptr %d[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %p3 = llvm.getelementptr %d[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %p4 = llvm.getelementptr %d[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %p5 = llvm.getelementptr %d[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %p6 = llvm.getelementptr %d[6] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %base, %d : !llvm.ptr, !llvm.ptr
  llvm.store %base, %p1 : !llvm.ptr, !llvm.ptr
  llvm.store %c0, %p2 : i64, !llvm.ptr
  llvm.store %size, %p3 : i64, !llvm.ptr
  %is_matrix = llvm.icmp "eq" %rank, %c2 : i64
  llvm.cond_br %is_matrix, ^matrix, ^row
^row:
  llvm.store %c1, %p4 : i64, !llvm.ptr
  llvm.return %d : !llvm.ptr
^matrix:
  llvm.store %c5, %p4 : i64, !llvm.ptr
  llvm.store %c6, %p5 : i64, !llvm.ptr
  llvm.store %c1, %p6 : i64, !llvm.ptr
  llvm.return %d : !llvm.ptr
}
llvm.func @malloc(i64) -> !llvm.ptr

llvm.func internal @print_bf16(%base: !llvm.ptr, %count: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^loop(%c0 : i64)
^loop(%i: i64):
  %p = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  %value = llvm.load %p : !llvm.ptr -> bf16
  %wide = llvm.fpext %value : bf16 to f32
  llvm.call @printF32(%wide) : (f32) -> ()
  llvm.call @printComma() : () -> ()
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %count : i64
  llvm.cond_br %more, ^loop(%next : i64), ^done
^done:
  llvm.call @printNewline() : () -> ()
  llvm.return
}

llvm.func internal @print_f32(%base: !llvm.ptr, %count: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^loop(%c0 : i64)
^loop(%i: i64):
  %p = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %value = llvm.load %p : !llvm.ptr -> f32
  llvm.call @printF32(%value) : (f32) -> ()
  llvm.call @printComma() : () -> ()
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %count : i64
  llvm.cond_br %more, ^loop(%next : i64), ^done
^done:
  llvm.call @printNewline() : () -> ()
  llvm.return
}

llvm.func @main() {
  %r1 = llvm.mlir.constant(1 : i64) : i64
  %r2 = llvm.mlir.constant(2 : i64) : i64
  %n5 = llvm.mlir.constant(5 : i64) : i64
  %n12 = llvm.mlir.constant(12 : i64) : i64
  %r = llvm.mlir.addressof @r : !llvm.ptr
  %r_d = llvm.call @describe(%r, %r1, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %w = llvm.mlir.addressof @w : !llvm.ptr
  %w_d = llvm.call @describe(%w, %r1, %n5) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %x = llvm.mlir.addressof @x : !llvm.ptr
  %x_d = llvm.call @describe(%x, %r2, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %y = llvm.mlir.addressof @y : !llvm.ptr
  %y_d = llvm.call @describe(%y, %r2, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %args = llvm.alloca %n12 x !llvm.ptr : (i64) -> !llvm.ptr
  %arg1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg3 = llvm.getelementptr %args[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr

  llvm.store %x_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %y_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %r_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_gemma(%args) : (!llvm.ptr) -> ()
  llvm.call @print_bf16(%y, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%r, %r2) : (!llvm.ptr, i64) -> ()

  llvm.store %x_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %y_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %r_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_llama(%args) : (!llvm.ptr) -> ()
  llvm.call @print_bf16(%y, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%r, %r2) : (!llvm.ptr, i64) -> ()

  llvm.store %x_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %y_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %r_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_none(%args) : (!llvm.ptr) -> ()
  llvm.call @print_bf16(%y, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%r, %r2) : (!llvm.ptr, i64) -> ()
  llvm.return
}

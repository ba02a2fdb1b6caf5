// RUN: norm-opt %s --rmsnorm-to-oracle \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm_libdir/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: norm-opt %s --pass-pipeline="builtin.module(rmsnorm-decompose{compute-type=f32},rmsnorm-to-oracle)" \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%llvm_libdir/libmlir_c_runner_utils.so \
// RUN:   | FileCheck %s

// The oracle of rmsnorm.backward in its three casting modes, with the weight's
// gradient; f16 values, a bf16 weight. `none` is given rstd, the others compute
// it. How the numbers expected were made: see oracle_forward.mlir.

func.func @gemma(%dy: tensor<?x?xf16> {bufferization.writable = false},
    %x: tensor<?x?xf16> {bufferization.writable = false},
    %w: tensor<?xbf16> {bufferization.writable = false},
    %dx: tensor<?x?xf16>, %dw: tensor<?xf32>) -> (tensor<?x?xf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xf16>) input(%x : tensor<?x?xf16>)
      weight(%w : tensor<?xbf16>)
      dx(%dx : tensor<?x?xf16>) dweight(%dw : tensor<?xf32>)
      eps = 1.0e-05 casting = gemma -> tensor<?x?xf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf16>, tensor<?xf32>
}
// CHECK: -1.80371, -0.980469, 0.31958, 0.398438, 3.1543, 99, -0.19458, 0.0869751, -0.11853, 0.355469, -0.254639, 99,
// CHECK-NEXT: 4.39948, -1.65798, -0.175534, -0.176181, 1.79141,
func.func @llama(%dy: tensor<?x?xf16> {bufferization.writable = false},
    %x: tensor<?x?xf16> {bufferization.writable = false},
    %w: tensor<?xbf16> {bufferization.writable = false},
    %dx: tensor<?x?xf16>, %dw: tensor<?xf32>) -> (tensor<?x?xf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xf16>) input(%x : tensor<?x?xf16>)
      weight(%w : tensor<?xbf16>)
      dx(%dx : tensor<?x?xf16>) dweight(%dw : tensor<?xf32>)
      eps = 1.0e-05 casting = llama -> tensor<?x?xf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf16>, tensor<?xf32>
}
// CHECK: -1.80371, -0.980469, 0.31958, 0.398438, 3.1543, 99, -0.19458, 0.0869751, -0.11853, 0.355469, -0.254639, 99,
// CHECK-NEXT: 4.39983, -1.65785, -0.175553, -0.176202, 1.79108,
func.func @none(%dy: tensor<?x?xf16> {bufferization.writable = false},
    %x: tensor<?x?xf16> {bufferization.writable = false},
    %w: tensor<?xbf16> {bufferization.writable = false},
    %r: tensor<?xf32> {bufferization.writable = false},
    %dx: tensor<?x?xf16>, %dw: tensor<?xf32>) -> (tensor<?x?xf16>, tensor<?xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xf16>) input(%x : tensor<?x?xf16>)
      weight(%w : tensor<?xbf16>)
      rstd(%r : tensor<?xf32>)
      dx(%dx : tensor<?x?xf16>) dweight(%dw : tensor<?xf32>)
      eps = 1.0e-05 casting = none -> tensor<?x?xf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf16>, tensor<?xf32>
}
// CHECK: -1.43066, -0.38501, 0.204834, 0.0771484, 1.86523, 99, -0.314697, 0.170654, -0.209351, 0.445557, -0.209229, 99,
// CHECK-NEXT: 2.87817, -1.04321, -0.202652, -0.155029, 1.73657,

llvm.mlir.global internal @dy(dense<[-2.55078125, -1.4072265625, -0.7236328125, 0.1165771484375, -1.71484375, 99.0, -0.2352294921875, -0.0284271240234375, 0.1705322265625, -2.388671875, 0.646484375, 99.0]>
    : tensor<12xf16>) : !llvm.array<12 x f16>
llvm.mlir.global internal @x(dense<[-2.525390625, 1.7978515625, 0.055328369140625, -1.3701171875, -0.7177734375, 99.0, -4.28125, 3.69140625, -3.6484375, 0.127197265625, 6.41015625, 99.0]>
    : tensor<12xf16>) : !llvm.array<12 x f16>
llvm.mlir.global internal @w(dense<[1.59375, 0.4375, -0.72265625, -0.61328125, -2.640625]>
    : tensor<5xbf16>) : !llvm.array<5 x bf16>
llvm.mlir.global internal @r(dense<[0.4000000059604645, 0.30000001192092896]>
    : tensor<2xf32>) : !llvm.array<2 x f32>
llvm.mlir.global internal @dx(dense<[99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0, 99.0]>
    : tensor<12xf16>) : !llvm.array<12 x f16>
llvm.mlir.global internal @dw(dense<[7.0, 7.0, 7.0, 7.0, 7.0]>
    : tensor<5xf32>) : !llvm.array<5 x f32>
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

llvm.func internal @print_f16(%base: !llvm.ptr, %count: i64) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^loop(%c0 : i64)
^loop(%i: i64):
  %p = llvm.getelementptr %base[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f16
  %value = llvm.load %p : !llvm.ptr -> f16
  %wide = llvm.fpext %value : f16 to f32
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
  %dw = llvm.mlir.addressof @dw : !llvm.ptr
  %dw_d = llvm.call @describe(%dw, %r1, %n5) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %dx = llvm.mlir.addressof @dx : !llvm.ptr
  %dx_d = llvm.call @describe(%dx, %r2, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %dy = llvm.mlir.addressof @dy : !llvm.ptr
  %dy_d = llvm.call @describe(%dy, %r2, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %r = llvm.mlir.addressof @r : !llvm.ptr
  %r_d = llvm.call @describe(%r, %r1, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %w = llvm.mlir.addressof @w : !llvm.ptr
  %w_d = llvm.call @describe(%w, %r1, %n5) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %x = llvm.mlir.addressof @x : !llvm.ptr
  %x_d = llvm.call @describe(%x, %r2, %r2) : (!llvm.ptr, i64, i64) -> !llvm.ptr
  %args = llvm.alloca %n12 x !llvm.ptr : (i64) -> !llvm.ptr
  %arg1 = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg2 = llvm.getelementptr %args[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg3 = llvm.getelementptr %args[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg4 = llvm.getelementptr %args[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %arg5 = llvm.getelementptr %args[5] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr

  llvm.store %dy_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %x_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %dx_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.store %dw_d, %arg4 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_gemma(%args) : (!llvm.ptr) -> ()
  llvm.call @print_f16(%dx, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%dw, %n5) : (!llvm.ptr, i64) -> ()

  llvm.store %dy_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %x_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %dx_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.store %dw_d, %arg4 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_llama(%args) : (!llvm.ptr) -> ()
  llvm.call @print_f16(%dx, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%dw, %n5) : (!llvm.ptr, i64) -> ()

  llvm.store %dy_d, %args : !llvm.ptr, !llvm.ptr
  llvm.store %x_d, %arg1 : !llvm.ptr, !llvm.ptr
  llvm.store %w_d, %arg2 : !llvm.ptr, !llvm.ptr
  llvm.store %r_d, %arg3 : !llvm.ptr, !llvm.ptr
  llvm.store %dx_d, %arg4 : !llvm.ptr, !llvm.ptr
  llvm.store %dw_d, %arg5 : !llvm.ptr, !llvm.ptr
  llvm.call @oracle_none(%args) : (!llvm.ptr) -> ()
  llvm.call @print_f16(%dx, %n12) : (!llvm.ptr, i64) -> ()
  llvm.call @print_f32(%dw, %n5) : (!llvm.ptr, i64) -> ()
  llvm.return
}

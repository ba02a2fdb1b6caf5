// A host blob is a shared object that needs nothing: bf16 conversions, loops
// that LLVM would like to turn into memset, and all. No constructors.
// RUN: norm-serialize %s --emit=host -o %t.so
// RUN: llvm-nm -D %t.so | FileCheck %s --implicit-check-not=" U "
// RUN: llvm-readelf --dynamic %t.so | FileCheck %s --check-prefix=DYNAMIC
// CHECK: T narrow
// DYNAMIC-NOT: {{NEEDED|INIT}}

llvm.func @narrow(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  %v = llvm.load %p : !llvm.ptr -> f32
  %w = llvm.fptrunc %v : f32 to bf16
  llvm.store %w, %q : bf16, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}

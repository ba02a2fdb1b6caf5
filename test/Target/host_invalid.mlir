// RUN: not norm-serialize %s --emit=host -o %t.so 2>&1 | FileCheck %s
// CHECK: error: linking failed: {{.*}}undefined symbol: nobody_has_this
llvm.func @nobody_has_this(f32) -> f32
llvm.func @caller(%x: f32) -> f32 {
  %y = llvm.call @nobody_has_this(%x) : (f32) -> f32
  llvm.return %y : f32
}

// Errors of the AMD back end, fatal ones included, end in a diagnostic.
// RUN: not norm-serialize %s --emit=hsaco -o %t 2>&1 | FileCheck %s
// CHECK: error: code generation failed: {{.*}}invalid instruction
module attributes {rmsnorm.target = #rmsnorm.target<rocdl "gfx942">} {
  gpu.module @kernels [#rmsnorm.target<rocdl "gfx942">] {
    gpu.func @bad() kernel {
      llvm.inline_asm has_side_effects "not_an_instruction", "" : () -> ()
      gpu.return
    }
  }
}

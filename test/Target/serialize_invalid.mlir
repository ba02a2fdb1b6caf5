// What cannot be is an error, whatever LLVM thinks of it, and writes no file.
// REQUIRES: ptxas
// RUN: rm -f %t
// RUN: not norm-serialize %s --emit=hsaco -o %t 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not norm-serialize %s --emit=cubin -o %t 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not ls %t
// TARGET: expected an rocdl target for an AMD code object, got 'sm_90'
// ASM: error: {{.*}}ptxas failed: {{.*}}not_an_instruction
module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<nvvm "sm_90">] {
    gpu.func @bad() kernel {
      llvm.inline_asm has_side_effects "not_an_instruction;", "" : () -> ()
      gpu.return
    }
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - passes from the op to thread-level kernels ------------===//
//
// In pipeline order: the tensor half, then the memref half.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TRANSFORMS_PASSES_TD
#define RMSNORM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Memref half: once per target and variant
//===----------------------------------------------------------------------===//

def AttachTarget : Pass<"rmsnorm-attach-target", "::mlir::ModuleOp"> {
  let summary = "says which chip the module is compiled for";
  let description = [{
    Sets the module's `rmsnorm.target`, which every later pass reads. An
    unknown chip is an error that lists the known ones.

    ```mlir
    module attributes {rmsnorm.target = #rmsnorm.target<sim "gfx942">} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sim\"",
           "a chip (sm_90, gfx942), the simulator of a chip (sim:gfx942), or "
           "sim for a generic one">,
  ];
}

#endif // RMSNORM_TRANSFORMS_PASSES_TD

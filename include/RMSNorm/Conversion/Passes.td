// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from thread-level kernels to a target's LLVM dialect --===//

#ifndef RMSNORM_CONVERSION_PASSES_TD
#define RMSNORM_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FinalizeSim : Pass<"rmsnorm-finalize-sim", "::mlir::ModuleOp"> {
  let summary = "kernels become coroutines for the SIMT simulator";
  let description = [{
    Turns every kernel of the module's `gpu.module`s into

    ```mlir
    llvm.func @kernel(%launch: !llvm.ptr, %thread: !llvm.ptr) -> !llvm.ptr
    ```

    an LLVM switched-resume coroutine that executes one thread of the grid:
    each `rmsnorm.barrier` and `rmsnorm.subgroup_reduce` stores what it waits
    for in the thread and suspends; the scheduler (runtime/lib/Sim) resumes it
    when all threads it waits for have arrived. Everything else becomes LLVM
    dialect. The layouts of `launch` and `thread` are in
    runtime/lib/Sim/SimABI.h; the global `rmsnorm_sim_abi_version` names their
    version. Code needs nothing from the host but a table of functions in the
    launch, so the compiled module has no undefined symbols: math functions are
    the host's libm through that table, rsqrt is 1 / sqrt, fma is exact.

    What is checked, in every run:

    - `global_load`, `global_store`, by the code itself: the valid elements lie
      in the buffer of the kernel argument that the base pointer comes from (for
      stores: one the kernel may write), address and size are multiples of
      `alignment`. A load with `valid` must also be able to read `alignment`
      bytes at column 0, as the op demands. Elements that are not valid read as
      zero and are not written.
    - `workgroup_load`, `workgroup_store`, by the scheduler: bounds of the
      block's memory and alignment; races (two threads, one byte, no barrier
      between, at least one writes: exact, and found in any thread order);
      reads of bytes that the block has not written.
    - `barrier`: all threads of the block execute the same one.
    - `subgroup_reduce`: all threads of the subgroup execute the same one, and
      `width` is at most the subgroup size. Threads that the last subgroup of a
      block lacks contribute nothing: where the butterfly would combine with
      one of them, the value stays as it is.

    A failed check reports and ends the thread; the scheduler then stops the
    run. Kernel arguments are `!llvm.ptr<1>`, integers up to 64 bits, index,
    f32 and f64, one 8-byte slot each. A base pointer is a kernel argument or
    computed from one by `llvm.getelementptr`; anything else is an error.

    bf16 is held in 16-bit integers and converted by integer arithmetic: with
    bf16 vector types LLVM calls `__truncsfbf2` even to move a value across a
    basic block. Arithmetic on bf16 is done in f32 and rounded.
    `rmsnorm.keep` is its value; cache policies and segments mean nothing here.
  }];
}

def FinalizeNVVM : Pass<"rmsnorm-finalize-nvvm", "::mlir::ModuleOp"> {
  let summary = "lowers thread-level kernels to the LLVM and NVVM dialects";
  let description = [{
    Takes the gpu.modules `rmsnorm-distribute` makes and leaves LLVM dialect
    functions that `RMSNorm/Target/Serialize.h` turns into PTX or a cubin. The
    module's `rmsnorm.target` must be an NVIDIA chip. Host code is not touched.

    - Global accesses are as wide as their alignment allows, up to 16 bytes.
      One with a predicate, a cache policy or a segment is inline PTX, so that
      LLVM neither branches nor merges it; the others are ordinary loads and
      stores. No load is `.nc`.
    - Workgroup memory is one `extern .shared` symbol.
    - Math functions are expanded here: a device module declares no function.
      One that has no expansion is an error naming it.
  }];
}

def FinalizeROCDL : Pass<"rmsnorm-finalize-rocdl", "::mlir::ModuleOp"> {
  let summary = "lowers thread-level kernels to the LLVM and ROCDL dialects";
  let description = [{
    As `rmsnorm-finalize-nvvm`, for AMD chips.

    - A load with `valid` reads from the row's first column where the thread
      has nothing to read, then selects zero: a branch would make the hardware
      wait after each load. Only stores branch.
    - Subgroup reductions use DPP within 16 lanes, and above it what the chip
      has: `permlanex16` (gfx11), `ds_swizzle`, `readlane`.
    - A barrier orders workgroup memory only: global loads stay in flight.
  }];
}

#endif // RMSNORM_CONVERSION_PASSES_TD

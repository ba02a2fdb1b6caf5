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
    the host's libm through that table (exp and tanh are made of its exp2, as
    they are on GPUs), rsqrt is 1 / sqrt, fma is exact.

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
      One that has no expansion is an error naming it. Where the machine has an
      instruction it is taken, and a result below 2^-126 may be zero. Errors in
      ulp of f32: rsqrt and exp2 2; exp 2 + 1.2 |x| (2^t of the rounded
      t = x log2 e: CUDA C++ Programming Guide, __expf); tanh 5; division of
      vectors 2 (PTX ISA, div.full), and by 1 + exp(x) 2, where the divisor is
      at most 2^126, else zero; of scalars, once a row, correctly rounded.
      Polynomials (upstream's, a few ulp): erf, erfc, expm1, log,
      log1p, log2, sin, cos and the inverse ones.
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

//===----------------------------------------------------------------------===//
// The oracle
//===----------------------------------------------------------------------===//

def WidenReductions : Pass<"rmsnorm-widen-reductions", "::mlir::ModuleOp"> {
  let summary = "sums and products of the oracle accumulate in f64";
  let description = [{
    A linalg op on tensors that sums or multiplies floats along a dimension
    keeps its arithmetic but accumulates in f64, and is rounded to its own type
    once, at the end: one after the other in f32, a long sum would be further
    from the truth than the kernel that is compared with it. Other combiners
    are exact or not ours, and stay.

    ```mlir
    ^bb0(%x: bf16, %sum: f32):
      %e = arith.extf %x : bf16 to f32
      %s = arith.addf %sum, %e : f32
      linalg.yield %s : f32
    ->
    ^bb0(%x: bf16, %sum: f64):
      %e = arith.extf %x : bf16 to f32
      %w = arith.extf %e : f32 to f64
      %s = arith.addf %sum, %w : f64
      linalg.yield %s : f64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PrepareOracle : Pass<"rmsnorm-prepare-oracle", "::mlir::ModuleOp"> {
  let summary = "bufferized functions become entries of the oracle";
  let description = [{
    A public function takes buffers only and returns nothing: its results are
    dropped, each must be an argument already (`rmsnorm-bind-arguments`
    makes them so). Buffers that bufferization allocated are freed where their
    block ends, copies become loops, attributes of the arguments go.

    Requires: one-shot bufferization with function boundaries.

    ```mlir
    func.func @f(%x: memref<?x64xf32>, %y: memref<?x64xf32>) -> memref<?x64xf32> {
      linalg.generic ... outs(%y : memref<?x64xf32>)
      return %y : memref<?x64xf32>
    }
    ->
    func.func @f(%x: memref<?x64xf32>, %y: memref<?x64xf32>)
        attributes {llvm.emit_c_interface} {
      linalg.generic ... outs(%y : memref<?x64xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

def AddMagnitudes : Pass<"rmsnorm-add-magnitudes", "::mlir::ModuleOp"> {
  let summary = "how large the terms are that an output is the sum of";
  let description = [{
    An error bound of an output that cancels is relative to what cancelled. For
    each function with the attribute `rmsnorm.magnitudes` (which it loses), adds
    @"<function>.magnitudes" with the same arguments, which computes that: the
    same program with the absolute values of all that it reads, sums for
    differences, and no rounding to narrower types on the way. A sum of elements
    of arguments and constants is not taken apart: it has no error that could
    cancel.

    Requires: linalg on buffers (`rmsnorm-prepare-oracle`).

    ```mlir
    ^bb0(%g: f64, %p: f64, %r: f64, %out: f64):
      %d = arith.subf %g, %p : f64
      %dx = arith.mulf %d, %r : f64
    ->
    ^bb0(%g: f64, %p: f64, %r: f64, %out: f64):
      %mg = math.absf %g : f64
      %mp = math.absf %p : f64
      %mr = math.absf %r : f64
      %d = arith.addf %mg, %mp : f64
      %dx = arith.mulf %d, %mr : f64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect"];
}

def ExpandOracleMath : Pass<"rmsnorm-expand-oracle-math"> {
  let summary = "math that a CPU without a maths library can do";
  let description = [{
    The oracle's machine code calls no library. Of the math dialect, sqrt,
    absf, copysign, fma, floor, ceil, trunc and roundeven are instructions and
    stay, as do absi, ctlz, cttz, ctpop and the predicates. rsqrt, exp, exp2,
    expm1, log, log2, log1p, tanh, erf, erfc, sin, cos, tan, sinh, cosh, powf,
    cbrt, round, atan, atan2, asin, acos of f32 are expanded as upstream MLIR
    does, with errors of a few f32 ulps; f16 and bf16 go through f32. What
    remains is an error that names the op and its type.

    Rounding f64 to f16 or bf16 goes through f32 rounded to odd, which gives
    what rounding once gives.

    Requires: scalar arithmetic.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def FinalizeOracle : Pass<"rmsnorm-finalize-oracle", "::mlir::ModuleOp"> {
  let summary = "the oracle's functions by their names, and nothing outside";
  let description = [{
    For each entry @f adds

    ```mlir
    llvm.func @oracle_f(%descriptors: !llvm.ptr)
    ```

    where element i of the array `descriptors` points to the memref descriptor
    {allocated, aligned, i64 offset, i64 sizes[rank], i64 strides[rank]} of
    argument i of @f (a declaration of it in the module is given the body). All
    other functions become internal. Buffers come from the operating system by
    system call (Linux on x86-64 and AArch64; elsewhere a module that allocates
    is an error), since compiled modules have no undefined symbols.

    Requires: the LLVM dialect, entries from `rmsnorm-prepare-oracle`, buffers
    lowered with generic allocation functions.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // RMSNORM_CONVERSION_PASSES_TD

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
    launch. Functions are computed as on GPUs, on the host's exp2, which is in
    that table; rsqrt is 1 / sqrt, fma is exact. What a division of integers by
    0, or one that overflows, gives is any number: here that by 1, as a CPU
    would trap.

    Every run checks

    - `global_load`, `global_store`, by the code itself: the valid elements lie
      in the buffer of the base pointer's kernel argument, which a store may
      write; address and size are multiples of `alignment`. A load with `valid`
      must also be able to read `alignment` bytes at column 0. Elements that are
      not valid read as zero and are not written.
    - `workgroup_load`, `workgroup_store`, by the scheduler: bounds, alignment,
      races (two threads, one byte, no barrier between, at least one writes:
      exact, and found in any thread order), reads of bytes nobody has written.
    - `barrier`, `subgroup_reduce`: all threads of the block or the subgroup
      execute the same one. Threads that the last subgroup of a block lacks
      contribute nothing: where the butterfly would combine with one of them,
      the value stays as it is.

    A failed check reports and ends the thread; the scheduler then stops the
    run. Kernel arguments are `!llvm.ptr<1>`, integers up to 64 bits, index,
    f32 and f64, one 8-byte slot each. A base pointer is a kernel argument or
    computed from one by `llvm.getelementptr`; anything else is an error.

    bf16 is held in 16-bit integers and converted by integer arithmetic, since
    LLVM calls `__truncsfbf2` for bf16 vectors even to move a value to another
    block. Arithmetic on bf16 is done in f32 and rounded. `rmsnorm.keep` is its
    value; cache policies and segments mean nothing here.
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
    - Math functions are expanded here, the same for all targets: a device
      module declares no function. An op of arith or math that is not in
      ElementOps.def is an error naming it. Where the machine has an instruction
      it is taken, and a result below 2^-126 may be zero. Errors in ulp of f32:
      rsqrt and exp2 2; exp 2 + 1.2 |x| (2^t of the rounded t = x log2 e: CUDA
      C++ Programming Guide, __expf); sinh and cosh 4 + 1.2 |x|; tanh 5; erf 4
      and never above 1; logarithms 4 and 5 (log10); atan and atan2 10; powers
      2^t, t within 10 units of 2^-24, and 2; those by a constant up to 64 one
      product for each rounding. sin and cos err by 2^-20 up to 2^20; of larger
      numbers they are some number from -1 to 1. remf is exact, clampf and round
      are, too. Division of vectors 2 (PTX ISA, div.full), and by 1 + exp(x) 2,
      where the divisor is at most 2^126, else zero; of scalars, once a row,
      correctly rounded.
      Polynomials of upstream (a few ulp): erfc, expm1, log1p, asin, acos.
  }];
}

def FinalizeROCDL : Pass<"rmsnorm-finalize-rocdl", "::mlir::ModuleOp"> {
  let summary = "lowers thread-level kernels to the LLVM and ROCDL dialects";
  let description = [{
    As `rmsnorm-finalize-nvvm`, for AMD chips.

    - A load with `valid` reads from the row's first column where the thread
      has nothing to read, then selects zero: a branch would make the hardware
      wait after each load. Only stores branch.
    - Subgroup reductions use DPP within 16 lanes, and above it an instruction
      of the chip: `permlanex16` (gfx11), `ds_swizzle`, `readlane`.
    - A barrier orders workgroup memory only: global loads stay in flight.
  }];
}

//===----------------------------------------------------------------------===//
// The oracle
//===----------------------------------------------------------------------===//

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

def ToIntervals : Pass<"rmsnorm-to-intervals", "::mlir::ModuleOp"> {
  let summary = "programs on buffers compute intervals of their elements";
  let description = [{
    Elements of buffers, floats and integers, become intervals, pairs of f64
    (`complex<f64>`). Every correct evaluation of the program in f32 lies in
    them. Scalar operations become calls of the runtime's functions of that
    name, runtime/lib/Oracle/OracleABI.h.

    - A sum, difference or product is rounded to f32, to nearest; a product that
      goes into a sum may stay unrounded (fma). Rounding is monotone, so both
      ends are rounded, and exact operands have an exact result.
    - Division, roots, exponentials and the like may err by the bound that
      runtime/lib/Oracle/Interval.cpp gives, with its source.
    - An operation on a narrower float type is that of f32, rounded to the type;
      so are conversions, whether the type has infinities or not. An fma may
      round once to the type. Powers of two (f8E8M0FNU)
      are rounded in any direction, no lower than to the least one of the type;
      a negative number becomes NaN.
    - Maxima, minima and selections are exact. A comparison of intervals that
      overlap is undecided; a selection by it is the union of both.
    - A sum of T terms in any order: the sum of the intervals, wider on each
      side by (8 + sqrt(T)) 2^-24 of the sum of the terms' absolute values, and
      rounded to its type at the end (docs/semantics.md says why).
    - A product of many: 2^-23 relative for each factor.
    - Poison is what certainly has no value: the integer of a NaN or of a number
      out of its range, a quotient or remainder by 0 or one that overflows, a
      number shifted by its width or more. It stays poison until a selection
      takes another value. Where it is only possible, the integer is any one.
    - A gather gives the element at its index, an integer that is certain. An
      index of no element is undefined behaviour; the simulator reports it.
    - NaN: both ends where it is certain. Where it is possible, or where a
      partial sum may overflow, the interval is [-inf, inf]. It stands for
      anything, a NaN included, and stays so.

    Requires: linalg on buffers (`rmsnorm-prepare-oracle`), ops of
    ElementOps.def. Operations without a rule are an error: programs with them
    cannot be checked.

    ```mlir
    ^bb0(%g: bf16, %p: f32, %out: bf16):
      %w = arith.extf %g : bf16 to f32
      %d = arith.subf %w, %p : f32
    ->
    ^bb0(%g: complex<f64>, %p: complex<f64>, %out: complex<f64>):
      %d = call @rmsnorm_oracle_sub(%g, %p) : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect"];
}

def FinalizeOracle : Pass<"rmsnorm-finalize-oracle", "::mlir::ModuleOp"> {
  let summary = "gives the oracle's functions their names, and hides all others";
  let description = [{
    For each entry @f adds

    ```mlir
    llvm.func @oracle_f(%descriptors: !llvm.ptr, %functions: !llvm.ptr)
    ```

    where element i of the array `descriptors` points to the memref descriptor
    {allocated, aligned, i64 offset, i64 sizes[rank], i64 strides[rank]} of
    argument i of @f (a declaration of it in the module is given the body), and
    `functions` is the runtime's table of functions, OracleABI.h, which calls of
    declared functions of those names go through, buffers included. All other
    functions become internal: compiled modules have no undefined symbols.

    Requires: the LLVM dialect, entries from `rmsnorm-prepare-oracle`, buffers
    lowered with generic allocation functions.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // RMSNORM_CONVERSION_PASSES_TD

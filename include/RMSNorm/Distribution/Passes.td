// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from rmsnorm.rows to threads --------------------------===//

#ifndef RMSNORM_DISTRIBUTION_PASSES_TD
#define RMSNORM_DISTRIBUTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def Distribute : Pass<"rmsnorm-distribute", "::mlir::ModuleOp"> {
  let summary = "turns rmsnorm.rows into thread-level kernels";
  let description = [{
    The one place that knows SIMT. Each `rmsnorm.rows` becomes a gpu.func in
    a gpu.module, a gpu.launch_func in its place and a `rmsnorm.workspace` for
    each of its results. A value is mapped by its shape: of an RxN tile a thread holds, for each of the
    rows_per_group rows of its row group, the vectors t, t + threads_per_row,
    ... of that row; an Rx1 value is held by all threads of the row group; 1xN
    is shared out like a row. A reduction becomes sums in the thread, in order
    of the column, then a butterfly over the subgroup, then, for rows that
    several subgroups share, one exchange through workgroup memory, for those
    that the blocks of a cluster share, one through the cluster's.

    Blocks walk over the tiles. Multi-wave: one tile a block, up to the largest
    grid that CUDA and HIP both launch. `blocks_per_sm` > 0: a persistent grid of
    that many blocks a multiprocessor, of which the runtime knows the number;
    `sm_margin` leaves that many of them free. With `column_sums = strips`
    the blocks beside one another own strips of the same rows, with `all_rows`
    there is one for each strip.

    Loads carry no predicate where the bound is static, except a thread's last
    vector; padding reads as zero, and a contribution to a reduction is masked
    only if padding would not be its identity. Kernel arguments are bare
    pointers, strides and sizes, each once. Sums over rows of several row groups
    meet in workgroup memory after the loop, where the rings were.

    The launch of a persistent kernel carries
    `rmsnorm.blocks_per_multiprocessor`, its gpu.func `rmsnorm.min_blocks`;
    a launch whose kernel waits for those before carries
    `rmsnorm.programmatic_dependent_launch`. The kernel waits in front of the
    first access of each of its tiles, and lets the next one start right behind
    that; once, at its entry, where blocks are persistent, where they load
    operands once that are not constant, or where they sum over rows.

    Requires: `rmsnorm-place-tiles` (`rmsnorm-split-reductions` for `split`).
    Numeric effect: a product that is summed along a row becomes a fused
    multiply-add, on every target.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def MergeLaunches : Pass<"rmsnorm-merge-launches", "::mlir::ModuleOp"> {
  let summary = "makes one launch of neighbours that do not depend on each other";
  let description = [{
    With few rows a launch takes longer than its work: the norms of q and of k,
    two kernels, become one. Its grid is the sum of theirs; the first blocks do
    what those of the first kernel did, and so on. Of up to three kernels, one
    that reads rows which one behind it reads as well, as both read the angles of
    RoPE, takes turns with those behind it instead, in proportion to their
    blocks, if together they are at least eight for each multiprocessor of the
    chip's table: both come by what they share at about the same time, and find
    it in the caches. A block does the same work in the same order either way, so
    that all results keep their bits. A kernel whose grid is 0 has no blocks in
    it. Workgroup memory is that of the largest. Parameters that kernels share
    are there once.

    Launches of one block of the host are merged if
    - nothing stands between them but what has no effect on memory, or
      allocates some;
    - no buffer that one writes is read or written by another. Different
      arguments of an entry (`rmsnorm.role`) share no memory with one that is
      written, as its runtime checks; slices of one buffer are told apart by
      their offsets and sizes, everything else by MLIR's alias analysis;
    - their blocks have the same number of threads, and all or none of them
      start before the kernel in front of them has ended;
    - none of them has clusters, nor a grid that follows from the number of
      multiprocessors: it would be larger than what they hold or leave free;
    - together they have at most 126 parameters, with one for each but the last,
      its blocks; up to eight become one.

    Others stay as they are. Grids are limited so that the sum is one that CUDA
    and HIP launch.

    Requires: `rmsnorm-distribute`. Numeric effect: none.

    ```mlir
    gpu.launch_func @kernels::@q blocks in (%m, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%x : !llvm.ptr<1>, ...)
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%y : !llvm.ptr<1>, ...)
    ```
    becomes
    ```mlir
    %blocks = arith.addi %m, %n : index
    gpu.launch_func @kernels::@q_and_k blocks in (%blocks, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%x, ..., %m : index, %y, ...)
    ```
    of a kernel that begins with
    ```mlir
    %block = gpu.block_id x
    %first = arith.cmpi ult, %block, %m : index
    scf.if %first {
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

#endif // RMSNORM_DISTRIBUTION_PASSES_TD

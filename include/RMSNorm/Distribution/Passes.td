// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from rmsnorm.rows to threads --------------------------===//

#ifndef RMSNORM_DISTRIBUTION_PASSES_TD
#define RMSNORM_DISTRIBUTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def Distribute : Pass<"rmsnorm-distribute", "::mlir::ModuleOp"> {
  let summary = "turns rmsnorm.rows into thread-level kernels";
  let description = [{
    The one pass that knows threads. Each `rmsnorm.rows` becomes a gpu.func in
    a gpu.module, a gpu.launch_func in its place and a `rmsnorm.workspace` for
    each of its results. The shape of a value says who holds it. A thread holds,
    for each of the rows_per_group rows of its row group, the vectors t,
    t + threads_per_row, ... of an RxN tile. Of several digits threads share out
    those whose indices nobody takes by themselves, and hold the others
    (RMSNorm/Schedule/Layout.h). All threads of the row group hold
    an Rx1 value. A 1xN value is shared out like a row. A reduction becomes sums
    in the thread, in order of the column, then a butterfly over the subgroup.
    One exchange through workgroup memory follows where several subgroups share
    a row, or through that of a cluster where its blocks share it.

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
    `rmsnorm.blocks_per_multiprocessor`, its gpu.func `rmsnorm.min_blocks`.
    The launch of a kernel that waits for the kernels before it carries
    `rmsnorm.programmatic_dependent_launch`. The kernel waits before the first
    access of each of its tiles, and then lets the next kernel start. It waits
    once, at its entry, where blocks are persistent, load operands once that are
    not constant, or sum over rows.

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
    With few rows a launch takes longer than its work. So two kernels, such as
    the norms of q and of k, become one. Its grid is the sum of their grids: the
    first blocks do the work of the first kernel, the next ones that of the
    second. A block does the same work in the same order as before, so all
    results keep their bits. Workgroup memory is that of the largest kernel;
    parameters that kernels share are passed once. An empty grid adds no blocks.
    Grids are limited so that CUDA and HIP launch the sum.

    Up to three kernels take turns instead, in proportion to their blocks, where
    two read the same rows, such as the angles of RoPE, and all together have at
    least eight blocks for each multiprocessor in the chip's table. They then
    read the shared rows at about the same time and find them in the caches.

    Launches in one block of the host are merged if
    - between them nothing has an effect on memory, but for allocations;
    - no buffer that one writes is read or written by another. Two arguments of
      an entry (`rmsnorm.role`) share no memory if one is written; the runtime
      checks that. Slices of one buffer are compared by offsets and sizes, other
      buffers by MLIR's alias analysis;
    - their blocks have as many threads, and all or none are dependent launches;
    - none has clusters, nor a grid that follows from the multiprocessors. The
      kernel has the smallest of their `rmsnorm.min_blocks`, 1 where one of them
      does not say;
    - together they have at most 126 parameters, and there are at most eight.

    Requires: `rmsnorm-distribute`. Numeric effect: none.

    ```mlir
    gpu.launch_func @kernels::@q blocks in (%m, %c1, %c1) threads in (%c128, ...
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c128, ...
    ```
    becomes a launch of a kernel that begins with a branch by the block's number
    ```mlir
    %blocks = arith.addi %m, %n : index
    gpu.launch_func @kernels::@q_and_k blocks in (%blocks, %c1, %c1) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

#endif // RMSNORM_DISTRIBUTION_PASSES_TD

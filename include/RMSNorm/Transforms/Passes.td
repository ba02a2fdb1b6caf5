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

def SelectSchedule : Pass<"rmsnorm-select-schedule", "::mlir::ModuleOp"> {
  let summary = "chooses how each loop over rows is laid on the machine";
  let description = [{
    Sets `rmsnorm.schedule` on every scf.forall over rows, chosen from what is
    live in its tile program, the element types, N and the target. A schedule
    that is already there is checked and kept. `schedule` overrides fields of
    the choice; what cannot run on the target is an error that says which limit
    is exceeded.

    Requires: a bufferized tile program, `rmsnorm.target` on the module.
    Numeric effect: the schedule fixes the order in which a row is summed.

    ```mlir
    scf.forall (%row) in (%m) { ... }
    ```
    becomes, for sm_90 and rows of 4096 bf16
    ```mlir
    scf.forall (%row) in (%m) { ... } {rmsnorm.schedule =
        #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = reload>}
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "overrides of the choice: a mode (multi_wave_cached, "
           "multi_wave_reload, static_persistent) and field=value items, "
           "separated by commas">,
    Option<"alignment", "alignment", "int64_t", "16",
           "bytes all rows are aligned to: 16, or 1 for the variant that takes "
           "any pointer and stride">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def PackRows : Pass<"rmsnorm-pack-rows", "::mlir::ModuleOp"> {
  let summary = "makes a tile of several rows out of one";
  let description = [{
    A program on one row (1xN) becomes one on R = row_groups x rows_per_group
    rows (RxN), and the loop over rows a loop over ceil(M / R) tiles. Any M: the
    last tile has fewer live rows, which loads and stores are told with `rows`.
    Values that do not depend on the row stay 1xN and are broadcast at their
    use.

    Requires: `rmsnorm.schedule`. Numeric effect: none.

    ```mlir
    scf.forall (%row) in (%m) {
      %x = rmsnorm.tile_load tile %xs[%row] : memref<?x128xbf16> -> vector<1x128xbf16>
    ```
    becomes, with R = 4
    ```mlir
    %tiles = arith.ceildivui %m, %c4 : index
    scf.forall (%tile) in (%tiles) {
      %first = arith.muli %tile, %c4 : index
      %left = arith.subi %m, %first : index
      %live = arith.minui %left, %c4 : index
      %x = rmsnorm.tile_load tile %xs[%first] rows(%live) : memref<?x128xbf16> -> vector<4x128xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def WalkRows : Pass<"rmsnorm-walk-rows", "::mlir::ModuleOp"> {
  let summary = "gives each block its own loop over tiles";
  let description = [{
    The loop over tiles becomes a loop over the blocks of a grid, in which each
    block strides through the tiles. Multi-wave: one tile a block, up to the
    largest grid that CUDA and HIP both launch. `blocks_per_sm` > 0:
    a persistent grid of that many blocks a multiprocessor, of which the runtime
    knows the number.

    Requires: `rmsnorm.schedule`. Numeric effect: none.

    ```mlir
    scf.forall (%tile) in (%tiles) { ... }
    ```
    becomes
    ```mlir
    %grid = arith.minui %tiles, %c16777215 : index
    scf.forall (%block) in (%grid) {
      scf.for %tile = %block to %tiles step %grid { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def PlaceTiles : Pass<"rmsnorm-place-tiles", "::mlir::ModuleOp"> {
  let summary = "makes the schedule's cache true for tiles live across a "
                "reduction";
  let description = [{
    Cuts each tile program at its row_reduce ops. For a tile or per-column
    operand that is used behind a cut it was defined before:

    - `registers`: its narrow form is carried over, hidden behind
      `rmsnorm.keep`, and extended again: LLVM would otherwise carry the f32
      values;
    - `reload`: the loads and what is computed from them are repeated behind the
      cut. Each load carries the number of its segment, so that they stay
      apart, and a cache policy: a row that is read again wants to stay, the
      last read does not.

    Every tile_store moves behind the last read. That makes an exact in-place
    update right in both. It must come after the last CSE, which would merge
    the repeated arithmetic.

    Requires: `rmsnorm.schedule`. Numeric effect: none.
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def Distribute : Pass<"rmsnorm-distribute", "::mlir::ModuleOp"> {
  let summary = "turns tile programs into thread-level kernels";
  let description = [{
    The one place that knows SIMT. Each scf.forall over blocks becomes
    a gpu.func in a gpu.module and a gpu.launch_func in its place. A value is
    mapped by its shape: of an RxN tile a thread holds, for each of the
    rows_per_group rows of its row group, the vectors t, t + threads_per_row,
    ... of that row; an Rx1 value is held by all threads of the row group; 1xN
    is shared out like a row. A row_reduce becomes sums in the thread, in order
    of the column, then a butterfly over the subgroup, then, for rows that
    several subgroups share, one exchange through workgroup memory.

    Loads carry no predicate where the bound is static, except a thread's last
    vector; padding reads as zero, and a contribution to a reduction is masked
    only if padding would not be its identity. Kernel arguments are bare
    pointers, strides and sizes, each once.

    An argument that is accessed 16 bytes at a time gets the attribute
    `rmsnorm.row_alignment = 16`: pointer, row strides and, if N is dynamic, the
    row size must be multiples of that for the kernel to be launched.

    Requires: `rmsnorm-place-tiles`. Numeric effect: a product that is summed
    along a row becomes a fused multiply-add, on every target.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

#endif // RMSNORM_TRANSFORMS_PASSES_TD

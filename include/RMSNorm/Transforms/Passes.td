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
// Tensor half: once per module, knows neither target nor schedule
//===----------------------------------------------------------------------===//

def BindArguments : Pass<"rmsnorm-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "makes every result of a public function an argument's contents";
  let description = [{
    A compiled entry allocates nothing: each tensor that a public function
    returns must be computed into an argument. A result whose destination is a
    `tensor.empty` gets a new argument after the others; one whose destination
    is an argument already is written in place. The function keeps returning the
    tensors, and bufferization drops them. Runs on untiled tensor IR, so that
    the oracle sees the same arguments as the kernels.

    Each tensor argument gets

    - `rmsnorm.name`: the user's, else the argument's location name, else its
      role in the first norm that uses it (`input`, `weight`, `output`,
      `rstd`), else `arg3`; a new one: the user's `rmsnorm.name` on the
      result, else its role in the norm that computes it, else `result1`;
      `_1`, `_2`, ... where two would be equal;
    - `rmsnorm.role`: `input`, `output` (written, never read) or `inout`;
    - `rmsnorm.dims`: per dimension its size, or -1-k for shape symbol k. The
      ops say which dimensions are equal; equal dimensions have one symbol,
      and a size that is static anywhere is static everywhere;
    - `bufferization.buffer_layout`: any strides but the last, which is 1 (for
      ranks 0 and 1 the identity), and `bufferization.writable`.

    Every `tensor.dim` of an argument becomes a constant or the `tensor.dim` of
    the first argument with that symbol. Each result gets `rmsnorm.argument`,
    the number of the argument that it is computed into: folding may leave of a
    result that is the identity of an argument nothing but that argument.

    Errors: a returned value that is no tensor, that is an argument or a
    constant as it is, that no destination-style op computes, or that is
    returned twice; two results in one argument; dimensions that must be equal
    and are not; two equal `rmsnorm.name`; a body of several blocks; a call
    of a public function.

    ```mlir
    func.func @f(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> tensor<?x64xf32> {
      ...
      %e = tensor.empty(%m) : tensor<?x64xf32>
      %y = rmsnorm.forward input(%x : ...) weight(%w : ...) output(%e : ...) ...
      return %y : tensor<?x64xf32>
    }
    ->
    func.func @f(%x: tensor<?x64xf32> {rmsnorm.name = "input", ...},
                 %w: tensor<64xf32> {rmsnorm.name = "weight", ...},
                 %out: tensor<?x64xf32> {rmsnorm.dims = array<i64: -1, 64>,
                   rmsnorm.name = "output", rmsnorm.role = "output", ...})
        -> tensor<?x64xf32> {
      %y = rmsnorm.forward input(%x : ...) weight(%w : ...) output(%out : ...) ...
    ```
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileRows : Pass<"rmsnorm-tile-rows", "::mlir::func::FuncOp"> {
  let summary = "one loop over rows for a norm and the row-wise work around it";
  let description = [{
    Collects the cluster of ops connected with a norm that work row by row and
    makes one `scf.forall` over the flattened rows of it: M iterations, the
    product of the leading dimensions. `rmsnorm.rows` marks the loop as ours
    and says how many leading dimensions those are. Each op's own `TilingInterface` gives
    its implementation for one row; a row that another op of the cluster
    computes is used directly, nothing is computed twice. A result used
    outside of the cluster becomes a `shared_outs`.

    A `linalg` op is taken for a norm where it is asked for by the unit
    attribute `rmsnorm.row_wise`: an op of parallel loops and one reduction, the
    last, which is along the rows. With it on its first reduction a
    LayerNorm, an L2 norm or a softmax written in `linalg` is one loop, too.

    ```mlir
    %sum = linalg.generic {iterator_types = ["parallel", "reduction"], ...}
        ins(%x : tensor<?x64xf32>) outs(%zero : tensor<?xf32>)
        attrs = {rmsnorm.row_wise} { ... } -> tensor<?xf32>
    ```

    An op belongs to the cluster if it is a norm, or a `linalg` op whose
    iteration space is the rows and at most one more dimension, and each of
    whose indexing maps has either no row dimension or all of them, in order,
    as its leading results; it must use rows of the cluster as rows. A `linalg`
    op that knows no rows (a weight plus one) is repeated in each iteration. A
    neighbour that looks row-wise and is not is named in a remark.

    An op outside that uses the cluster and feeds it splits it, with a remark.

    The weight's gradient of `rmsnorm.backward` is the sum of a summand a row,
    which leaves the loop through `rmsnorm.column_sum`; who uses it is no part
    of the cluster.

    Reads of a tensor that also is the destination of a result go through the
    loop's block argument, so that bufferization sees that an exact in-place
    update reads each row before it writes it.

    ```mlir
    %y = scf.forall (%row) in (%m) shared_outs(%out = %dest) -> tensor<?x8x64xf32> {
      %i:2 = affine.delinearize_index %row into (%b, 8)
      %x1 = tensor.extract_slice %x[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      %o1 = tensor.extract_slice %out[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      %y1 = rmsnorm.forward input(%x1 : ...) output(%o1 : ...) eps = 1.0e-5 -> ...
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y1 into %out[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      }
    } {mapping = [#gpu.block<x>], rmsnorm.rows = 2 : i64}
    ```

    What each op says of its rows is `RowWiseOpInterface`. The mapping keeps the loop a loop where it has one iteration.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Vectorize : Pass<"rmsnorm-vectorize", "::mlir::func::FuncOp"> {
  let summary = "makes the body of a loop over rows a tile program";
  let description = [{
    Replaces the `linalg` ops on tensors of one row by `arith`, `math` and
    `vector.broadcast` on rank-2 vectors between `rmsnorm.tile_load` and
    `rmsnorm.tile_store`; a reduction along the row becomes
    `rmsnorm.row_reduce`. All stores stand at the end of the body. A row size
    that is not static is 2^30 columns in the types and a `columns` operand.
    What only a sum over rows needs (`rmsnorm.column_sum`) stands behind
    the rest, and what is one value a column is loaded where it is used first.

    A body may hold elementwise `arith` and `math` ops, and use scalars and
    constants from outside; a reduction must be a single add, mul, maximumf or
    minimumf of floats with the accumulator. Anything else is an error that
    names the op.

    Requires: the loops of `rmsnorm-tile-rows`, which are marked `rmsnorm.rows`;
    no norms in them (`rmsnorm-decompose`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def FactorSums : Pass<"rmsnorm-factor-sums", "::mlir::func::FuncOp"> {
  let summary = "takes factors that are the same along a row out of its sum";
  let description = [{
    In tile programs

        row_reduce add(a * (b * r))  ->  row_reduce add(a * b) * r

    where r is one value a row. The sum then does not wait for r: the backward's
    sum(g * xhat), xhat = x * rstd, becomes sum(g * x) * rstd, and where rstd
    is computed from the row, too, both sums take one traversal
    (`rmsnorm-fuse-reductions`).

    Only where the element types that a and b are computed from prove that no
    product and no sum leaves the range in which f32 is as precise as it gets:
    f16 does, with at most a product of two as one factor. bf16 and f32 do not:
    there a * b may be infinite, or lost below the smallest f32, where a * (b *
    r) is an ordinary number. Casting `none` rounds in between and has no such
    product.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::vector::VectorDialect"];
}

def FuseReductions : Pass<"rmsnorm-fuse-reductions", "::mlir::func::FuncOp"> {
  let summary = "merges row reductions that can share a traversal";
  let description = [{
    Reductions of one loop body with the same shape and `columns`, none of
    which depends on another, become one `rmsnorm.row_reduce`: one traversal of
    the row, one tree of shuffles, one barrier. Each joins the earliest it can,
    so two norms of one input take one traversal and a norm of a norm two. An
    input reduced twice in the same way is reduced once; results without a use
    are dropped.
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def DropResults : Pass<"rmsnorm-drop-results", "::mlir::func::FuncOp"> {
  let summary = "drops results that are arguments";
  let description = [{
    After bufferization a public function returns buffers that the caller gave
    it. Upstream's `drop-equivalent-buffer-results` does the same for private
    functions only, as it has to see all callers; a compiled entry has none in
    its module.

    A result that is another argument than the one that it is to be computed
    into (`rmsnorm.argument`), the identity of an input, is copied there by a
    loop over rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckBuffers : Pass<"rmsnorm-check-buffers", "::mlir::func::FuncOp"> {
  let summary = "makes sure that bufferization allocated and copied nothing";
  let description = [{
    The last step of the tensor half: an entry is loops over rows on its
    arguments. A `memref.alloc`, `memref.alloca` or `memref.copy`, a tensor, a
    returned value, a `linalg` or operator-level op that is no part of a loop
    over rows, a loop that `rmsnorm-tile-rows` did not make, and a tile that is
    not the whole row of the iteration, has more than 2^29 columns or elements
    of part of a byte are errors that say which value is to blame.
  }];
}

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

def Decompose : Pass<"rmsnorm-decompose"> {
  let summary = "norms become linalg and arith, by definition";
  let description = [{
    Replaces `rmsnorm.forward` and `rmsnorm.backward` on tensors by what their
    text says, one `linalg.generic` per formula: a sum along the row, the row
    statistic, the elementwise rest, for `dweight` a sum over rows. Nothing is
    reassociated; sums run in the order of the elements. This is the one place
    where the formulas stand: in f32, inside of the loops over rows, they are
    what kernels compute, so the result of a sum over rows is the summand of
    the loop's row there.

    With `compute-type=f64` all of it, sums included, is f64; values are
    rounded at the same places as `casting` says and once more for the element
    type of a result. That is the oracle: every lowering is compared with it.

    The mean is the sum times the number nearest to 1/N where N is static (in
    f32 at most 1.5 ulp from the exact quotient), and a division where it is
    not.

    Requires: tensors; a norm on memrefs is an error. Leaves all else alone.

    ```mlir
    %y = rmsnorm.forward input(%x : tensor<?x64xf32>)
        output(%y0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    ```
    becomes
    ```mlir
    %sum = linalg.generic {iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x64xf32>) outs(%zero : tensor<?xf32>) ...
    %rstd = linalg.generic {iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf32>) outs(%empty : tensor<?xf32>) ...
    %y = linalg.generic {iterator_types = ["parallel", "parallel"]}
        ins(%x, %rstd : tensor<?x64xf32>, tensor<?xf32>)
        outs(%y0 : tensor<?x64xf32>) ...
    ```
  }];
  let options = [
    Option<"computeType", "compute-type", "::mlir::rmsnorm::ComputeType",
           "::mlir::rmsnorm::ComputeType::f32",
           "the type of all arithmetic between roundings: f32 or f64",
           [{::llvm::cl::values(
               clEnumValN(::mlir::rmsnorm::ComputeType::f32, "f32", "f32"),
               clEnumValN(::mlir::rmsnorm::ComputeType::f64, "f64", "f64"))}]>,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
  ];
}

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
    live in its tile program, the element types, N, the number of rows and the
    target. A schedule that is already there is checked and kept. `schedule`
    overrides fields of the choice; what cannot run on the target is an error
    that says which limit is exceeded. A record of the `tuning` file for this
    program, target and number of rows goes before the choice and after the
    overrides. With `batch-invariant` numbers of rows have schedules of their own
    only as far as a row's sum is the same tree in all of them: the same threads
    a row and the same vectors. `rows` stands for a number of rows M that
    is known only at a call; a static M is taken from the loop.

    Requires: a bufferized tile program, `rmsnorm.target` on the module.
    Numeric effect: the schedule fixes the order in which a row is summed.

    ```mlir
    scf.forall (%row) in (%m) { ... }
    ```
    becomes, for sm_90 and rows of 4096 bf16
    ```mlir
    scf.forall (%row) in (%m) { ... } {rmsnorm.schedule =
        #rmsnorm.schedule<threads_per_row = 256, vector_width = 8,
                          cache = reload, pdl = true>}
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
    Option<"rows", "rows", "int64_t", "-1",
           "the most rows that a call will have; -1: any number">,
    Option<"batchInvariant", "batch-invariant", "bool", "false",
           "a row is summed in the same order whatever the number of rows">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "a file of norm-tune, whose records replace the choice">,
    Option<"columns", "columns", "int64_t", "-1",
           "the most columns that a call will have, where N is known only "
           "then; -1: any number">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def SplitStrips : Pass<"rmsnorm-split-strips", "::mlir::ModuleOp"> {
  let summary = "splits off sums over rows that no block can keep";
  let description = [{
    Where the schedule says `column_sums = strips`, a loop over rows is split:
    its sums over rows (`rmsnorm.accumulate`) go to a second loop, which holds
    no row_reduce, so that the columns of a row are independent there and a
    block can own a strip of them, whatever the row's size. The second loop
    reads the tiles again. What a reduction leads to and the sums use (the
    backward's rstd, where it is computed) is kept in a `rmsnorm.workspace`, one
    value a row. The first loop goes on as if nothing were summed.

    If the first loop overwrites what the second reads (dx in place of dy), the
    second comes first; if it also needs per-row values, a third loop in front
    computes those alone.

    Requires: `rmsnorm.schedule`. Numeric effect: none on the first loop; the
    schedule of the second fixes the order of the sums.

    ```mlir
    scf.forall (%row) in (%m) {
      ...
      %s:2 = rmsnorm.row_reduce add(%xx), add(%gx) : ...
      %rstd = math.rsqrt ...
      rmsnorm.tile_store tile %dx, %dxs[%row] : ...
      rmsnorm.accumulate %p into %dw : ...
    } {rmsnorm.schedule = #rmsnorm.schedule<..., column_sums = strips>}
    ```
    becomes
    ```mlir
    %ws = rmsnorm.workspace(%m) : memref<?xf32>
    scf.forall (%row) in (%m) {
      ...
      rmsnorm.tile_store tile %dx, %dxs[%row] : ...
      rmsnorm.tile_store row %rstd, %ws[%row] : ...
    } {rmsnorm.schedule = #rmsnorm.schedule<...>}
    scf.forall (%row) in (%m) {
      %rstd = rmsnorm.tile_load row %ws[%row] : ...
      ...
      rmsnorm.accumulate %p into %dw : ...
    } {rmsnorm.schedule = #rmsnorm.schedule<..., column_sums = strips>}
    ```
  }];
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
    knows the number. `sm-margin` leaves that many of them free: a persistent
    grid is smaller by their blocks, and a multi-wave one is no larger than what
    fits the others by their threads. `cluster` > 1: a "block" here is a cluster
    of that many, and a persistent grid has as many whole clusters as that many
    blocks make.

    A sum over rows (`rmsnorm.accumulate`), which needs such a grid, becomes an
    accumulator GxN that the loop carries, one row for each row group. Behind
    the loop the block adds up those rows and stores the sum as its row of
    a workspace [blocks x N]; `rmsnorm.sum_rows` adds up the rows of that. The
    program stays the body of the scf.for; what stands before and behind the
    loop in the forall is done once a block. With `column_sums = strips` the
    blocks of the forall are runs of rows, and distribution repeats each for
    every strip of columns.

    Requires: `rmsnorm.schedule`. Numeric effect: fixes the order of sums over
    rows: by tile within a block, by row group, then by block.

    ```mlir
    scf.forall (%tile) in (%tiles) {
      ...
      rmsnorm.accumulate %p into %dw rows(%live) : vector<4x128xf32> into memref<128xbf16>
    }
    ```
    becomes, with two row groups
    ```mlir
    %grid = arith.minui %tiles, %blocks : index
    %ws = rmsnorm.workspace(%grid) : memref<?x128xf32>
    scf.forall (%block) in (%grid) {
      %zero = arith.constant dense<0.0> : vector<2x128xf32>
      %sum = scf.for %tile = %block to %tiles step %grid iter_args(%a = %zero) -> (vector<2x128xf32>) {
        ...
        %b = rmsnorm.accumulate %p into %a rows(%live)
            : vector<4x128xf32> into vector<2x128xf32> -> vector<2x128xf32>
        scf.yield %b : vector<2x128xf32>
      }
      %total = rmsnorm.column_reduce %sum : vector<2x128xf32> -> vector<1x128xf32>
      rmsnorm.tile_store tile %total, %ws[%block] : vector<1x128xf32>, memref<?x128xf32>
    }
    rmsnorm.sum_rows %ws into %dw : memref<?x128xf32> into memref<128xbf16>
    ```
  }];
  let options = [
    Option<"smMargin", "sm-margin", "int64_t", "0",
           "multiprocessors to leave to other work">,
  ];
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
      last read does not;
    - `shared`: tiles are copied to workgroup memory once, asynchronously where
      the chip can, and read from there in each segment; with `stages` >= 2 all
      tiles are, which is where `rmsnorm-pipeline-rows` begins. Per-column
      operands stay in registers, unless they are many.

    With dependent launches and `registers`, a per-column operand that is
    `rmsnorm.constant` is loaded before the block's loop, once.

    Every tile_store moves behind the last read. That makes an exact in-place
    update right in all of them. It must come after the last CSE, which would merge
    the repeated arithmetic.

    Requires: `rmsnorm.schedule`. Numeric effect: none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def PipelineRows : Pass<"rmsnorm-pipeline-rows", "::mlir::ModuleOp"> {
  let summary = "copies tiles ahead of the block's walk over them";
  let description = [{
    For a schedule with S = `stages` >= 2. Tile k of the block lives in slot
    k mod S of each ring. Before the loop the copies of the first S - 1 tiles
    begin; in it, tile k's iteration begins with the copies of tile k + S - 1,
    into the slot that tile k - 1 has left, and then waits for those of tile k.
    Copies are guarded by a test that is the same for the whole block, commits
    are not, so that the number of groups under way is the same for all tiles.

    ```mlir
    scf.for %tile = %block to %tiles step %grid iter_args(%slot = %c0) {
      %next = %tile + 2 * %grid            // S = 3
      scf.if %next < %tiles {
        rmsnorm.ring_copy %x[%next] to %ring[(%slot + 2) mod 3]
      }
      rmsnorm.copy_commit
      rmsnorm.copy_wait 2
      %x0 = rmsnorm.ring_load %ring[%slot]
      ...
      scf.yield (%slot + 1) mod 3
    }
    ```

    Per-column operands are loaded before the loop, once for all tiles. Per-row
    operands are loaded at the top of the iteration.

    Split phase: from S = 3 on, the row_reduce of rows that a cluster shares
    becomes two halves. Tile k + 1 begins its reduction before tile k ends its
    own, so that no block waits idly for the slowest one; the copies of tile
    k + 1 are then waited for in tile k's iteration. Of two reductions none is
    split, and none within a block: its subgroups wait for each other less than
    the copies of a tile gain by a whole iteration more.

    A tile is then read before earlier tiles are stored: a store to the buffer
    of a copy must be to the very rows that were copied, else it is refused.

    Requires: `rmsnorm-place-tiles`. Numeric effect: none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
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

    Sums over rows of several row groups meet in workgroup memory after the
    loop, where the rings were.

    The launch of a persistent kernel carries
    `rmsnorm.blocks_per_multiprocessor`, `blocks_per_sm` of the schedule.

    With `pdl` the kernel lets the next one start first of all, then loads what
    place-tiles put before the loop, then waits for the kernels before it.

    An argument that is accessed 16 bytes at a time gets the attribute
    `rmsnorm.row_alignment = 16`: pointer, row strides and, if N is dynamic, the
    row size must be multiples of that for the kernel to be launched.

    Requires: `rmsnorm-place-tiles` (`rmsnorm-pipeline-rows` for stages >= 2).
    Numeric effect: a product that is summed
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

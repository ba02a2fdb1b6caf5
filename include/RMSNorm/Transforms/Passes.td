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

    Where the element types that a and b are computed from prove that no
    product and no sum leaves the range in which f32 is as precise as it gets,
    and where both come from elements of 16 bits. f32 is left as it is: there a * b may be
    infinite, or lost below the smallest f32, where a * (b * r) is an ordinary
    number. bf16, which has the range of f32, could be so from values of 1e18
    on; a multiply more for each element costs it up to a quarter of its
    speed. Casting `none` rounds in between and has no such product.
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

def OutlineRows : Pass<"rmsnorm-outline-rows"> {
  let summary = "makes an rmsnorm.rows of each loop over rows";
  let description = [{
    A loop over rows that `rmsnorm-tile-rows` made and bufferization has passed
    becomes `rmsnorm.rows`: its body the `body` of `rmsnorm.tiles`, for tiles of one row.
    What the body uses from outside become operands: buffers, each once, with
    what is done with it, whether it is `rmsnorm.constant`, and which others may
    overlap, as they are views of one buffer; the leading sizes; N where only
    a call knows it; scalars. Constants and arithmetic on floats are computed
    inside, as a launch computes indices only. Loads and stores lose `columns`.

    Matches scf.forall with the attribute `rmsnorm.rows`, anywhere. One that is not
    bufferized, or whose accesses are not to its own row, is an error. Other
    loops are left alone. Numeric effect: none.

    ```mlir
    scf.forall (%row) in (%m) {
      %x = rmsnorm.tile_load tile %xs[%row] : memref<?x64xf32> -> vector<1x64xf32>
      ...
    } {rmsnorm.rows}
    ```
    becomes
    ```mlir
    rmsnorm.rows sizes [%m] columns(64) buffers(read %xs : memref<?x64xf32>, ...) {
    ^bb0(%M: index, %X: memref<?x64xf32>, ...):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %x = rmsnorm.tile_load tile %X[%t] : memref<?x64xf32> -> vector<1x64xf32>
        ...
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

//===----------------------------------------------------------------------===//
// Rows: once per target and variant
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

def SelectSchedule : Pass<"rmsnorm-select-schedule"> {
  let summary = "chooses how each rmsnorm.rows is laid on the machine";
  let description = [{
    Sets the `schedule` of every `rmsnorm.rows`, chosen from what is
    live in its tile program, the element types, N, the number of rows and the
    target. Every field is filled, so that no pass behind has to decide.
    A schedule that is already there is checked and kept; where it needs `sums`
    and has none, they are chosen. `schedule` overrides fields of the choice, or
    is one or more whole schedules in the order of the loops; what cannot run on
    the target is an error that says which limit is exceeded. A record of the `tuning` file for this
    program, target and number of rows goes before the choice and after the
    overrides. With `batch-invariant` numbers of rows have schedules of their own
    only as far as a row's sum is the same tree in all of them: the same threads
    a row and the same vectors. `rows` stands for a number of rows M that
    is known only at a call; a static M is taken from the op.

    Requires: `rmsnorm-outline-rows`, `rmsnorm.target` on the module.
    Numeric effect: the schedule fixes the order in which a row is summed.

    ```mlir
    rmsnorm.rows sizes [%m] columns(4096) buffers(...) {
    ```
    becomes, for sm_90 and rows of 4096 bf16
    ```mlir
    rmsnorm.rows sizes [%m] columns(4096) buffers(...) schedule(
        #rmsnorm.schedule<threads_per_row = 256, vector_width = 8,
                          cache = reload, pdl = true>) {
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
    Option<"smMargin", "sm-margin", "int64_t", "0",
           "multiprocessors to leave to other work">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def SplitStrips : Pass<"rmsnorm-split-strips"> {
  let summary = "splits off sums over rows that no block can keep";
  let description = [{
    Where the schedule says `column_sums = strips`, a `rmsnorm.rows` is split:
    its sums over rows (`rmsnorm.accumulate`) go to a second one, which holds
    no row_reduce, so that the columns of a row are independent there and a
    block can own a strip of them, whatever the row's size. It reads the
    tiles again; its schedule is `sums` of the first one's. What a reduction
    leads to and the sums use (the backward's rstd, where it is computed) is
    kept in a `rmsnorm.workspace`, one value a row. The first goes on as if
    nothing were summed.

    If the first overwrites what the second reads (dx in place of dy), the
    second comes first; if it also needs per-row values, a third in front
    computes those alone.

    Requires: `rmsnorm-select-schedule`. Numeric effect: none on the first; the
    schedule of the second fixes the order of the sums.

    ```mlir
    rmsnorm.rows ... schedule(#rmsnorm.schedule<..., column_sums = strips, sums = <...>>) {
      ...
        %s:2 = rmsnorm.row_reduce add(%xx), add(%gx) : ...
        %rstd = math.rsqrt ...
        rmsnorm.tile_store tile %dx, %DX[%t] : ...
        rmsnorm.accumulate %p into %DW : ...
    ```
    becomes
    ```mlir
    %ws = rmsnorm.workspace(%m) : memref<?xf32>
    rmsnorm.rows ... schedule(#rmsnorm.schedule<...>) {
      ...
        rmsnorm.tile_store tile %dx, %DX[%t] : ...
        rmsnorm.tile_store row %rstd, %WS[%t] : ...
    rmsnorm.rows ... schedule(#rmsnorm.schedule<..., column_sums = strips>) {
        %rstd = rmsnorm.tile_load row %WS[%t] : ...
        ...
        rmsnorm.accumulate %p into %DW : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def PackRows : Pass<"rmsnorm-pack-rows"> {
  let summary = "makes a tile of several rows out of one";
  let description = [{
    A program on one row (1xN) becomes one on R = row_groups x rows_per_group
    rows (RxN): nothing changes but types. Values that do not depend on the row
    stay 1xN and are broadcast at their use. Any M: rows of the last tile that do
    not exist are the affair of loads, stores and accumulators.

    Requires: `rmsnorm-select-schedule`. Numeric effect: none.

    ```mlir
    %x = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<1x128xbf16>
    ```
    becomes, with R = 4
    ```mlir
    %x = rmsnorm.tile_load tile %X[%t] : memref<?x128xbf16> -> vector<4x128xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def CarrySums : Pass<"rmsnorm-carry-sums"> {
  let summary = "gives each block its part of the sums over rows";
  let description = [{
    A sum over rows (`rmsnorm.accumulate` into a buffer) becomes an accumulator
    GxN of `rmsnorm.tiles`, one row for each row group. What a block has come to
    leaves `rmsnorm.rows` as its row of a result [blocks x N], and
    `rmsnorm.sum_rows` behind it adds up those. That needs persistent blocks,
    `blocks_per_sm` >= 1.

    Requires: `rmsnorm-pack-rows`. Numeric effect: fixes the order of sums over
    rows: by tile within a block, by row group, then by block.

    ```mlir
    rmsnorm.rows ... buffers(..., write %dw : memref<128xbf16>) {
      rmsnorm.tiles body {
        rmsnorm.accumulate %p into %DW : vector<4x128xf32> into memref<128xbf16>
    ```
    becomes, with two row groups
    ```mlir
    %p = rmsnorm.rows ... -> memref<?x128xf32> {
      %sum = rmsnorm.tiles inits(%zero : vector<2x128xf32>) body {
      ^bb0(%t: index, %acc: vector<2x128xf32>):
        %next = rmsnorm.accumulate %p into %acc : vector<4x128xf32> into vector<2x128xf32> -> vector<2x128xf32>
        rmsnorm.yield %next : vector<2x128xf32>
      } -> vector<2x128xf32>
      rmsnorm.yield %sum : vector<2x128xf32>
    }
    rmsnorm.sum_rows %p into %dw : memref<?x128xf32> into memref<128xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def PlaceTiles : Pass<"rmsnorm-place-tiles"> {
  let summary = "says where tiles live between reductions";
  let description = [{
    Cuts the program at its reductions: what is done column by column up to each
    becomes a `rmsnorm.traverse`, which says how a thread walks over its columns.
    Values that a later traverse needs are made available there as the schedule
    wants it:

    - `cache = registers`: they are held, the narrow tile rather than its
      extension, behind a `rmsnorm.keep` where it was extended before.
    - `reload`: the chain from the loads on is repeated; loads say which traverse
      reads again, and how long their lines are wanted.
    - `shared`: tiles that several traverses read (with `stages` >= 2 all) are
      copied to workgroup memory, at `rmsnorm.fetch` and `rmsnorm.arrive`, and
      read from there. Per-row values are loaded ahead of the copies then.

    `column_operands` says where per-column operands are loaded: where they are
    used; with the tile (behind its loads or copies) and held; once a block, in
    front of `rmsnorm.tiles`. `constants = block` does that for constant
    buffers, ahead of `rmsnorm.grid_wait`, which is written if `pdl` is.

    Stores go to the last traverse. A load behind a store of the same buffer is an error.

    Requires: `rmsnorm-carry-sums`. Numeric effect: none.

    ```mlir
    %x = rmsnorm.tile_load tile %X[%t] : memref<?x4096xf32> -> vector<1x4096xf32>
    %q = arith.mulf %x, %x : vector<1x4096xf32>
    %s = rmsnorm.row_reduce add(%q) : vector<1x4096xf32> -> vector<1x1xf32>
    ...
    %y = arith.mulf %x, %r : vector<1x4096xf32>
    rmsnorm.tile_store tile %y, %Y[%t] : vector<1x4096xf32>, memref<?x4096xf32>
    ```
    becomes, with `cache = registers`
    ```mlir
    %s, %x = rmsnorm.traverse unrolled reduce(add) {
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xf32> -> vector<1x4096xf32>
      %q = arith.mulf %0, %0 : vector<1x4096xf32>
      rmsnorm.yield %q, %0 : vector<1x4096xf32>, vector<1x4096xf32>
    } -> vector<1x1xf32>, vector<1x4096xf32>
    ...
    rmsnorm.traverse unrolled {
      %y = arith.mulf %x, %r : vector<1x4096xf32>
      rmsnorm.tile_store tile %y, %Y[%t] : vector<1x4096xf32>, memref<?x4096xf32>
      rmsnorm.yield
    }
    ```
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def SplitReductions : Pass<"rmsnorm-split-reductions"> {
  let summary = "begins a tile's reduction while another tile is worked on";
  let description = [{
    With `split` in the schedule the one traverse that reduces becomes the
    `begin` of `rmsnorm.tiles`, with a copy of the per-row work it needs: it
    publishes the block's part of the next tile's sums before `rmsnorm.await`
    in `body` waits for this one's, so that the wait for the slowest block is
    hidden. For rows that the blocks of a cluster share, from three stages on.

    Requires: `rmsnorm-place-tiles`. Numeric effect: none.

    ```mlir
    rmsnorm.tiles copies(%X : ...) stages 3 body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x65536xbf16>):
      ...
      %s = rmsnorm.traverse chunks in_flight(2) reduce(add) {...} -> vector<1x1xf32>
    ```
    becomes
    ```mlir
    rmsnorm.tiles copies(%X : ...) stages 3 begin {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x65536xbf16>):
      %p = rmsnorm.traverse chunks in_flight(2) reduce(add) {...} -> vector<1x1xf32>
      rmsnorm.yield %p : vector<1x1xf32>
    } body {
    ^bb0(%t: index, %x: !rmsnorm.slot<1x65536xbf16>, %s: vector<1x1xf32>):
      ...
      rmsnorm.await %s : vector<1x1xf32>
    ```
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

#endif // RMSNORM_TRANSFORMS_PASSES_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from programs over rows to placed tiles ----------------===//

#ifndef RMSNORM_ROWS_PASSES_TD
#define RMSNORM_ROWS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FactorSums : Pass<"rmsnorm-factor-sums"> {
  let summary = "takes factors that are the same along a row out of its sum or maximum";
  let description = [{
    In tile programs

        row_reduce add(a * (b * r))            ->  row_reduce add(a * b) * r
        row_reduce maximumf(|(a * r) * b|)     ->  row_reduce maximumf(|a * b|) * |r|

    where r is one value a row. The sum then does not wait for r: the backward's
    sum(g * xhat), xhat = x * rstd, becomes sum(g * x) * rstd, and where rstd
    is computed from the row, too, both sums take one traversal
    (`rmsnorm-fuse-reductions`).

    The pass does so where the element types that a and b are computed from prove
    that no product and no sum leaves the range in which f32 is as precise as it
    gets, and where both come from elements of 16 bits. Elements of f32 are left
    as they are: there a * b may be infinite, or lost below the smallest f32,
    where a * (b * r) is an ordinary number. So it may in bf16 from values of
    1e18 on, but there one multiply more for each element costs up to a quarter
    of the speed.

    A maximum, as of the scale of a quantised row or group, then takes one
    traversal with the sum of squares that rstd is computed from. It is taken
    where a and b come from elements of at most 16 bits, or there is no b.
    Roundings differ: it may be some ulps of f32 off the largest |(a * r) * b|.
    So may the elements, which become (a * b) * r where they are used after it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::vector::VectorDialect"];
}

def FuseReductions : Pass<"rmsnorm-fuse-reductions"> {
  let summary = "merges row reductions that can share a traversal";
  let description = [{
    Reductions of one loop body with the same shape, none of which
    depends on another, become one `rmsnorm.row_reduce`: one traversal of
    the row, one tree of shuffles, one barrier. Each joins the earliest it can,
    so two norms of one input take one traversal and a norm of a norm two. An
    input reduced twice in the same way is reduced once; results without a use
    are dropped.
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def StridedBuffers : Pass<"rmsnorm-strided-buffers"> {
  let summary = "makes views of what is strided in maps of accesses";
  let description = [{
    Kernels get buffers that have a dimension for each of the rows, then the
    columns. For each buffer of a `rmsnorm.rows` without a schedule, and each map
    it is accessed by, the pass makes such a view in front of the op:

    - a constant offset, or a smaller size: a `memref.subview`;
    - a sum of digits that count a dimension: a `memref.expand_shape`;
    - digits of one index that lie next to each other in memory: a
      `memref.collapse_shape`;
    - rows' dimensions in another order: a `memref.transpose`.

    The map keeps only what has no strides: a row's number, digits of one index
    that lie apart, repeated columns. A buffer that is read and written by one
    map is one operand then. Views of one buffer get an `alias` class, those of
    constants and of arguments that nobody writes get `constant`.

    A buffer whose columns are not known to lie side by side, as of function
    arguments of one-shot bufferization's default layout, is an error; with
    `pack` the kernel works on a copy of it.
  }];
  let options = [
    Option<"pack", "pack", "bool", "false",
           "copy buffers whose columns lie apart in front of the op, and back "
           "after it">,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def AttachTarget : Pass<"rmsnorm-attach-target", "::mlir::ModuleOp"> {
  let summary = "says which chip the module is compiled for";
  let description = [{
    Sets the module's `rmsnorm.target`, which every later pass reads. An
    unknown chip, or none, is an error that lists the known ones.

    ```mlir
    module attributes {rmsnorm.target = #rmsnorm.target<sim "gfx942">} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "a chip (sm_90, gfx942), the simulator of a chip (sim:gfx942), or "
           "sim for a generic one">,
  ];
}

def SelectSchedule : Pass<"rmsnorm-select-schedule"> {
  let summary = "chooses how each rmsnorm.rows is laid on the machine";
  let description = [{
    Sets the `schedule` of every `rmsnorm.rows`, chosen from what is
    live in its tile program, the element types, N, the number of rows and the
    target. Every field is filled, so that no later pass has to decide.
    A schedule that is already there is checked and kept; where it needs `sums`
    and has none, they are chosen. `schedule` overrides fields of the choice, or
    is one or more whole schedules in the order of the loops; what cannot run on
    the target is an error that says which limit is exceeded. A record of the
    `tuning` file for this program, target and number of rows goes before the
    choice and after the overrides. With `batch-invariant` numbers of rows have
    schedules of their own only as far as a row's sum is the same tree in all of
    them: the same threads a row and the same vectors. `rows` stands for a
    number of rows M that is known only at a call; a static M is taken from the
    op.

    Requires: `rmsnorm-strided-buffers`, `rmsnorm.target` on the module.
    Numeric effect: the schedule fixes the order in which a row is summed.

    ```mlir
    rmsnorm.rows sizes [%m] columns(4096) buffers(...) {
    ```
    becomes, for sm_90 and rows of 4096 bf16
    ```mlir
    rmsnorm.rows sizes [%m] columns(4096) buffers(...) schedule(
        #rmsnorm.schedule<threads_per_row = 256, vector_width = 8,
                          column_operands = awaited>) {
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "overrides of the choice: a mode (multi_wave_cached, "
           "multi_wave_reload, static_persistent) and field=value items, "
           "separated by commas">,
    Option<"alignment", "alignment", "int64_t", "16",
           "bytes all rows are aligned to: 16, or 8 or 4 where rows are no "
           "multiple of more, or 1 for the variant that takes any pointer and "
           "stride">,
    Option<"rows", "rows", "int64_t", "-1",
           "the most rows that a call will have; -1: any number">,
    Option<"batchInvariant", "batch-invariant", "bool", "false",
           "a row is summed in the same order whatever the number of rows">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "a file of norm-tune, whose records replace the choice">,
    Option<"columns", "columns", "int64_t", "-1",
           "the most columns that a call will have, where N is known only "
           "then; -1: any number">,
    Option<"narrowColumns", "narrow-columns", "bool", "false",
           "N, where it is known only then, is no multiple of a vector">,
    Option<"smMargin", "sm-margin", "int64_t", "0",
           "multiprocessors to leave to other work">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def SplitSums : Pass<"rmsnorm-split-sums"> {
  let summary = "gives sums over rows that keep other dimensions other kernels";
  let description = [{
    The rows of a block have one index of the leading sizes that a sum over rows
    keeps, such as the batch: these are the `segments` of its `rmsnorm.rows`.
    Sums that keep other ones (of each batch, beside those of each token) go to
    a `rmsnorm.rows` of their own, which computes again what they need. Sums over
    all rows keep none, and stay.

    Numeric effect: none. Requires: straight-line programs on memrefs.

    ```mlir
    rmsnorm.rows sizes [%b, %t] segments [0] ... {
        rmsnorm.tile_store tile %y, %Y[%i] : ...
        rmsnorm.accumulate %p into %B map(affine_map<(b, t, c) -> (b, c)>) : ...
        rmsnorm.accumulate %q into %T map(affine_map<(b, t, c) -> (t, c)>) : ...
    ```
    becomes
    ```mlir
    rmsnorm.rows sizes [%b, %t] segments [0] ... {
        rmsnorm.tile_store tile %y, %Y[%i] : ...
        rmsnorm.accumulate %p into %B map(affine_map<(b, t, c) -> (b, c)>) : ...
    rmsnorm.rows sizes [%b, %t] segments [1] ... {
        rmsnorm.accumulate %q into %T map(affine_map<(b, t, c) -> (t, c)>) : ...
    ```
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def SplitStrips : Pass<"rmsnorm-split-strips"> {
  let summary = "splits off sums over rows that other blocks take";
  let description = [{
    Where the schedule says `column_sums = strips`, a `rmsnorm.rows` is split:
    its sums over rows (`rmsnorm.accumulate`) of one value a column go to a
    second one, which holds no row_reduce, so that the columns of a row are
    independent there and a block can own a strip of them, whatever the row's
    size. It reads the tiles again; its schedule is `sums` of the first one's.
    What a reduction leads to and the sums use (the backward's rstd, where it is
    computed) is kept in a `rmsnorm.workspace`, one value a row. The first goes
    on as if nothing were summed.

    If the first overwrites what the second reads (dx in place of dy), the
    second comes first; if it also needs per-row values, a third in front
    computes those alone.

    With `column_sums = all_rows` a block has all rows of its segment, and no
    others. Beside sums that keep the segments those over all rows go to a
    `rmsnorm.rows` without segments.

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
    stay 1xN and are broadcast at their use. M is any number: loads, stores and
    accumulators leave out rows of the last tile that do not exist.

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
    GxN of `rmsnorm.tiles`, one row for each row group. The sum of a block leaves
    `rmsnorm.rows` as the block's row of a result [blocks x N]. Another
    `rmsnorm.rows` after it adds up these rows, separately for each of the
    `segments` where the sum has `dims`. That needs persistent blocks,
    `blocks_per_sm` >= 1, unless a block leaves one value only, [blocks x 1]. With
    `column_sums = all_rows`, as that second program has, the sum of a block is
    the whole sum, and `rmsnorm.sum_store` writes it.

    Requires: `rmsnorm-pack-rows`. Numeric effect: fixes the order of sums over
    rows: by tile within a block, by row group, then by block in the same way.

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
    %b = memref.dim %p, %c0
    rmsnorm.rows sizes [%b] columns(128) buffers(read %p : memref<?x128xf32>, write %dw : memref<128xbf16>)
        schedule(#rmsnorm.schedule<row_groups = 32, rows_per_group = 16, ..., column_sums = all_rows>) {
      %sum = rmsnorm.tiles inits(%zero : vector<32x128xf32>) body {
        ...
      }
      rmsnorm.sum_store %sum, %DW : vector<32x128xf32>, memref<128xbf16>
      rmsnorm.yield
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def PlaceTiles : Pass<"rmsnorm-place-tiles"> {
  let summary = "says where tiles live between reductions";
  let description = [{
    Cuts the program at its reductions: what is done column by column up to each
    becomes a `rmsnorm.traverse`, which says how a thread walks over its columns.
    A later traverse has the tiles that it needs as `cache` of the schedule says:

    - `registers`: they are held, of a tile that was extended the narrow one,
      after a `rmsnorm.keep`.
    - `reload`: they are loaded and computed again. Loads say which traverse
      reads again, and how long their lines are wanted.
    - `shared`: tiles that several traverses read (with `stages` >= 2 all) are
      copied to workgroup memory, at `rmsnorm.fetch` and `rmsnorm.arrive`, and
      read from there; not masks, gathered tiles and those that rows share.

    `column_operands` and `constants` say where per-column operands are loaded,
    and tiles that rows share. Per-row values are loaded ahead of the tile, but
    for gathered ones. Where the target has dependent launches, the program
    waits for the kernels before it (`rmsnorm.grid_wait`).

    Stores go to the last traverse. A load after a store of a buffer that may
    overlap its own, itself or one of its `alias` class, is an error.

    Requires: `rmsnorm-carry-sums`, `rmsnorm.target` on a module around it.
    Numeric effect: none.

    ```mlir
    %x = rmsnorm.tile_load tile %X[%t] : ...
    %q = arith.mulf %x, %x : vector<1x4096xf32>
    %s = rmsnorm.row_reduce add(%q) : vector<1x4096xf32> -> vector<1x1xf32>
    %y = ... // of %x and %s
    rmsnorm.tile_store tile %y, %Y[%t] : ...
    // becomes, with cache = registers
    %s, %x = rmsnorm.traverse unrolled reduce(add) {
      ... // %0 is loaded, %q computed of it
      rmsnorm.yield %q, %0 : vector<1x4096xf32>, vector<1x4096xf32>
    } -> vector<1x1xf32>, vector<1x4096xf32>
    rmsnorm.traverse unrolled { ... } // %y is computed and stored
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

#endif // RMSNORM_ROWS_PASSES_TD

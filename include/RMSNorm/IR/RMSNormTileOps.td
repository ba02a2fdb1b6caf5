// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormTileOps.td - tile level: programs on one tile of rows ------===//
//
// The tile program is straight-line SSA on rank-2 vectors: a tile is RxN, a
// per-row value Rx1, a per-column value 1xN. A dimension of size 1 means "the
// same for all", so R = 1 and N = 1 need no special case. There is no rank-1
// value: it would be ambiguous when R = N. Nothing here knows threads.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_RMSNORMTILEOPS_TD
#define RMSNORM_IR_RMSNORMTILEOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RMSNorm_TileVector : VectorOfRankAndType<[2], [AnyFloat, AnyInteger]>;
def RMSNorm_TileBase : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def RMSNorm_TileLoadOp : RMSNorm_Op<"tile_load", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a tile, a per-row or a per-column value of a buffer";
  let description = [{
    Reads rows `row`, `row` + 1, ... of `base`, all its columns. `row` counts
    rows in row-major order over all leading dimensions of `base`, whatever
    their strides; it is absent where the buffer has no rows (`column`, and
    a rank-1 `tile`, which is row 0).

    `rows` says how many of the R rows exist, `columns` how many of the N
    columns (absent: all). Columns past `columns` read as zero. Rows past
    `rows` read some row that exists: no memory outside `base` is touched,
    and their value must not be used.

    A `columns` bound is how a dynamic row size is expressed: N is then a
    static upper bound, 2^30.

    `segment` tells apart loads of the same tile that must not be merged
    because reading again is the point (`rmsnorm-place-tiles`); `policy` is
    how long the line is wanted.

    ```mlir
    %x = rmsnorm.tile_load tile %xs[%row] : memref<?x4096xbf16> -> vector<1x4096xbf16>
    %r = rmsnorm.tile_load row %rstd[%row] rows(%live) : memref<?xf32> -> vector<4x1xf32>
    %w = rmsnorm.tile_load column %ws : memref<4096xbf16> -> vector<1x4096xbf16>
    ```

    Constraints:
    - (C1) the element types of `base` and the result are equal.
    - (C2) `column`: `base` has rank 1, no `row`, no `rows`, the result is 1xN.
    - (C3) `row`: the result is Rx1 and has no `columns`; `row` is present
      unless `base` has rank 0.
    - (C4) `tile`: `row` is present unless `base` has rank 1.
    - (C5) without `columns`, the last dimension of `base` is static and equal
      to N (`tile`, `column`); with it, N is 2^30.
  }];
  let arguments = (ins RMSNorm_TileKindAttr:$kind, RMSNorm_TileBase:$base,
                       Optional<Index>:$row, Optional<Index>:$rows,
                       Optional<Index>:$columns,
                       DefaultValuedAttr<I64Attr, "0">:$segment,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let results = (outs RMSNorm_TileVector:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $base (`[` $row^ `]`)? (`rows` `(` $rows^ `)`)?
    (`columns` `(` $columns^ `)`)? (`segment` `(` $segment^ `)`)?
    (`policy` `(` custom<Enum>($policy)^ `)`)? attr-dict
    `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def RMSNorm_TileStoreOp : RMSNorm_Op<"tile_store", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile, a per-row or a per-column value to a buffer";
  let description = [{
    The mirror image of `rmsnorm.tile_load`: rows past `rows` and columns past
    `columns` are not written. On tensors the result is the updated `base`; on
    memrefs there is none.

    ```mlir
    rmsnorm.tile_store tile %y, %ys[%row] rows(%live) : vector<4x4096xbf16>, memref<?x4096xbf16>
    %t = rmsnorm.tile_store row %rstd, %rs[%c0] : vector<1x1xf32>, tensor<1xf32> -> tensor<1xf32>
    ```

    Constraints: (C1) to (C5) of `rmsnorm.tile_load`, and
    - (C6) the result is present and has the type of `base` if and only if
      `base` is a tensor.
  }];
  let arguments = (ins RMSNorm_TileKindAttr:$kind, RMSNorm_TileVector:$value,
                       RMSNorm_TileBase:$base, Optional<Index>:$row,
                       Optional<Index>:$rows, Optional<Index>:$columns,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $value `,` $base (`[` $row^ `]`)? (`rows` `(` $rows^ `)`)?
    (`columns` `(` $columns^ `)`)? (`policy` `(` custom<Enum>($policy)^ `)`)? attr-dict
    `:` type($value) `,` type($base) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def RMSNorm_RowReduceOp : RMSNorm_Op<"row_reduce", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "reduces tiles along their rows, one traversal for all";
  let description = [{
    Reduces each RxN input along its columns to Rx1. All inputs share one
    traversal of the row, one tree of shuffles and one barrier, which is why
    the op is variadic (`rmsnorm-fuse-reductions`). The order of combination
    depends on the schedule only: never on M, on strides or on alignment.

    `columns` counts the columns that exist (absent: all N). A contribution of
    a column past it is replaced by the identity of its kind, except where the
    input provably is the identity there already.

    ```mlir
    %s = rmsnorm.row_reduce add(%sq) : vector<4x4096xf32> -> vector<4x1xf32>
    %a, %m = rmsnorm.row_reduce add(%sq), maximumf(%abs) columns(%n)
        : vector<1x1073741824xf32>, vector<1x1073741824xf32>
        -> vector<1x1xf32>, vector<1x1xf32>
    ```

    Constraints:
    - (C1) as many kinds and results as inputs, at least one.
    - (C2) inputs have one shape RxN and float element types; result i is Rx1
      of input i's element type.
  }];
  let arguments = (ins TypedArrayAttrBase<RMSNorm_ReduceKindAttr,
                         "one kind per input">:$kinds,
                       Variadic<RMSNorm_TileVector>:$inputs,
                       Optional<Index>:$columns);
  let results = (outs Variadic<RMSNorm_TileVector>:$results);
  let assemblyFormat = [{
    custom<Reductions>($kinds, $inputs) (`columns` `(` $columns^ `)`)?
    attr-dict `:` type($inputs) `->` type($results)
  }];
  let hasVerifier = 1;
}

def RMSNorm_ColumnReduceOp : RMSNorm_Op<"column_reduce", [Pure]> {
  let summary = "adds the rows of a tile";
  let description = [{
    Adds rows 0, 1, ... of a GxN input, in that order, to 1xN. What row groups
    have accumulated each for itself becomes the sum of their block.

    ```mlir
    %s = rmsnorm.column_reduce %a : vector<4x4096xf32> -> vector<1x4096xf32>
    ```

    Constraints:
    - (C1) the result has one row and as many columns as the input.
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$input);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def RMSNorm_RowReduceBeginOp : RMSNorm_Op<"row_reduce_begin", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the first half of a row_reduce: gives the parts away";
  let description = [{
    For rows that the blocks of a cluster share. Each subgroup reduces its part
    of the row and publishes the result; nobody waits. `rmsnorm.row_reduce_end`
    of the same number waits and combines. The two are one
    `rmsnorm.row_reduce`, bit for bit.

    Numbers count 0, 1, 2, ... for each block. Number n begins before number
    n - 1 ends, but not before number n - 2 has (`rmsnorm-pipeline-rows`); a
    kernel has one such sequence, and no whole row_reduce of such rows.

    ```mlir
    rmsnorm.row_reduce_begin add(%sq) number(%k1) : vector<1x4096xf32>
    %s = rmsnorm.row_reduce_end [add] number(%k) : vector<1x1xf32>
    ```

    Constraints: (C1), (C2) of `rmsnorm.row_reduce` for kinds and inputs.
  }];
  let arguments = (ins TypedArrayAttrBase<RMSNorm_ReduceKindAttr,
                         "one kind per input">:$kinds,
                       Variadic<RMSNorm_TileVector>:$inputs, Index:$number);
  let assemblyFormat = [{
    custom<Reductions>($kinds, $inputs) `number` `(` $number `)` attr-dict
    `:` type($inputs)
  }];
  let hasVerifier = 1;
}

def RMSNorm_RowReduceEndOp : RMSNorm_Op<"row_reduce_end", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the second half of a row_reduce: waits and combines";
  let description = [{
    See `rmsnorm.row_reduce_begin`, whose kinds it has.

    Constraints: (C1) as many kinds as results, which are Rx1 floats, at least
    one.
  }];
  let arguments = (ins TypedArrayAttrBase<RMSNorm_ReduceKindAttr,
                         "one kind per result">:$kinds, Index:$number);
  let results = (outs Variadic<RMSNorm_TileVector>:$results);
  let assemblyFormat = [{
    custom<Kinds>($kinds) `number` `(` $number `)` attr-dict
    `:` type($results)
  }];
  let hasVerifier = 1;
}

def RMSNorm_KeepOp : RMSNorm_Op<"keep", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a value kept in its storage type until another is known";
  let description = [{
    Returns `value`, but not before `after` has been computed, and hides from
    every optimiser that it is the same value. It exists because a tile that
    lives across a reduction must stay packed: LLVM and ptxas would otherwise
    keep its f32 extension alive, twice the registers, and spill. Used at tile
    level (`rmsnorm-place-tiles`) and, with a fragment and a scalar, at thread
    level. The simulator returns `value`.

    ```mlir
    %k = rmsnorm.keep %x after %sum : vector<4x4096xbf16>, vector<4x1xf32>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value, AnyType:$after);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $value `after` $after attr-dict `:` type($value) `,` type($after)
  }];
}

//===----------------------------------------------------------------------===//
// Tiles in workgroup memory
//===----------------------------------------------------------------------===//

def RMSNorm_Ring : MemRefRankOf<[AnyFloat, AnyInteger], [3]>;

def RMSNorm_TileRingOp : RMSNorm_Op<"tile_ring", []> {
  let summary = "workgroup memory for the tiles of one buffer";
  let description = [{
    S slots, each for a tile of RxN: memref<SxRxNxT, workgroup>. A thread
    copies, and reads, only what it owns of a tile; so its place in a slot is
    distribution's affair, and no barrier stands between a copy and its use.

    ```mlir
    %ring = rmsnorm.tile_ring : memref<3x1x4096xbf16, #gpu.address_space<workgroup>>
    ```

    Constraints: (C1) the result is a packed, static memref in workgroup memory.
  }];
  let results = (outs Res<RMSNorm_Ring, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RMSNorm_RingCopyOp : RMSNorm_Op<"ring_copy", [AttrSizedOperandSegments]> {
  let summary = "begins to copy a tile into a slot of a ring";
  let description = [{
    Copies what `rmsnorm.tile_load tile %base[%row] rows(%rows)` reads, zeros
    for columns past N included. The copy is under way until a
    `rmsnorm.copy_wait` that covers the group it was committed to; until then
    the slot must not be read, nor the rows written.

    ```mlir
    rmsnorm.ring_copy %x[%row] rows(%live) to %ring[%slot]
        : memref<?x4096xbf16>, memref<3x1x4096xbf16, #gpu.address_space<workgroup>>
    ```

    Constraints: (C1) `row` is present unless `base` has rank 1; (C2) `base` and
    the ring agree in element type and number of columns.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$base,
                       Optional<Index>:$row, Optional<Index>:$rows,
                       Arg<RMSNorm_Ring, "", [MemWrite]>:$ring, Index:$slot);
  let assemblyFormat = [{
    $base (`[` $row^ `]`)? (`rows` `(` $rows^ `)`)? `to` $ring `[` $slot `]`
    attr-dict `:` type($base) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def RMSNorm_RingLoadOp : RMSNorm_Op<"ring_load", []> {
  let summary = "reads a tile from a slot of a ring";
  let description = [{
    The tile that was copied there. `segment` is that of `rmsnorm.tile_load`:
    loads of different segments are not merged.

    ```mlir
    %x = rmsnorm.ring_load %ring[%slot] segment(1)
        : memref<3x1x4096xbf16, #gpu.address_space<workgroup>> -> vector<1x4096xbf16>
    ```

    Constraints: (C1) the result is the vector of a slot.
  }];
  let arguments = (ins Arg<RMSNorm_Ring, "", [MemRead]>:$ring, Index:$slot,
                       DefaultValuedAttr<I64Attr, "0">:$segment);
  let results = (outs RMSNorm_TileVector:$result);
  let assemblyFormat = [{
    $ring `[` $slot `]` (`segment` `(` $segment^ `)`)? attr-dict
    `:` type($ring) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // RMSNORM_IR_RMSNORMTILEOPS_TD

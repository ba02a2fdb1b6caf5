// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormTileOps.td - tile level: programs on one tile of rows ------===//
//
// The tile program is straight-line SSA on vectors: a tile is RxN, a per-row
// value Rx1, a per-column value 1xN. A dimension of size 1 means "the same for
// all", so R = 1 and N = 1 need no special case. There is no rank-1 value: it
// would be ambiguous when R = N.
//
// Where a program tells columns apart, N is written as the digits of a column's
// number, the outermost first: heads of 64 columns in halves are Rx24x2x32. What
// does not depend on a digit has size 1 there, a value for each group of columns
// in the innermost ones, a table that is the same for all heads in the outermost
// one. Nothing here knows threads.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_RMSNORMTILEOPS_TD
#define RMSNORM_IR_RMSNORMTILEOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RMSNorm_TileBase : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
def RMSNorm_Kept : FixedVectorOfRankAndType<[1, 2, 3, 4, 5, 6], [AnyFloat, AnyInteger]>;
def RMSNorm_RowIndices : RMSNorm_TileOf<[Index]>;

def RMSNorm_TileLoadOp : RMSNorm_Op<"tile_load", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a tile, a per-row or a per-column value of a buffer";
  let description = [{
    Reads rows of `base`, all their columns. `row` is the number of a row,
    absent where all rows read the same. In `rmsnorm.rows` it is the number of
    the tile: R rows are read from row R * `row` on, and those past the last row
    read some row that exists: no memory outside `base` is touched, and their
    value must not be used.

    `map` says where an element lies in `base`: it leads from the indices of the
    row and the column to those of `base`. The column is counted among those of
    the result, whose digits are one number: of one value for each group the
    group. A row has
    an index for each leading size of `rmsnorm.rows`; a map with a single one in
    their place takes the number of the row. Each result is a sum of digits of
    these, `d floordiv 32 mod 4` times a number. Absent, rows are counted in
    row-major order over all leading dimensions of `base`, whatever their
    strides, and the last dimension has the columns: (r0, r1, c) -> (r0, r1, c).
    `at` gives indices that are known at run time only, each a value for each
    row of the result; they are the symbols of the map, which is absent for
    (c)[i] -> (i, c): row i of a table. An index that is not below the size of
    its dimension is undefined behaviour, as in `tensor.extract`.

    `again` tells apart loads of the same tile that must not be merged because
    reading again is the point (`rmsnorm-place-tiles`): the number of the walk
    over the columns it is for, where one before has read the tile. `policy` is
    how long the line is wanted.

    ```mlir
    %x = rmsnorm.tile_load tile %xs[%row] : memref<?x4096xbf16> -> vector<1x4096xbf16>
    %r = rmsnorm.tile_load row %rstd[%tile] : memref<?xf32> -> vector<4x1xf32>
    %w = rmsnorm.tile_load column %ws : memref<4096xbf16> -> vector<1x4096xbf16>
    %c = rmsnorm.tile_load tile %table at(%i : vector<4x1xindex>) : memref<?x64xf32> -> vector<4x64xf32>
    %k = rmsnorm.tile_load tile %pages at(%i, %j : vector<4x1xindex>, vector<4x1xindex>) map(c)[i0, i1] -> (i0, i1, c)
        : memref<?x16x64xf32> -> vector<4x64xf32>
    %s = rmsnorm.tile_load tile %scale[%tile] map(r0, r1, c) -> (r0, c) : memref<?x64xf32> -> vector<1x64xf32>
    %h = rmsnorm.tile_load tile %cosines[%tile] : memref<?x64xf32> -> vector<1x1x64xf32>
    ```

    Constraints:
    - (C1) the element types of `base` and the result are equal.
    - (C2) `map` has a result for each dimension of `base`, a sum of digits, and
      a symbol for each of `at`; `row` is present if and only if rows have
      indices in it.
    - (C3) `column`: no `row`, the result is 1xN, and `base` has rank 1 where the
      column is its last index. `row`: the result is Rx1, the map has no column.
    - (C4) of a `tile`, a `column` or a `group` the last index is the column, and
      no other index depends on it; in `rmsnorm.rows` it may be the innermost
      digit of the column, and other digits be in other indices, as in
      (r, c) -> (r, c floordiv 64, c mod 64), all within the sizes of `base`.
    - (C5) where the last index is the column, the last dimension of `base` is
      equal to the columns of the result, static but in `rmsnorm.rows`, which says
      how many of N there are.
    - (C6) rows have as many indices as `rmsnorm.rows` leading sizes, or one.
    - (C8) `at` is for a `tile` or a `row`; each has as many indices as the
      result has rows, and is the index of one dimension, which depends on
      nothing else.
  }];
  let arguments = (ins RMSNorm_TileKindAttr:$kind, RMSNorm_TileBase:$base,
                       Optional<Index>:$row,
                       Variadic<RMSNorm_RowIndices>:$indices,
                       OptionalAttr<AffineMapAttr>:$map,
                       DefaultValuedAttr<I64Attr, "0">:$again,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let results = (outs RMSNorm_Tile:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $base (`[` $row^ `]`)?
    (`at` `(` $indices^ `:` type($indices) `)`)? (`map` `` custom<AccessMap>($map)^)?
    (`again` `(` $again^ `)`)? (`policy` `(` custom<Enum>($policy)^ `)`)?
    attr-dict `:` type($base) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Where its elements lie in `base`.
    AccessMap getAccess();
    /// Whether several rows have what is loaded for each column: it comes from
    /// the caches, as a weight does.
    bool isShared();
  }];
  let hasVerifier = 1;
}

def RMSNorm_TileStoreOp : RMSNorm_Op<"tile_store", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile, a per-row or a per-column value to a buffer";
  let description = [{
    The mirror image of `rmsnorm.tile_load`: rows and columns past the last are
    not written. On tensors the result is the updated `base`; on
    memrefs there is none.

    `map` is as that of `rmsnorm.tile_load`, but the values of a `group` are
    stored one by one and may lie anywhere: transposed scales have (r, g) -> (g, r), the scales that tensor
    cores read (r, g) -> (r floordiv 128, g floordiv 4, r mod 32,
    r floordiv 32 mod 4, g mod 4). Outside of `rmsnorm.rows` the sizes that rows
    are counted in are those of `base`. `base` may have more rows than there
    are; where a call's has fewer, no more rows are worked on.

    `at` is as that of `rmsnorm.tile_load`. No two rows may be written to one
    place: whoever gives the indices promises it. With `skip_negative` a row of
    which an index is negative is not written.

    ```mlir
    rmsnorm.tile_store tile %y, %ys[%tile] : vector<4x4096xbf16>, memref<?x4096xbf16>
    %t = rmsnorm.tile_store row %rstd, %rs[%c0] : vector<1x1xf32>, tensor<1xf32> -> tensor<1xf32>
    rmsnorm.tile_store group %s, %ss[%tile] map(r, g) -> (g, r) : vector<4x32xf32>, memref<32x?xf32>
    rmsnorm.tile_store tile %k, %cache at(%i : vector<4x1xindex>) skip_negative : vector<4x64xbf16>, memref<?x64xbf16>
    ```

    Constraints: (C1) to (C6) of `rmsnorm.tile_load` and
    - (C7) the result is present and has the type of `base` if and only if
      `base` is a tensor.
    - (C8) the digits of a row, unless there is `at`, and of a column are all
      there, each once, and alone in an index: no two elements of a tile are
      written to one place. Of
      a `group` the dimensions without a row are static; they have as many
      elements as a row of the vector.
    - (C9) each of `at` has as many indices as the vector has rows, and is the
      index of one dimension, which depends on nothing else; `skip_negative` is
      only present with `at`.
  }];
  let arguments = (ins RMSNorm_TileKindAttr:$kind, RMSNorm_Tile:$value,
                       RMSNorm_TileBase:$base, Optional<Index>:$row,
                       Variadic<RMSNorm_RowIndices>:$indices,
                       OptionalAttr<AffineMapAttr>:$map,
                       UnitAttr:$skip_negative,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    /// Where its elements lie in `base`.
    AccessMap getAccess();
  }];
  let assemblyFormat = [{
    custom<Enum>($kind) $value `,` $base (`[` $row^ `]`)?
    (`at` `(` $indices^ `:` type($indices) `)`)? (`map` `` custom<AccessMap>($map)^)?
    (`skip_negative` $skip_negative^)?
    (`policy` `(` custom<Enum>($policy)^ `)`)? attr-dict
    `:` type($value) `,` type($base) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def RMSNorm_RowReduceOp : RMSNorm_Op<"row_reduce", [Pure]> {
  let summary = "reduces tiles along their rows, one traversal for all";
  let description = [{
    Reduces each RxN input along its columns to Rx1. All inputs share one
    traversal of the row, one tree of shuffles and one barrier, which is why
    the op is variadic (`rmsnorm-fuse-reductions`). The order of combination
    depends on the schedule only: never on M, on strides or on alignment.

    A contribution of a column past the last that `rmsnorm.rows` has is replaced
    by the identity of its kind, except where the input provably is the identity
    there already.

    ```mlir
    %s = rmsnorm.row_reduce add(%sq) : vector<4x4096xf32> -> vector<4x1xf32>
    %a, %m = rmsnorm.row_reduce add(%sq), maximumf(%abs)
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
                       Variadic<RMSNorm_Tile>:$inputs);
  let results = (outs Variadic<RMSNorm_Tile>:$results);
  let assemblyFormat = [{
    custom<Reductions>($kinds, $inputs) attr-dict
    `:` type($inputs) `->` type($results)
  }];
  let hasVerifier = 1;
}

def RMSNorm_GroupReduceOp : RMSNorm_Op<"group_reduce", [
    Pure, AllElementTypesMatch<["input", "result"]>]> {
  let summary = "reduces each group of neighbouring columns of a tile";
  let description = [{
    Reduces the input over its innermost digits, those that the result lacks. The
    order of combination depends on their sizes and the vectors of the schedule
    only. Unlike `rmsnorm.row_reduce` it ends no walk over the columns.

    ```mlir
    %m = rmsnorm.group_reduce maximumf(%abs) : vector<1x32x128xf32> -> vector<1x32x1xf32>
    %h = rmsnorm.group_reduce maximumf(%abs) : vector<1x24x2x64xf32> -> vector<1x24x1x1xf32>
    ```

    Constraints:
    - (C1) the elements are f32.
    - (C2) as many rows of both; the digits of the result are those of the
      input, but for the innermost ones, whose size is 1. Both have several
      columns, the result fewer. In `rmsnorm.rows` the input has all columns of
      the groups, but for indices of digits that are held.
  }];
  let arguments = (ins RMSNorm_ReduceKindAttr:$kind, RMSNorm_Tile:$input);
  let results = (outs RMSNorm_Tile:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) `(` $input `)` attr-dict `:` type($input) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def RMSNorm_TakeOp : RMSNorm_Op<"take", [
    Pure, AllElementTypesMatch<["row", "result"]>]> {
  let summary = "takes some columns out of a row";
  let description = [{
    Returns the columns of `row` whose digits are from `at` on: as many indices of
    each digit as the result has. Where they meet other ones of the digit, it is
    held: in a kernel every thread has all columns that differ in it alone, so
    that none moves between threads. Where they are several, whole but for the
    digit, that stay in their place, the threads that have them share it, if
    nothing is summed over rows.

    ```mlir
    %lo = rmsnorm.take %y at [0, 0] : vector<1x2x64xf32> -> vector<1x1x64xf32>
    %odd = rmsnorm.take %y at [0, 1] : vector<1x64x2xf32> -> vector<1x64x1xf32>
    ```

    Constraints:
    - (C1) as many digits and rows of both; `at` has a number for each digit, and
      `at` and the size of the result are at most the size of `row`.
    - (C2) several columns are taken: the threads that share a row do not tell
      each other a single one.
  }];
  let arguments = (ins RMSNorm_Tile:$row, DenseI64ArrayAttr:$at);
  let results = (outs RMSNorm_Tile:$result);
  let assemblyFormat = [{
    $row `at` $at attr-dict `:` type($row) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def RMSNorm_PutOp : RMSNorm_Op<"put", [
    Pure, AllElementTypesMatch<["part", "row"]>, AllTypesMatch<["row", "result"]>]> {
  let summary = "puts columns into a row";
  let description = [{
    Returns `row` with `part` in place of the columns that `rmsnorm.take` would
    take out at `at`.

    ```mlir
    %a = rmsnorm.put %lo, %zero at [1, 0] : vector<1x1x64xf32>, vector<1x2x64xf32>
    %b = rmsnorm.put %hi, %a at [0, 0] : vector<1x1x64xf32>, vector<1x2x64xf32>
    ```

    Constraint: (C1) of `rmsnorm.take`.
  }];
  let arguments = (ins RMSNorm_Tile:$part, RMSNorm_Tile:$row,
                       DenseI64ArrayAttr:$at);
  let results = (outs RMSNorm_Tile:$result);
  let assemblyFormat = [{
    $part `,` $row `at` $at attr-dict `:` type($part) `,` type($row)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def RMSNorm_KeepOp : RMSNorm_Op<"keep", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a value kept in its storage type until another is known";
  let description = [{
    Returns `value`, but not before `after` has been computed, and hides from
    every optimiser that it is the same value. It exists because a tile that
    lives across a reduction must stay packed: LLVM and ptxas would otherwise
    keep its f32 extension alive, twice the registers, and spill. If `after` is a
    tile, the op works vector by vector: it makes ptxas load that tile now, not
    in the later traverse that needs it. AMD chips have no need of it, as their
    compiler leaves loads where they are. The op is used at tile level
    (`rmsnorm-place-tiles`) and, with a fragment and a scalar, at thread level.
    The simulator returns `value`.

    ```mlir
    %k = rmsnorm.keep %x after %sum : vector<4x4096xbf16>, vector<4x1xf32>
    ```

    Constraints:
    - (C1) at tile level, RxN, it is after the tile's number, of type index, or
      after per-row values in f32 or a tile of the same columns, of as many rows
      unless one of the two has 1.
    - (C2) at thread level, a fragment of rank 1, it is after an f32, an i32 or,
      where it is after a load, the first bits of that, vector<1xi32>.
  }];
  let arguments = (ins RMSNorm_Kept:$value,
                       AnyTypeOf<[F32, I32, Index, RMSNorm_Kept]>:$after);
  let results = (outs RMSNorm_Kept:$result);
  let assemblyFormat = [{
    $value `after` $after attr-dict `:` type($value) `,` type($after)
  }];
  let hasVerifier = 1;
}

#endif // RMSNORM_IR_RMSNORMTILEOPS_TD

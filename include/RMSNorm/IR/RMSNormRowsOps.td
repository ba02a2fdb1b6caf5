// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormRowsOps.td - rows level: how a block works on its rows -----===//
//
// From `rmsnorm-tile-clusters` on a tile program stands in `rmsnorm.rows`, one
// kernel and its launch. The passes on it say, one after another and in the IR,
// how many rows a tile has, which values a thread holds from one walk over the
// columns to the next, what is copied ahead. Nothing here knows threads: values
// are those of the tile level.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_RMSNORMROWSOPS_TD
#define RMSNORM_IR_RMSNORMROWSOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RMSNorm_Partials : MemRefRankOf<[F32], [2]>;
def RMSNorm_RowsBuffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def RMSNorm_SlotType : TypeDef<RMSNorm_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "a tile in workgroup memory, copied there ahead of its turn";
  let description = [{
    `!rmsnorm.slot<3x4096xbf16>`: the tile's rows, columns and element type. A
    thread copies, and reads, only what it owns of a tile, so its place in
    memory is distribution's affair and no barrier stands between a copy and
    its use.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// What a `rmsnorm.slot_load` gives.
    ::mlir::VectorType getTile() const;
  }];
}

//===----------------------------------------------------------------------===//
// rows
//===----------------------------------------------------------------------===//

def RMSNorm_RowsOp : RMSNorm_Op<"rows", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "work on all rows of some buffers: one kernel and its launch";
  let description = [{
    Does its body for all rows, in tiles of R = row_groups x rows_per_group of
    them (1 before `rmsnorm-pack-rows`). Isolated: what the body knows of the
    function around it are its operands, which its block arguments mirror.

    - `sizes`, `static_sizes`: the leading sizes of the buffers. Rows are counted
      in row-major order over them; M is their product.
    - `digits`: the sizes of the digits that a column's number is written in, the
      outermost first; N is their product. A program that tells no columns apart
      has one. With `dynamic_columns` it is the most that N is; columns past
      `dynamic_columns` read as zero and are not written.
    - `buffers`: with a schedule each once. A buffer has all the leading sizes,
      or one dimension for all rows, then the columns if it is accessed as tiles;
      or the columns alone. `accesses` says of each what the body does with it,
      whether no earlier kernel writes it (`constant`), and which ones may
      overlap: those of one `alias` class.
    - `scalars`: whatever else the body needs.
    - `schedule`: how the work is laid on the machine; absent before
      `rmsnorm-select-schedule`.

    The body is what a block does: first what it does once (per-column operands
    that it holds), `rmsnorm.grid_wait` where the kernel may start before the
    ones ahead of it have ended, one `rmsnorm.tiles`, and a yield of the sums
    over its rows. For each there is a result, memref<?xN>, of which row b is
    the sum of block b: its row groups are added up, the workspace is made with
    the launch. Or, where a block does all rows of its columns,
    `rmsnorm.sum_store` writes them.
    All rows of a block have one index of the leading sizes in `segments`: what
    it sums up is of one segment. Block w of W of segment s has row s * W + w.

    On tensors it is an op in destination style: there is a result for each of
    `buffers` that is written, the tensor with what the body has written. The
    body is the same: of a tensor its argument is the memref of the same shape
    and elements, to which bufferization gives the layout of the buffer. What is
    read is the tensor as it was, whatever the body writes.

    ```mlir
    rmsnorm.rows sizes [%m] columns(4096)
        buffers(read %x : memref<?x4096xbf16>, write %y : memref<?x4096xbf16>) {
    ^bb0(%M: index, %X: memref<?x4096xbf16>, %Y: memref<?x4096xbf16>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %v = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
        rmsnorm.tile_store tile %v, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    ```

    Constraints:
    - (C1) the block arguments have the types of the operands, in their order; of
      a tensor that of a memref of its shape and elements, without a layout.
    - (C2) with a schedule no buffer that is written twice; as many `accesses`
      as buffers; an `alias` class has two members at least; a `constant` buffer
      is only read.
    - (C3) from 1 to 5 digits, of size 2 at least where there are several; N is
      from 1 to 2^30 - 1, or, of one digit, 2^30 with `dynamic_columns` where N
      has no bound.
    - (C4) all ops of the body are `arith`, `math` and `vector` ops on scalars
      and vectors or ops of the tile and rows levels.
    - (C5) every vector has a dimension for the rows, then one for each digit, of
      1 or its size, or fewer where some indices are taken by themselves; with a
      schedule every vector has 1 or R rows, tiles in traverses R, accumulators
      row_groups. What is reduced or summed up has all columns, or one value a
      row. In a cluster R is 1 and N static.
    - (C6) a `tile_load`, `tile_store`, `slot_load` accesses the buffers among
      the block arguments, in its region's tile, as `accesses` says, a buffer
      always by the same kind and, with a schedule, `map`; shapes agree with
      `sizes` and `columns`; the inner stride is 1.
    - (C7) one `tiles`, directly in the body; before `grid_wait`, of which
      there is at most one and which precedes `tiles`, only `constant` buffers
      are loaded.
    - (C8) per-column work stands directly in `tiles` (before
      `rmsnorm-place-tiles`) or in traverses (after it), never both.
    - (C9) after a store, in the same tile, no traverse reads a buffer of its
      alias class.
    - (C10) the yield has one result of `tiles`, GxN or Gx1, for each result,
      whose type is memref<?xNxf32>, N dynamic with `dynamic_columns`.
    - (C11) there are `sum_store` ops, and no results then, if and only if the
      schedule has column_sums = all_rows and sums are carried.
    - (C12) `segments` are the first or the last leading sizes, and not all.
      The rows' indices in the map of a `sum_store` are these, as its block has
      all rows of a segment and no others; in that of an `accumulate` these or
      none or, without a schedule, any first or last ones.
    - (C13) `buffers` are all tensors or all memrefs. Tensors have neither
      schedule, `constant` nor `alias`, the yield has no values, and the results
      have the types of the tensors that are written, in their order.
  }];
  let arguments = (ins
      Variadic<Index>:$sizes, Optional<Index>:$dynamic_columns,
      Variadic<RMSNorm_RowsBuffer>:$buffers,
      Variadic<AnyTypeOf<[Index, AnyInteger, AnyFloat]>>:$scalars,
      DenseI64ArrayAttr:$static_sizes, DenseI64ArrayAttr:$digits,
      TypedArrayAttrBase<RMSNorm_AccessAttr, "one access per buffer">:$accesses,
      OptionalAttr<RMSNorm_ScheduleAttr>:$schedule,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$segments);
  let results = (outs Variadic<AnyTypeOf<[RMSNorm_Partials, AnyRankedTensor]>>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `sizes` custom<DynamicIndexList>($sizes, $static_sizes) (`segments` $segments^)?
    `columns` `` custom<Columns>($digits, $dynamic_columns)
    `buffers` `(` custom<Buffers>($buffers, type($buffers), $accesses) `)`
    (`scalars` `(` $scalars^ `:` type($scalars) `)`)?
    (`schedule` `(` qualified($schedule)^ `)`)?
    (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// N, or the most that it is: the product of the digits.
    int64_t getColumns();
    /// Whether it works on tensors.
    bool hasTensors();
    /// The type of the argument for an operand of `type`.
    static Type getArgumentType(Type type);
    /// The buffers that are written; on tensors there is a result for each.
    SmallVector<OpOperand *> getWritten();
    /// The sums over rows, on memrefs.
    ResultRange getPartials();

    /// The leading sizes.
    SmallVector<OpFoldResult> getMixedSizes();
    /// Whether M is 1 for certain.
    bool hasSingleRow();
    /// M, computed in front of the op: the product of the leading sizes, but no
    /// more than a buffer has that counts rows by sizes of its own.
    Value createNumRows(OpBuilder &builder);
    /// Whether `dims`, of the leading sizes, are the first or the last ones, and
    /// not all, or none: a block can walk over the rows that share their index.
    bool keepsRowsTogether(ArrayRef<int64_t> dims);
    Value createNumSegments(OpBuilder &builder);
    Value createSegmentRows(OpBuilder &builder);
    /// Block arguments that mirror the operands; null, if there is none.
    Value getColumnsArgument();
    MutableArrayRef<BlockArgument> getBufferArguments();
    /// What `buffer`, one of the buffer arguments, is to the body.
    AccessAttr getAccess(Value buffer);
    /// The operand that `argument` mirrors.
    Value getOperandOf(Value argument);
    TilesOp getTiles();
    /// The schedule; emits an error naming the pass that sets it if there is
    /// none.
    FailureOr<ScheduleAttr> getRequiredSchedule();
    bool mayAlias(Value bufferArgument, Value otherBufferArgument);
  }];
}

def RMSNorm_YieldOp : RMSNorm_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["RowsOp", "TilesOp", "TraverseOp"]>]> {
  let summary = "ends a region of the rows level";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* nothing is yielded */ }]>];
}

//===----------------------------------------------------------------------===//
// tiles
//===----------------------------------------------------------------------===//

def RMSNorm_TilesOp : RMSNorm_Op<"tiles", [
    AttrSizedOperandSegments, RecursiveMemoryEffects,
    HasParent<"RowsOp">]> {
  let summary = "the tiles of a block, one after another";
  let description = [{
    Does `body` for tile b, b + B, b + 2B, ... of block b of B. Its arguments are
    the number of the tile, a slot for each buffer in `copies`, the sums that
    `begin` yields, and what the sums over rows (`inits`) have come to; it yields
    what they become.

    Tiles of `copies` are copied to workgroup memory. `body` says when: at
    `rmsnorm.fetch` the copies of a tile begin, of this one or, from two
    `stages` on, of the one `stages` - 1 further on; at `rmsnorm.arrive` this
    tile's are there. Slots, the first copies and their guards are made by
    `rmsnorm-distribute`.

    `begin` is empty, or the first half of a tile's reductions: what it yields
    are sums, published but not awaited. It runs for the next tile just ahead
    of `rmsnorm.await` in `body`, which waits for those of this one.

    The regions see what stands in front of the op, not each other.

    ```mlir
    %sum = rmsnorm.tiles copies(%DY : memref<?x4096xbf16>) stages 2
        inits(%zero : vector<1x4096xf32>) body {
    ^bb0(%t: index, %dy: !rmsnorm.slot<1x4096xbf16>, %acc: vector<1x4096xf32>):
      rmsnorm.fetch %dy : !rmsnorm.slot<1x4096xbf16>
      rmsnorm.arrive %dy : !rmsnorm.slot<1x4096xbf16>
      ...
      rmsnorm.yield %next : vector<1x4096xf32>
    } -> vector<1x4096xf32>
    ```

    Constraints:
    - (C1) `body` has the arguments above; it yields as many values as there
      are `inits`, constants, of their types, which are the results'.
    - (C2) `begin` has the tile's number and the slots; it yields one Rx1 sum
      for each of `body`'s; there is a slot then and `stages` is 3 at least.
    - (C3) with `copies`, `body` has one `fetch` and after it one `arrive`,
      each of all slots; no slot is read before. `stages` is from 1 to what the
      schedule says then. Without, it is 0 and `body` has neither.
    - (C4) with `begin`, `body` has one `await`, of all its sums, after
      `arrive`; no sum is used before.
    - (C5) from two `stages` on, no buffer that is copied ahead is written
      through another argument of its alias class.
  }];
  let arguments = (ins Variadic<AnyMemRef>:$copies,
                       Variadic<RMSNorm_F32Tile>:$inits,
                       DefaultValuedAttr<I64Attr, "0">:$stages);
  let results = (outs Variadic<RMSNorm_F32Tile>:$results);
  let regions = (region MaxSizedRegion<1>:$begin, SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`copies` `(` $copies^ `:` type($copies) `)`)? (`stages` $stages^)?
    (`inits` `(` $inits^ `:` type($inits) `)`)? (`begin` $begin^)? `body` $body
    (`->` type($results)^)? attr-dict
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    BlockArgument getTile() { return getBody().getArgument(0); }
    MutableArrayRef<BlockArgument> getSlots() {
      return getBody().getArguments().slice(1, getCopies().size());
    }
    /// What `begin` has published, in `body`.
    MutableArrayRef<BlockArgument> getSums() {
      return getBody().getArguments().drop_front(1 + getCopies().size())
          .drop_back(getInits().size());
    }
    MutableArrayRef<BlockArgument> getAccumulators() {
      return getBody().getArguments().take_back(getInits().size());
    }
    bool isSplit() { return !getBegin().empty(); }
    ReduceKind getSumKind(unsigned index);
  }];
}

def RMSNorm_SumStoreOp : RMSNorm_Op<"sum_store", [HasParent<"RowsOp">]> {
  let summary = "writes a sum over all rows";
  let description = [{
    For a result of `rmsnorm.tiles` of which each block has done all rows of its
    columns (column_sums = all_rows): `base` is overwritten with the sum of the
    row groups, added up (or combined as the accumulator is) in f32 in their
    order, plus `init`, rounded once. `map` as in `rmsnorm.accumulate`.

    ```mlir
    rmsnorm.sum_store %sum, %DW : vector<32x4096xf32>, memref<4096xbf16>
    ```

    Constraints:
    - (C1) `value` is a result of `rmsnorm.tiles`.
    - (C2) `base` is a buffer of the `rmsnorm.rows` that it writes, of the sizes
      that `map` leads to, then as many columns, of an inner stride of 1, or
      none if those are 1.
    - (C3) so is `init`, which it reads; it may be `base`.
  }];
  let arguments = (ins RMSNorm_F32Tile:$value,
                       Arg<MemRefOf<[F16, BF16, F32]>, "", [MemWrite]>:$base,
                       Arg<Optional<MemRefOf<[F16, BF16, F32]>>, "", [MemRead]>:$init,
                       OptionalAttr<AffineMapAttr>:$map);
  let assemblyFormat = [{
    $value `,` $base (`init` `(` $init^ `:` type($init) `)`)?
    (`map` `` custom<AccessMap>($map)^)? attr-dict `:` type($value) `,` type($base)
  }];
  let extraClassDeclaration = [{
    /// The leading sizes that `base` has a row for each of.
    SmallVector<int64_t> getDims();
  }];
}

class RMSNorm_MarkOp<string mnemonic, string text, dag values>
    : RMSNorm_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>,
                            HasParent<"TilesOp">]> {
  let summary = text;
  let description = "See `rmsnorm.tiles`.";
  let arguments = values;
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}
def RMSNorm_FetchOp : RMSNorm_MarkOp<"fetch", "begins the copies of a tile",
    (ins Variadic<RMSNorm_SlotType>:$slots)>;
def RMSNorm_ArriveOp : RMSNorm_MarkOp<"arrive",
    "waits for the copies of this tile", (ins Variadic<RMSNorm_SlotType>:$slots)>;
def RMSNorm_AwaitOp : RMSNorm_MarkOp<"await",
    "waits for the sums that `begin` has published of this tile",
    (ins Variadic<RMSNorm_Tile>:$sums)>;

def RMSNorm_SlotLoadOp : RMSNorm_Op<"slot_load", [
    MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile that was copied to workgroup memory";
  let description = [{
    `again` as in `rmsnorm.tile_load`.

    ```mlir
    %x = rmsnorm.slot_load %xs again(1)
        : !rmsnorm.slot<1x4096xbf16> -> vector<1x4096xbf16>
    ```

    Constraints: (C1) the result is the slot's tile.
  }];
  let arguments = (ins RMSNorm_SlotType:$slot,
                       DefaultValuedAttr<I64Attr, "0">:$again);
  let results = (outs RMSNorm_Tile:$result);
  let assemblyFormat = [{
    $slot (`again` `(` $again^ `)`)? attr-dict `:` type($slot) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// traverse
//===----------------------------------------------------------------------===//

def RMSNorm_TraverseOp : RMSNorm_Op<"traverse", [
    RecursiveMemoryEffects, SingleBlock, NoRegionArguments,
    HasParent<"TilesOp">]> {
  let summary = "one walk over the columns of a tile";
  let description = [{
    What a thread does column by column. The region's values are whole tiles
    RxN and per-column values 1xN; how much of them a thread works on at a time
    is what the op says:

    - `walk = unrolled`: all of a thread's vectors together. `chunks`:
      `in_flight` vectors at a time. `looped`: the same in a loop, what is left
      after it. `strip`: the one vector of a strip of columns.
    - `order = ops`: an op for all vectors, then the next. `vectors`: after all
      loads, one vector is done with before the next is begun, which takes
      fewer registers where much is computed from what is loaded.

    It yields the reduction's inputs, RxN, of which the first results are the
    reduction along the row by `kinds`, Rx1, known to all threads of the row;
    then what is held, tiles, per-column values and accumulators, which are
    results of the same type.

    ```mlir
    %s, %x = rmsnorm.traverse unrolled reduce(add) {
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xf32> -> vector<1x4096xf32>
      %1 = arith.mulf %0, %0 : vector<1x4096xf32>
      rmsnorm.yield %1, %0 : vector<1x4096xf32>, vector<1x4096xf32>
    } -> vector<1x1xf32>, vector<1x4096xf32>
    ```

    Constraints:
    - (C1) the yield has as many values as there are results; those of `kinds`
      are float tiles RxN of one shape, reduced to Rx1 of their element type.
    - (C2) what is held has the type of its result, more than one column, and
      `walk` is not `looped` then, nor where held values are used: which of
      a thread's vectors a trip works on is known at run time only.
    - (C3) a per-column value from outside of the region is a result of a
      traverse, a load, an accumulator, or a splat constant.
    - (C4) ops in the region have per-column results or are stores of tiles;
      barriers and row_reduce have no place here. Constants and broadcasts of
      per-row values may.
    - (C5) `in_flight` is 1 or more; `order = ops` where nothing is summed over
      rows, and where rows are taken apart.
  }];
  let arguments = (ins
      RMSNorm_WalkAttr:$walk,
      DefaultValuedAttr<I64Attr, "1">:$in_flight,
      DefaultValuedAttr<RMSNorm_OrderAttr, "::mlir::rmsnorm::Order::ops">:$order,
      DefaultValuedAttr<TypedArrayAttrBase<RMSNorm_ReduceKindAttr,
                          "one kind per reduction">, "{}">:$kinds);
  let results = (outs Variadic<RMSNorm_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<Enum>($walk) (`in_flight` `(` $in_flight^ `)`)?
    (`order` `(` custom<Enum>($order)^ `)`)? `` custom<ReduceKinds>($kinds)
    $body (`->` type($results)^)? attr-dict
  }];
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
    ReduceKind getKind(int64_t index);
    int64_t getNumReductions() { return getKinds().size(); }
    OperandRange getReduced(); // What is yielded to be reduced,
    OperandRange getHeld(); // and to be held.
    ResultRange getSums() {
      return getResults().take_front(getNumReductions());
    }
    ResultRange getHeldResults() {
      return getResults().drop_front(getNumReductions());
    }
  }];
}

#endif // RMSNORM_IR_RMSNORMROWSOPS_TD

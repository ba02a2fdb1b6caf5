// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormAttrs.td - enums and attributes ----------------------------===//

#ifndef RMSNORM_IR_RMSNORMATTRS_TD
#define RMSNORM_IR_RMSNORMATTRS_TD

include "RMSNorm/IR/RMSNormDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// Rows, then one to five digits of the columns.
class RMSNorm_TileOf<list<Type> elements>
    : VectorOfRankAndType<[2, 3, 4, 5, 6], elements>;
def RMSNorm_Tile : RMSNorm_TileOf<[AnyFloat, AnyInteger]>;
def RMSNorm_F32Tile : RMSNorm_TileOf<[F32]>;

class RMSNorm_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::rmsnorm";
  let genSpecializedAttr = 0;
}
class RMSNorm_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<RMSNorm_Dialect, info, mnemonic>;

//===----------------------------------------------------------------------===//
// Operator level
//===----------------------------------------------------------------------===//

def RMSNorm_Casting : RMSNorm_I32Enum<"Casting",
    "where a norm rounds to the input type", [
      I32EnumAttrCase<"gemma", 0>, I32EnumAttrCase<"llama", 1>,
      I32EnumAttrCase<"none", 2>]>;
def RMSNorm_CastingAttr : RMSNorm_EnumAttr<RMSNorm_Casting, "casting">;

//===----------------------------------------------------------------------===//
// Tile level
//===----------------------------------------------------------------------===//

def RMSNorm_TileKind : RMSNorm_I32Enum<"TileKind",
    "what the dimensions of a buffer mean to a tile", [
      // Rows, then columns, of which those of a thread's vector lie side by side.
      I32EnumAttrCase<"tile", 0>,
      // All dimensions are rows, one value per row: Rx1.
      I32EnumAttrCase<"row", 1>,
      // Columns, the same for all rows.
      I32EnumAttrCase<"column", 2>,
      // One value for several columns side by side, each accessed by itself.
      I32EnumAttrCase<"group", 3>]>;
def RMSNorm_TileKindAttr : RMSNorm_EnumAttr<RMSNorm_TileKind, "tile_kind">;

def RMSNorm_ReduceKind : RMSNorm_I32Enum<"ReduceKind",
    "how a reduction combines two values", [
      I32EnumAttrCase<"add", 0>,
      // NaN if either is NaN (arith.maximumf, arith.minimumf).
      I32EnumAttrCase<"maximumf", 1>, I32EnumAttrCase<"minimumf", 2>,
      I32EnumAttrCase<"mul", 3>,
      // The other one if either is NaN (arith.maxnumf, arith.minnumf).
      I32EnumAttrCase<"maxnumf", 4>, I32EnumAttrCase<"minnumf", 5>]>;
def RMSNorm_ReduceKindAttr
    : RMSNorm_EnumAttr<RMSNorm_ReduceKind, "reduce_kind">;

def RMSNorm_CachePolicy : RMSNorm_I32Enum<"CachePolicy",
    "how long a load wants its line kept", [
      I32EnumAttrCase<"normal", 0>,
      // Read again soon: keep it in L1 and L2.
      I32EnumAttrCase<"evict_last", 1>,
      // Read or written for the last time.
      I32EnumAttrCase<"evict_first", 2>]>;
def RMSNorm_CachePolicyAttr
    : RMSNorm_EnumAttr<RMSNorm_CachePolicy, "cache_policy">;

//===----------------------------------------------------------------------===//
// Rows level
//===----------------------------------------------------------------------===//

def RMSNorm_AccessKind : RMSNorm_I32Enum<"AccessKind",
    "what the body of rmsnorm.rows does with a buffer", [
      I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>,
      // Reads and writes.
      I32EnumAttrCase<"update", 2>]>;

def RMSNorm_AccessAttr : AttrDef<RMSNorm_Dialect, "Access"> {
  let mnemonic = "access";
  let summary = "what a buffer of rmsnorm.rows is to its body";
  let description = [{
    `kind`; whether no earlier kernel writes the buffer (`constant`, from the
    argument attribute of that name); and the class of buffers of the op that
    may overlap, -1: it overlaps no other. In the op's text: `read constant`,
    `write alias(0)`.
  }];
  let parameters = (ins EnumParameter<RMSNorm_AccessKind>:$kind,
                        DefaultValuedParameter<"bool", "false">:$constant,
                        DefaultValuedParameter<"int64_t", "-1">:$alias);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    bool reads() const { return getKind() != AccessKind::write; }
    bool writes() const { return getKind() != AccessKind::read; }
  }];
}

def RMSNorm_Walk : RMSNorm_I32Enum<"Walk",
    "how a thread walks over its vectors of a row", [
      I32EnumAttrCase<"unrolled", 0>, I32EnumAttrCase<"chunks", 1>,
      I32EnumAttrCase<"looped", 2>, I32EnumAttrCase<"strip", 3>]>;
def RMSNorm_WalkAttr : RMSNorm_EnumAttr<RMSNorm_Walk, "walk">;

def RMSNorm_Order : RMSNorm_I32Enum<"Order",
    "what a thread does first: an op for all vectors, or all ops for one", [
      I32EnumAttrCase<"ops", 0>, I32EnumAttrCase<"vectors", 1>]>;
def RMSNorm_OrderAttr : RMSNorm_EnumAttr<RMSNorm_Order, "order">;

//===----------------------------------------------------------------------===//
// Target and schedule
//===----------------------------------------------------------------------===//

def RMSNorm_Backend : RMSNorm_I32Enum<"Backend", "what runs the kernels", [
    I32EnumAttrCase<"nvvm", 0>, I32EnumAttrCase<"rocdl", 1>,
    // The SIMT simulator, on the CPU, taking the chip's parameters.
    I32EnumAttrCase<"sim", 2>]>;
def RMSNorm_BackendAttr : RMSNorm_EnumAttr<RMSNorm_Backend, "backend">;

def RMSNorm_TargetAttr : AttrDef<RMSNorm_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the chip, and what executes its kernels";
  let description = [{
    `#rmsnorm.target<nvvm "sm_90">`, `#rmsnorm.target<sim "gfx942">`. The chip
    is an entry of the table in `RMSNorm/Target/Targets.h`; a simulator target
    takes that chip's subgroup size, schedule and limits. On the command line
    the same is written `sm_90`, `gfx942`, `sim:sm_90`, and `sim` for
    `sim:sim32`.

    As a target of a gpu.module it says that the module is ours, and
    gpu-module-to-binary compiles it (registerSerialization): upstream's
    `gpu::TargetAttrInterface`.
  }];
  let parameters = (ins EnumParameter<RMSNorm_Backend>:$backend,
                        StringRefParameter<"chip">:$chip);
  let assemblyFormat = "`<` $backend $chip `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses the command-line spelling; emits an error at `loc` and returns
    /// null for an unknown chip.
    static TargetAttr parseSpelling(::mlir::Location loc,
                                    ::llvm::StringRef spelling);
    /// The command-line spelling, e.g. "sim:sm_90".
    std::string getSpelling() const;
    /// The chip's entry in the target table.
    const ::mlir::rmsnorm::ChipInfo &getChipInfo() const;
    /// Of the gpu.module `op` is in if that has one, else of the module, or
    /// null.
    static TargetAttr lookup(::mlir::Operation *op);
  }];
}

def RMSNorm_Cache : RMSNorm_I32Enum<"Cache",
    "where tiles live between a reduction and their later use", [
      I32EnumAttrCase<"registers", 0>,
      // Nowhere: they are read again from memory (in practice from L1 or L2).
      I32EnumAttrCase<"reload", 1>,
      // In workgroup memory, where asynchronous copies put them.
      I32EnumAttrCase<"shared", 2>]>;
def RMSNorm_CacheAttr : RMSNorm_EnumAttr<RMSNorm_Cache, "cache">;

def RMSNorm_ColumnSums : RMSNorm_I32Enum<"ColumnSums",
    "where sums over rows are kept", [
      // In the registers of persistent blocks, which own whole rows.
      I32EnumAttrCase<"registers", 0>,
      // There, too, but of blocks which own a strip of columns and read all
      // rows of a run again: a loop of its own.
      I32EnumAttrCase<"strips", 1>,
      // Strips whose blocks do all rows: the sums are stored, nothing is left
      // to add up.
      I32EnumAttrCase<"all_rows", 2>]>;
def RMSNorm_ColumnSumsAttr
    : RMSNorm_EnumAttr<RMSNorm_ColumnSums, "column_sums">;

def RMSNorm_ColumnOperands : RMSNorm_I32Enum<"ColumnOperands",
    "when per-column operands are loaded", [
      // Where they are used, again for each traversal of the row.
      I32EnumAttrCase<"use", 0>,
      // With the row's loads, and held until the row is done with.
      I32EnumAttrCase<"tile", 1>,
      // Once a block, and held for all of its rows.
      I32EnumAttrCase<"block", 2>,
      // As `tile`, and the row waits for them: no compiler loads them later.
      I32EnumAttrCase<"awaited", 3>]>;
def RMSNorm_ColumnOperandsAttr
    : RMSNorm_EnumAttr<RMSNorm_ColumnOperands, "column_operands">;

def RMSNorm_Constants : RMSNorm_I32Enum<"Constants",
    "when per-column operands that no kernel writes are loaded", [
      // As the others.
      I32EnumAttrCase<"as_columns", 0>,
      // Once a block, before the wait for the kernels before it.
      I32EnumAttrCase<"block", 1>]>;
def RMSNorm_ConstantsAttr
    : RMSNorm_EnumAttr<RMSNorm_Constants, "constants">;

def RMSNorm_ScheduleAttr : AttrDef<RMSNorm_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a loop over rows is laid on the machine";
  let description = [{
    A block has `row_groups` x `threads_per_row` threads. It works on
    `row_groups` x `rows_per_group` rows at a time: a row group holds
    `rows_per_group` rows at once, tile row `u * row_groups + g` belongs to
    group g. In a row, thread t owns the vectors t, t + threads_per_row, ... of
    `vector_width` elements each.

    - `row_groups`, `rows_per_group`: >= 1.
    - `threads_per_row`: a power of two up to the subgroup size that divides
      it, or a multiple of the subgroup size.
    - `vector_width`: elements a thread handles at a time, a power of two.
    - `vectors_in_flight`: vectors a thread loads before it uses the first,
      when the row is walked in a loop (`cache = reload`).
    - `cache`: where tiles live across a reduction.
    - `alignment`: bytes every row of every tile and every per-column operand
      is aligned to: 16, or the size of the narrowest element for the variant that
      takes any pointer. It changes the access width, never the column a
      thread owns, so that results do not depend on it.
    - `cluster`: blocks that share a row, a power of two up to 16 (1: none).
      Each has `threads_per_row` threads; rank r owns the r-th part of the row's
      columns. All parts have as many whole vectors, but for the last one, which
      has the rest. Rows are not packed then; each block has a subgroup at least.
    - `blocks_per_sm`: 0: one tile a block where the grid allows (multi-wave).
      Otherwise a persistent grid of that many blocks a multiprocessor; a program
      that sums over rows needs one.
    - `column_sums`: where sums over rows (`rmsnorm.accumulate`) are kept. With
      `strips` a program with a row_reduce is split in two
      (`rmsnorm-split-strips`); in one without, a block owns threads_per_row x
      vector_width columns. With `all_rows` it does, too, and has all their rows.
      Such blocks can be those of `sums`, which stand in the grid of the rows'
      blocks if they need nothing of these (`rmsnorm-merge-launches`).
    - `stages`: slots of the ring of tiles in workgroup memory that the block
      copies ahead. With 0 or 1 a tile is copied when its turn comes. From 2 on,
      which needs `cache = shared` and a persistent grid, stages - 1 tiles are
      under way while the block works on one.
    - `column_operands`: when per-column operands, and tiles that rows share,
      are loaded: where they are `use`d, with each `tile` and held, or once
      a `block`. `awaited` is `tile`, and a thread uses its vectors of the row
      only when it has these operands, too. Otherwise ptxas may move their loads
      to the reduction or past it, if only a later traverse needs them. `cache =
      reload` excludes `block`, and holds operands only where a thread's vectors
      are unrolled. `cache = shared` has `block` with a ring only, and awaits
      nothing.
    - `constants`: when operands are loaded that are declared `rmsnorm.constant`:
      `as_columns`, which is as `column_operands` says, or once a `block`, before
      the kernel waits for those before it. A kernel that does not wait loads
      them as `column_operands` says.
    - `unrolled`: the most vectors of a thread that are unrolled where the row
      is read again. More of them are a loop.
    - `split`: the blocks of a cluster begin to reduce a tile while they work on
      the one before. It needs a ring of three slots, and one reduction.
    - `sums`: the schedule of the loop that `rmsnorm-split-strips` splits off, in
      `<` and `>`. Where it is left out, `rmsnorm-select-schedule` chooses it.
    - `sum_lanes`, `sum_walkers`: the shape of the blocks that add up the sums of
      other blocks: so many threads side by side, for so many rows at a time.
    - `sum_in_flight`: rows that each of these threads has in flight.
    - `sm_margin`: multiprocessors that the grid leaves to other work.

    A field is left out of the text where it has its default. That of
    `column_operands`, `constants` and `split` follows from the fields before
    (`RMSNorm/IR/ScheduleFields.def`).
  }];
  let parameters = (ins
      AttrParameter<"::mlir::rmsnorm::ScheduleFields", "all fields",
                    "const ::mlir::rmsnorm::ScheduleFields &">:$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
    Type get##Getter() const { return getFields().member; }
#include "RMSNorm/IR/ScheduleFields.def"

    // What follows from the fields, see ScheduleFields.
    bool hasStrips() const { return getFields().hasStrips(); }
    int64_t getTileRows() const { return getFields().getTileRows(); }
    int64_t getBlockThreads() const { return getFields().getBlockThreads(); }
    int64_t getPartColumns(int64_t columns) const {
      return getFields().getPartColumns(columns);
    }
    int64_t getRingSlots() const { return getFields().getRingSlots(); }
    int64_t getStripColumns() const { return getFields().getStripColumns(); }
  }];
}

def RMSNorm_ExchangeAttr : AttrDef<RMSNorm_Dialect, "Exchange"> {
  let mnemonic = "exchange";
  let summary = "where subgroups leave f32 values for one another";
  let description = [{
    The shape of an exchange (see `rmsnorm.exchange_init`): a ring of `slots`
    slots, a power of two from 4 to 32. Each slot has a place for `values` f32
    values of each publisher: the `subgroups` subgroups of each of the `cluster`
    blocks of the cluster, 2 to 16 of them, a power of two.

    The exchange takes `getBytes()` bytes of each block's workgroup memory at
    `offset`, a multiple of 16: the values, then a barrier of 8 bytes for each
    slot.
  }];
  let parameters = (ins
      DefaultValuedParameter<"int64_t", "4">:$slots,
      DefaultValuedParameter<"int64_t", "1">:$values,
      "int64_t":$subgroups,
      "int64_t":$cluster,
      DefaultValuedParameter<"int64_t", "0">:$offset);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getPublishers() const { return getCluster() * getSubgroups(); }
    /// Bytes of the values in a slot.
    int64_t getSlotBytes() const { return getValues() * getPublishers() * 4; }
    /// Byte offset of the barrier of slot 0: a multiple of 8, as a slot has two
    /// publishers at least.
    int64_t getBarrierOffset() const {
      return getOffset() + getSlots() * getSlotBytes();
    }
    /// Bytes of workgroup memory from `offset` on.
    int64_t getBytes() const { return getSlots() * (getSlotBytes() + 8); }
  }];
}

#endif // RMSNORM_IR_RMSNORMATTRS_TD

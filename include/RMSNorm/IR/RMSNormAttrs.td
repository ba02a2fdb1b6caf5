// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormAttrs.td - enums and attributes ----------------------------===//

#ifndef RMSNORM_IR_RMSNORMATTRS_TD
#define RMSNORM_IR_RMSNORMATTRS_TD

include "RMSNorm/IR/RMSNormDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

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
      // All dimensions but the last are rows, the last is columns: RxN.
      I32EnumAttrCase<"tile", 0>,
      // All dimensions are rows, one value per row: Rx1.
      I32EnumAttrCase<"row", 1>,
      // Rank 1, one value per column: 1xN.
      I32EnumAttrCase<"column", 2>]>;
def RMSNorm_TileKindAttr : RMSNorm_EnumAttr<RMSNorm_TileKind, "tile_kind">;

def RMSNorm_ReduceKind : RMSNorm_I32Enum<"ReduceKind",
    "how a reduction combines two values", [
      I32EnumAttrCase<"add", 0>,
      // NaN if either is NaN (arith.maximumf, arith.minimumf).
      I32EnumAttrCase<"maximumf", 1>, I32EnumAttrCase<"minimumf", 2>,
      I32EnumAttrCase<"mul", 3>]>;
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
    /// The target of the module `op` is in, or null.
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
      I32EnumAttrCase<"strips", 1>]>;
def RMSNorm_ColumnSumsAttr
    : RMSNorm_EnumAttr<RMSNorm_ColumnSums, "column_sums">;

def RMSNorm_CopyCache : RMSNorm_I32Enum<"CopyCache",
    "which caches an asynchronous copy goes through", [
      // L1 and L2.
      I32EnumAttrCase<"ca", 0>,
      // L2 only; pieces of less than 16 bytes go through L1 all the same.
      I32EnumAttrCase<"cg", 1>]>;
def RMSNorm_CopyCacheAttr
    : RMSNorm_EnumAttr<RMSNorm_CopyCache, "copy_cache">;

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
      columns, all parts of as many whole vectors, the last one of what is left.
      Rows are not packed then, and wide enough for a subgroup in each block.
    - `blocks_per_sm`: 0: one tile a block where the grid allows (multi-wave).
      Else a persistent grid of that many blocks a multiprocessor, which
      a program that sums over rows needs.
    - `column_sums`: where sums over rows (`rmsnorm.accumulate`) are kept.
      `strips` on a program with a row_reduce: it is split in two
      (`rmsnorm-split-strips`); on one without: a block owns threads_per_row x
      vector_width columns.
    - `pdl`: programmatic dependent launch: the kernel may start before the one
      before it has ended, and waits for that itself.
    - `stages`: slots of the ring of tiles in workgroup memory that the block
      copies ahead. 0, 1: a tile is copied when its turn comes. From 2 on,
      only for `cache = shared` and a persistent grid, stages - 1 tiles are on
      their way while one is worked on, and per-column operands stay in
      registers for all of the block's rows. From 3 on, a cluster begins to
      reduce a tile while it works on the one before.
    - `copy`: the caches that `cache = shared` copies through, on chips with
      asynchronous copies; nothing elsewhere.
  }];
  let parameters = (ins
      DefaultValuedParameter<"int64_t", "1">:$row_groups,
      DefaultValuedParameter<"int64_t", "1">:$rows_per_group,
      "int64_t":$threads_per_row,
      "int64_t":$vector_width,
      DefaultValuedParameter<"int64_t", "2">:$vectors_in_flight,
      DefaultValuedParameter<"::mlir::rmsnorm::Cache",
                             "::mlir::rmsnorm::Cache::registers">:$cache,
      DefaultValuedParameter<"int64_t", "16">:$alignment,
      DefaultValuedParameter<"int64_t", "1">:$cluster,
      DefaultValuedParameter<"int64_t", "0">:$blocks_per_sm,
      DefaultValuedParameter<"::mlir::rmsnorm::ColumnSums",
                             "::mlir::rmsnorm::ColumnSums::registers">
          :$column_sums,
      DefaultValuedParameter<"bool", "false">:$pdl,
      DefaultValuedParameter<"int64_t", "0">:$stages,
      DefaultValuedParameter<"::mlir::rmsnorm::CopyCache",
                             "::mlir::rmsnorm::CopyCache::ca">:$copy);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Rows of one tile: row_groups * rows_per_group.
    int64_t getTileRows() const { return getRowGroups() * getRowsPerGroup(); }
    /// Threads of a block: row_groups * threads_per_row.
    int64_t getBlockThreads() const {
      return getRowGroups() * getThreadsPerRow();
    }
    /// Columns of every rank's part of a row of `columns`, but for the last
    /// ones: they have what is left, which may be nothing.
    int64_t getPartColumns(int64_t columns) const {
      return getPartColumns(columns, getCluster(), getVectorWidth());
    }
    static int64_t getPartColumns(int64_t columns, int64_t cluster,
                                  int64_t vectorWidth);
    /// Tiles that workgroup memory holds at once, of one buffer.
    int64_t getRingSlots() const {
      return std::max<int64_t>(getStages(), 1);
    }
    /// Columns of the strip that a block owns, if column_sums = strips.
    int64_t getStripColumns() const {
      return getThreadsPerRow() * getVectorWidth();
    }
    /// The mode's name: multi_wave_cached, multi_wave_reload,
    /// static_persistent or column_strips.
    ::llvm::StringRef getMode() const;
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

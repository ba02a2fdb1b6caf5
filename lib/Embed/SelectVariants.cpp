// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectVariants.cpp - rmsnorm-select-variants ----------------------===//

#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/KernelTarget.h"
#include "RMSNorm/Transforms/RowClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SELECTVARIANTS
#include "RMSNorm/Embed/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// What must be a multiple of an alignment in bytes: values whose bits are
/// collected, and whether what is static is.
class Multiples {
public:
  Multiples(OpBuilder &builder, Location loc, int64_t bytes)
      : builder(builder), loc(loc), bytes(bytes) {}

  /// `count` things of `unit` bytes.
  void add(OpFoldResult count, int64_t unit);
  /// The rows of a buffer that a tile is a row of, or the columns.
  void addRows(Value buffer);

  bool isPossible = true;
  /// Null: it holds.
  Value emitCondition();

private:
  void addAddress(Value buffer);
  Value emitIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  const int64_t bytes;
  /// Of all that was added, the low ones count.
  Value bits;
};

/// Replaces a `rmsnorm.rows` by its variants.
class Variants {
public:
  Variants(RowsOp rows, TargetAttr target, ScheduleOptions options)
      : rows(rows), target(target), options(std::move(options)), builder(rows) {
  }

  LogicalResult run();

private:
  LogicalResult emitAlignment(int64_t bytes);
  void emitColumns(const Selection &selection, int64_t lastColumn);
  void emitRows(ScheduleFields schedule, int64_t lastColumn);
  void emitBranch(Value condition, function_ref<void()> emitThen);
  Value emitAtMost(Value size, int64_t last);

  RowsOp rows;
  TargetAttr target;
  ScheduleOptions options;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// The buffers of which rows or columns are accessed as vectors.
static SmallVector<Value> getVectorBuffers(RowsOp rows) {
  llvm::SmallSetVector<Value, 8> buffers;
  rows.walk([&](Operation *op) {
    auto load = dyn_cast<TileLoadOp>(op);
    auto store = dyn_cast<TileStoreOp>(op);
    if (load && load.getKind() != TileKind::row)
      buffers.insert(rows.getOperandOf(load.getBase()));
    if (store && store.getKind() != TileKind::row)
      buffers.insert(rows.getOperandOf(store.getBase()));
  });
  return buffers.takeVector();
}

void Multiples::add(OpFoldResult count, int64_t unit) {
  if (std::optional<int64_t> constant = getConstantIntValue(count)) {
    isPossible &= *constant * unit % bytes == 0;
    return;
  }
  Value value = cast<Value>(count);
  if (unit % bytes == 0)
    return;
  if (unit != 1)
    value = arith::MulIOp::create(builder, loc, value, emitIndex(unit));
  bits = bits ? arith::OrIOp::create(builder, loc, bits, value) : value;
}

/// What the buffer's memory is aligned to for certain.
static int64_t getKnownAlignment(Value buffer) {
  // All views but memref.view have the address of what they are views of, and
  // an offset.
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view))
      return 1;
    buffer = view.getViewSource();
  }
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return alloc.getAlignment().value_or(1);
  if (auto alloca = buffer.getDefiningOp<memref::AllocaOp>())
    return alloca.getAlignment().value_or(1);
  if (auto get = buffer.getDefiningOp<memref::GetGlobalOp>())
    if (auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            get, get.getNameAttr()))
      return global.getAlignment().value_or(1);
  return 1;
}

void Multiples::addAddress(Value buffer) {
  if (getKnownAlignment(buffer) % bytes == 0)
    return;
  add(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer)
          .getResult(),
      1);
}

void Multiples::addRows(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  const int64_t unit = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  addAddress(buffer);
  auto [strides, offset] = type.getStridesAndOffset();
  memref::ExtractStridedMetadataOp metadata;
  auto get = [&](int64_t known, auto pick) -> OpFoldResult {
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(known);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    return OpFoldResult(Value(pick()));
  };
  add(get(offset, [&] { return metadata.getOffset(); }), unit);
  auto getSize = [&](int64_t dim) {
    return get(type.getDimSize(dim), [&] { return metadata.getSizes()[dim]; });
  };
  const int64_t last = type.getRank() - 1;
  for (int64_t dim = 0; dim < last; ++dim) {
    // The stride of a dimension of size 1 says nothing.
    const int64_t size = type.getDimSize(dim);
    const bool isMultiple = !ShapedType::isDynamic(strides[dim]) &&
                            strides[dim] * unit % bytes == 0;
    if (isMultiple || size == 0 || size == 1)
      continue;
    OpFoldResult stride =
        get(strides[dim], [&] { return metadata.getStrides()[dim]; });
    if (ShapedType::isDynamic(size)) {
      Value more = arith::SubIOp::create(
          builder, loc, cast<Value>(getSize(dim)), emitIndex(1));
      more = arith::MinUIOp::create(builder, loc, more, emitIndex(1));
      stride = arith::MulIOp::create(
                   builder, loc, more,
                   getValueOrCreateConstantIndexOp(builder, loc, stride))
                   .getResult();
    }
    add(stride, unit);
  }
  add(getSize(last), unit);
}

Value Multiples::emitCondition() {
  if (!bits)
    return {};
  Value low = arith::AndIOp::create(builder, loc, bits, emitIndex(bytes - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low,
                               emitIndex(0));
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// What is emitted next stands in the else branch.
void Variants::emitBranch(Value condition, function_ref<void()> emitThen) {
  auto branch = scf::IfOp::create(builder, rows.getLoc(), condition,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitThen();
  builder.setInsertionPointToStart(branch.elseBlock());
}

Value Variants::emitAtMost(Value size, int64_t last) {
  return arith::CmpIOp::create(
      builder, rows.getLoc(), arith::CmpIPredicate::ule, size,
      arith::ConstantIndexOp::create(builder, rows.getLoc(), last));
}

void Variants::emitRows(ScheduleFields schedule, int64_t lastColumn) {
  // One that was given may promise more.
  schedule.alignment = std::min(schedule.alignment, options.request.alignment);
  setSchedules(builder.clone(*rows), schedule, lastColumn);
}

/// A copy for each class of M.
void Variants::emitColumns(const Selection &selection, int64_t lastColumn) {
  OpBuilder::InsertionGuard guard(builder);
  if (std::optional<int64_t> known = getStaticRows(rows)) {
    emitRows(selection.getFor(*known), lastColumn);
    return;
  }
  Value number;
  for (const RowClass &one : selection.classes) {
    if (one.lastRow == kAnyRows)
      break;
    if (!number)
      number = rows.createNumRows(builder);
    emitBranch(emitAtMost(number, one.lastRow),
               [&] { emitRows(one.schedule, lastColumn); });
  }
  emitRows(selection.getFor(kAnyRows), lastColumn);
}

/// Copies for each class of N and M.
LogicalResult Variants::emitAlignment(int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  options.request.alignment = bytes;
  options.columns = -1;
  FailureOr<ColumnClasses> classes = getColumnClasses(rows, target, options);
  if (failed(classes))
    return failure();
  for (int64_t lastColumn : classes->lastColumns) {
    options.columns = lastColumn == kAnyColumns ? -1 : lastColumn;
    FailureOr<std::vector<Selection>> chosen =
        chooseSchedules(rows, target, options);
    if (failed(chosen))
      return failure();
    if (lastColumn == kAnyColumns)
      emitColumns(chosen->front(), lastColumn);
    else
      emitBranch(emitAtMost(rows.getDynamicColumns(), lastColumn),
                 [&] { emitColumns(chosen->front(), lastColumn); });
  }
  return success();
}

LogicalResult Variants::run() {
  const SmallVector<Value> buffers = getVectorBuffers(rows);
  SmallVector<MemRefType> types;
  for (Value buffer : buffers)
    types.push_back(cast<MemRefType>(buffer.getType()));
  for (int64_t bytes : getAlignments(types)) {
    Multiples multiples(builder, rows.getLoc(), bytes);
    for (Value buffer : buffers)
      multiples.addRows(buffer);
    if (!multiples.isPossible)
      continue;
    Value condition = multiples.emitCondition();
    LogicalResult result = success();
    if (condition)
      emitBranch(condition, [&] { result = emitAlignment(bytes); });
    else
      result = emitAlignment(bytes);
    if (failed(result))
      return failure();
    if (!condition) {
      rows.erase();
      return success();
    }
  }
  if (failed(emitAlignment(/*bytes=*/1)))
    return failure();
  rows.erase();
  return success();
}

namespace {
struct SelectVariants final
    : rmsnorm::impl::SelectVariantsBase<SelectVariants> {
  using SelectVariantsBase::SelectVariantsBase;

  void runOnOperation() override {
    std::string error;
    FailureOr<TuningTable> table = TuningTable::read(tuning, error);
    if (failed(table)) {
      emitError(UnknownLoc::get(&getContext())) << error;
      return signalPassFailure();
    }
    FailureOr<SmallVector<RowsOp>> all = getPrograms(getOperation());
    if (failed(all))
      return signalPassFailure();
    if (all->empty())
      return;
    FailureOr<TargetAttr> target = getTarget(all->front());
    if (failed(target))
      return signalPassFailure();
    for (auto [place, rows] : llvm::enumerate(*all)) {
      OrRefusal<std::string> overrides =
          getLoopOverrides(schedule, place, all->size());
      if (!overrides) {
        rows.emitOpError("schedule: ") << overrides.getRefusal().getMessage();
        return signalPassFailure();
      }
      ScheduleOptions options;
      options.request.overrides = *overrides;
      options.request.batchInvariant = batchInvariant;
      options.request.smMargin = smMargin;
      options.tuning = &*table;
      if (failed(Variants(rows, *target, options).run()))
        return signalPassFailure();
    }
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectVariants.cpp - rmsnorm-select-variants ----------------------===//

#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/KernelTarget.h"
#include "RMSNorm/Rows/RowClasses.h"

#include "Multiples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SELECTVARIANTS
#include "RMSNorm/Embed/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A `rmsnorm.rows` and its schedules.
struct Program {
  RowsOp rows;
  ScheduleOptions options;
};

/// Replaces programs that may become one launch by their variants.
class Variants {
public:
  Variants(ArrayRef<Program> programs, TargetAttr target)
      : programs(programs), target(target), loc(getRows(0).getLoc()),
        builder(getRows(programs.size() - 1)) {}

  LogicalResult run();

private:
  RowsOp getRows(size_t program) { return programs[program].rows; }
  LogicalResult emitAlignment(int64_t bytes);
  LogicalResult emitColumns(const ColumnClasses &columns, bool narrow);
  void emitClasses(ArrayRef<Selection> selections, int64_t lastColumn);
  void emitRows(size_t program, ScheduleFields schedule, int64_t lastColumn);
  void emitBranch(Value condition, function_ref<void()> emitThen);
  Value emitAtMost(Value size, int64_t last);

  SmallVector<Program> programs;
  TargetAttr target;
  Location loc;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// The next ops are emitted into the else branch.
void Variants::emitBranch(Value condition, function_ref<void()> emitThen) {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitThen();
  builder.setInsertionPointToStart(branch.elseBlock());
}

Value Variants::emitAtMost(Value size, int64_t last) {
  return arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule, size,
      arith::ConstantIndexOp::create(builder, loc, last));
}

void Variants::emitRows(size_t program, ScheduleFields schedule,
                        int64_t lastColumn) {
  // One that was given may promise more.
  schedule.alignment =
      std::min(schedule.alignment, programs[program].options.request.alignment);
  setSchedules(builder.clone(*getRows(program)), schedule, lastColumn);
}

/// Copies of all programs for each class of rows.
void Variants::emitClasses(ArrayRef<Selection> selections, int64_t lastColumn) {
  OpBuilder::InsertionGuard guard(builder);
  const RowClasses rows =
      combineClasses(llvm::map_to_vector(
                         programs, [](const Program &one) { return one.rows; }),
                     selections, target, programs.front().options.request);
  SmallVector<Value> numbers;
  for (RowCount count : rows.counts)
    numbers.push_back(count.rows.createNumRows(builder));
  for (const ScheduledRows &one : rows.classes) {
    auto emitAll = [&] {
      for (auto [program, schedule] : llvm::enumerate(one.schedules))
        emitRows(program, schedule, lastColumn);
    };
    if (one.last == kAnyRows) {
      emitAll();
      continue;
    }
    Value isIn;
    for (auto [count, number] : llvm::zip(rows.counts, numbers)) {
      Value fits = emitAtMost(number, count.getLastRow(one.last));
      isIn = isIn ? arith::AndIOp::create(builder, loc, isIn, fits) : fits;
    }
    emitBranch(isIn, emitAll);
  }
}

/// Copies for each class of N that is `narrow` or not, and M.
LogicalResult Variants::emitColumns(const ColumnClasses &columns, bool narrow) {
  OpBuilder::InsertionGuard guard(builder);
  for (ColumnClass one : columns.classes) {
    if (one.narrow != narrow)
      continue;
    std::vector<Selection> selections;
    for (Program &program : programs) {
      program.options.columns = one;
      FailureOr<std::vector<Selection>> chosen =
          chooseSchedules(program.rows, target, program.options);
      if (failed(chosen))
        return failure();
      selections.push_back(chosen->front());
    }
    if (one.last == kAnyColumns)
      emitClasses(selections, one.last);
    else
      emitBranch(emitAtMost(columns.columns, one.last),
                 [&] { emitClasses(selections, one.last); });
  }
  return success();
}

/// Copies for each class of N, which has several only alone, and M.
LogicalResult Variants::emitAlignment(int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  for (Program &program : programs)
    program.options.request.alignment = bytes;
  FailureOr<ColumnClasses> columns =
      getColumnClasses(getRows(0), target, programs.front().options);
  if (failed(columns))
    return failure();
  // Where rows are aligned N is a multiple of a vector for certain.
  if (columns->vector == 1 || bytes > 1)
    return emitColumns(*columns, /*narrow=*/false);
  LogicalResult result = success();
  emitBranch(emitAtMost(columns->createRemainder(builder), 0),
             [&] { result = emitColumns(*columns, /*narrow=*/false); });
  if (failed(result))
    return failure();
  return emitColumns(*columns, /*narrow=*/true);
}

LogicalResult Variants::run() {
  bool isGuarded = true;
  if (std::optional<int64_t> bytes =
          getAlignment(getVectorBuffers(getRows(0)))) {
    Multiples multiples(builder, loc, *bytes);
    for (Program &program : programs)
      for (Value buffer : getVectorBuffers(program.rows))
        multiples.addRows(buffer);
    if (multiples.isPossible) {
      Value condition = multiples.emitCondition();
      LogicalResult result = success();
      if (condition)
        emitBranch(condition, [&] { result = emitAlignment(*bytes); });
      else
        result = emitAlignment(*bytes);
      if (failed(result))
        return failure();
      isGuarded = bool(condition);
    }
  }
  if (isGuarded && failed(emitAlignment(/*bytes=*/1)))
    return failure();
  for (Program &program : programs)
    program.rows.erase();
  return success();
}

/// Whether `rows` may become one launch with `group`, which stands in front of
/// it: no op with an effect is between them, and their guards are the same.
static bool fits(ArrayRef<Program> group, RowsOp rows, AliasAnalysis &aliases) {
  RowsOp last = group.back().rows;
  if (last->getBlock() != rows->getBlock() || !rows.getPartials().empty() ||
      rows.getDynamicColumns())
    return false;
  for (Operation &op :
       llvm::make_range(std::next(last->getIterator()), rows->getIterator()))
    if (!mayCross(op))
      return false;
  return llvm::all_of(group, [&](const Program &other) {
    RowsOp before = other.rows;
    return !before.getDynamicColumns() && before.getPartials().empty() &&
           getAlignment(getVectorBuffers(before)) ==
               getAlignment(getVectorBuffers(rows)) &&
           areIndependent(before, rows, aliases);
  });
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
    AliasAnalysis &aliases = getAnalysis<AliasAnalysis>();
    SmallVector<SmallVector<Program>> groups;
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
      if (groups.empty() || !fits(groups.back(), rows, aliases))
        groups.emplace_back();
      groups.back().push_back({rows, options});
    }
    for (ArrayRef<Program> group : groups)
      if (failed(Variants(group, *target).run()))
        return signalPassFailure();
  }
};
} // namespace

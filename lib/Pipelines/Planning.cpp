// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Planning.cpp - the variants of an entry ---------------------------===//

#include "Planning.h"
#include "RMSNorm/Module/VectorArguments.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

std::string VariantPlan::getScheduleText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator("; ");
  for (const ScheduleFields &schedule : schedules) {
    os << separator << "#rmsnorm.schedule<";
    schedule.print(os);
    os << '>';
  }
  return text;
}

void VariantPlan::addLimit(StringRef what, Value value, int64_t last) {
  name += ("_" + what + "_le_" + Twine(last)).str();
  ranges.push_back({value});
  ranges.back().upper = last;
}

static StringLiteral getAlignmentName(int64_t bytes) {
  switch (bytes) {
  case 16:
    return "align16";
  case 8:
    return "align8";
  default:
    return "align4";
  }
}

/// The alignment classes of an entry, widest first.
static SmallVector<VariantPlan, 2> planAlignments(func::FuncOp entry) {
  SmallVector<VariantPlan, 2> plans;
  const SmallVector<unsigned> arguments = getVectorArguments(entry);
  const SmallVector<Value> buffers = llvm::map_to_vector(
      arguments, [&](unsigned i) -> Value { return entry.getArgument(i); });
  if (std::optional<int64_t> bytes = getAlignment(buffers)) {
    VariantPlan plan{getAlignmentName(*bytes), *bytes};
    for (unsigned argument : arguments)
      plan.guards.push_back({argument, *bytes});
    plans.push_back(std::move(plan));
  }
  plans.push_back({"element", 1});
  return plans;
}

/// `alignment` for calls with N in the class `one`.
static VariantPlan planColumns(const VariantPlan &alignment,
                               const ColumnClasses &columns, ColumnClass one) {
  VariantPlan plan = alignment;
  plan.columns = one;
  if (one.narrow)
    plan.alignmentName = "narrow";
  plan.name = plan.alignmentName.str();
  // Where rows are aligned N is a multiple of a vector for certain.
  if (!one.narrow && columns.vector > 1 && alignment.alignment == 1) {
    plan.ranges.push_back({columns.columns});
    plan.ranges.back().multiple = columns.vector;
  }
  if (one.last != kAnyColumns)
    plan.addLimit("columns", columns.columns, one.last);
  return plan;
}

FailureOr<std::vector<VariantPlan>>
rmsnorm::planVariants(const Compilation &compilation, func::FuncOp entry,
                      TargetAttr target, TuningReport &report) {
  ScheduleOptions options;
  options.request.overrides = compilation.options.schedule;
  options.request.batchInvariant = compilation.options.batchInvariant;
  options.request.smMargin = compilation.options.smMargin;
  if (!compilation.options.tuning.empty()) {
    options.tuning = &compilation.tuning;
    options.report = &report;
  }
  FailureOr<ColumnClasses> columns = getColumnClasses(entry, target, options);
  if (failed(columns))
    return failure();
  std::vector<VariantPlan> plans;
  for (const VariantPlan &alignment : planAlignments(entry))
    for (ColumnClass one : columns->classes) {
      if (one.narrow && alignment.alignment > 1)
        continue;
      const VariantPlan calls = planColumns(alignment, *columns, one);
      options.columns = one;
      options.request.alignment = alignment.alignment;
      FailureOr<RowClasses> rows = getRowClasses(entry, target, options);
      if (failed(rows))
        return failure();
      SmallVector<Value> numbers;
      for (RowCount count : rows->counts) {
        OpBuilder builder(count.rows);
        numbers.push_back(count.rows.createNumRows(builder));
      }
      for (ScheduledRows &scheduled : rows->classes) {
        VariantPlan plan = calls;
        if (!rows->counts.empty())
          plan.lastRow = rows->counts.front().getLastRow(scheduled.last);
        plan.numRowCounts = rows->counts.size();
        plan.schedules = std::move(scheduled.schedules);
        if (scheduled.last != kAnyRows)
          for (auto [count, number] : llvm::zip(rows->counts, numbers))
            plan.addLimit("rows", number, count.getLastRow(scheduled.last));
        plans.push_back(std::move(plan));
      }
    }
  return plans;
}

void rmsnorm::leaveOutOtherRows(std::vector<VariantPlan> &plans,
                                ArrayRef<int64_t> rows) {
  if (rows.empty())
    return;
  std::vector<VariantPlan> kept;
  for (size_t i = 0; i < plans.size(); ++i) {
    const VariantPlan &plan = plans[i];
    const bool isFirst = i == 0 ||
                         plans[i - 1].alignmentName != plan.alignmentName ||
                         plans[i - 1].columns.last != plan.columns.last;
    const int64_t before = isFirst ? -1 : plans[i - 1].lastRow;
    const bool isTaken = llvm::any_of(rows, [&](int64_t count) {
      return count <= plan.lastRow && (plan.numRowCounts > 1 || count > before);
    });
    if (isTaken || i + 1 == plans.size())
      kept.push_back(plan);
  }
  plans = std::move(kept);
}

void rmsnorm::warnOfTuning(const Compilation &compilation, TargetAttr target,
                           const TuningReport &report) {
  Location loc = UnknownLoc::get(target.getContext());
  if (!report.found && !report.programs.empty()) {
    InFlightDiagnostic warning = emitWarning(loc, compilation.options.tuning);
    warning << ": expected a record for target '" << target.getSpelling()
            << "' and a program of this file, got ";
    if (compilation.tuning.empty())
      warning << "no records at all";
    else
      warning << "none among those for '"
              << llvm::join(compilation.tuning.getTargets(), "', '") << "'";
    for (const std::string &program : report.programs)
      warning.attachNote() << "looked for program '" << program << "'";
  }
  for (const std::string &place : report.dropped)
    emitWarning(loc, place)
        << ": batch invariance leaves it out on target '"
        << target.getSpelling()
        << "', as it sums a row in another order than the schedule for any "
           "number of rows";
}

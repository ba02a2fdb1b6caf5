// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Candidates.cpp - entries to measure -------------------------------===//

#include "Candidates.h"
#include "RMSNorm/Module/VectorArguments.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Compiles `plan`, whose schedule the chip takes. A pass may not take it for
/// this program, as a ring whose tiles are overwritten out of turn: then `why`
/// says so.
static FailureOr<CompiledVariant>
tryVariant(Compilation &compilation, func::FuncOp entry, TargetAttr target,
           const VariantPlan &plan, std::string &why) {
  ScopedDiagnosticHandler handler(
      entry.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        why += (why.empty() ? "" : "; ") + diagnostic.str();
        return success();
      });
  return compileVariant(compilation, entry, target, plan);
}

/// Adds the entry `name` with `schedule` for the loops of `space`. Sets
/// `refused` and goes on if a pass refuses it.
static LogicalResult addCandidate(Compilation &compilation,
                                  ModuleWriter &writer, HostImages &hostImages,
                                  func::FuncOp entry, TargetAttr target,
                                  VariantPlan plan, const ScheduleSpace &space,
                                  const ScheduleFields &schedule,
                                  StringRef name, bool &refused) {
  for (size_t loop : space.loops)
    plan.schedules[loop] = schedule;
  auto attribute = ScheduleAttr::get(entry.getContext(), schedule);
  std::string why;
  FailureOr<CompiledVariant> variant =
      tryVariant(compilation, entry, target, plan, why);
  refused = failed(variant);
  if (refused) {
    entry.emitWarning("leaves out ") << attribute << ": " << why;
    return success();
  }
  if (failed(writer.addEntry(entry, name)))
    return failure();
  VariantNames names{name.str(), "", space.tuningKey};
  llvm::raw_string_ostream(names.schedule) << attribute;
  if (failed(addVariant(compilation, writer, hostImages, entry, target,
                        std::move(*variant), plan, names)))
    return failure();
  if (!plan.guards.empty() || !plan.ranges.empty())
    writer.addLastVariantOf(entry.getName(), name, target);
  compilation.candidates.push_back({entry.getName().str(), name.str()});
  return success();
}

namespace {
/// A space, and what calls take its candidates.
struct PlannedSpace {
  ScheduleSpace space;
  VariantPlan plan;
};
} // namespace

/// The spaces of all classes of N. A measurement with fewer columns than those
/// of a class says nothing about it, so that its candidates take no other call.
static FailureOr<std::vector<PlannedSpace>>
planSpaces(func::FuncOp entry, TargetAttr target, VariantPlan plan,
           ScheduleOptions options) {
  FailureOr<ColumnClasses> columns = getColumnClasses(entry, target, options);
  if (failed(columns))
    return failure();
  std::vector<PlannedSpace> planned;
  RangeGuard multiple = {columns->columns}, remainder = {};
  if (columns->vector > 1) {
    multiple.multiple = columns->vector;
    OpBuilder builder(entry.getContext());
    builder.setInsertionPointAfterValue(columns->columns);
    remainder = {columns->createRemainder(builder), 1, columns->vector - 1};
  }
  RangeGuard range = {columns->columns, 0};
  for (ColumnClass one : columns->classes) {
    options.columns = one;
    if (one.narrow) {
      plan.guards.clear();
      options.request.alignment = plan.alignment = 1;
    }
    FailureOr<SmallVector<ScheduleSpace>> spaces =
        getScheduleSpaces(entry, target, options);
    if (failed(spaces))
      return failure();
    VariantPlan calls = plan;
    calls.columns = one;
    range.upper = one.last;
    if (columns->columns)
      calls.ranges.push_back(range);
    if (columns->vector > 1)
      calls.ranges.push_back(one.narrow ? remainder : multiple);
    range.lower = one.last == kAnyColumns ? 0 : one.last + 1;
    for (ScheduleSpace &space : *spaces)
      planned.push_back({std::move(space), calls});
  }
  return planned;
}

LogicalResult rmsnorm::addCandidates(Compilation &compilation,
                                     ModuleWriter &writer,
                                     HostImages &hostImages, func::FuncOp entry,
                                     TargetAttr target,
                                     const VariantPlan &plan) {
  VariantPlan calls = plan;
  calls.name = "candidate";
  ScheduleOptions options;
  options.request.alignment = calls.alignment;
  options.request.smMargin = compilation.options.smMargin;
  FailureOr<std::vector<PlannedSpace>> planned =
      planSpaces(entry, target, calls, options);
  if (failed(planned))
    return failure();
  CompileProgress progress;
  progress.entry = entry.getName();
  progress.target = target.getSpelling();
  for (const PlannedSpace &one : *planned)
    progress.count += one.space.candidates.size();
  auto report = [&] {
    if (compilation.options.progress)
      compilation.options.progress(progress);
  };
  for (const auto &[space, plan] : *planned)
    for (const ScheduleFields &schedule : space.candidates) {
      report();
      std::string name =
          (entry.getName() + "#" + Twine(progress.done + 1)).str();
      bool refused = false;
      if (failed(addCandidate(compilation, writer, hostImages, entry, target,
                              plan, space, schedule, name, refused)))
        return failure();
      progress.refused += refused;
      progress.count -= refused;
      progress.done += !refused;
    }
  report();
  return success();
}

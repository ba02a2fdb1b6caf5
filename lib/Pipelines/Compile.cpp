// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - from a module of norms to code ----------------------===//

#include "RMSNorm/Pipelines/Compile.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Module/ErrorBounds.h"
#include "RMSNorm/Module/ModuleWriter.h"
#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Transforms/Passes.h"
#include "RMSNorm/Transforms/RowClasses.h"
#include "RMSNorm/Transforms/ScheduleSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <chrono>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

constexpr StringLiteral oracleTarget = "oracle";

/// One class of calls of an entry: by alignment and by numbers of columns and
/// rows.
struct VariantPlan {
  StringLiteral alignmentName;
  /// What the memref half is told.
  int64_t alignment;
  SmallVector<AlignmentGuard> guards;
  int64_t lastRow = kAnyRows, lastColumn = kAnyColumns;
  SmallVector<RangeGuard> ranges;
  /// All: "align16", "align16_rows_le_512", "align4_columns_le_2048".
  std::string name;
};

/// A variant between the memref half and serialization.
struct CompiledVariant {
  OwningOpRef<ModuleOp> module;
  std::string schedule;
  CompileTimes times;

  func::FuncOp getHost(StringRef entry) {
    return module->lookupSymbol<func::FuncOp>(entry);
  }
  gpu::GPUModuleOp getKernels() {
    auto kernels = module->getOps<gpu::GPUModuleOp>();
    return kernels.empty() ? gpu::GPUModuleOp() : *kernels.begin();
  }
};

class Compiler {
public:
  Compiler(ModuleOp source, const CompileOptions &options)
      : source(source), options(options), serializeOptions(options.serialize) {}

  /// Checks the options and runs the tensor half.
  LogicalResult prepare();
  FailureOr<std::string> writeModule();
  FailureOr<std::string> emit(const EmitOptions &emit);

private:
  struct Milliseconds {
    std::chrono::steady_clock::time_point start =
        std::chrono::steady_clock::now();
    double get() const {
      return std::chrono::duration<double, std::milli>(
                 std::chrono::steady_clock::now() - start)
          .count();
    }
  };

  FailureOr<SmallVector<VariantPlan>>
  planVariants(func::FuncOp entry, TargetAttr target, TuningReport &report);
  /// Says which part of the tuning file had no effect.
  void warnOfTuning(TargetAttr target, const TuningReport &report);
  FailureOr<CompiledVariant> compileVariant(func::FuncOp entry,
                                            TargetAttr target,
                                            const VariantPlan &plan);
  /// Runs `serialize` so that its time counts for `variant`.
  template <typename Serialize>
  auto timed(CompiledVariant &variant, Serialize serialize) {
    serializeOptions.times = &variant.times.serialize;
    return serialize(variant.getKernels(), serializeOptions);
  }
  FailureOr<SmallVector<ModuleBinary>> serialize(CompiledVariant &variant,
                                                 TargetAttr target);
  FailureOr<std::string> emitOne(Operation *module, EmitKind kind);
  LogicalResult addVariant(ModuleWriter &writer, func::FuncOp entry,
                           TargetAttr target, CompiledVariant variant,
                           VariantPlan plan, StringRef entryName,
                           StringRef tuningKey = {}, ScheduleAttr varied = {});
  LogicalResult addTarget(ModuleWriter &writer, TargetAttr target);
  LogicalResult addCandidates(ModuleWriter &writer, func::FuncOp entry,
                              TargetAttr target);
  /// Sets `refused` and goes on if a pass refuses the schedule.
  LogicalResult addCandidate(ModuleWriter &writer, func::FuncOp entry,
                             TargetAttr target, const VariantPlan &calls,
                             const ScheduleSpace &space, ScheduleAttr schedule,
                             StringRef name, bool &refused);
  LogicalResult addOracle(ModuleWriter &writer);
  FailureOr<CompiledVariant> compileOracle();
  void record(CompileTimes times) {
    if (options.times)
      options.times->push_back(std::move(times));
  }

  ModuleOp source;
  const CompileOptions &options;
  SerializeOptions serializeOptions;
  SmallVector<TargetAttr> targets;
  bool wantsOracle = false;
  /// Entries with an output whose error bound needs magnitudes.
  llvm::StringSet<> withMagnitudes;
  /// The source after the tensor half.
  OwningOpRef<ModuleOp> tiled;
  SmallVector<func::FuncOp> entries;
  /// With a schedule space: entries and the names of their candidates.
  std::vector<std::pair<std::string, std::string>> candidates;
};

} // namespace

LogicalResult Compiler::prepare() {
  Location loc = source.getLoc();
  // The source may have no op of ours, and targets are our attributes.
  source.getContext()->getOrLoadDialect<RMSNormDialect>();
  if (options.targets.empty())
    return emitError(loc, "expected at least one target");
  llvm::StringSet<> seen;
  for (const std::string &given : options.targets) {
    std::string spelling = given;
    if (given == oracleTarget) {
      wantsOracle = true;
    } else {
      TargetAttr target = TargetAttr::parseSpelling(loc, given);
      if (!target)
        return failure();
      targets.push_back(target);
      // "sim" and "sim:sim32" are one.
      spelling = target.getSpelling();
    }
    if (!seen.insert(spelling).second)
      return emitError(loc, "expected each target once, got '")
             << spelling << "' twice";
  }

  if (options.scheduleSpace && targets.size() != 1)
    return emitError(loc, "expected one target beside the oracle for a space "
                          "of schedules, got ")
           << targets.size();
  // No schedule is timed that was not compared with it.
  wantsOracle |= options.scheduleSpace;

  bool hasFunction = false;
  for (auto function : source.getOps<func::FuncOp>())
    hasFunction |= function.isPublic() && !function.isExternal();
  if (!hasFunction)
    return emitError(loc, "expected at least one public function with a body, "
                          "got none: each becomes an entry of the module");

  Milliseconds time;
  tiled = cast<ModuleOp>(source->clone());
  PassManager passes(source.getContext());
  buildTensorHalf(passes);
  if (failed(passes.run(*tiled)))
    return failure();
  CompileTimes times;
  times.entry = "(all)";
  times.passes = time.get();
  record(times);
  for (auto function : tiled->getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entries.push_back(function);
  return success();
}

/// The alignment classes of an entry, widest first. A row whose size is not
/// a multiple of the alignment never starts where the next ends and both are
/// aligned: such a variant would not be taken. With a run-time row size any may
/// be; 16 bytes and 4 are worth their code.
static SmallVector<VariantPlan, 3> planAlignments(func::FuncOp entry) {
  SmallVector<VariantPlan, 3> plans;
  for (auto [name, bytes] : {std::pair<StringLiteral, int64_t>("align16", 16),
                             {"align8", 8},
                             {"align4", 4}}) {
    VariantPlan plan{name, bytes};
    bool possible = true, isDynamic = false, isWider = false;
    for (unsigned argument : getVectorArguments(entry)) {
      auto type = cast<MemRefType>(entry.getArgumentTypes()[argument]);
      plan.guards.push_back({argument, bytes});
      int64_t columns = type.getRank() ? type.getShape().back() : 1;
      int64_t bits = type.getElementTypeBitWidth();
      isWider |= bytes * 8 > bits;
      if (ShapedType::isDynamic(columns))
        isDynamic = true;
      else if (columns * bits % (bytes * 8) != 0)
        possible = false;
    }
    bool isWorthIt = plans.empty() || (isDynamic && bytes == 4);
    if (possible && isWider && isWorthIt)
      plans.push_back(std::move(plan));
  }
  plans.push_back({"element", 1});
  return plans;
}

/// The variants in the order in which a call tries them: "align16_rows_le_512",
/// "align16", "element_rows_le_512", "element".
FailureOr<SmallVector<VariantPlan>>
Compiler::planVariants(func::FuncOp entry, TargetAttr target,
                       TuningReport &report) {
  ScheduleOptions schedules;
  schedules.schedule = options.schedule;
  schedules.batchInvariant = options.batchInvariant;
  schedules.tuning = options.tuning;
  schedules.report = &report;
  FailureOr<ColumnClasses> columns = getColumnClasses(entry, target, schedules);
  if (failed(columns))
    return failure();
  SmallVector<VariantPlan> plans;
  for (const VariantPlan &alignment : planAlignments(entry))
    for (int64_t lastColumn : columns->lastColumns) {
      schedules.columns = lastColumn == kAnyColumns ? -1 : lastColumn;
      FailureOr<RowClasses> rows = getRowClasses(entry, target, schedules);
      if (failed(rows))
        return failure();
      for (int64_t lastRow : rows->lastRows) {
        VariantPlan plan = alignment;
        plan.lastRow = lastRow;
        plan.lastColumn = lastColumn;
        plan.name = plan.alignmentName.str();
        auto limit = [&](StringRef what, Value value, int64_t last) {
          plan.name += ("_" + what + "_le_" + Twine(last)).str();
          plan.ranges.push_back({value});
          plan.ranges.back().upper = last;
        };
        if (lastColumn != kAnyColumns)
          limit("columns", columns->columns, lastColumn);
        if (lastRow != kAnyRows)
          limit("rows", rows->rows, lastRow);
        plans.push_back(std::move(plan));
      }
    }
  return plans;
}

void Compiler::warnOfTuning(TargetAttr target, const TuningReport &report) {
  Location loc = UnknownLoc::get(source.getContext());
  if (!report.found && !report.programs.empty()) {
    InFlightDiagnostic warning = emitWarning(loc, options.tuning);
    warning << ": expected a record for target '" << target.getSpelling()
            << "' and a program of this file, got ";
    if (report.targets.empty())
      warning << "no records at all";
    else
      warning << "none among those for '" << llvm::join(report.targets, "', '")
              << "'";
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

/// A copy of `module` whose only public function with a body is `entry`.
static OwningOpRef<ModuleOp> cloneWithEntry(ModuleOp module, StringRef entry) {
  OwningOpRef<ModuleOp> clone(cast<ModuleOp>(module->clone()));
  for (auto function :
       llvm::make_early_inc_range(clone->getOps<func::FuncOp>()))
    if (function.getName() != entry && function.isPublic())
      function.erase();
  return clone;
}

FailureOr<CompiledVariant> Compiler::compileVariant(func::FuncOp entry,
                                                    TargetAttr target,
                                                    const VariantPlan &plan) {
  CompiledVariant variant;
  variant.times.entry = entry.getName().str();
  variant.times.target = target.getSpelling();
  variant.times.variant = plan.name;
  Milliseconds time;
  variant.module = cloneWithEntry(*tiled, entry.getName());
  PassManager passes(source.getContext());
  MemrefHalfOptions memref;
  memref.target = target.getSpelling();
  memref.schedule = options.schedule;
  memref.batchInvariant = options.batchInvariant;
  memref.smMargin = options.smMargin;
  memref.alignment = plan.alignment;
  if (plan.lastRow != kAnyRows)
    memref.rows = plan.lastRow;
  memref.tuning = options.tuning;
  if (plan.lastColumn != kAnyColumns)
    memref.columns = plan.lastColumn;
  buildMemrefHalf(passes, memref);
  if (failed(passes.run(*variant.module)))
    return failure();
  llvm::raw_string_ostream schedules(variant.schedule);
  variant.module->walk([&](gpu::GPUFuncOp kernel) {
    if (Attribute schedule =
            kernel->getDiscardableAttr(RMSNormDialect::kScheduleAttrName))
      schedules << (variant.schedule.empty() ? "" : "; ") << schedule;
  });
  if (!variant.getKernels())
    return entry.emitError("expected a norm to make a kernel of, got none in '")
           << entry.getName() << "'";

  PassManager finalize(source.getContext());
  buildFinalize(finalize, target);
  if (failed(finalize.run(*variant.module)))
    return failure();
  variant.times.passes = time.get();
  return variant;
}

//===----------------------------------------------------------------------===//
// A whole module
//===----------------------------------------------------------------------===//

static std::string toString(ArrayRef<char> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

FailureOr<SmallVector<ModuleBinary>>
Compiler::serialize(CompiledVariant &variant, TargetAttr target) {
  SmallVector<ModuleBinary> binaries;
  auto add = [&](BinaryKind kind, FailureOr<Blob> bytes) {
    if (succeeded(bytes))
      binaries.push_back({kind, toString(*bytes)});
    return LogicalResult(bytes);
  };
  switch (target.getBackend()) {
  case Backend::nvvm: {
    FailureOr<std::string> ptx = timed(variant, serializePTX);
    if (failed(ptx))
      return failure();
    // Without ptxas the driver compiles the PTX when the module is prepared.
    if (findPtxas() || !serializeOptions.ptxas.empty()) {
      serializeOptions.times = &variant.times.serialize;
      if (failed(add(BinaryKind::Cubin, assemblePTX(variant.getKernels(), *ptx,
                                                    serializeOptions))))
        return failure();
    }
    binaries.push_back({BinaryKind::PTX, std::move(*ptx)});
    break;
  }
  case Backend::rocdl:
    if (failed(add(BinaryKind::HSACO, timed(variant, serializeHSACO))))
      return failure();
    break;
  case Backend::sim:
    if (failed(add(BinaryKind::HostELF, timed(variant, serializeHost))))
      return failure();
    break;
  }
  return binaries;
}

LogicalResult Compiler::addVariant(ModuleWriter &writer, func::FuncOp entry,
                                   TargetAttr target, CompiledVariant variant,
                                   VariantPlan plan, StringRef entryName,
                                   StringRef tuningKey, ScheduleAttr varied) {
  FailureOr<SmallVector<ModuleBinary>> binaries = serialize(variant, target);
  if (failed(binaries))
    return failure();
  unsigned image = writer.addImage(target, std::move(*binaries));
  ModuleWriter::VariantOptions variantOptions;
  variantOptions.name = plan.name;
  variantOptions.schedule = variant.schedule;
  if (varied)
    llvm::raw_string_ostream(variantOptions.schedule = "") << varied;
  variantOptions.tuningKey = tuningKey.str();
  variantOptions.guards = std::move(plan.guards);
  variantOptions.ranges = std::move(plan.ranges);
  if (failed(writer.addVariant(
          variant.getHost(entry.getName()), std::move(variantOptions),
          [&](StringRef) { return image; }, entryName)))
    return failure();
  record(std::move(variant.times));
  return success();
}

LogicalResult Compiler::addTarget(ModuleWriter &writer, TargetAttr target) {
  TuningReport report;
  for (func::FuncOp entry : entries) {
    FailureOr<SmallVector<VariantPlan>> plans =
        planVariants(entry, target, report);
    if (failed(plans))
      return failure();
    for (VariantPlan &plan : *plans) {
      FailureOr<CompiledVariant> variant = compileVariant(entry, target, plan);
      if (failed(variant) ||
          failed(addVariant(writer, entry, target, std::move(*variant),
                            std::move(plan), entry.getName())))
        return failure();
    }
    if (options.scheduleSpace && failed(addCandidates(writer, entry, target)))
      return failure();
  }
  warnOfTuning(target, report);
  return success();
}

//===----------------------------------------------------------------------===//
// Candidates to measure
//===----------------------------------------------------------------------===//

LogicalResult Compiler::addCandidate(ModuleWriter &writer, func::FuncOp entry,
                                     TargetAttr target,
                                     const VariantPlan &calls,
                                     const ScheduleSpace &space,
                                     ScheduleAttr schedule, StringRef name,
                                     bool &refused) {
  VariantPlan plan = calls;
  // The loops that are not varied get what is chosen without measuring.
  for (Operation *loop : space.loops)
    loop->setAttr(RMSNormDialect::kScheduleAttrName, schedule);
  // The chip takes it, but a pass may not take it for this program: a ring
  // whose tiles are overwritten out of turn.
  std::string why;
  FailureOr<CompiledVariant> variant = failure();
  {
    ScopedDiagnosticHandler handler(
        source.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          why += (why.empty() ? "" : "; ") + diagnostic.str();
          return success();
        });
    variant = compileVariant(entry, target, plan);
  }
  for (Operation *loop : space.loops)
    loop->removeAttr(RMSNormDialect::kScheduleAttrName);
  refused = failed(variant);
  if (refused) {
    entry.emitWarning("leaves out ") << schedule << ": " << why;
    return success();
  }

  if (failed(writer.addEntry(entry, name)))
    return failure();
  for (auto &[argument, bound] : deriveErrorBounds(entry))
    writer.setErrorBound(name, argument, std::move(bound));
  bool guarded = !plan.guards.empty() || !plan.ranges.empty();
  if (failed(addVariant(writer, entry, target, std::move(*variant),
                        std::move(plan), name, space.tuningKey, schedule)))
    return failure();
  if (guarded)
    writer.addLastVariantOf(entry.getName(), name, target);
  candidates.push_back({entry.getName().str(), name.str()});
  return success();
}

LogicalResult Compiler::addCandidates(ModuleWriter &writer, func::FuncOp entry,
                                      TargetAttr target) {
  VariantPlan calls = planAlignments(entry).front();
  calls.name = "candidate";
  FailureOr<SmallVector<ScheduleSpace>> spaces =
      getScheduleSpaces(entry, target, calls.alignment);
  FailureOr<ColumnClasses> columns =
      getColumnClasses(entry, target, {"", calls.alignment, false, "", -1});
  if (failed(spaces) || failed(columns))
    return failure();
  // What is measured with fewer columns says nothing about the class without
  // end, which is the one that has candidates.
  if (columns->columns) {
    calls.ranges.push_back({columns->columns});
    calls.ranges.back().lower = *std::next(columns->lastColumns.rbegin()) + 1;
  }
  CompileProgress progress;
  progress.entry = entry.getName();
  progress.target = target.getSpelling();
  for (const ScheduleSpace &space : *spaces) {
    progress.count += space.schedules.size();
    progress.refused += space.numRefused;
  }
  auto report = [&] {
    if (options.progress)
      options.progress(progress);
  };
  for (const ScheduleSpace &space : *spaces)
    for (ScheduleAttr schedule : space.schedules) {
      report();
      std::string name =
          (entry.getName() + "#" + Twine(progress.done + 1)).str();
      bool refused = false;
      if (failed(addCandidate(writer, entry, target, calls, space, schedule,
                              name, refused)))
        return failure();
      progress.refused += refused;
      progress.count -= refused;
      progress.done += !refused;
    }
  report();
  return success();
}

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

FailureOr<CompiledVariant> Compiler::compileOracle() {
  CompiledVariant variant;
  variant.times.entry = "(all)";
  variant.times.target = oracleTarget.str();
  Milliseconds time;
  variant.module = cast<ModuleOp>(source->clone());
  for (auto function : variant.module->getOps<func::FuncOp>())
    if (withMagnitudes.contains(function.getName()))
      function->setAttr(kMagnitudesAttrName,
                        UnitAttr::get(source.getContext()));
  PassManager passes(source.getContext());
  // As the tensor half begins, so that the arguments are the same.
  passes.addPass(createBindArguments());
  buildToOracle(passes);
  if (failed(passes.run(*variant.module)))
    return failure();
  variant.times.passes = time.get();
  return variant;
}

LogicalResult Compiler::addOracle(ModuleWriter &writer) {
  FailureOr<CompiledVariant> oracle = compileOracle();
  if (failed(oracle))
    return failure();
  serializeOptions.times = &oracle->times.serialize;
  FailureOr<Blob> blob = serializeHost(*oracle->module, serializeOptions);
  if (failed(blob))
    return failure();
  unsigned image =
      writer.addImage(TargetAttr(), {{BinaryKind::HostELF, toString(*blob)}});
  for (func::FuncOp entry : entries) {
    StringRef name = entry.getName();
    writer.addOracle(name, image, ("oracle_" + name).str());
    if (withMagnitudes.contains(name))
      writer.addMagnitudes(name, image, "oracle_" + getMagnitudesName(name));
  }
  for (const auto &[entry, name] : candidates) {
    writer.addOracle(name, image, "oracle_" + entry);
    if (withMagnitudes.contains(entry))
      writer.addMagnitudes(name, image, "oracle_" + getMagnitudesName(entry));
  }
  record(std::move(oracle->times));
  return success();
}

FailureOr<std::string> Compiler::writeModule() {
  ModuleWriter writer;
  for (func::FuncOp entry : entries) {
    if (failed(writer.addEntry(entry)))
      return failure();
    for (auto &[argument, bound] : deriveErrorBounds(entry)) {
      if (bound.needsMagnitudes())
        withMagnitudes.insert(entry.getName());
      writer.setErrorBound(entry.getName(), argument, std::move(bound));
    }
  }
  for (TargetAttr target : targets)
    if (failed(addTarget(writer, target)))
      return failure();
  if (wantsOracle && failed(addOracle(writer)))
    return failure();
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// The code alone
//===----------------------------------------------------------------------===//

FailureOr<std::string> Compiler::emitOne(Operation *module, EmitKind kind) {
  auto text = [](FailureOr<Blob> blob) -> FailureOr<std::string> {
    if (failed(blob))
      return failure();
    return toString(*blob);
  };
  switch (kind) {
  case EmitKind::PTX:
    return serializePTX(module, serializeOptions);
  case EmitKind::Cubin:
    return text(serializeCubin(module, serializeOptions));
  case EmitKind::HSACO:
    return text(serializeHSACO(module, serializeOptions));
  case EmitKind::Assembly:
    return emitAssembly(module, serializeOptions);
  case EmitKind::LLVMIR:
    return emitLLVMIR(module, serializeOptions);
  }
  llvm_unreachable("all kinds are handled");
}

static std::optional<Backend> getBackend(EmitKind kind) {
  switch (kind) {
  case EmitKind::PTX:
  case EmitKind::Cubin:
    return Backend::nvvm;
  case EmitKind::HSACO:
    return Backend::rocdl;
  case EmitKind::Assembly:
  case EmitKind::LLVMIR:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are handled");
}

FailureOr<std::string> Compiler::emit(const EmitOptions &emit) {
  Location loc = source.getLoc();
  if (options.targets.size() != 1)
    return emitError(loc, "expected one target to emit code for, got ")
           << options.targets.size();
  std::optional<Backend> backend = getBackend(emit.kind);
  if (backend && (wantsOracle || targets[0].getBackend() != *backend))
    return emitError(loc, "expected a target of ")
           << (*backend == Backend::nvvm ? "NVIDIA" : "AMD")
           << " for this kind of code, got '" << options.targets[0] << "'";
  if (wantsOracle) {
    FailureOr<CompiledVariant> oracle = compileOracle();
    if (failed(oracle))
      return failure();
    serializeOptions.times = &oracle->times.serialize;
    FailureOr<std::string> code = emitOne(*oracle->module, emit.kind);
    record(std::move(oracle->times));
    return code;
  }

  SmallVector<func::FuncOp> wanted;
  for (func::FuncOp entry : entries)
    if (emit.entry.empty() || entry.getName() == emit.entry)
      wanted.push_back(entry);
  if (wanted.empty())
    return emitError(loc, "expected a public function named '")
           << emit.entry << "', found none";
  bool isText = emit.kind != EmitKind::Cubin && emit.kind != EmitKind::HSACO;
  if (!isText && wanted.size() != 1)
    return emitError(loc, "expected one function for a file of machine code, "
                          "got ")
           << wanted.size() << "; choose one with --entry";

  std::string code;
  TuningReport report;
  for (func::FuncOp entry : wanted) {
    FailureOr<SmallVector<VariantPlan>> plans =
        planVariants(entry, targets[0], report);
    if (failed(plans))
      return failure();
    auto plan = llvm::find_if(*plans, [&](const VariantPlan &plan) {
      if (!emit.variant.empty() && emit.variant == plan.name &&
          plan.name != plan.alignmentName)
        return true;
      bool alignment =
          emit.variant.empty() || emit.variant == plan.alignmentName;
      return alignment && plan.lastColumn == kAnyColumns &&
             emit.rows.value_or(kAnyRows) <= plan.lastRow;
    });
    if (plan == plans->end()) {
      InFlightDiagnostic error = entry.emitError("expected variant ");
      llvm::interleaveComma(*plans, error, [&](const VariantPlan &plan) {
        error << "'" << plan.name << "'";
      });
      return error << ", got '" << emit.variant << "'";
    }
    FailureOr<CompiledVariant> variant =
        compileVariant(entry, targets[0], *plan);
    if (failed(variant))
      return failure();
    serializeOptions.times = &variant->times.serialize;
    FailureOr<std::string> one = emitOne(variant->getKernels(), emit.kind);
    if (failed(one))
      return failure();
    code += *one;
    record(std::move(variant->times));
  }
  warnOfTuning(targets[0], report);
  return code;
}

FailureOr<std::string> rmsnorm::compileModule(ModuleOp module,
                                              const CompileOptions &options) {
  Compiler compiler(module, options);
  if (failed(compiler.prepare()))
    return failure();
  return compiler.writeModule();
}

FailureOr<std::string> rmsnorm::emitCode(ModuleOp module,
                                         const CompileOptions &options,
                                         const EmitOptions &emit) {
  Compiler compiler(module, options);
  if (failed(compiler.prepare()))
    return failure();
  return compiler.emit(emit);
}

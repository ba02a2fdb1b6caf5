// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - from a module of norms to code ----------------------===//

#include "RMSNorm/Pipelines/Compile.h"
#include "Candidates.h"
#include "OracleProgram.h"
#include "RMSNorm/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// What is common
//===----------------------------------------------------------------------===//

static LogicalResult readTargets(Compilation &compilation) {
  Location loc = UnknownLoc::get(compilation.source.getContext());
  const CompileOptions &options = compilation.options;
  if (options.targets.empty())
    return emitError(loc, "expected at least one target");
  llvm::StringSet<> seen;
  for (const std::string &given : options.targets) {
    std::string spelling = given;
    if (given == kOracleTarget) {
      compilation.wantsOracle = true;
    } else {
      TargetAttr target = TargetAttr::parseSpelling(loc, given);
      if (!target)
        return failure();
      compilation.targets.push_back(target);
      // "sim" and "sim:sim32" are one.
      spelling = target.getSpelling();
    }
    if (!seen.insert(spelling).second)
      return emitError(loc, "expected each target once, got '")
             << spelling << "' twice";
  }
  if (options.scheduleSpace && compilation.targets.size() != 1)
    return emitError(loc, "expected one target beside the oracle for a space "
                          "of schedules, got ")
           << compilation.targets.size();
  // No schedule is timed that was not compared with it.
  compilation.wantsOracle |= options.scheduleSpace;
  return success();
}

static LogicalResult checkSerialization(MLIRContext *context,
                                        const SerializeOptions &options) {
  Location loc = UnknownLoc::get(context);
  if (failed(getHostOptimization(loc, options)))
    return failure();
  if (options.codeObjectVersion != 500 && options.codeObjectVersion != 600)
    return emitError(loc, "expected code object version 500 or 600, got ")
           << options.codeObjectVersion;
  return success();
}

static bool isEntry(func::FuncOp function) {
  return function.isPublic() && !function.isExternal();
}

/// Checks the options and runs the tensor half.
static LogicalResult prepare(Compilation &compilation) {
  ModuleOp source = compilation.source;
  MLIRContext *context = source.getContext();
  // The source may have no op of ours, and targets are our attributes.
  context->getOrLoadDialect<RMSNormDialect>();
  if (failed(readTargets(compilation)) ||
      failed(checkSerialization(context, compilation.options.serialize)))
    return failure();
  if (llvm::none_of(source.getOps<func::FuncOp>(), isEntry))
    return emitError(source.getLoc(),
                     "expected at least one public function with a body, "
                     "got none: each becomes an entry of the module");
  std::string error;
  FailureOr<TuningTable> tuning =
      TuningTable::read(compilation.options.tuning, error);
  if (failed(tuning))
    return emitError(UnknownLoc::get(context)) << error;
  compilation.tuning = std::move(*tuning);

  Milliseconds time;
  compilation.tiled = cast<ModuleOp>(source->clone());
  WatchedPasses passes(context);
  buildTensorHalf(passes.manager);
  if (failed(compilation.show(Stage::Source, {}, source)) ||
      failed(
          compilation.run(passes, *compilation.tiled, {}, Stage::TensorHalf)))
    return failure();
  CompileTimes times;
  times.entry = "(all)";
  times.passes = time.get();
  compilation.record(times);
  llvm::copy_if(compilation.tiled->getOps<func::FuncOp>(),
                std::back_inserter(compilation.entries), isEntry);
  return success();
}

//===----------------------------------------------------------------------===//
// A whole module
//===----------------------------------------------------------------------===//

static LogicalResult addTarget(Compilation &compilation, ModuleWriter &writer,
                               TargetAttr target) {
  TuningReport report;
  HostImages hostImages(compilation, writer, target);
  for (func::FuncOp entry : compilation.entries) {
    FailureOr<std::vector<VariantPlan>> plans =
        planVariants(compilation, entry, target, report);
    if (failed(plans))
      return failure();
    leaveOutOtherRows(*plans, compilation.options.rows);
    for (const VariantPlan &plan : *plans) {
      FailureOr<CompiledVariant> variant =
          compileVariant(compilation, entry, target, plan);
      if (failed(variant) ||
          failed(addVariant(compilation, writer, hostImages, entry, target,
                            std::move(*variant), plan,
                            {entry.getName().str(), plan.getScheduleText()})))
        return failure();
    }
    if (!compilation.options.scheduleSpace)
      continue;
    // The widest rows, any number of them.
    auto any = llvm::find_if(
        *plans, [](const VariantPlan &plan) { return plan.ranges.empty(); });
    if (failed(addCandidates(compilation, writer, hostImages, entry, target,
                             *any)))
      return failure();
  }
  warnOfTuning(compilation, target, report);
  return hostImages.finish();
}

FailureOr<std::string> rmsnorm::compileModule(ModuleOp module,
                                              const CompileOptions &options) {
  Compilation compilation(module, options);
  if (failed(prepare(compilation)))
    return failure();
  ModuleWriter writer;
  for (func::FuncOp entry : compilation.entries)
    if (failed(writer.addEntry(entry)))
      return failure();
  for (TargetAttr target : compilation.targets)
    if (failed(addTarget(compilation, writer, target)))
      return failure();
  if (compilation.wantsOracle && failed(addOracle(compilation, writer)))
    return failure();
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// The code alone
//===----------------------------------------------------------------------===//

/// MLIR as text.
static std::string printModule(Operation *module) {
  std::string text;
  llvm::raw_string_ostream(text) << *module << "\n";
  return text;
}

/// Of kinds that are MLIR.
static std::optional<Stage> getStage(EmitKind kind) {
  switch (kind) {
  case EmitKind::TensorHalf:
    return Stage::TensorHalf;
  case EmitKind::Scheduled:
    return Stage::Scheduled;
  case EmitKind::MemrefHalf:
    return Stage::MemrefHalf;
  case EmitKind::Finalized:
    return Stage::Finalized;
  default:
    return std::nullopt;
  }
}

static FailureOr<std::string> emitOne(Operation *module, EmitKind kind,
                                      const SerializeOptions &options) {
  auto text = [](FailureOr<Blob> blob) -> FailureOr<std::string> {
    if (failed(blob))
      return failure();
    return std::string(blob->begin(), blob->end());
  };
  switch (kind) {
  case EmitKind::PTX:
    return serializePTX(module, options);
  case EmitKind::Cubin:
    return text(serializeCubin(module, options));
  case EmitKind::HSACO:
    return text(serializeHSACO(module, options));
  case EmitKind::Assembly:
    return emitAssembly(module, options);
  case EmitKind::LLVMIR:
    return emitLLVMIR(module, options);
  case EmitKind::TensorHalf:
  case EmitKind::Scheduled:
  case EmitKind::MemrefHalf:
  case EmitKind::Finalized:
    return printModule(module);
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
  default:
    return std::nullopt;
  }
}

/// The entries that are asked for.
static FailureOr<SmallVector<func::FuncOp>>
getWanted(const Compilation &compilation, const EmitOptions &emit) {
  ModuleOp source = compilation.source;
  Location loc = UnknownLoc::get(source.getContext());
  SmallVector<func::FuncOp> wanted;
  for (func::FuncOp entry : compilation.entries)
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
  return wanted;
}

/// The variant of an entry that is asked for.
static FailureOr<VariantPlan>
getWantedPlan(func::FuncOp entry, const std::vector<VariantPlan> &plans,
              const EmitOptions &emit) {
  auto plan = llvm::find_if(plans, [&](const VariantPlan &plan) {
    if (!emit.variant.empty() && emit.variant == plan.name &&
        plan.name != plan.alignmentName)
      return true;
    bool alignment = emit.variant.empty() || emit.variant == plan.alignmentName;
    return alignment && plan.columns.last == kAnyColumns &&
           emit.rows.value_or(kAnyRows) <= plan.lastRow;
  });
  if (plan != plans.end())
    return *plan;
  InFlightDiagnostic error = entry.emitError("expected variant ");
  llvm::interleaveComma(plans, error, [&](const VariantPlan &plan) {
    error << "'" << plan.name << "'";
  });
  return error << ", got '" << emit.variant << "'";
}

/// The tensor half of one entry, or of all.
static FailureOr<std::string> emitTensorHalf(const Compilation &compilation,
                                             const EmitOptions &emit) {
  ModuleOp tiled = *compilation.tiled;
  if (!emit.variant.empty() || emit.rows)
    return emitError(UnknownLoc::get(tiled.getContext()),
                     "expected no variant and no rows for the stage "
                     "'tensor-half', which all variants share");
  return printModule(emit.entry.empty() ? tiled
                                        : *cloneWithEntry(tiled, emit.entry));
}

FailureOr<std::string> rmsnorm::emitCode(ModuleOp module,
                                         const CompileOptions &options,
                                         const EmitOptions &emit) {
  Compilation compilation(module, options);
  if (failed(prepare(compilation)))
    return failure();
  Location loc = UnknownLoc::get(module.getContext());
  if (options.targets.size() != 1)
    return emitError(loc, "expected one target to emit code for, got ")
           << options.targets.size();
  std::optional<Stage> stage = getStage(emit.kind);
  std::optional<Backend> backend = getBackend(emit.kind);
  if (backend && (compilation.wantsOracle ||
                  compilation.targets[0].getBackend() != *backend))
    return emitError(loc, "expected a target of ")
           << (*backend == Backend::nvvm ? "NVIDIA" : "AMD")
           << " for this kind of code, got '" << options.targets[0] << "'";
  if (compilation.wantsOracle) {
    if (stage && *stage != Stage::Finalized)
      return emitError(loc, "expected the last stage for the target 'oracle', "
                            "which has no other, got '")
             << getStageName(*stage) << "'";
    FailureOr<CompiledOracle> oracle = compileOracle(compilation);
    if (failed(oracle))
      return failure();
    FailureOr<std::string> code =
        emitOne(*oracle->module, emit.kind,
                compilation.getSerializeOptions(oracle->times));
    if (succeeded(code) && !stage &&
        failed(compilation.showCode(oracle->getPiece(), *oracle->module)))
      return failure();
    compilation.record(std::move(oracle->times));
    return code;
  }

  const TargetAttr target = compilation.targets[0];
  FailureOr<SmallVector<func::FuncOp>> wanted = getWanted(compilation, emit);
  if (failed(wanted))
    return failure();
  if (stage == Stage::TensorHalf)
    return emitTensorHalf(compilation, emit);
  std::string code;
  TuningReport report;
  for (func::FuncOp entry : *wanted) {
    FailureOr<std::vector<VariantPlan>> plans =
        planVariants(compilation, entry, target, report);
    if (failed(plans))
      return failure();
    FailureOr<VariantPlan> plan = getWantedPlan(entry, *plans, emit);
    if (failed(plan))
      return failure();
    FailureOr<CompiledVariant> variant = compileVariant(
        compilation, entry, target, *plan, stage.value_or(Stage::Finalized));
    if (failed(variant))
      return failure();
    Operation *module = variant->getKernels();
    FailureOr<std::string> one =
        emitOne(stage ? variant->module.get() : module, emit.kind,
                compilation.getSerializeOptions(variant->times));
    if (failed(one) ||
        (!stage && failed(compilation.showCode(variant->getPiece(), module))))
      return failure();
    if (stage && !code.empty())
      code += "// -----\n";
    code += *one;
    compilation.record(std::move(variant->times));
  }
  warnOfTuning(compilation, target, report);
  return code;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-compile.cpp - from .mlir to a compiled module ----------------===//

#include "../Version.h"
#include "Observe.h"

#include "RMSNorm/IR/Locations.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Pipelines/Compile.h"
#include "RMSNorm/Pipelines/Pipelines.h"
#include "rmsnorm/rmsnorm.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rmsnorm;
namespace cl = llvm::cl;

static cl::OptionCategory category("norm-compile options");
static cl::OptionCategory
    passCategory("options of MLIR for all passes",
                 "A line before what they print says which entry, target and "
                 "variant it is of.");

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<input .mlir or bytecode>"),
                                      cl::cat(category));
static cl::opt<std::string>
    outputFile("o", cl::desc("file to write; - is the standard output"),
               cl::value_desc("file"), cl::cat(category));
static cl::opt<bool> force("f", cl::desc("Enable binary output on terminals"),
                           cl::cat(category));
static cl::list<std::string> targetNames(
    "target",
    cl::desc("what to compile for, may be repeated: a chip (sm_90, gfx942), "
             "that of this machine's GPU (native), the simulator with a chip's "
             "kernels (sim:sm_90), the simulator (sim), the program in "
             "interval arithmetic (oracle)"),
    cl::value_desc("target"), cl::CommaSeparated, cl::cat(category));
static cl::opt<Roundings> raise(
    "raise",
    cl::desc("find norms in linalg, arith and math on tensors first, and keep "
             "these roundings of their gradients:"),
    cl::values(clEnumValN(Roundings::exact, "exact", "all"),
               clEnumValN(Roundings::fewer, "fewer",
                          "those of its operands and results")),
    cl::cat(category));
static cl::opt<RowWise> rowWise(
    "row-wise",
    cl::desc("which reductions of rows that are no norms of ours become "
             "kernels, too, with --raise and --outline:"),
    cl::values(clEnumValN(RowWise::none, "none", "none"),
               clEnumValN(RowWise::norms, "norms",
                          "those of other norms, beside one of ours (default)"),
               clEnumValN(RowWise::all, "all", "all")),
    cl::init(RowWise::norms), cl::cat(category));
static cl::opt<std::string> outlineReport(
    "outline",
    cl::desc("compile, instead of the functions, which have other work, too, a "
             "function of each norm in them with what is row-wise around it; "
             "the file gets a description in JSON (rmsnorm-outline-clusters), "
             "and without --target nothing else is done"),
    cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string> schedule(
    "schedule",
    cl::desc("overrides of the chosen schedule: a mode (multi_wave_cached, "
             "multi_wave_reload, static_persistent) and field=value items, or "
             "whole schedules as norm-inspect prints them"),
    cl::cat(category));
static cl::opt<bool> batchInvariant(
    "batch-invariant",
    cl::desc("sum a row in the same order whatever the number of rows, so that "
             "its bits do not depend on the rows around it"),
    cl::cat(category));
static cl::opt<int64_t>
    smMargin("sm-margin",
             cl::desc("multiprocessors that kernels leave to other work"),
             cl::value_desc("number"), cl::init(0), cl::cat(category));
static cl::opt<bool> mergeLaunches(
    "merge-launches",
    cl::desc("make one launch of kernels that do not depend on each other"),
    cl::init(true), cl::cat(category));
static cl::opt<std::string> tuning(
    "tuning",
    cl::desc("a file of norm-tune, one for all targets: its schedules for "
             "these programs, targets and numbers of rows replace the "
             "compiler's choice"),
    cl::value_desc("file"), cl::cat(category));
static cl::opt<bool> explain(
    "explain",
    cl::desc("say of each schedule why it was chosen: what the cost model "
             "takes for the next best, and the terms that differ most"),
    cl::cat(category));
static cl::opt<bool> scheduleSpace(
    "schedule-space",
    cl::desc("make a module for norm-tune: beside each entry NAME, entries "
             "NAME#1, NAME#2, ... with each schedule worth measuring, for one "
             "target and the oracle, which is added"),
    cl::cat(category));
static cl::opt<EmitKind> emitKind(
    "emit", cl::desc("write this code for the one target instead of a module:"),
    cl::values(clEnumValN(EmitKind::PTX, "ptx", "PTX (NVIDIA)"),
               clEnumValN(EmitKind::Cubin, "cubin", "cubin (NVIDIA, by ptxas)"),
               clEnumValN(EmitKind::HSACO, "hsaco", "code object (AMD)"),
               clEnumValN(EmitKind::Assembly, "asm", "assembly; PTX on NVIDIA"),
               clEnumValN(EmitKind::LLVMIR, "llvm", "optimised LLVM IR"),
               clEnumValN(EmitKind::Finalized, "mlir",
                          "MLIR in LLVM's dialect, as rmsnorm-to-nvvm, -rocdl, "
                          "-sim or -oracle leave it"),
               clEnumValN(EmitKind::MemrefHalf, "mlir:memref-half",
                          "MLIR as rmsnorm-memref-half leaves it: thread-level "
                          "kernels"),
               clEnumValN(EmitKind::Scheduled, "mlir:scheduled",
                          "MLIR with the target and the schedules"),
               clEnumValN(EmitKind::TensorHalf, "mlir:tensor-half",
                          "MLIR as rmsnorm-tensor-half leaves it: programs "
                          "over rows, the same for all targets")),
    cl::cat(category));
static cl::opt<std::string>
    variantName("variant",
                cl::desc("--emit: the variant, align16, align8, align4, "
                         "element, narrow, or one with "
                         "a class of rows, as norm-inspect prints them for a "
                         "module; default: the first there is"),
                cl::cat(category));
static cl::list<int64_t> rowCounts(
    "rows",
    cl::desc("the numbers of rows that a module is for: variants that calls "
             "with none of them take are left out, and calls with others run "
             "element by element; --emit: the variant that a call with so "
             "many rows takes; default: for any number"),
    cl::value_desc("number"), cl::CommaSeparated, cl::cat(category));
static cl::opt<std::string>
    entryName("entry",
              cl::desc("--emit: the function; default: all, their "
                       "texts one after another, of which ptxas "
                       "takes one at a time"),
              cl::cat(category));
static cl::opt<unsigned>
    codeObjectVersion("code-object-version",
                      cl::desc("AMD code object version times 100: 500, 600"),
                      cl::init(500), cl::cat(category));
static cl::opt<unsigned> hostOptimization(
    "host-optimization",
    cl::desc("how far code of the simulator and the oracle is optimised, 0 to "
             "3 (default: $RMSNORM_HOST_OPTIMIZATION, else 3): 0 compiles in a "
             "third of the time, for modules that run once; results have the "
             "same bits"),
    cl::value_desc("level"), cl::cat(category));
static cl::opt<std::string>
    ptxas("ptxas",
          cl::desc("the ptxas to run; default: that of $CUDA_HOME, $CUDA_PATH, "
                   "$PATH, /usr/local/cuda; empty: none, the driver compiles "
                   "the PTX"),
          cl::cat(category));
static cl::opt<std::string> dumpFolder(
    "dump-intermediates",
    cl::desc("write the IR of each stage to this folder, which is made: "
             "0-source, 1-tensor-half and, for each entry, target and variant, "
             "ENTRY.TARGET.VARIANT.2-scheduled, .3-memref-half, .4-finalized, "
             ".5-llvm, .6-asm"),
    cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> diagnosticsFile(
    "diagnostics",
    cl::desc(
        "write errors, warnings and remarks to this file, too, each a line "
        "of JSON: severity, location (the names and file:line:column of "
        "the op, as an importer gave them), message"),
    cl::value_desc("file"), cl::cat(category));
static cl::opt<bool> timing(
    "timing",
    cl::desc("print what each entry, target and variant took, to stderr"),
    cl::cat(category));

static LogicalResult complain(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "norm-compile") << message << "\n";
  return failure();
}

/// Prints a diagnostic without a place in a file: it is about the command line.
static LogicalResult printUnlocated(Diagnostic &diagnostic) {
  if (!isa<UnknownLoc>(diagnostic.getLocation()))
    return failure();
  llvm::raw_ostream &os = llvm::errs();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    llvm::WithColor::error(os, "norm-compile");
  else
    llvm::WithColor::warning(os, "norm-compile");
  os << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    llvm::WithColor::note(os, "norm-compile") << note << "\n";
  return success();
}

/// Writes a diagnostic as a line of JSON and leaves it to others.
static void writeJSON(llvm::raw_ostream &os, Diagnostic &diagnostic) {
  StringRef severity =
      diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error"
      : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                : "remark";
  os << llvm::json::Value(
            llvm::json::Object{{"severity", severity},
                               {"location", toJSON(diagnostic.getLocation())},
                               {"message", diagnostic.str()}})
     << "\n";
}

static LogicalResult checkCommandLine() {
  if (rowWise.getNumOccurrences() && !raise.getNumOccurrences())
    return complain("--row-wise says what --raise marks: expected it, too");
  if (targetNames.empty() && !outlineReport.empty()) {
    if (!outputFile.empty())
      return complain("--outline without --target writes no module: expected "
                      "no -o, or a --target");
    return success();
  }
  if (targetNames.empty())
    return complain("expected at least one --target, e.g. --target=sm_90");
  bool emits = emitKind.getNumOccurrences() != 0;
  if (!emits && outputFile.empty())
    return complain("expected -o for the module, e.g. -o out.rmsn");
  if (!emits && (!variantName.empty() || !entryName.empty()))
    return complain("--variant and --entry choose what --emit writes; a module "
                    "holds all");
  for (int64_t count : rowCounts)
    if (count < 0)
      return complain("--rows: expected a number >= 0, got " + Twine(count));
  if (emits && rowCounts.size() > 1)
    return complain("--rows: expected one number for --emit, got " +
                    Twine(rowCounts.size()));
  if (smMargin < 0)
    return complain("--sm-margin: expected a number >= 0, got " +
                    Twine(smMargin));
  if (tuning.getNumOccurrences() > 1)
    return complain("--tuning: expected one file, got " +
                    Twine(tuning.getNumOccurrences()) +
                    ": put their records into one");
  if (scheduleSpace && dumpFolder.getNumOccurrences())
    return complain("--dump-intermediates is of the schedule of each variant: "
                    "expected no --schedule-space");
  if (dumpFolder.getNumOccurrences() && dumpFolder.empty())
    return complain("--dump-intermediates: expected a folder, got ''");
  if (scheduleSpace && (emits || !schedule.empty() || !rowCounts.empty()))
    return complain("--schedule-space tries schedules and writes a module for "
                    "any number of rows: expected no --schedule, --rows or "
                    "--emit");
  return success();
}

/// The chip of this machine's first GPU.
static FailureOr<std::string> findNativeChip() {
  std::string messages;
  for (rmsnorm_backend backend : {RMSNORM_CUDA, RMSNORM_HIP}) {
    rmsnorm_device *device = nullptr;
    rmsnorm_device_info info = {};
    std::string chip;
    if (rmsnorm_device_open(backend, nullptr, &device) == RMSNORM_OK &&
        rmsnorm_device_get_info(device, &info) == RMSNORM_OK)
      chip = info.chip;
    else
      messages += std::string("\n") + rmsnorm_last_error();
    if (device)
      rmsnorm_device_close(device);
    if (!chip.empty())
      return chip;
  }
  return complain(
      "--target=native: expected a GPU in this machine, found none" + messages);
}

/// Whether reading may never end, as that of /dev/zero; files, pipes and
/// terminals end.
static bool isEndless(StringRef path) {
  llvm::sys::fs::file_status status;
  if (path == "-" ? llvm::sys::fs::status(0, status)
                  : llvm::sys::fs::status(path, status))
    return false;
  return llvm::sys::fs::is_other(status) &&
         status.type() != llvm::sys::fs::file_type::fifo_file &&
         status.type() != llvm::sys::fs::file_type::socket_file &&
         !(path == "-" && llvm::sys::Process::StandardInIsUserInput());
}

static LogicalResult checkFiles() {
  for (StringRef path : {StringRef(inputFile), StringRef(tuning)}) {
    if (isEndless(path))
      return complain(path + ": expected a file or a pipe, got a device");
    if (path != "-" && llvm::sys::fs::is_regular_file(path) &&
        llvm::sys::fs::equivalent(path, outputFile))
      return complain("-o: expected another file than what is read, got " +
                      outputFile);
  }
  return success();
}

static bool isTerminal(StringRef path) {
  if (path == "-")
    return llvm::sys::Process::StandardOutIsDisplayed();
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) ||
      status.type() != llvm::sys::fs::file_type::character_file)
    return false;
  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::CD_OpenExisting);
  return !code && os.is_displayed();
}

static LogicalResult checkTerminal() {
  if (targetNames.empty())
    return success();
  bool isBinary = emitKind.getNumOccurrences() == 0 ||
                  emitKind == EmitKind::Cubin || emitKind == EmitKind::HSACO;
  StringRef path = outputFile.empty() ? "-" : StringRef(outputFile);
  if (!isBinary || force || !isTerminal(path))
    return success();
  return complain("expected -o FILE for binary output, got a terminal; -f "
                  "writes it there");
}

static LogicalResult run(int argc, char **argv) {
  if (failed(checkCommandLine()) || failed(checkFiles()) ||
      failed(checkTerminal()))
    return failure();
  std::string message;
  auto file = openInputFile(inputFile, &message);
  if (!file)
    return complain(message);

  // Else the parser prints a line of it.
  if (file->getBuffer().take_front(4096).contains('\0') &&
      !isBytecode(file->getMemBufferRef()))
    return complain(inputFile + ": expected MLIR, as text or bytecode, got "
                                "other binary data");

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerSerialization(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // A function printed in generic form hides the message above it.
  context.printOpOnDiagnostic(false);
  if (explain && failed(remark::enableOptimizationRemarks(
                     context, /*streamer=*/nullptr,
                     std::make_unique<remark::RemarkEmittingPolicyAll>(),
                     {/*all=*/{},
                      /*passed=*/{},
                      /*missed=*/{},
                      /*analysis=*/"schedule",
                      /*failed=*/{}},
                     /*printAsEmitRemarks=*/true)))
    return complain("--explain: MLIR has no remarks here");
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  ScopedDiagnosticHandler unlocated(&context, printUnlocated);
  std::unique_ptr<llvm::ToolOutputFile> written;
  if (!diagnosticsFile.empty()) {
    written = openOutputFile(diagnosticsFile, &message);
    if (!written)
      return complain("--diagnostics: " + message);
    written->keep();
  }
  ScopedDiagnosticHandler writer(&context, [&](Diagnostic &diagnostic) {
    if (written)
      writeJSON(written->os(), diagnostic);
    return failure();
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();

  PassManager before(&context);
  if (raise.getNumOccurrences())
    buildRaise(before, raise, rowWise);
  if (!outlineReport.empty()) {
    OutlineOptions outline;
    outline.report = outlineReport;
    outline.dropRest = true;
    buildOutline(before, outline);
  }
  if (failed(before.run(*module)))
    return failure();
  if (targetNames.empty())
    return success();

  // Read now: linking runs lld in this process, and lld resets every
  // command-line option there is.
  bool printsTimes = timing;
  std::optional<int64_t> rows;
  if (!rowCounts.empty())
    rows = rowCounts.front();
  std::string path = outputFile.empty() ? "-" : outputFile.getValue();
  std::vector<CompileTimes> times;
  CompileOptions options;
  options.targets = targetNames;
  for (std::string &target : options.targets)
    if (target == "native") {
      FailureOr<std::string> chip = findNativeChip();
      if (failed(chip))
        return failure();
      target = *chip;
    }
  options.schedule = schedule;
  options.batchInvariant = batchInvariant;
  options.smMargin = smMargin;
  options.mergeLaunches = mergeLaunches;
  options.rows.assign(rowCounts.begin(), rowCounts.end());
  options.tuning = tuning;
  options.scheduleSpace = scheduleSpace;
  if (options.scheduleSpace)
    options.progress = printProgress;
  options.serialize.codeObjectVersion = codeObjectVersion;
  if (hostOptimization.getNumOccurrences())
    options.serialize.hostOptimization = hostOptimization;
  if (ptxas.getNumOccurrences())
    options.serialize.ptxas = ptxas;
  options.times = &times;
  std::optional<PassOptionsObserver> observer;
  if (hasPassOptions(passCategory))
    options.passObserver = &observer.emplace(argc, argv);
  IntermediateFiles files(dumpFolder);
  if (!dumpFolder.empty()) {
    if (llvm::Error error = files.create())
      return complain("--dump-intermediates: " +
                      llvm::toString(std::move(error)));
    options.intermediates = [&](const Intermediate &intermediate) {
      if (llvm::Error error = files.write(intermediate))
        return complain("--dump-intermediates: " +
                        llvm::toString(std::move(error)));
      return success();
    };
  }
  FailureOr<std::string> bytes =
      emitKind.getNumOccurrences() != 0
          ? emitCode(*module, options, {emitKind, variantName, rows, entryName})
          : compileModule(*module, options);
  if (printsTimes)
    printTimes(times);
  if (failed(bytes))
    return failure();

  // A device or a pipe is written to, never replaced.
  if (path != "-" && llvm::sys::fs::exists(path) &&
      !llvm::sys::fs::is_regular_file(path)) {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    if (!code) {
      os << *bytes;
      os.flush();
      code = os.error();
      os.clear_error();
    }
    if (code)
      return complain("cannot write " + path + ": " + code.message());
    return success();
  }
  // Through a temporary file that is renamed: either all of it or nothing.
  if (llvm::Error error =
          llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
            os << *bytes;
            return llvm::Error::success();
          }))
    return complain("cannot write " + path + ": " +
                    llvm::toString(std::move(error)));
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  setVersion("norm-compile");
  rmsnorm::registerAllPasses();
  registerTransformsPasses();
  registerPassOptions(passCategory);
  cl::HideUnrelatedOptions({&category, &passCategory});
  cl::ParseCommandLineOptions(
      argc, argv,
      "compiles the public functions of a module of norms, ahead of time\n\n"
      "  norm-compile norm.mlir --target=sm_90 --target=sim -o norm.rmsn\n"
      "  norm-compile norm.mlir --target=gfx942 --emit=asm\n");
  return failed(run(argc, argv));
}

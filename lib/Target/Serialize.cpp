// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Serialize.cpp - from finalized modules to text and machine code ---===//

#include "RMSNorm/Target/Serialize.h"
#include "Link.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Target/HostRuntime.h"
#include "RMSNorm/Target/Instructions.h"
#include "TargetModel.h"

#include "mlir/IR/Operation.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

// Only the targets we need: InitializeAllTargets would cost milliseconds.
#define RMSNORM_TARGET(NAME)                                                   \
  extern "C" void LLVMInitialize##NAME##TargetInfo();                          \
  extern "C" void LLVMInitialize##NAME##Target();                              \
  extern "C" void LLVMInitialize##NAME##TargetMC();                            \
  extern "C" void LLVMInitialize##NAME##AsmPrinter();

RMSNORM_TARGET(NVPTX)
RMSNORM_TARGET(AMDGPU)
extern "C" void LLVMInitializeAMDGPUAsmParser();

using namespace mlir;
using namespace mlir::rmsnorm;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser(); // inline assembly
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

namespace {

/// Adds the time of its life to `times->*field`.
class PhaseTimer {
public:
  PhaseTimer(SerializeTimes *times, double SerializeTimes::*field)
      : times(times), field(field), start(Clock::now()) {}
  ~PhaseTimer() {
    if (times)
      times->*field +=
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count();
  }

private:
  using Clock = std::chrono::steady_clock;
  SerializeTimes *times;
  double SerializeTimes::*field;
  Clock::time_point start;
};

/// LLVM's errors as MLIR's; its remarks and warnings are dropped.
struct ErrorForwarder final : llvm::DiagnosticHandler {
  explicit ErrorForwarder(Location loc) : loc(loc) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    std::string message;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    emitError(loc, "code generation failed: ") << message;
    return true;
  }
  bool isAnyRemarkEnabled() const override { return false; }
  Location loc;
};

struct MachineSpec {
  llvm::Triple triple;
  std::string cpu, features;
  bool isHost = false;
};

/// The machines that a thread has made. Each keeps what it has found out about
/// its chip, which takes as long as the code of a small kernel.
class Machines {
public:
  static Machines &ofThread() {
    static thread_local Machines machines;
    return machines;
  }
  /// Null if this LLVM has no code generator for it.
  llvm::TargetMachine *get(const llvm::Target &target, const MachineSpec &spec,
                           unsigned optimization);
  /// Forgets all, without a look at their state.
  void abandon() {
    for (auto &entry : made)
      entry.second.release();
    made.clear();
  }

private:
  using Key = std::tuple<std::string, std::string, std::string, unsigned>;
  std::map<Key, std::unique_ptr<llvm::TargetMachine>> made;
};

/// One module on its way through LLVM. Everything in it is lost on a fatal
/// error, which the caller guards against.
class CodeGeneration {
public:
  CodeGeneration(Operation *op, MachineSpec spec,
                 const SerializeOptions &options)
      : op(op), spec(std::move(spec)), options(options) {}
  LogicalResult translate();
  LogicalResult optimize();
  FailureOr<std::string> emit(llvm::CodeGenFileType type);
  std::string print() const;

private:
  bool hasErrors() const { return context.getDiagHandlerPtr()->HasErrors; }
  Operation *op;
  MachineSpec spec;
  const SerializeOptions &options;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine *machine = nullptr;
  unsigned optimization = 3;
};

} // namespace

FailureOr<unsigned>
rmsnorm::getHostOptimization(Location location,
                             const SerializeOptions &options) {
  constexpr unsigned most = 3;
  if (options.hostOptimization) {
    if (*options.hostOptimization <= most)
      return *options.hostOptimization;
    return emitError(location, "expected host optimization 0, 1, 2 or 3, got ")
           << *options.hostOptimization;
  }
  std::optional<std::string> text =
      llvm::sys::Process::GetEnv("RMSNORM_HOST_OPTIMIZATION");
  unsigned level = most;
  if (!text || (!StringRef(*text).getAsInteger(10, level) && level <= most))
    return level;
  return emitError(location, "expected 0, 1, 2 or 3 in "
                             "$RMSNORM_HOST_OPTIMIZATION, got '")
         << *text << "'";
}

llvm::TargetMachine *Machines::get(const llvm::Target &target,
                                   const MachineSpec &spec,
                                   unsigned optimization) {
  std::unique_ptr<llvm::TargetMachine> &machine =
      made[{spec.triple.str(), spec.cpu, spec.features, optimization}];
  if (!machine) {
    llvm::TargetOptions options;
    // Bits are part of the contract: fma only where the IR says so.
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    machine.reset(target.createTargetMachine(
        spec.triple, spec.cpu, spec.features, options, llvm::Reloc::PIC_,
        std::nullopt, *llvm::CodeGenOpt::getLevel(optimization)));
  }
  return machine.get();
}

LogicalResult CodeGeneration::translate() {
  PhaseTimer timer(options.times, &SerializeTimes::translate);
  initializeTargets();
  if (spec.isHost) {
    FailureOr<unsigned> level = getHostOptimization(op->getLoc(), options);
    if (failed(level))
      return failure();
    optimization = *level;
  }
  context.setDiagnosticHandler(std::make_unique<ErrorForwarder>(op->getLoc()));
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(spec.triple, error);
  if (!target)
    return op->emitError("this LLVM cannot generate code for '")
           << spec.triple.str() << "': " << error;
  machine = Machines::ofThread().get(*target, spec, optimization);
  if (!machine)
    return op->emitError("this LLVM has no code generator for '")
           << spec.triple.str() << "'";
  module = translateModuleToLLVMIR(op, context, "rmsnorm");
  if (!module)
    return op->emitError("translation to LLVM IR failed");
  module->setTargetTriple(spec.triple);
  module->setDataLayout(machine->createDataLayout());
  if (spec.triple.isAMDGCN())
    module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                          options.codeObjectVersion);
  if (spec.isHost)
    addHostRuntimeFunctions(*module);
  return success();
}

LogicalResult CodeGeneration::optimize() {
  PhaseTimer timer(options.times, &SerializeTimes::optimize);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine);
  // There is no C library to call: do not turn loops into memset or memcpy.
  llvm::TargetLibraryInfoImpl library(spec.triple);
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  using Level = llvm::OptimizationLevel;
  const Level levels[] = {Level::O0, Level::O1, Level::O2, Level::O3};
  llvm::ModulePassManager passes =
      builder.buildPerModuleDefaultPipeline(levels[optimization]);
  // Half of the blocks cannot be reached once the simulator's coroutines are
  // split: removing them takes less time than selecting their instructions.
  if (optimization == 0)
    llvm::cantFail(
        builder.parsePassPipeline(passes, "function(early-cse,simplifycfg)"));
  passes.run(*module, modules);
  if (optimization == 0)
    widenStores(*module);
  return failure(hasErrors());
}

FailureOr<std::string> CodeGeneration::emit(llvm::CodeGenFileType type) {
  PhaseTimer timer(options.times, &SerializeTimes::codegen);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return op->emitError("this LLVM cannot emit code for '")
           << spec.triple.str() << "'";
  passes.run(*module);
  if (hasErrors())
    return failure();
  return std::string(bytes);
}

std::string CodeGeneration::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << *module;
  return text;
}

//===----------------------------------------------------------------------===//
// Which machine
//===----------------------------------------------------------------------===//

static FailureOr<MachineSpec> getDeviceSpec(Operation *op) {
  TargetAttr target = TargetAttr::lookup(op);
  if (!target)
    return op->emitError("expected a module with 'rmsnorm.target' around the "
                         "code to serialize, got none");
  const ChipInfo &chip = target.getChipInfo();
  MachineSpec spec;
  spec.cpu = chip.name.str();
  switch (target.getBackend()) {
  case Backend::nvvm:
    spec.triple = llvm::Triple("nvptx64-nvidia-cuda");
    spec.features = chip.ptxFeature.str();
    return spec;
  case Backend::rocdl:
    spec.triple = llvm::Triple("amdgcn-amd-amdhsa");
    // LLVM 22 puts halves of registers that do not exist into four bf16 loaded
    // one by one: wrong code in an object, a crash as text.
    if (getInstructions(chip).hasTrue16)
      spec.features = "-real-true16";
    return spec;
  case Backend::sim:
    break;
  }
  return op->emitError("expected a GPU target, got '")
         << target.getSpelling() << "'";
}

static LogicalResult expectBackend(Operation *op, Backend backend,
                                   StringRef product) {
  TargetAttr target = TargetAttr::lookup(op);
  if (target && target.getBackend() == backend)
    return success();
  return op->emitError("expected an ")
         << stringifyBackend(backend) << " target for " << product << ", got '"
         << (target ? target.getSpelling() : "none") << "'";
}

static MachineSpec getHostSpec() {
  MachineSpec spec;
  spec.triple = llvm::Triple(llvm::sys::getDefaultTargetTriple());
  spec.isHost = true;
  // The features that every server has had since 2013, so that a module runs on
  // other machines.
  spec.cpu =
      spec.triple.getArch() == llvm::Triple::x86_64 ? "x86-64-v3" : "generic";
  return spec;
}

/// The simulator's kernels and the oracle, which has no target, are host code.
static FailureOr<MachineSpec> getSpec(Operation *op) {
  TargetAttr target = TargetAttr::lookup(op);
  if (!target || target.getBackend() == Backend::sim)
    return getHostSpec();
  return getDeviceSpec(op);
}

/// Runs `finish` on the optimised module.
template <typename T>
static FailureOr<T>
compile(Operation *op, FailureOr<MachineSpec> spec,
        const SerializeOptions &options, bool optimize,
        function_ref<FailureOr<T>(CodeGeneration &)> finish) {
  if (failed(spec))
    return failure();
  // Leaked if LLVM gives up half-way, with the machine: their state is not to
  // be trusted then.
  auto *generation = new CodeGeneration(op, *spec, options);
  FailureOr<T> result = failure();
  bool finished = false;
  LogicalResult guarded = runGuarded(op->getLoc(), [&] {
    if (succeeded(generation->translate()) &&
        (!optimize || succeeded(generation->optimize())))
      result = finish(*generation);
    finished = true;
    return success();
  });
  if (finished)
    delete generation;
  else
    Machines::ofThread().abandon();
  if (failed(guarded))
    return failure();
  return result;
}

static FailureOr<std::string> emitFile(Operation *op,
                                       FailureOr<MachineSpec> spec,
                                       const SerializeOptions &options,
                                       llvm::CodeGenFileType type) {
  return compile<std::string>(
      op, std::move(spec), options, /*optimize=*/true,
      [&](CodeGeneration &generation) { return generation.emit(type); });
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void rmsnorm::registerSerialization(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
  registerTargetModel(registry);
}

FailureOr<std::string> rmsnorm::emitLLVMIR(Operation *module,
                                           const SerializeOptions &options,
                                           bool optimized) {
  return compile<std::string>(
      module, getSpec(module), options, optimized,
      [](CodeGeneration &generation) -> FailureOr<std::string> {
        return generation.print();
      });
}

FailureOr<std::string> rmsnorm::emitAssembly(Operation *module,
                                             const SerializeOptions &options) {
  return emitFile(module, getSpec(module), options,
                  llvm::CodeGenFileType::AssemblyFile);
}

FailureOr<std::string> rmsnorm::serializePTX(Operation *module,
                                             const SerializeOptions &options) {
  if (failed(expectBackend(module, Backend::nvvm, "PTX")))
    return failure();
  return emitAssembly(module, options);
}

std::string rmsnorm::getPtxas(const SerializeOptions &options) {
  return options.ptxas ? *options.ptxas : findPtxas().value_or("");
}

FailureOr<Blob> rmsnorm::assemblePTX(Operation *module, StringRef ptx,
                                     const SerializeOptions &options) {
  if (failed(expectBackend(module, Backend::nvvm, "a cubin")))
    return failure();
  PhaseTimer timer(options.times, &SerializeTimes::link);
  std::string ptxas = getPtxas(options);
  if (ptxas.empty())
    return module->emitError("no ptxas found (looked in $CUDA_HOME/bin, "
                             "$CUDA_PATH/bin, $PATH, /usr/local/cuda/bin)");
  return runPtxas(module->getLoc(), ptxas,
                  TargetAttr::lookup(module).getChipInfo().name, ptx,
                  options.ptxasLog);
}

FailureOr<Blob> rmsnorm::serializeCubin(Operation *module,
                                        const SerializeOptions &options) {
  FailureOr<std::string> ptx = serializePTX(module, options);
  if (failed(ptx))
    return failure();
  return assemblePTX(module, *ptx, options);
}

/// Object code of `module`, linked.
static FailureOr<Blob> serializeShared(Operation *module,
                                       FailureOr<MachineSpec> spec,
                                       const SerializeOptions &options) {
  FailureOr<std::string> object = emitFile(module, std::move(spec), options,
                                           llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  PhaseTimer timer(options.times, &SerializeTimes::link);
  return linkSharedObject(module->getLoc(), *object);
}

FailureOr<Blob> rmsnorm::serializeHSACO(Operation *module,
                                        const SerializeOptions &options) {
  if (failed(expectBackend(module, Backend::rocdl, "an AMD code object")))
    return failure();
  return serializeShared(module, getDeviceSpec(module), options);
}

FailureOr<Blob> rmsnorm::serializeHost(Operation *module,
                                       const SerializeOptions &options) {
  return serializeShared(module, getHostSpec(), options);
}

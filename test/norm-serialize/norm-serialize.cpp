// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-serialize.cpp - thread-level kernels to code, for tests ------===//
//
// Takes a module with `rmsnorm.target` and one gpu.module of thread-level
// kernels, finalizes it and writes what --emit says. norm-compile is the tool
// for users: it starts from the op.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional,
                                            llvm::cl::desc("<input.mlir>"),
                                            llvm::cl::init("-"));
static llvm::cl::opt<std::string> outputFile("o", llvm::cl::desc("output"),
                                             llvm::cl::init("-"));
static llvm::cl::opt<std::string>
    emit("emit",
         llvm::cl::desc("llvm, asm, ptx, ptxas-log, cubin, hsaco or host"),
         llvm::cl::init("asm"));
static llvm::cl::opt<bool> timing("timing", llvm::cl::desc("print the times"));

template <typename T>
static LogicalResult write(StringRef path, FailureOr<T> bytes) {
  if (failed(bytes))
    return failure();
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OpenFlags::OF_None);
  if (error) {
    llvm::errs() << "cannot write '" << path << "': " << error.message()
                 << "\n";
    return failure();
  }
  file.os() << StringRef(bytes->data(), bytes->size());
  file.keep();
  return success();
}

static LogicalResult serialize(ModuleOp module) {
  // lld resets the command-line options of the process: read them first.
  std::string path = outputFile, emit = ::emit;
  bool printTimes = timing;
  SerializeTimes times;
  std::string log;
  SerializeOptions options;
  options.times = &times;
  options.ptxasLog = &log;
  auto modules = module.getOps<gpu::GPUModuleOp>();
  if (emit != "host" && modules.empty())
    return module.emitError("expected a gpu.module, got none");
  Operation *device = modules.empty() ? nullptr : *modules.begin();
  LogicalResult result = failure();
  if (emit == "llvm")
    result = write(path, emitLLVMIR(device, options));
  else if (emit == "asm")
    result = write(path, emitAssembly(device, options));
  else if (emit == "ptx")
    result = write(path, serializePTX(device, options));
  else if (emit == "cubin")
    result = write(path, serializeCubin(device, options));
  else if (emit == "hsaco")
    result = write(path, serializeHSACO(device, options));
  else if (emit == "host")
    result = write(path, serializeHost(module, options));
  else if (emit == "ptxas-log") {
    if (succeeded(serializeCubin(device, options)))
      result = write(path, FailureOr<std::string>(log));
  } else
    return module.emitError("expected --emit to be llvm, asm, ptx, ptxas-log, "
                            "cubin, hsaco or host, got '")
           << emit << "'";
  if (printTimes)
    llvm::errs() << llvm::formatv(
        "translate {0:f1} ms, optimize {1:f1} ms, codegen {2:f1} ms, link "
        "{3:f1} ms, total {4:f1} ms\n",
        times.translate, times.optimize, times.codegen, times.link,
        times.total());
  return result;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "thread-level kernels to code\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerSerialization(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(inputFile, ParserConfig(&context));
  if (!module)
    return 1;
  if (TargetAttr target = TargetAttr::lookup(*module)) {
    PassManager passes(&context);
    if (target.getBackend() == Backend::nvvm)
      passes.addPass(createFinalizeNVVM());
    else if (target.getBackend() == Backend::rocdl)
      passes.addPass(createFinalizeROCDL());
    if (failed(passes.run(*module)))
      return 1;
  }
  return failed(serialize(*module));
}

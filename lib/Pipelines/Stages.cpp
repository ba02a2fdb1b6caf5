// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stages.cpp - what a compilation shows of itself -------------------===//

#include "Compilation.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

StringRef rmsnorm::getStageName(Stage stage) {
  switch (stage) {
  case Stage::Source:
    return "source";
  case Stage::TensorHalf:
    return "tensor-half";
  case Stage::Scheduled:
    return "scheduled";
  case Stage::MemrefHalf:
    return "memref-half";
  case Stage::Finalized:
    return "finalized";
  case Stage::LLVMIR:
    return "llvm";
  case Stage::Assembly:
    return "asm";
  }
  llvm_unreachable("all stages are handled");
}

/// A symbol, as MLIR's printers of IR say which module they print.
static std::string getSymbol(const CompilePiece &piece, Stage stage) {
  SmallVector<StringRef> parts;
  for (StringRef part : {StringRef(piece.entry), StringRef(piece.target),
                         StringRef(piece.variant), getStageName(stage)})
    if (!part.empty())
      parts.push_back(part);
  std::string symbol = llvm::join(parts, ".");
  // "sim:sm_90", "memref-half": it stands without quotes.
  for (char &c : symbol)
    if (c == ':' || c == '-')
      c = '_';
  return symbol;
}

LogicalResult Compilation::run(WatchedPasses &passes, ModuleOp module,
                               const CompilePiece &piece, Stage stage) const {
  PassObserver *observer = options.passObserver;
  bool good = true;
  if (observer) {
    module.setSymName(getSymbol(piece, stage));
    observer->begin(piece, stage);
    good = passes.configured || succeeded(observer->configure(passes.manager));
    passes.configured = true;
  }
  good = good && succeeded(passes.manager.run(module));
  if (observer)
    observer->end();
  return success(good && succeeded(show(stage, piece, module)));
}

LogicalResult Compilation::show(Stage stage, const CompilePiece &piece,
                                Operation *module) const {
  if (!options.intermediates)
    return success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << *module << "\n";
  return options.intermediates({piece, stage, "mlir", text});
}

LogicalResult Compilation::showCode(const CompilePiece &piece,
                                    Operation *kernels) const {
  if (!options.intermediates)
    return success();
  FailureOr<std::string> llvmIR = emitLLVMIR(kernels, options.serialize);
  if (failed(llvmIR) ||
      failed(options.intermediates({piece, Stage::LLVMIR, "ll", *llvmIR})))
    return failure();
  FailureOr<std::string> assembly = emitAssembly(kernels, options.serialize);
  if (failed(assembly))
    return failure();
  bool isPTX = StringRef(piece.target).starts_with("sm_");
  return options.intermediates(
      {piece, Stage::Assembly, isPTX ? "ptx" : "s", *assembly});
}

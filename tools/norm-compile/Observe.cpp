// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Observe.cpp - shows what a compilation does -----------------------===//

#include "Observe.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::rmsnorm;
namespace cl = llvm::cl;

void printTimes(ArrayRef<CompileTimes> times) {
  size_t widest = 5;
  for (const CompileTimes &t : times)
    widest = std::max(widest, t.entry.size());
  auto &os = llvm::errs();
  auto text = [&](StringRef value, unsigned width) {
    os << llvm::left_justify(value, width) << "  ";
  };
  auto cell = [&](double milliseconds) {
    os << llvm::format("%10.1f", milliseconds);
  };
  text("entry", widest);
  text("target", 11);
  text("variant", 8);
  for (StringRef name :
       {"passes", "translate", "optimise", "codegen", "ptxas/lld", "total"})
    os << llvm::right_justify(name, 10);
  os << "  (ms)\n";
  for (const CompileTimes &t : times) {
    text(t.entry, widest);
    text(t.target.empty() ? "(tensor)" : t.target, 11);
    text(t.variant.empty() ? "-" : t.variant, 8);
    for (double value : {t.passes, t.serialize.translate, t.serialize.optimize,
                         t.serialize.codegen, t.serialize.link,
                         t.passes + t.serialize.total()})
      cell(value);
    os << "\n";
  }
}

void printProgress(const CompileProgress &progress) {
  bool watched = llvm::errs().is_displayed();
  bool ends = progress.done == progress.count;
  if (!watched && !ends)
    return;
  llvm::errs() << (watched ? "\r" : "") << progress.entry << " for "
               << progress.target << ": " << progress.done << " of "
               << progress.count << " schedules compiled, " << progress.refused
               << " others cannot run there" << (ends ? "\n" : "");
}

void registerPassOptions(cl::OptionCategory &category) {
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (name.starts_with("mlir-print-ir") || name.starts_with("mlir-pass") ||
        name.starts_with("mlir-timing") || name == "mlir-output-format")
      option->addCategory(category);
}

bool hasPassOptions(cl::OptionCategory &category) {
  return llvm::any_of(cl::getRegisteredOptions(), [&](const auto &named) {
    const cl::Option *option = named.second;
    return llvm::is_contained(option->Categories, &category) &&
           option->getNumOccurrences() != 0;
  });
}

static bool isGiven(StringRef name) {
  auto option = cl::getRegisteredOptions().find(name);
  return option != cl::getRegisteredOptions().end() &&
         option->second->getNumOccurrences() != 0;
}

/// Whether something is printed in which pieces have to be told apart.
static bool printsPieces() {
  if (isGiven("mlir-pass-statistics"))
    return true;
  if (isGiven("mlir-print-ir-tree-dir"))
    return false;
  return isGiven("mlir-print-ir-before-all") ||
         isGiven("mlir-print-ir-after-all") ||
         isGiven("mlir-print-ir-before") || isGiven("mlir-print-ir-after") ||
         isGiven("mlir-print-ir-after-failure");
}

PassOptionsObserver::PassOptionsObserver(int argc, const char *const *argv)
    : argc(argc), argv(argv), prints(printsPieces()) {
  applyDefaultTimingManagerCLOptions(timing);
  all = timing.getRootScope();
}

PassOptionsObserver::~PassOptionsObserver() {
  current.stop();
  all.stop();
}

void PassOptionsObserver::begin(const CompilePiece &piece, Stage stage) {
  // Linking runs lld in this process, which resets the options.
  cl::ResetAllOptionOccurrences();
  cl::ParseCommandLineOptions(argc, argv);
  std::string name = piece.entry;
  if (!piece.target.empty())
    name += (name.empty() ? "" : " for ") + piece.target;
  if (!piece.variant.empty())
    name += ", " + piece.variant;
  if (name.empty())
    name = "all entries";
  if (prints)
    llvm::errs() << "// -----// Passes of " << name << ", to "
                 << getStageName(stage) << " //----- //\n";
  current = all.nest(TimingIdentifier::get(name, timing));
}

void PassOptionsObserver::end() { current.stop(); }

LogicalResult PassOptionsObserver::configure(PassManager &passes) {
  if (failed(applyPassManagerCLOptions(passes)))
    return failure();
  passes.enableTiming(current);
  return success();
}

llvm::Error IntermediateFiles::create() const {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError(code, "cannot make the folder " + folder +
                                             ": " + code.message());
  if (!llvm::sys::fs::is_directory(folder))
    return llvm::createStringError("cannot make the folder " + folder +
                                   ": there is a file of that name");
  return llvm::Error::success();
}

llvm::Error IntermediateFiles::write(const Intermediate &intermediate) {
  // A name that differs only in other characters gets a number.
  std::string stem;
  for (StringRef part : {StringRef(intermediate.piece.entry),
                         StringRef(intermediate.piece.target),
                         StringRef(intermediate.piece.variant)})
    if (!part.empty())
      stem += (part + ".").str();
  for (char &c : stem)
    if (!llvm::isAlnum(c) && c != '_' && c != '-' && c != '.')
      c = '_';
  stem += std::to_string(unsigned(intermediate.stage)) + "-" +
          getStageName(intermediate.stage).str();
  std::string name = stem;
  for (unsigned k = 2; !written.insert(name).second; ++k)
    name = stem + "-" + std::to_string(k);
  SmallString<256> path(folder);
  llvm::sys::path::append(path, name + "." + intermediate.extension);
  llvm::Error error =
      llvm::writeToOutput(path, [&](raw_ostream &os) -> llvm::Error {
        os << intermediate.text;
        return llvm::Error::success();
      });
  if (!error)
    return error;
  return llvm::createStringError("cannot write " + path + ": " +
                                 llvm::toString(std::move(error)));
}

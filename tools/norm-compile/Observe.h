// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Observe.h - shows what a compilation does -------------------------===//

#ifndef NORM_COMPILE_OBSERVE_H
#define NORM_COMPILE_OBSERVE_H

#include "RMSNorm/Pipelines/Compile.h"

#include "mlir/Support/Timing.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

/// The time of each piece of work, as a table.
void printTimes(llvm::ArrayRef<mlir::rmsnorm::CompileTimes> times);

/// Overwritten where people watch, one line an entry elsewhere.
void printProgress(const mlir::rmsnorm::CompileProgress &progress);

/// Registers MLIR's own options of pass managers and timing, in `category`.
/// The passes must have been registered.
void registerPassOptions(llvm::cl::OptionCategory &category);

/// Whether one of them is given.
bool hasPassOptions(llvm::cl::OptionCategory &category);

/// Applies these options to all passes.
class PassOptionsObserver : public mlir::rmsnorm::PassObserver {
public:
  PassOptionsObserver(int argc, const char *const *argv);
  /// Prints the times, if they are asked for.
  ~PassOptionsObserver() override;

  void begin(const mlir::rmsnorm::CompilePiece &piece,
             mlir::rmsnorm::Stage stage) override;
  void end() override;
  llvm::LogicalResult configure(mlir::PassManager &passes) override;

private:
  int argc;
  const char *const *argv;
  bool prints;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope all, current;
};

/// Writes each stage of a compilation to a file of one folder.
class IntermediateFiles {
public:
  explicit IntermediateFiles(std::string folder) : folder(std::move(folder)) {}

  /// Makes the folder.
  llvm::Error create() const;
  llvm::Error write(const mlir::rmsnorm::Intermediate &intermediate);

private:
  std::string folder;
  llvm::StringSet<> written;
};

#endif // NORM_COMPILE_OBSERVE_H

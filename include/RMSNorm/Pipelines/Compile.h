// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - from a module of norms to code ------------------------===//
//
// The work of norm-compile, for programs that hold the IR already. The context
// needs registerAllDialects, registerAllExtensions and registerSerialization.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_PIPELINES_COMPILE_H
#define RMSNORM_PIPELINES_COMPILE_H

#include "RMSNorm/Target/Serialize.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::rmsnorm {

/// Milliseconds that one variant of one entry took for one target.
struct CompileTimes {
  std::string entry, target, variant;
  /// Our passes: the memref half and finalization. For the entry "(all)" and no
  /// target, the tensor half, which runs once.
  double passes = 0;
  SerializeTimes serialize;
};

/// How far a space of schedules is compiled.
struct CompileProgress {
  StringRef entry;
  std::string target;
  size_t done = 0, count = 0;
  /// Left out, as they cannot run on the target.
  size_t refused = 0;
};

/// Where a module can be looked at on its way to code, in this order.
enum class Stage {
  /// As it came in.
  Source,
  /// As rmsnorm-tensor-half leaves it: programs over rows, for all targets.
  TensorHalf,
  /// With a target, and schedules of one variant.
  Scheduled,
  /// As rmsnorm-memref-half leaves it: thread-level kernels.
  MemrefHalf,
  /// As rmsnorm-to-nvvm, -rocdl, -sim or -oracle leave it: LLVM's dialect.
  Finalized,
  /// Optimised LLVM IR.
  LLVMIR,
  /// PTX for NVIDIA chips, assembly for others.
  Assembly
};

/// "source", "tensor-half", "scheduled", "memref-half", "finalized", "llvm",
/// "asm".
StringRef getStageName(Stage stage);

/// A part of the work: that of an entry, a target and a variant; an empty field
/// stands for all.
struct CompilePiece {
  std::string entry, target, variant;
};

/// A piece at one stage, as text.
struct Intermediate {
  CompilePiece piece;
  Stage stage;
  /// That of a file: "mlir", "ll", "ptx", "s".
  StringRef extension;
  StringRef text;
};

/// Watches the passes that run.
class PassObserver {
public:
  virtual ~PassObserver() = default;
  /// Called before passes take a piece to a stage, and after that, if they
  /// failed, too.
  virtual void begin(const CompilePiece &piece, Stage stage) {}
  virtual void end() {}
  /// Called with each pass manager before its first run, after `begin`.
  virtual LogicalResult configure(PassManager &passes) { return success(); }
};

struct CompileOptions {
  /// "sm_90", "gfx942", "sim:sm_90", "sim", "oracle"; at least one, each once.
  std::vector<std::string> targets;
  /// Passed to rmsnorm-select-schedule.
  std::string schedule;
  /// A row is summed in the same order whatever the number of rows.
  bool batchInvariant = false;
  /// Multiprocessors that kernels leave to other work.
  int64_t smMargin = 0;
  /// Kernels that do not depend on each other are one launch.
  bool mergeLaunches = true;
  /// Variants of a module that no call with one of these numbers of rows takes
  /// are left out, but for the last, which takes any call; empty: none is.
  std::vector<int64_t> rows;
  /// A file of norm-tune; empty: none.
  std::string tuning;
  SerializeOptions serialize;
  /// Also makes entries "NAME#1", "NAME#2", ... out of each entry NAME: one for
  /// each schedule worth measuring. All have NAME's arguments. Implies the
  /// target "oracle", which each is compared with before it is timed.
  bool scheduleSpace = false;
  /// Called as the candidates of an entry are compiled, if set.
  std::function<void(const CompileProgress &)> progress;
  /// Told of all passes, if set. Modules that they run on are then named after
  /// their piece.
  PassObserver *passObserver = nullptr;
  /// Called with each piece at each stage, if set. If it fails, after an error
  /// message of its own, the compilation ends.
  std::function<LogicalResult(const Intermediate &)> intermediates;
  /// Receives a record for each piece of work, if set.
  std::vector<CompileTimes> *times = nullptr;
};

/// Compiles every public function of `module` for every target. Returns the
/// bytes of a .rmsn module. Does not change `module`. On failure diagnostics
/// have been emitted.
FailureOr<std::string> compileModule(ModuleOp module,
                                     const CompileOptions &options);

/// MLIR is of the stage that each is named after.
enum class EmitKind {
  PTX,
  Cubin,
  HSACO,
  Assembly,
  LLVMIR,
  TensorHalf,
  Scheduled,
  MemrefHalf,
  Finalized
};

struct EmitOptions {
  EmitKind kind;
  /// "align16", "align8", "align4", "element", "narrow", as far as the entry
  /// has them, or with a class of rows, "align16_rows_le_512"; empty: the first
  /// the entry has for `rows`.
  std::string variant;
  /// The number of rows the variant is for; none: any number.
  std::optional<int64_t> rows;
  /// The function to compile; empty: all, which only text can hold.
  std::string entry;
};

/// Compiles for the one target of `options` and returns the code itself, that
/// of several entries one after another, in MLIR with a line `// -----`
/// between. The oracle has no PTX, cubin, HSACO, and in MLIR no stage but the
/// last.
FailureOr<std::string> emitCode(ModuleOp module, const CompileOptions &options,
                                const EmitOptions &emit);

} // namespace mlir::rmsnorm

#endif // RMSNORM_PIPELINES_COMPILE_H

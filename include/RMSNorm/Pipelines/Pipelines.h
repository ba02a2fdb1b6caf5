// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.h - the passes in their order ---------------------------===//

#ifndef RMSNORM_PIPELINES_PIPELINES_H
#define RMSNORM_PIPELINES_PIPELINES_H

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Raise/Passes.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::rmsnorm {

/// The options of pipelines to kernels that describe a variant.
template <typename Derived>
struct VariantOptions : PassPipelineOptions<Derived> {
  mlir::detail::PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("a chip (sm_90, gfx942), the simulator of a chip "
                     "(sim:gfx942), or sim for a generic one; none is an "
                     "error, but rmsnorm-to-nvvm, -rocdl and -sim have sm_90, "
                     "gfx942 and sim")};
  mlir::detail::PassOptions::Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("overrides of the selector's choice: a mode and "
                     "field=value items, separated by commas; default: "
                     "none")};
  mlir::detail::PassOptions::Option<int64_t> alignment{
      *this, "alignment",
      llvm::cl::desc("bytes all rows are aligned to: 16, or 1 for the variant "
                     "that takes any pointer and stride; default 16"),
      llvm::cl::init(16)};
  mlir::detail::PassOptions::Option<int64_t> rows{
      *this, "rows",
      llvm::cl::desc("the most rows that a call will have; -1, the default: "
                     "any number"),
      llvm::cl::init(-1)};
  mlir::detail::PassOptions::Option<bool> batchInvariant{
      *this, "batch-invariant",
      llvm::cl::desc("a row is summed in the same order whatever the number of "
                     "rows; default false"),
      llvm::cl::init(false)};
  mlir::detail::PassOptions::Option<int64_t> columns{
      *this, "columns",
      llvm::cl::desc("the most columns that a call will have, where N is known "
                     "only then; -1, the default: any number"),
      llvm::cl::init(-1)};
  mlir::detail::PassOptions::Option<bool> narrowColumns{
      *this, "narrow-columns",
      llvm::cl::desc("N, where it is known only then, is no multiple of a "
                     "vector; default false"),
      llvm::cl::init(false)};
  mlir::detail::PassOptions::Option<int64_t> smMargin{
      *this, "sm-margin",
      llvm::cl::desc("multiprocessors to leave to other work; default 0"),
      llvm::cl::init(0)};
  mlir::detail::PassOptions::Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("a file of norm-tune, whose records replace the choice; "
                     "default: none")};
  mlir::detail::PassOptions::Option<bool> mergeLaunches{
      *this, "merge-launches",
      llvm::cl::desc("make one launch of kernels that do not depend on each "
                     "other; default true"),
      llvm::cl::init(true)};
};

/// The target and variant of one run of the memref half.
struct MemrefHalfOptions : VariantOptions<MemrefHalfOptions> {};

/// How calls of different alignments and sizes are told apart.
enum class EmbedVariants { guarded, fixed };

/// The target and variants of kernels in another compiler's host code.
struct EmbedMemrefsOptions : VariantOptions<EmbedMemrefsOptions> {
  PassOptions::Option<EmbedVariants> variants{
      *this, "variants",
      llvm::cl::desc("what alignment and numbers of rows are asked of; "
                     "default guarded"),
      llvm::cl::init(EmbedVariants::guarded),
      llvm::cl::values(
          clEnumValN(EmbedVariants::guarded, "guarded",
                     "each call: branches in the host code"),
          clEnumValN(EmbedVariants::fixed, "fixed",
                     "the options alignment, rows and columns: all calls "
                     "promise them"))};
};

/// How norms among other work are taken.
struct EmbedTensorsOptions : PassPipelineOptions<EmbedTensorsOptions> {
  PassOptions::Option<bool> decomposeRest{
      *this, "decompose-rest",
      llvm::cl::desc("decompose the norms that no kernel is made of, so that "
                     "no op is left but upstream's"),
      llvm::cl::init(true)};
  PassOptions::Option<bool> remarks{
      *this, "remarks",
      llvm::cl::desc("say of each neighbour of a norm why it is not fused"),
      llvm::cl::init(false)};
};

/// From norms on tensors or memrefs, anywhere below the op that `manager` runs
/// on, to tile programs on tensors, each in a `rmsnorm.rows`. Row-wise work
/// around a norm is in it; everything else stays as it is. The host compiler
/// bufferizes all of it (one-shot bufferization, with an inner stride of 1 for
/// the operands of norms), and rmsnorm-embed-memrefs comes next.
void buildEmbedTensors(OpPassManager &manager,
                       const EmbedTensorsOptions &options);

/// From norms that are spread over linalg, arith and math on tensors to norms;
/// `roundings` of a gradient are those that they keep, `rowWise` other
/// reductions of rows that may begin kernels.
void buildRaise(OpPassManager &manager, Roundings roundings,
                RowWise rowWise = RowWise::norms);

/// Options of rmsnorm-outline.
struct OutlineOptions : PassPipelineOptions<OutlineOptions> {
  PassOptions::Option<std::string> report{
      *this, "report",
      llvm::cl::desc("a file for a description, in JSON, of the functions and "
                     "of what is in none"),
      llvm::cl::init("")};
  PassOptions::Option<bool> dropRest{
      *this, "drop-rest",
      llvm::cl::desc("erase all functions but those that were made"),
      llvm::cl::init(false)};
};

/// From norms on tensors among other work, in functions, to functions that
/// norm-compile compiles, each with what rmsnorm-embed-tensors would make one
/// kernel of, and calls of them.
void buildOutline(OpPassManager &manager, const OutlineOptions &options);

/// From norms on tensors to bufferized tile programs, in public functions that
/// take all their results as arguments. Knows neither target nor variant.
void buildTensorHalf(OpPassManager &manager);

/// From bufferized tile programs to thread-level kernels and their launches,
/// for one target and one variant.
void buildMemrefHalf(OpPassManager &manager, const MemrefHalfOptions &options);

/// Whose code around kernels a pipeline may simplify: all, or none but ours.
enum class HostCode { ours, theirs };

/// The memref half of loops whose schedules are set, in a module whose target
/// is: it chooses nothing. `mergeLaunches`: see rmsnorm-merge-launches.
void buildScheduledHalf(OpPassManager &manager, bool mergeLaunches,
                        HostCode host = HostCode::ours);

/// From tensor IR with norms to the oracle: for each public function @f an
/// llvm.func @oracle_f in scalar loops over intervals, see rmsnorm-to-intervals
/// and rmsnorm-finalize-oracle. All of
/// f's results must be computed into arguments (rmsnorm-bind-arguments).
void buildToOracle(OpPassManager &manager);

/// From thread-level kernels to LLVM dialect ones that serialization takes, for
/// the target that the memref half had. Unknown ones are its errors.
void buildFinalize(OpPassManager &manager, StringRef target);

/// From bufferized programs over rows in any functions to finalized kernels and
/// their launches, for one target: rmsnorm-embed-host comes next, when all that
/// frees buffers has been.
void buildEmbedMemrefs(OpPassManager &manager,
                       const EmbedMemrefsOptions &options);

/// Registers the pipelines under their command-line names.
void registerPipelines();

/// Registers rmsnorm-to-nvvm, rmsnorm-to-rocdl and rmsnorm-to-sim: everything
/// from the ops to the input of serialization, for one chip and variant.
void registerTargetPipelines();

/// Registers rmsnorm-embed-memrefs.
void registerEmbedPipelines();

} // namespace mlir::rmsnorm

#endif // RMSNORM_PIPELINES_PIPELINES_H

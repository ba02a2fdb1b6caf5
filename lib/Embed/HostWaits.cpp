// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostWaits.cpp - where host code waits for launches ----------------===//

#include "HostWaits.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// The effect of an op while kernels may run.
enum class Kind {
  /// Nothing that they would notice.
  transparent,
  /// Launches, and nothing else.
  launches,
  /// Anything.
  other,
};

class Waits {
public:
  explicit Waits(ArrayRef<gpu::LaunchFuncOp> launches)
      : launches(launches.begin(), launches.end()) {}

  /// Adds the ops in the regions of `op` after which to wait.
  void collect(Operation *op);

  SmallVector<Operation *> last;

private:
  Kind getKind(Operation *op);
  void collect(Block &block);

  llvm::SmallDenseSet<Operation *> launches;
};
} // namespace

Kind Waits::getKind(Operation *op) {
  if (launches.contains(op))
    return Kind::launches;
  if (isa<WorkspaceOp, BufferPointerOp>(op))
    return Kind::transparent;
  // Its own effects, which linalg on buffers has beside those of its body.
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    // No kernel uses new memory.
    if (!effects.hasNoEffect() &&
        !effects.onlyHasEffect<MemoryEffects::Allocate>())
      return Kind::other;
  } else if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    return Kind::other;
  }
  if (op->getNumRegions() != 0 &&
      (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
       op->hasTrait<OpTrait::HasParallelRegion>()))
    return Kind::other;
  Kind kind = Kind::transparent;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      kind = std::max(kind, getKind(&inner));
  return kind;
}

void Waits::collect(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      collect(block);
}

void Waits::collect(Block &block) {
  Operation *run = nullptr;
  for (Operation &op : block) {
    const Kind kind = getKind(&op);
    if (kind == Kind::launches)
      run = &op;
    if (kind != Kind::other && !op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (run)
      last.push_back(run);
    run = nullptr;
    collect(&op);
  }
  if (run)
    last.push_back(run);
}

SmallVector<Operation *>
rmsnorm::getLastLaunches(ModuleOp module,
                         ArrayRef<gpu::LaunchFuncOp> launches) {
  Waits waits(launches);
  waits.collect(module);
  return std::move(waits.last);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.cpp - the ops around a norm that work row by row -------===//

#include "RowCluster.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

std::optional<int64_t> rmsnorm::getAnchorRowDims(Operation *op) {
  auto rowWise = dyn_cast<RowWiseOpInterface>(op);
  return rowWise ? rowWise.getAnchorRowDims() : std::nullopt;
}

bool rmsnorm::sumsOverRows(OpResult result) {
  auto op = dyn_cast<RowWiseOpInterface>(result.getOwner());
  return op && op.sumsOverRows(result.getResultNumber());
}

bool rmsnorm::isInitRead(OpOperand &init) {
  auto op = dyn_cast<RowWiseOpInterface>(init.getOwner());
  return !op || op.readsInit(init);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> getRowSizes(Operation *op, int64_t rowDims) {
  return cast<RowWiseOpInterface>(op).getRowSizes(rowDims);
}

static std::string formatSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      sizes, stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << "?";
        else
          stream << size;
      },
      "x");
  return sizes.empty() ? "one" : text;
}

/// Why `op` does not work row by row; empty if it does.
static std::string whyNotRowWise(Operation *op, const RowCluster &cluster) {
  std::string reason =
      cast<RowWiseOpInterface>(op).whyNotRowWise(cluster.rowDims);
  if (!reason.empty())
    return reason;
  SmallVector<int64_t> sizes = getRowSizes(op, cluster.rowDims);
  for (auto [size, other] : llvm::zip(sizes, cluster.rowSizes))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(other) &&
        size != other)
      return llvm::formatv("its rows are {0}, not {1}", formatSizes(sizes),
                           formatSizes(cluster.rowSizes));
  return "";
}

/// Whether an iteration needs of the operand just the row it works on.
static bool usesRow(OpOperand &use, int64_t rowDims) {
  if (auto sum = dyn_cast<OpResult>(use.get()); sum && sumsOverRows(sum))
    return false;
  return cast<RowWiseOpInterface>(use.getOwner()).usesRow(use, rowDims);
}

static bool isCandidate(Operation *op) {
  return isa<RowWiseOpInterface>(op) && isa<TilingInterface>(op) &&
         isa<DestinationStyleOpInterface>(op) && op->getNumResults() > 0;
}

//===----------------------------------------------------------------------===//
// The cluster
//===----------------------------------------------------------------------===//

namespace {
/// How an op touches a cluster.
struct Contact {
  bool exists = false;
  /// A row computed by one side is used by the other as that row.
  bool byRow = true;
};
} // namespace

/// Whether `operand` is an input whose rows come from outside of the cluster.
static bool readsOutsideRow(OpOperand &operand, const RowCluster &cluster) {
  auto op = cast<DestinationStyleOpInterface>(operand.getOwner());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  Operation *definition = operand.get().getDefiningOp();
  return type && type.getRank() > 0 && !op.isDpsInit(&operand) &&
         !(definition && definition->hasTrait<OpTrait::ConstantLike>()) &&
         !cluster.members.contains(definition) &&
         usesRow(operand, cluster.rowDims);
}

static Contact getContact(Operation *op, const RowCluster &cluster) {
  Contact contact;
  for (OpOperand &operand : op->getOpOperands()) {
    if (cluster.members.contains(operand.get().getDefiningOp())) {
      contact.exists = true;
      contact.byRow &= usesRow(operand, cluster.rowDims);
    } else if (readsOutsideRow(operand, cluster)) {
      // Two readers of the same rows read them once.
      contact.exists |=
          llvm::any_of(operand.get().getUses(), [&](OpOperand &other) {
            return cluster.members.contains(other.getOwner()) &&
                   readsOutsideRow(other, cluster);
          });
    }
  }
  for (OpOperand &use : op->getUses())
    if (cluster.members.contains(use.getOwner())) {
      contact.exists = true;
      contact.byRow &= usesRow(use, cluster.rowDims);
    }
  return contact;
}

/// All operations of `op` and its regions use these values.
template <typename Callback>
static bool anyOperand(Operation *op, Callback callback) {
  return op
      ->walk([&](Operation *nested) {
        return WalkResult(
            failure(llvm::any_of(nested->getOperands(), [&](Value operand) {
              Operation *definition = operand.getDefiningOp();
              return definition && callback(definition);
            })));
      })
      .wasInterrupted();
}

static bool containsAnchor(const llvm::SetVector<Operation *> &ops) {
  return llvm::any_of(
      ops, [](Operation *op) { return getAnchorRowDims(op).has_value(); });
}

/// Finds the ops outside that use the cluster. If one of them feeds it, drops
/// the part of the cluster before or behind it, the one without an anchor
/// if possible, and returns true.
static bool splitOnce(RowCluster &cluster, Block *block) {
  llvm::DenseSet<Operation *> outside;
  llvm::SetVector<Operation *> before, behind;
  Operation *splitter = nullptr;
  for (Operation &op : *block) {
    bool followsOutside = anyOperand(&op, [&](Operation *definition) {
      if (!outside.contains(definition))
        return false;
      if (!splitter && cluster.members.contains(&op))
        splitter = definition;
      return true;
    });
    if (cluster.members.contains(&op)) {
      bool isBehind =
          followsOutside || anyOperand(&op, [&](Operation *definition) {
            return behind.contains(definition);
          });
      (isBehind ? behind : before).insert(&op);
      continue;
    }
    if (followsOutside || anyOperand(&op, [&](Operation *definition) {
          return cluster.members.contains(definition);
        })) {
      outside.insert(&op);
      cluster.uniforms.remove(&op);
    }
  }
  if (behind.empty())
    return false;
  splitter->emitRemark("uses the rows of a norm's cluster and feeds it; the "
                       "cluster is split here");
  cluster.members = containsAnchor(before) ? before : behind;
  return true;
}

static void addMember(RowCluster &cluster, Operation *op) {
  cluster.members.insert(op);
  SmallVector<int64_t> sizes = getRowSizes(op, cluster.rowDims);
  for (auto [size, other] : llvm::zip(cluster.rowSizes, sizes))
    if (ShapedType::isDynamic(size))
      size = other;
}

static bool usesMember(Operation *op, const RowCluster &cluster) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return cluster.members.contains(operand.getDefiningOp());
  });
}

/// Ops that compute something of their own, the same for all rows.
static void collectUniforms(RowCluster &cluster, Block *block,
                            const llvm::SetVector<Operation *> &taken) {
  for (Operation &op : llvm::reverse(*block)) {
    if (cluster.members.contains(&op) || taken.contains(&op) ||
        !isUniform(&op) || usesMember(&op, cluster))
      continue;
    if (llvm::any_of(op.getUses(), [&](OpOperand &use) {
          auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
          bool isRead = !user || !user.isDpsInit(&use) || isInitRead(use);
          return (cluster.members.contains(use.getOwner()) && isRead) ||
                 cluster.uniforms.contains(use.getOwner());
        }))
      cluster.uniforms.insert(&op);
  }
}

RowCluster RowCluster::grow(Operation *anchor,
                            const llvm::SetVector<Operation *> &taken,
                            llvm::DenseSet<Operation *> &reported) {
  RowCluster cluster;
  Block *block = anchor->getBlock();
  cluster.rowDims = *getAnchorRowDims(anchor);
  cluster.rowSizes = getRowSizes(anchor, cluster.rowDims);
  addMember(cluster, anchor);
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : *block) {
      if (cluster.members.contains(&op) || taken.contains(&op) ||
          !isCandidate(&op))
        continue;
      Contact contact = getContact(&op, cluster);
      if (!contact.exists || !contact.byRow ||
          !whyNotRowWise(&op, cluster).empty())
        continue;
      addMember(cluster, &op);
      changed = true;
    }
  }
  collectUniforms(cluster, block, taken);
  // Near misses.
  for (Operation &op : *block) {
    if (cluster.members.contains(&op) || cluster.uniforms.contains(&op) ||
        taken.contains(&op) || !isCandidate(&op))
      continue;
    Contact contact = getContact(&op, cluster);
    if (!contact.exists || !reported.insert(&op).second)
      continue;
    std::string reason = whyNotRowWise(&op, cluster);
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          auto result = dyn_cast<OpResult>(operand);
          return result && cluster.members.contains(result.getOwner()) &&
                 sumsOverRows(result);
        }))
      reason = "it uses a sum over all rows";
    if (reason.empty())
      reason = "it uses rows as columns";
    op.emitRemark("not tiled with the norm next to it: ") << reason;
  }
  while (splitOnce(cluster, block)) {
  }
  return cluster;
}

SmallVector<Operation *> RowCluster::getOpsInOrder() const {
  SmallVector<Operation *> ops(members.begin(), members.end());
  ops.append(uniforms.begin(), uniforms.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

SmallVector<Operation *> RowCluster::getFollowers() const {
  Operation *last = getOpsInOrder().back();
  llvm::SetVector<Operation *> followers;
  for (Operation *op = &members.front()->getBlock()->front(); op && op != last;
       op = op->getNextNode())
    if (!members.contains(op) && anyOperand(op, [&](Operation *definition) {
          return members.contains(definition) || followers.contains(definition);
        }))
      followers.insert(op);
  return followers.takeVector();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.cpp - the ops around a norm that work row by row -------===//

#include "RowCluster.h"

#include "EmbeddedCluster.h"
#include "Reshapes.h"
#include "RowMembers.h"
#include "RowSums.h"
#include "StoredLayouts.h"
#include "TileProgram.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

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
  if (takesPart(operand.getOwner()))
    return false;
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  Operation *definition = operand.get().getDefiningOp();
  return type && type.getRank() > 0 && !(op && op.isDpsInit(&operand)) &&
         !(definition && definition->hasTrait<OpTrait::ConstantLike>()) &&
         !cluster.members.contains(definition) &&
         usesRow(operand, cluster.rowDims);
}

/// Whether the body of `op` reads what an op computes that `isProducer` holds
/// of.
static bool readsTableOf(Operation *op,
                         function_ref<bool(Operation *)> isProducer) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp &&
         llvm::any_of(linalgOp.getBlock()->getOps<tensor::ExtractOp>(),
                      [&](tensor::ExtractOp extract) {
                        Operation *table = extract.getTensor().getDefiningOp();
                        return table && isProducer(table);
                      });
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
  // A table is read at any rows: it must be there.
  if (readsTableOf(
          op,
          [&](Operation *other) { return cluster.members.contains(other); }) ||
      llvm::any_of(cluster.members, [&](Operation *member) {
        return readsTableOf(member, [&](Operation *o) { return o == op; });
      }))
    contact = {/*exists=*/true, /*byRow=*/false};
  return contact;
}

bool rmsnorm::containsAnchor(const llvm::SetVector<Operation *> &ops) {
  return llvm::any_of(
      ops, [](Operation *op) { return getAnchorRowDims(op).has_value(); });
}

/// Finds the ops outside that use the cluster. If one of them feeds it, drops
/// the part of the cluster before or behind it, the one without an anchor
/// if possible, and returns true.
static bool splitOnce(RowCluster &cluster, Block *block, bool remarks) {
  llvm::DenseSet<Operation *> outside;
  llvm::SetVector<Operation *> before, behind;
  Operation *splitter = nullptr;
  for (Operation &op : *block) {
    bool followsOutside = anyOperand(&op, cluster, [&](Operation *definition) {
      if (!outside.contains(definition))
        return false;
      if (!splitter && cluster.members.contains(&op))
        splitter = definition;
      return true;
    });
    if (cluster.members.contains(&op)) {
      bool isBehind = followsOutside ||
                      anyOperand(&op, cluster, [&](Operation *definition) {
                        return behind.contains(definition);
                      });
      (isBehind ? behind : before).insert(&op);
      continue;
    }
    if (followsOutside || anyOperand(&op, cluster, [&](Operation *definition) {
          return cluster.members.contains(definition);
        })) {
      outside.insert(&op);
      cluster.uniforms.remove(&op);
    }
  }
  if (behind.empty())
    return false;
  if (remarks)
    splitter->emitRemark("uses the rows of a norm's cluster and feeds it; the "
                         "cluster is split here");
  cluster.members = containsAnchor(before) ? before : behind;
  return true;
}

void RowCluster::addColumns(Operation *op) {
  llvm::append_range(columns, rmsnorm::getColumns(op, rowDims));
  // What works on groups has as many columns as there are groups.
  if (isGroupReshape(op, rowDims))
    for (Value value : {op->getOperand(0), Value(op->getResult(0))})
      columns.push_back(traceDim(value, rowDims));
  if (isa<tensor::ExtractSliceOp>(op))
    columns.push_back(traceDim(op->getResult(0), rowDims));
}

llvm::SetVector<Operation *> RowCluster::getStrangers() const {
  RowCluster known;
  known.rowDims = rowDims;
  llvm::SetVector<Operation *> strangers = members;
  Operation *anchor = *llvm::find_if(
      members, [](Operation *op) { return getAnchorRowDims(op).has_value(); });
  auto isKnown = [&](Operation *op) {
    if (op != anchor && !hasColumns(op, rowDims, known))
      return false;
    known.addColumns(op);
    return true;
  };
  isKnown(anchor);
  while (strangers.remove_if(isKnown)) {
  }
  return strangers;
}

static void addMember(RowCluster &cluster, Operation *op) {
  cluster.members.insert(op);
  SmallVector<int64_t> sizes = getRowSizes(op, cluster.rowDims);
  for (auto [size, other] : llvm::zip(cluster.rowSizes, sizes))
    if (ShapedType::isDynamic(size))
      size = other;
  cluster.addColumns(op);
}

static bool usesMember(Operation *op, const RowCluster &cluster) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return cluster.members.contains(operand.getDefiningOp());
  });
}

/// Ops that compute something of their own, the same for all rows.
static void collectUniforms(RowCluster &cluster, Block *block,
                            const Growth &growth) {
  for (Operation &op : llvm::reverse(*block)) {
    if (cluster.members.contains(&op) || growth.taken.contains(&op) ||
        !isUniform(&op) || usesMember(&op, cluster) ||
        (growth.embedded && (!whyNoKernel(&op).empty() ||
                             !hasColumns(&op, /*rowDims=*/0, cluster))))
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

RowCluster RowCluster::grow(Operation *anchor, Growth &growth) {
  RowCluster cluster;
  Block *block = anchor->getBlock();
  const llvm::SetVector<Operation *> &taken = growth.taken;
  auto whyNot = [&](Operation *op) {
    std::string reason = whyNotRowWise(op, cluster);
    return reason.empty() && growth.embedded ? whyNotEmbedded(op, cluster)
                                             : reason;
  };
  cluster.rowDims = *getAnchorRowDims(anchor);
  cluster.rowSizes = getRowSizes(anchor, cluster.rowDims);
  cluster.columns = getColumns(anchor, cluster.rowDims);
  if (growth.embedded) {
    if (std::string reason = whyNot(anchor); !reason.empty()) {
      if (growth.remarks && growth.reported.insert(anchor).second)
        anchor->emitRemark("not made a kernel of: ") << reason;
      return cluster;
    }
  }
  addMember(cluster, anchor);
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : *block) {
      // Parts of tensors that are there already are tensors of their own.
      if (cluster.members.contains(&op) || taken.contains(&op) ||
          !isCandidate(&op) ||
          (takesPart(&op) &&
           !cluster.members.contains(op.getOperand(0).getDefiningOp())) ||
          getStoredGroups(&op, cluster.rowDims))
        continue;
      Contact contact = getContact(&op, cluster);
      if (!contact.exists || !contact.byRow || !whyNot(&op).empty())
        continue;
      addMember(cluster, &op);
      changed = true;
    }
  }
  collectUniforms(cluster, block, growth);
  // Near misses.
  for (Operation &op : *block) {
    if (!growth.remarks || isReshape(&op) || cluster.members.contains(&op) ||
        cluster.uniforms.contains(&op) || taken.contains(&op) ||
        !isCandidate(&op) ||
        (takesPart(&op) &&
         !cluster.members.contains(
             op.getOperand(isa<tensor::ExtractSliceOp>(op) ? 0 : 1)
                 .getDefiningOp())))
      continue;
    // Says where groups are stored.
    Value groups = getStoredGroups(&op, cluster.rowDims);
    if (groups && cluster.members.contains(groups.getDefiningOp()) &&
        hasGroupsOf(groups, cluster))
      continue;
    Value value =
        groups || !isa<linalg::LinalgOp>(op) ? Value() : getReordered(&op);
    if (value && value.getDefiningOp() != &op &&
        cluster.members.contains(value.getDefiningOp()) &&
        hasGroupsOf(value, cluster) && growth.reported.insert(&op).second) {
      op.emitRemark("not stored with the norm next to it: expected groups of "
                    "columns to keep their order and rows to be divided by "
                    "static sizes, with nothing but what the destination "
                    "holds beside them");
      continue;
    }
    // Becomes a part of what uses it, or of a sum.
    if (llvm::any_of(
            cluster.members,
            [&](Operation *member) {
              return llvm::any_of(member->getResults(), [&](OpResult result) {
                return sumsOverRows(result, cluster.rowDims) &&
                       llvm::is_contained(RowSum::match(result, cluster.rowDims,
                                                        /*withTail=*/true)
                                              .tail,
                                          &op);
              });
            }) ||
        llvm::all_of(op.getUses(), [&](OpOperand &use) {
          return cluster.members.contains(use.getOwner()) &&
                 isPartial(getOperandRowDims(use, cluster.rowDims),
                           cluster.rowDims);
        }))
      continue;
    Contact contact = getContact(&op, cluster);
    if (!contact.exists || !growth.reported.insert(&op).second)
      continue;
    std::string reason = whyNot(&op);
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          auto result = dyn_cast<OpResult>(operand);
          return result && cluster.members.contains(result.getOwner()) &&
                 sumsOverRows(result, cluster.rowDims);
        }))
      reason = "it uses a sum over all rows";
    if (reason.empty())
      reason = "it uses rows as columns";
    op.emitRemark("not tiled with the norm next to it: ") << reason;
  }
  while (splitOnce(cluster, block, growth.remarks) ||
         (growth.embedded && cutOnce(cluster))) {
  }
  if (growth.remarks && cluster.members.empty())
    anchor->emitRemark("not made a kernel of: ") << cluster.refusal;
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
    if (!members.contains(op) &&
        anyOperand(op, *this, [&](Operation *definition) {
          return members.contains(definition) || followers.contains(definition);
        }))
      followers.insert(op);
  return followers.takeVector();
}

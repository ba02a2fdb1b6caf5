// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recomputation.cpp - members that others compute again -------------===//

#include "Recomputation.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using linalg::LinalgOp;

/// Whether the user of a tensor could compute each element where it uses it.
static bool canComputeOperands(Operation *user) {
  auto op = dyn_cast<LinalgOp>(user);
  return getLoopNest(user) && !getFilled(user) && !isa<ScatterOp>(user) &&
         (!op || !linalg::isaContractionOpInterface(op));
}

/// Whether all that `op` computes is exact arithmetic on its elements.
static bool isArithmetic(LinalgOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         llvm::all_of(*op.getBlock(), [](Operation &nested) {
           return isa<linalg::YieldOp>(nested) ||
                  isa<arith::ArithDialect>(nested.getDialect());
         });
}

static int64_t getBits(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

namespace {
/// What is needed to compute a member again.
class Cone {
public:
  Cone(const Cluster &cluster, const DenseSet<Operation *> &stored)
      : cluster(cluster), stored(stored) {}

  /// False if `op` cannot be computed again.
  bool add(Operation *op);
  bool hasColumns(const Layout &layout) const {
    return has(layout, &Digits::hasColumns);
  }
  /// Of an element of each tensor with all rows and columns.
  int64_t getBitsRead() const {
    int64_t bits = 0;
    for (auto &leaf : leaves)
      bits += leaf.second;
    return bits;
  }
  ArrayRef<Operation *> getMembers() const { return ops.getArrayRef(); }
  const llvm::MapVector<Value, int64_t> &getLeaves() const { return leaves; }

private:
  bool has(const Layout &layout,
           bool (Digits::*property)(const Sum &) const) const {
    const Digits &digits = cluster.getDigits();
    return llvm::any_of(digits.resolve(layout), [&](const Sum &sum) {
      return (digits.*property)(sum);
    });
  }

  const Cluster &cluster;
  const DenseSet<Operation *> &stored;
  llvm::SetVector<Operation *> ops;
  llvm::MapVector<Value, int64_t> leaves;
};
} // namespace

bool Cone::add(Operation *op) {
  if (!ops.insert(op))
    return true;
  auto linalgOp = dyn_cast<LinalgOp>(op);
  const std::optional<LoopNest> nest = getLoopNest(op);
  if (!linalgOp || !nest || nest->hasReduction() || !isArithmetic(linalgOp))
    return false;
  auto isOfMember = [&](Value value) {
    return cluster.findLayout(value) ||
           (value.getDefiningOp() && cluster.findMember(value.getDefiningOp()));
  };
  if (isOfMember(getViewSource(linalgOp.getDpsInits().front())))
    return false;
  const Layout &loops = cluster.findMember(op)->loops;
  // A single row is all that any operand has.
  const bool isSingleRow = !has(loops, &Digits::hasRows);
  for (const auto &[operand, map] : nest->reads) {
    const Value value = getViewSource(operand->get());
    const Layout layout = getIndices(map, loops);
    if (isOfMember(value)) {
      Operation *definition = value.getDefiningOp();
      const Layout *own = cluster.findLayout(value);
      // A sum over rows, or parts that are put together.
      if (!own || !cluster.findMember(definition))
        return false;
      if (!stored.contains(definition) && hasColumns(*own)) {
        if (!add(definition))
          return false;
        continue;
      }
    }
    leaves[value] =
        hasColumns(layout) && (isSingleRow || has(layout, &Digits::hasRows))
            ? getBits(value)
            : 0;
  }
  return true;
}

/// Whether `value` is computed, put or reshaped into a new tensor.
static bool isOfNewTensor(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      value = insertion.getDest();
    else if (isView(op))
      value = op->getOperand(0);
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      value = dps.getTiedOpOperand(cast<OpResult>(value))->get();
    else
      return isa<tensor::EmptyOp>(op);
  }
  return false;
}

Recomputation::Recomputation(const Cluster &cluster, bool amongOthers) {
  ArrayRef<Member> all = cluster.getMembers();
  SmallVector<llvm::SetVector<Operation *>> users(all.size());
  DenseSet<Operation *> stored, live;
  for (const Access &access : cluster.getAccesses()) {
    if (access.isRead())
      continue;
    Operation *user = access.operand->getOwner();
    if (access.kind == Access::Kind::escape &&
        user->getBlock() == cluster.getAnchor()->getBlock() &&
        canComputeOperands(user) &&
        (amongOthers || isOfNewTensor(access.landing)))
      users[access.member].insert(user);
    else
      stored.insert(all[access.member].op);
  }
  SmallVector<Operation *> work;
  for (auto [member, uses] : llvm::zip_equal(all, users)) {
    if (uses.empty() || stored.contains(member.op))
      continue;
    Cone cone(cluster, stored);
    const Layout *layout = cluster.findLayout(member.op->getResult(0));
    const int64_t count = uses.size();
    if (layout && cone.hasColumns(*layout) && cone.add(member.op) &&
        (!amongOthers || count * cone.getBitsRead() <
                             (count + 1) * getBits(member.op->getResult(0)))) {
      members.insert_range(cone.getMembers());
      for (auto &leaf : cone.getLeaves())
        if (Operation *definition = leaf.first.getDefiningOp();
            definition && cluster.findMember(definition))
          work.push_back(definition);
    } else {
      stored.insert(member.op);
    }
  }
  if (members.empty())
    return;
  // What the kernel needs: what it stores, and what that needs.
  llvm::append_range(work, stored);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (live.insert(op).second)
      for (const Access &access : cluster.getAccesses())
        if (access.kind == Access::Kind::member && all[access.member].op == op)
          work.push_back(access.value.getDefiningOp());
  }
  for (const Member &member : all)
    if (members.contains(member.op) && !live.contains(member.op))
      unneeded.push_back(member.op);
}

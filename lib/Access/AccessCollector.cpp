// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessCollector.cpp - what members access -------------------------===//

#include "AccessCollector.h"
#include "ClusterGrowth.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using linalg::LinalgOp;

/// How many accesses one member may have: chains of ops outside that are
/// computed where they are used, and read things twice, double at each step.
static constexpr size_t kMaxAccesses = 256;

/// What `op` uses, by operands and in its regions.
static SmallVector<Value> getUsedValues(Operation *op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, captured);
  return values;
}

AccessCollector::AccessCollector(Cluster &cluster, ArrayRef<Cluster> others,
                                 const DenseSet<Operation *> &taken)
    : cluster(cluster), digits(cluster.digits), taken(taken) {
  for (auto [number, member] : llvm::enumerate(cluster.members))
    numbers[member.op] = number;
  Block *block = cluster.anchor->getBlock();
  for (Operation &op : *block)
    for (Value value : getUsedValues(&op))
      if (Operation *definition = value.getDefiningOp())
        needs[&op].push_back(definition);
  for (const Cluster &other : others) {
    SmallVector<Operation *> all;
    for (const Member &member : other.members)
      llvm::append_range(all, needs[member.op]);
    for (const Member &member : other.members)
      needs[member.op] = all;
  }
  // Another cluster needs what any of its members does.
  DenseMap<Operation *, SmallVector<Operation *, 4>> users;
  for (const auto &[op, definitions] : needs)
    for (Operation *definition : definitions)
      users[definition].push_back(op);
  auto follow = [&](ArrayRef<Operation *> from, DenseSet<Operation *> &after) {
    SmallVector<Operation *> work(from);
    while (!work.empty())
      for (Operation *user : users.lookup(work.pop_back_val()))
        if (after.insert(user).second)
          work.push_back(user);
  };
  SmallVector<Operation *> members;
  for (const Member &member : cluster.members)
    members.push_back(member.op);
  follow(members, afterMembers);
  follow(cluster.anchor, afterAnchor);
}

bool AccessCollector::dependsOnMembers(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && (isMember(op) || afterMembers.contains(op));
}

/// Takes out the current member, which reads what `definition`, a member or an
/// op that uses members, computes. Where the anchor needs it, takes out what
/// comes before.
void AccessCollector::refuse(Operation *definition, StringRef why) {
  Operation *member = cluster.members[current].op;
  if (afterAnchor.contains(member)) {
    bad.insert({member, why});
    return;
  }
  SmallVector<Operation *> work = {definition};
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    if (isMember(op)) {
      bad.insert({op, "is used by another op that feeds the cluster"});
      continue;
    }
    for (Operation *needed : needs[op])
      if (isMember(needed) || afterMembers.contains(needed))
        work.push_back(needed);
  }
}

bool AccessCollector::haveSameRows(const Layout &a, const Layout &b) const {
  return llvm::all_of(llvm::zip_equal(a, b), [&](auto sums) {
    return digits.haveSameRows(std::get<0>(sums), std::get<1>(sums));
  });
}

void AccessCollector::add(Access access) {
  access.member = current;
  access.layout = digits.resolve(access.layout);
  cluster.accesses.push_back(std::move(access));
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

void AccessCollector::read(OpOperand &operand, Layout layout,
                           std::optional<unsigned> parent) {
  Access access;
  access.operand = &operand;
  access.parent = parent;
  if (parent && cluster.accesses[*parent].kind == Access::Kind::assembled)
    access.whole = layout;
  access.value = operand.get();
  traceBack(digits, access.value, layout);
  layout = digits.resolve(layout);
  access.layout = layout;
  Value value = access.value;
  Operation *op = value.getDefiningOp();
  auto it = cluster.layouts.find(value);
  if (op && isMember(op)) {
    access.kind = Access::Kind::member;
    if (it == cluster.layouts.end())
      return refuse(op, isa<ScatterOp>(op) ? kUsesScattered : kUsesSum);
    if (!haveSameRows(layout, it->second))
      return refuse(op, "uses other rows of what is computed");
    return add(std::move(access));
  }
  auto insertion = dyn_cast_or_null<tensor::InsertSliceOp>(op);
  if (insertion && it != cluster.layouts.end() &&
      !haveSameRows(layout, it->second))
    return refuse(op, "uses other rows of what is computed");
  if (insertion && readParts(access, insertion))
    return;
  // A number that members compute is no constant.
  SplatElementsAttr splat;
  if (op && (isa<tensor::EmptyOp>(op) ||
             (getFilled(op) && !dependsOnMembers(value)) ||
             matchPattern(op, m_Constant(&splat)))) {
    access.kind = Access::Kind::constant;
    return add(std::move(access));
  }
  if (compute(access))
    return;
  if (!dependsOnMembers(value)) {
    access.kind = Access::Kind::load;
    return add(std::move(access));
  }
  refuse(op, "uses what an op outside computes from the cluster");
}

/// Whether `op` and insertions before it make a row of nothing but what they
/// insert: a tensor that is read beside one that it is changed to is another
/// buffer, unless nobody else needs what it is changed to.
static bool isPutTogether(tensor::InsertSliceOp op) {
  while (auto before = op.getDest().getDefiningOp<tensor::InsertSliceOp>())
    op = before;
  Operation *first = op.getDest().getDefiningOp();
  return isa_and_present<tensor::EmptyOp>(first) || getFilled(first) ||
         matchPattern(op.getDest(), m_Constant());
}

/// Whether members alone need the tensor, perhaps with more put into it, or a
/// view of it.
bool AccessCollector::isForMembers(Operation *tensor) const {
  llvm::SetVector<Operation *> tensors;
  tensors.insert(tensor);
  for (size_t i = 0; i < tensors.size(); ++i)
    for (Operation *user : tensors[i]->getUsers()) {
      if (isView(user) || isa<tensor::InsertSliceOp>(user))
        tensors.insert(user);
      else if (!isMember(user) && !isa<tensor::DimOp>(user))
        return false;
    }
  return true;
}

/// Whether the row is put together where it is used: of what members compute
/// or, if all of it is put together, or nobody else uses it, of anything.
bool AccessCollector::readParts(Access access, tensor::InsertSliceOp op) {
  auto it = cluster.layouts.find(op.getResult());
  const bool isOfCluster = it != cluster.layouts.end();
  std::optional<Layout> whole, part;
  if (isOfCluster) {
    whole = it->second;
    if (auto source = cluster.layouts.find(op.getSource());
        source != cluster.layouts.end())
      part = source->second;
  } else if (!taken.contains(op) && (isPutTogether(op) || isForMembers(op))) {
    whole = getWholeLayout(digits, op.getResult(), access.layout);
  }
  if (whole && !part)
    part = getPartLayout(digits, op, *whole);
  if (!part || isTooMuch(access.parent))
    return false;
  access.kind = Access::Kind::assembled;
  access.loops = digits.resolve(*whole);
  const unsigned number = cluster.accesses.size();
  add(std::move(access));
  read(op.getDestMutable(), *whole, number);
  read(op.getSourceMutable(), *part, number);
  return true;
}

/// Whether no more is computed where it is used, for `parent`.
bool AccessCollector::isTooMuch(std::optional<unsigned> parent) const {
  unsigned depth = 0;
  for (; parent; parent = cluster.accesses[*parent].parent)
    ++depth;
  const size_t count =
      llvm::count_if(cluster.accesses, [&](const Access &access) {
        return access.member == current;
      });
  return count > kMaxAccesses || depth > 16;
}

/// Whether the value is computed where it is used: by an elementwise op.
bool AccessCollector::compute(Access access) {
  auto op = access.value.getDefiningOp<LinalgOp>();
  if (!op || op->getBlock() != cluster.anchor->getBlock() ||
      op->getNumResults() != 1 || taken.contains(op))
    return false;
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest || nest->hasReduction() || !isMemoryEffectFree(op))
    return false;
  std::optional<Layout> loops =
      invert(*nest, nest->writes.front().second, access.layout);
  if (!loops || isTooMuch(access.parent))
    return false;
  const unsigned number = cluster.accesses.size();
  access.kind = Access::Kind::computed;
  access.loops = *loops;
  add(std::move(access));
  for (const auto &[own, map] : nest->reads)
    read(*own, getIndices(map, *loops), number);
  readBody(op, *loops, number);
  return true;
}

/// The index `value` in the body of `op`: loops and constants, or else the
/// value of an operand.
Sum AccessCollector::getIndex(Value value, LinalgOp op, const Layout &loops,
                              SmallVectorImpl<Value> &indices) {
  Sum sum;
  if (std::optional<int64_t> constant = getConstantIntValue(value);
      constant && *constant >= 0) {
    sum.offset = *constant;
    return sum;
  }
  if (auto index = value.getDefiningOp<linalg::IndexOp>();
      index && index->getBlock() == op.getBlock())
    return loops[index.getDim()];
  const size_t known = indices.size();
  if (auto addition = value.getDefiningOp<arith::AddIOp>()) {
    const Sum lhs = getIndex(addition.getLhs(), op, loops, indices);
    sum = getIndex(addition.getRhs(), op, loops, indices);
    if (indices.size() == known) {
      sum.offset += lhs.offset;
      sum.terms.insert(sum.terms.begin(), lhs.terms.begin(), lhs.terms.end());
      return sum;
    }
  } else if (auto apply = value.getDefiningOp<affine::AffineApplyOp>();
             apply && apply.getMapOperands().size() == 1) {
    sum = getIndex(apply.getMapOperands().front(), op, loops, indices);
    AffineExpr dim = apply.getAffineMap().getNumDims() == 1
                         ? getAffineDimExpr(0, apply.getContext())
                         : getAffineSymbolExpr(0, apply.getContext());
    auto offset =
        dyn_cast<AffineConstantExpr>(apply.getAffineMap().getResult(0) - dim);
    if (indices.size() == known && offset &&
        sum.offset + offset.getValue() >= 0) {
      sum.offset += offset.getValue();
      return sum;
    }
  }
  indices.resize(known);
  indices.push_back(value);
  sum = Sum();
  sum.operand = known;
  return sum;
}

void AccessCollector::readBody(Operation *op, const Layout &loops,
                               std::optional<unsigned> parent) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (!linalgOp)
    return;
  for (Value value : getUsedValues(op))
    if (dependsOnMembers(value) &&
        !(isa<RankedTensorType>(value.getType()) &&
          llvm::is_contained(op->getOperands(), value)))
      return refuse(value.getDefiningOp(), "uses in its body what is computed");
  for (Block &block : op->getRegion(0))
    for (auto extract : block.getOps<tensor::ExtractOp>()) {
      Access access;
      access.kind = Access::Kind::gather;
      access.extract = extract;
      access.parent = parent;
      Layout layout;
      for (Value index : extract.getIndices())
        layout.push_back(getIndex(index, linalgOp, loops, access.indices));
      access.value = extract.getTensor();
      traceBack(digits, access.value, layout);
      access.layout = layout;
      if (dependsOnMembers(access.value))
        return refuse(access.value.getDefiningOp(), "gathers what is computed");
      add(std::move(access));
    }
}

void AccessCollector::collect() {
  for (auto [number, member] : llvm::enumerate(cluster.members)) {
    current = number;
    const LoopNest nest = *getLoopNest(member.op);
    for (const auto &[operand, map] : nest.reads)
      read(*operand, getIndices(map, member.loops), std::nullopt);
    readBody(member.op, member.loops, std::nullopt);
    // Scalars beside tensors.
    for (Value operand : member.op->getOperands())
      if (!isa<RankedTensorType>(operand.getType()) &&
          dependsOnMembers(operand))
        refuse(operand.getDefiningOp(), "uses a number that is computed");
    for (const auto &[result, map] : nest.writes)
      write(result, getIndices(map, member.loops));
  }
}

void AccessCollector::leave(DenseSet<Operation *> members) {
  alsoOutside = std::move(members);
  cluster.accesses.clear();
  collect();
}

/// Members that share with the others only what these read, and that use what
/// another norm, or a reduction that has no place here, computes: they belong
/// to that one's kernel.
void AccessCollector::refuseOfOtherNorms() {
  llvm::EquivalenceClasses<unsigned> parts;
  for (unsigned member = 0; member < cluster.members.size(); ++member)
    parts.insert(member);
  for (const Access &access : cluster.accesses)
    if (access.kind == Access::Kind::member)
      parts.unionSets(access.member,
                      numbers.lookup(access.value.getDefiningOp()));
  for (const Access &access : cluster.accesses) {
    Operation *op = access.isRead() ? access.value.getDefiningOp() : nullptr;
    if (!op || access.kind == Access::Kind::member ||
        parts.isEquivalent(access.member, numbers.lookup(cluster.anchor)))
      continue;
    std::optional<LoopNest> nest = getLoopNest(op);
    if (!asksForCluster(op) &&
        !(taken.contains(op) && nest && nest->hasReduction()))
      continue;
    for (unsigned member = 0; member < cluster.members.size(); ++member)
      if (parts.isEquivalent(member, access.member))
        bad.insert({cluster.members[member].op,
                    "uses what another norm computes, and shares with this one "
                    "only what both read"});
  }
}

bool AccessCollector::run(llvm::MapVector<Operation *, StringRef> &excluded) {
  collect();
  if (bad.empty())
    refuseOfOtherNorms();
  for (auto &entry : bad)
    excluded.insert(entry);
  // What joined later, or is computed where it is used, is not refused.
  llvm::erase_if(cluster.refusals, [&](const auto &refusal) {
    return isMember(refusal.first) ||
           llvm::any_of(cluster.accesses, [&](const Access &access) {
             return access.kind == Access::Kind::computed &&
                    access.value.getDefiningOp() == refusal.first;
           });
  });
  return bad.empty();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cluster.cpp - clusters as others see them -------------------------===//

#include "RMSNorm/Access/Cluster.h"
#include "AccessCollector.h"
#include "ClusterGrowth.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "Recomputation.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

std::optional<Cluster> Cluster::grow(Operation *anchor,
                                     ArrayRef<Cluster> others,
                                     const DenseSet<Operation *> &without,
                                     bool amongOthers, Columns columns) {
  DenseSet<Operation *> taken = without;
  for (const Cluster &other : others)
    for (const Member &member : other.members)
      taken.insert(member.op);
  if (taken.contains(anchor))
    return std::nullopt;
  // What turns out not to fit is left out from the beginning: its columns may
  // have been those of others.
  llvm::MapVector<Operation *, StringRef> excluded;
  while (true) {
    Cluster cluster(anchor, Digits(Sizes(*anchor->getBlock())), taken);
    ClusterGrowth growth(cluster, taken, excluded);
    if (!growth.run(columns))
      return std::nullopt;
    AccessCollector collector(cluster, others, taken);
    if (!collector.run(excluded)) {
      if (excluded.count(anchor))
        return std::nullopt;
      continue;
    }
    Recomputation recomputation(cluster, amongOthers);
    // Where all work is ours, what a kernel begins with is in it.
    if (!amongOthers)
      llvm::erase(recomputation.unneeded, anchor);
    for (Operation *op : recomputation.unneeded)
      excluded.insert({op, amongOthers
                               ? "moves fewer bytes where its result is used"
                               : "is computed where its result is used"});
    if (!recomputation.unneeded.empty())
      continue;
    if (!recomputation.members.empty())
      collector.leave(std::move(recomputation.members));
    for (auto &entry : excluded)
      cluster.refusals.push_back(entry);
    return cluster;
  }
}

const Member *Cluster::findMember(Operation *op) const {
  auto it = llvm::find_if(
      members, [&](const Member &member) { return member.op == op; });
  return it == members.end() ? nullptr : &*it;
}

bool Cluster::isSumOverRows(OpResult result) const {
  // Of what rows are scattered into nobody knows the rows either.
  return !layouts.count(result) && !isa<ScatterOp>(result.getOwner());
}

bool Cluster::isComputedWhole(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (taken.contains(op))
      return false;
    if (auto scatter = dyn_cast<ScatterOp>(op)) {
      value = scatter.getDest();
      continue;
    }
    if (findMember(op) || isa<tensor::EmptyOp>(op))
      return true;
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (!insertsComputed(insertion))
        return false;
      value = insertion.getDest();
    } else if (isCopy(op) || isView(op)) {
      value = op->getOperand(0);
    } else {
      return false;
    }
  }
  return false;
}

bool Cluster::insertsComputed(tensor::InsertSliceOp insertion) const {
  return !taken.contains(insertion) && isComputedWhole(insertion.getSource());
}

SmallVector<unsigned>
Cluster::getColumns(ArrayRef<const Layout *> layouts) const {
  SmallVector<unsigned> leaves;
  for (const Layout *layout : layouts)
    for (const Sum &sum : digits.resolve(*layout))
      for (const Term &term : sum.terms)
        if (!digits[term.digit].isRow &&
            !llvm::is_contained(leaves, term.digit))
          leaves.push_back(term.digit);
  return digits.getCover(leaves);
}

SmallVector<unsigned> Cluster::getColumns(const Access &access) const {
  if (!access.isRead())
    return getColumns({&access.sourceLayout, &access.layout});
  // What is put together has columns of its own.
  for (const Access *part = &access; part->parent;
       part = &accesses[*part->parent])
    if (accesses[*part->parent].kind == Access::Kind::assembled)
      return getColumns({&part->whole});
  return getColumns({&members[access.member].loops});
}

const Layout *Cluster::findLayout(Value value) const {
  auto it = layouts.find(value);
  return it == layouts.end() ? nullptr : &it->second;
}

LayoutMap Cluster::getMap(const Layout &layout, ArrayRef<unsigned> variables,
                          unsigned numOperands) const {
  SmallVector<unsigned> symbols;
  MLIRContext *context = anchor->getContext();
  SmallVector<AffineExpr> exprs;
  for (const Sum &sum : layout)
    exprs.push_back(
        digits.getExpr(context, sum, variables, numOperands, symbols));
  LayoutMap result;
  result.map = AffineMap::get(variables.size(), numOperands + symbols.size(),
                              exprs, context);
  for (unsigned symbol : symbols)
    result.sizes.push_back(digits.getSizes().getSource(symbol));
  return result;
}

LayoutMap Cluster::getRowsMap(const Layout &layout, ArrayRef<unsigned> columns,
                              unsigned numOperands) const {
  SmallVector<unsigned> variables(rowDigits);
  llvm::append_range(variables, columns);
  LayoutMap result = getMap(layout, variables, numOperands);
  for (unsigned column : columns)
    result.columns.push_back(digits[column].size);
  return result;
}

LayoutMap Cluster::getLoops(const Member &member) const {
  return getRowsMap(member.loops, getColumns({&member.loops}), 0);
}

LayoutMap Cluster::getMap(const Access &access) const {
  return getRowsMap(access.layout, getColumns(access), access.indices.size());
}

LayoutMap Cluster::getSourceMap(const Access &access) const {
  return getRowsMap(access.sourceLayout, getColumns(access), 0);
}

LayoutMap Cluster::getComputedLoops(const Access &access) const {
  return getRowsMap(access.loops, getColumns(access), 0);
}

LayoutMap Cluster::getOperandMap(const Access &access) const {
  return getRowsMap(access.whole, getColumns(access), 0);
}

Relation Cluster::getRelation(const Access &access) const {
  const Layout index = digits.resolve(access.layout);
  const Layout own = digits.resolve(layouts.find(access.value)->second);
  if (llvm::none_of(own,
                    [&](const Sum &sum) { return digits.hasColumns(sum); }))
    return Relation::onePerRow;
  // The same positions, whatever the digits are called.
  DenseMap<unsigned, unsigned> names;
  auto isSame = [&](const Term &a, const Term &b) {
    if (a.factor != b.factor || digits[a.digit].isRow != digits[b.digit].isRow)
      return false;
    if (digits[a.digit].isRow)
      return a.digit == b.digit;
    return digits[a.digit].size == digits[b.digit].size &&
           names.try_emplace(a.digit, b.digit).first->second == b.digit;
  };
  for (auto [a, b] : llvm::zip_equal(index, own))
    if (a.offset != b.offset || a.terms.size() != b.terms.size() ||
        !llvm::all_of(llvm::zip(a.terms, b.terms), [&](auto terms) {
          return isSame(std::get<0>(terms), std::get<1>(terms));
        }))
      return Relation::part;
  // Each value is for all that the member has more of.
  for (unsigned column : getColumns(access))
    for (unsigned leaf : digits.getLeaves(column))
      if (!names.count(leaf))
        return Relation::groups;
  return Relation::sameColumns;
}

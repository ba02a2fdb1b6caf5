// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterGrowth.cpp - members of a cluster --------------------------===//

#include "ClusterGrowth.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

void access::traceBack(Digits &digits, Value &value, Layout &layout) {
  while (Operation *op = value.getDefiningOp()) {
    layout = digits.resolve(layout);
    if (isView(op)) {
      std::optional<Layout> source = readThrough(digits, op, layout);
      if (!source)
        return;
      layout = std::move(*source);
      value = op->getOperand(0);
      continue;
    }
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    if (!insertion || !isOutside(digits, insertion, layout))
      return;
    value = insertion.getDest();
  }
}

ClusterGrowth::ClusterGrowth(Cluster &cluster,
                             const DenseSet<Operation *> &taken,
                             llvm::MapVector<Operation *, StringRef> &excluded)
    : cluster(cluster), digits(cluster.digits), taken(taken),
      excluded(excluded), block(cluster.anchor->getBlock()) {
  for (auto [number, op] : llvm::enumerate(*block))
    order[&op] = number;
}

void ClusterGrowth::note(Operation *op, StringRef why) {
  if (!members.count(op) && !llvm::any_of(cluster.refusals, [&](auto &entry) {
        return entry.first == op;
      }))
    cluster.refusals.push_back({op, why});
}

/// Whether each row of the result needs all rows of a matrix.
static bool isMatrixProduct(Operation *op) {
  auto product = dyn_cast<linalg::LinalgOp>(op);
  if (!product)
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(product);
  if (failed(dims) || dims->k.empty())
    return false;
  const SmallVector<int64_t> sizes = product.getStaticLoopRanges();
  auto isWide = [&](unsigned loop) { return sizes[loop] != 1; };
  return llvm::any_of(dims->m, isWide) && llvm::any_of(dims->n, isWide);
}

/// Of ops that use what a view or an insertion makes of a layout, where that
/// has none.
void ClusterGrowth::noteUsers(Value value) {
  llvm::SetVector<Operation *> work(value.user_begin(), value.user_end());
  for (size_t i = 0; i < work.size(); ++i)
    if (isView(work[i]) || isa<tensor::InsertSliceOp>(work[i]))
      work.insert(work[i]->user_begin(), work[i]->user_end());
    else if (work[i]->getBlock() == block && !getFilled(work[i]) &&
             getLoopNest(work[i]))
      note(work[i], isMatrixProduct(work[i])
                        ? "multiplies rows by a matrix"
                        : "works on other rows: a view or an insertion cuts "
                          "those of the norm, or puts them among others");
}

/// Sets loops so that `map` indexes the element at `layout`. False if loops are
/// already set otherwise.
bool ClusterGrowth::determine(AffineMap map, const Layout &layout,
                              MaybeLoops &loops, bool mustAgree) {
  for (auto [expr, sum] : llvm::zip_equal(map.getResults(), layout)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop) {
      if (mustAgree && digits.hasRows(digits.resolve(sum)))
        return false;
      continue;
    }
    std::optional<Sum> &known = loops[loop.getPosition()];
    if (!known)
      known = digits.resolve(sum);
    else if (mustAgree && !digits.haveSameRows(*known, sum))
      return false;
  }
  return true;
}

/// Whether the loops take all rows, each once, and all of their own range.
bool ClusterGrowth::coversRows(const LoopNest &nest, const Layout &loops) {
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [sum, dim, isReduction] :
       llvm::zip_equal(loops, nest.dims, nest.isReduction)) {
    const Sum resolved = digits.resolve(sum);
    if (!digits.counts(resolved,
                       digits.getSizes().get(dim.first, dim.second)) ||
        (isReduction && digits.hasRows(resolved) &&
         digits.hasColumns(resolved)))
      return false;
    for (const Term &term : resolved.terms)
      if (!seen.insert(term.digit).second)
        return false;
  }
  if (nest.normColumns &&
      digits.hasRows(digits.resolve(loops[*nest.normColumns])))
    return false;
  for (unsigned row : cluster.rowDigits)
    for (unsigned leaf : digits.getLeaves(row))
      if (!digits[leaf].size.isOne() && !seen.contains(leaf))
        return false;
  return true;
}

/// The same for the dimensions of a tensor.
bool ClusterGrowth::coversShape(Value value, const Layout &layout) {
  LoopNest nest;
  for (size_t dim = 0; dim < layout.size(); ++dim)
    nest.dims.push_back({value, static_cast<int64_t>(dim)});
  nest.isReduction.assign(layout.size(), false);
  return coversRows(nest, layout);
}

void ClusterGrowth::addLayout(Value value, const Layout &layout,
                              bool isShared) {
  if (!(isShared ? shared : cluster.layouts)
           .try_emplace(value, digits.resolve(layout))
           .second)
    return;
  for (Operation *user : value.getUsers())
    if (user->getBlock() == block)
      users.insert({order[user], user});
    else if (Operation *outer = block->findAncestorOpInBlock(*user);
             outer && !isShared && !isa<linalg::LinalgOp>(outer) &&
             !outer->hasTrait<OpTrait::IsTerminator>())
      note(outer, "uses rows in a region of its own");
}

bool ClusterGrowth::join(Operation *op, const LoopNest &nest,
                         MaybeLoops loops) {
  // A number that is written everywhere is one where it is used.
  if (taken.contains(op) || excluded.count(op) || op->getBlock() != block ||
      (op != cluster.anchor && getFilled(op)))
    return false;
  if (isMatrixProduct(op)) {
    note(op, "multiplies rows by a matrix");
    return false;
  }
  for (const auto &[operand, map] : nest.reads)
    if (const Layout *layout = cluster.findLayout(operand->get());
        layout && !determine(map, *layout, loops, /*mustAgree=*/true)) {
      note(op, "has operands with other rows");
      return false;
    }
  for (const auto &[operand, map] : nest.reads)
    if (auto it = shared.find(operand->get()); it != shared.end())
      determine(map, it->second, loops, /*mustAgree=*/false);
  // Loops that nothing determines are columns.
  Layout all;
  for (auto [loop, dim, isReduction] :
       llvm::zip_equal(loops, nest.dims, nest.isReduction)) {
    if (loop) {
      all.push_back(*loop);
      continue;
    }
    const Size size = digits.getSizes().get(dim.first, dim.second);
    if (!isReduction && !size.isOne() && nest.hasReduction()) {
      note(op, "multiplies rows by a matrix");
      return false;
    }
    all.push_back(digits.getSum(digits.add(size, /*isRow=*/false)));
  }
  if (!coversRows(nest, all)) {
    note(op, "does not have all rows, each once");
    return false;
  }
  members.insert({op, all});
  readers.push_back(op);
  for (const auto &[result, map] : nest.writes) {
    // A result without a loop that has rows is a sum over these, or they are
    // scattered into it.
    bool isSum = map.getNumSymbols() > 0;
    for (auto [number, sum] : llvm::enumerate(all))
      isSum |=
          digits.hasRows(digits.resolve(sum)) && !map.isFunctionOfDim(number);
    if (!isSum)
      addLayout(result, getIndices(map, all), /*isShared=*/false);
  }
  return true;
}

/// Looks at an op that uses a tensor with a layout.
void ClusterGrowth::joinUser(Operation *op) {
  if (members.count(op))
    return;
  if (isView(op) || isa<tensor::InsertSliceOp>(op)) {
    if (taken.contains(op))
      return;
    Value source = op->getOperand(0), result = op->getResult(0);
    const Layout *layout = cluster.findLayout(source);
    auto it = shared.find(source);
    const bool isShared = !layout && it != shared.end() && isView(op);
    if (isShared)
      layout = &it->second;
    if (!layout || cluster.findLayout(result))
      return;
    const Layout resolved = digits.resolve(*layout);
    if (std::optional<Layout> view = getViewLayout(digits, op, resolved))
      addLayout(result, *view, isShared);
    else if (!isShared)
      noteUsers(result);
    return;
  }
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest) {
    if (!op->hasTrait<OpTrait::IsTerminator>() && !isa<tensor::DimOp>(op))
      note(op, isa<linalg::LinalgOp>(op)
                   ? "indexes tensors by more than its loops and constants"
                   : "is neither a norm nor a linalg op, and no elementwise "
                     "op, reshape, slice or insertion");
    return;
  }
  // A destination that is not read says nothing.
  if (llvm::none_of(nest->reads, [&](const auto &read) {
        Value value = read.first->get();
        return cluster.findLayout(value) || shared.count(value);
      }))
    return;
  join(op, *nest, MaybeLoops(nest->dims.size()));
}

/// The producer of a member's operand joins if it computes the same rows, or
/// parts of them that are put together.
void ClusterGrowth::joinProducer(Value value, Layout layout) {
  traceBack(digits, value, layout);
  Operation *op = value.getDefiningOp();
  if (!op || members.count(op))
    return;
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (taken.contains(op))
      return;
    layout = digits.resolve(layout);
    if (std::optional<Layout> part = getPartLayout(digits, insertion, layout))
      joinProducer(insertion.getSource(), *part);
    joinProducer(insertion.getDest(), layout);
    return;
  }
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest)
    return;
  for (const auto &[result, map] : nest->writes) {
    MaybeLoops loops(nest->dims.size());
    if (result == value && map.getNumSymbols() == 0 &&
        determine(map, layout, loops, /*mustAgree=*/true))
      join(op, *nest, loops);
  }
}

void ClusterGrowth::joinProducers(Operation *op) {
  const LoopNest nest = *getLoopNest(op);
  for (const auto &[operand, map] : nest.reads)
    joinProducer(operand->get(),
                 digits.resolve(getIndices(map, members.find(op)->second)));
}

/// Other ops that read the same rows of a member's operand join, too.
void ClusterGrowth::shareReads() {
  SmallVector<Operation *> ops;
  for (auto &entry : members)
    ops.push_back(entry.first);
  for (Operation *op : ops) {
    const LoopNest nest = *getLoopNest(op);
    for (const auto &[operand, map] : nest.reads) {
      Value value = operand->get();
      Layout layout = getIndices(map, members.find(op)->second);
      traceBack(digits, value, layout);
      if (!cluster.findLayout(value) && coversShape(value, layout))
        addLayout(value, layout, /*isShared=*/true);
    }
  }
}

bool ClusterGrowth::run(Columns columns) {
  Operation *anchor = cluster.anchor;
  std::optional<LoopNest> nest = getLoopNest(anchor);
  const SmallVector<unsigned> rows = *getRowLoops(anchor, columns);
  if (!nest)
    return false;
  MaybeLoops loops;
  for (auto [number, dim] : llvm::enumerate(nest->dims)) {
    const Size size = digits.getSizes().get(dim.first, dim.second);
    const bool isRow = llvm::is_contained(rows, number);
    if (!size.isUsable())
      return false;
    const unsigned digit = digits.add(size, isRow);
    loops.push_back(digits.getSum(digit));
    if (isRow) {
      cluster.rowDims.push_back(dim);
      cluster.rowDigits.push_back(digit);
    }
  }
  if (!join(anchor, *nest, loops))
    return false;
  while (!readers.empty() || !users.empty()) {
    while (!readers.empty() || !users.empty()) {
      if (!readers.empty()) {
        joinProducers(readers.pop_back_val());
        continue;
      }
      Operation *user = users.begin()->second;
      users.erase(users.begin());
      joinUser(user);
    }
    shareReads();
  }
  SmallVector<Operation *> ops;
  for (auto &entry : members)
    ops.push_back(entry.first);
  llvm::sort(ops,
             [&](Operation *a, Operation *b) { return order[a] < order[b]; });
  for (Operation *op : ops)
    cluster.members.push_back({op, members.find(op)->second});
  return true;
}

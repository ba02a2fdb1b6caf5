// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessWrites.cpp - where results of members go --------------------===//

#include "AccessCollector.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using linalg::LinalgOp;

/// What `value` is inserted or computed into.
static Value getBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      value = insertion.getDest();
    else if (isView(op) && !isa<tensor::ExtractSliceOp>(op))
      value = op->getOperand(0);
    else if (getFilled(op))
      break;
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      value = dps.getTiedOpOperand(cast<OpResult>(value))->get();
    else
      break;
  }
  return value;
}

static bool isViewOf(Value value, Value source) {
  while (value != source && isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value == source;
}

/// Whether one constant fills both.
static bool areFilledAlike(Value a, Value b) {
  Value first = getFilled(a.getDefiningOp());
  Value second = getFilled(b.getDefiningOp());
  Attribute number, other;
  return first && second &&
         (first == second ||
          (matchPattern(first, m_Constant(&number)) &&
           matchPattern(second, m_Constant(&other)) && number == other));
}

/// Whether what `op`, a copy or an insertion, moves has, beside what members
/// compute, only what its destination has in the same place, or nothing. What a
/// copy moves may have one constant: its destination is filled with that.
bool AccessCollector::keepsRest(Operation *op) const {
  auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
  const Value moved =
      insertion ? insertion->getOperand(0) : Value(op->getResult(0));
  if (cluster.isComputedWhole(moved))
    return true;
  Digits all = digits;
  auto type = cast<RankedTensorType>(moved.getType());
  Layout whole;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    whole.push_back(
        all.getSum(all.add(all.getSizes().get(moved, dim), /*isRow=*/false)));
  const Value before = insertion ? Value(insertion.getDest())
                                 : cast<LinalgOp>(op).getDpsInits().front();
  std::optional<Layout> there = whole;
  if (insertion)
    there = writeThrough(insertion, whole);
  if (!there)
    return false;
  auto trace = [&](Value value, Layout layout, bool isOld) {
    while (Operation *definition = value.getDefiningOp()) {
      layout = all.resolve(layout);
      std::optional<Layout> next;
      if (auto scatter = dyn_cast<ScatterOp>(definition);
          scatter && !isOld && isMember(scatter)) {
        value = scatter.getDest();
        continue;
      }
      if (auto other = dyn_cast<tensor::InsertSliceOp>(definition)) {
        if (isOld || !cluster.insertsComputed(other))
          break;
        value = other.getDest();
        continue;
      }
      if (isView(definition)) {
        next = readThrough(all, definition, layout);
      } else if (std::optional<LoopNest> nest = getLoopNest(definition);
                 nest && isCopy(definition)) {
        if (std::optional<Layout> loops =
                invert(*nest, nest->writes.front().second, layout))
          next = getIndices(nest->reads.front().second, *loops);
      }
      if (!next)
        break;
      layout = std::move(*next);
      value = definition->getOperand(0);
    }
    return std::make_pair(value, layout);
  };
  auto [rest, index] = trace(moved, whole, /*isOld=*/false);
  auto [old, same] = trace(before, *there, /*isOld=*/true);
  return rest.getDefiningOp<tensor::EmptyOp>() ||
         (!insertion && getFilled(rest.getDefiningOp())) ||
         areFilledAlike(rest, old) ||
         (rest == old && all.resolve(index) == all.resolve(same));
}

/// Whether others have put something beside what `access` writes, after it has
/// landed: a view of both is no place where it lands.
bool AccessCollector::isBesideOthers(const Access &access) const {
  Value value = access.value;
  while (value != access.landing) {
    Operation *op = value.getDefiningOp();
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    if (insertion && !cluster.insertsComputed(insertion))
      return true;
    if (!insertion && !isView(op))
      return false;
    value = insertion ? Value(insertion.getDest()) : op->getOperand(0);
  }
  return false;
}

/// Follows one use of `access.value`, which holds what is written at
/// `access.layout`.
void AccessCollector::follow(OpOperand &use, Access access,
                             std::vector<Access> &work) {
  Operation *user = use.getOwner();
  access.layout = digits.resolve(access.layout);
  access.operand = &use;
  auto moveTo = [&](Value value, Layout layout, bool isDest = false) {
    access.value = value;
    access.layout = std::move(layout);
    if (!isDest) {
      access.landing = value;
      access.landingLayout = access.layout;
    }
    work.push_back(std::move(access));
  };
  auto setOrigin = [&](Value value, Layout layout) {
    access.origin = value;
    access.originLayout = std::move(layout);
    access.originSource = access.source;
    access.originSourceLayout = access.sourceLayout;
  };
  auto escape = [&] {
    access.kind = Access::Kind::escape;
    if (!isView(access.landing.getDefiningOp()))
      return add(std::move(access));
    access.landing = access.origin;
    access.landingLayout = access.originLayout;
    access.source = access.originSource;
    access.sourceLayout = access.originSourceLayout;
    add(std::move(access));
  };
  if (user->getBlock() != cluster.anchor->getBlock() || taken.contains(user))
    return escape();
  if (isMember(user) && getLoopNest(user)) {
    auto dps = cast<DestinationStyleOpInterface>(user);
    auto nest = *getLoopNest(user);
    const bool isRead = llvm::any_of(
        nest.reads, [&](const auto &read) { return read.first == &use; });
    if (isRead && alsoOutside.contains(user))
      return escape();
    // A destination that is overwritten needs no elements; of what rows are
    // scattered into the rest stays.
    if (!isRead && isa<ScatterOp>(user))
      return moveTo(user->getResult(0), access.layout, /*isDest=*/true);
    if (isRead || dps.isDpsInit(&use))
      return;
  }
  if (isa<tensor::DimOp>(user))
    return;
  if (isView(user)) {
    Value result = user->getResult(0);
    // Columns are not divided by what does not divide them: the rest of a row
    // is beside what is written.
    Digits divided = digits;
    std::optional<Layout> layout = writeThrough(divided, user, access.layout);
    bool isEven = true;
    for (unsigned digit = digits.size(); digit < divided.size(); ++digit)
      isEven &= divided[digit].isRow || !divided[digit].isPartial;
    if (layout && isEven) {
      digits = std::move(divided);
      return moveTo(result, *layout, /*isDest=*/isBesideOthers(access));
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (slice && isOutside(digits, slice, access.layout))
      return;
    auto it = cluster.layouts.find(result);
    if (it != cluster.layouts.end() && isViewOf(access.value, access.source)) {
      access.source = result;
      access.sourceLayout = it->second;
      return moveTo(result, it->second);
    }
  } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(user)) {
    if (&use == &insertion.getSourceMutable()) {
      std::optional<Layout> layout = writeThrough(insertion, access.layout);
      if (layout && keepsRest(insertion)) {
        setOrigin(insertion.getResult(), *layout);
        return moveTo(insertion.getResult(), *layout);
      }
    } else if (isOutside(digits, insertion, access.layout)) {
      return moveTo(insertion.getResult(), access.layout, /*isDest=*/true);
    } else if (!taken.contains(insertion) && isForMembers(insertion) &&
               cluster.findLayout(insertion.getResult())) {
      // The row with the part is put together where members use it.
      return;
    }
  } else if (user->hasTrait<OpTrait::ReturnLike>()) {
    access.base = getBase(access.value);
    return add(std::move(access));
  } else if (auto copy = dyn_cast<LinalgOp>(user);
             copy && isCopy(copy) && !taken.contains(copy) && keepsRest(copy)) {
    std::optional<LoopNest> nest = getLoopNest(copy);
    std::optional<Layout> loops;
    if (nest && nest->reads.size() == 1 && nest->reads[0].first == &use)
      loops = invert(*nest, nest->reads[0].second, access.layout);
    if (loops) {
      setOrigin(copy->getResult(0), getIndices(nest->writes[0].second, *loops));
      return moveTo(access.origin, access.originLayout);
    }
  }
  escape();
}

void AccessCollector::write(OpResult result, const Layout &layout) {
  if (alsoOutside.contains(result.getOwner()))
    return;
  Access access;
  access.kind = cluster.isSumOverRows(result) ? Access::Kind::accumulate
                                              : Access::Kind::store;
  access.value = access.source = access.landing = access.origin = result;
  if (auto scatter = dyn_cast<ScatterOp>(result.getOwner()))
    llvm::append_range(access.indices, scatter.getIndices());
  access.originSource = result;
  access.layout = access.sourceLayout = digits.resolve(layout);
  access.originSourceLayout = access.layout;
  access.landingLayout = access.originLayout = access.layout;
  std::vector<Access> work = {access};
  while (!work.empty()) {
    const Access next = work.back();
    work.pop_back();
    for (OpOperand &use : next.value.getUses())
      follow(use, next, work);
  }
}

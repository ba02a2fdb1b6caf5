// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessWrites.cpp - where results of members go --------------------===//

#include "AccessCollector.h"
#include "RMSNorm/Access/Views.h"

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
    else if (isa<linalg::FillOp>(op))
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

/// Whether members compute all of `value`: a copy of it has nothing else.
bool AccessCollector::isComputedWhole(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (isMember(op) || cluster.layouts.count(value))
      return true;
    if (!isCopy(op) && !isView(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Whether what `copy` copies has, beside what members compute, only what its
/// destination has in the same place, or nothing.
bool AccessCollector::keepsRest(LinalgOp copy) const {
  Digits all = digits;
  auto type = cast<RankedTensorType>(copy->getResult(0).getType());
  Layout whole;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    whole.push_back(all.getSum(
        all.add(all.getSizes().get(copy->getResult(0), dim), /*isRow=*/false)));
  auto trace = [&](Value value) {
    Layout layout = whole;
    while (Operation *op = value.getDefiningOp()) {
      layout = all.resolve(layout);
      std::optional<Layout> next;
      if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
        if (!isComputedWhole(insertion.getSource()))
          break;
        value = insertion.getDest();
        continue;
      }
      if (isView(op)) {
        next = readThrough(all, op, layout);
      } else if (std::optional<LoopNest> nest = getLoopNest(op);
                 nest && isCopy(op)) {
        if (std::optional<Layout> loops =
                invert(*nest, nest->writes.front().second, layout))
          next = getIndices(nest->reads.front().second, *loops);
      }
      if (!next)
        break;
      layout = std::move(*next);
      value = op->getOperand(0);
    }
    return std::make_pair(value, layout);
  };
  auto [rest, index] = trace(copy->getResult(0));
  auto [old, same] = trace(copy.getDpsInits().front());
  return rest.getDefiningOp<tensor::EmptyOp>() ||
         (rest == old && all.resolve(index) == all.resolve(same));
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
    // A destination that is overwritten needs no elements.
    if (isRead || dps.isDpsInit(&use))
      return;
  }
  if (isa<tensor::DimOp>(user))
    return;
  if (isView(user)) {
    Value result = user->getResult(0);
    if (std::optional<Layout> layout =
            writeThrough(digits, user, access.layout))
      return moveTo(result, *layout);
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
      if (std::optional<Layout> layout =
              writeThrough(insertion, access.layout)) {
        setOrigin(insertion.getResult(), *layout);
        return moveTo(insertion.getResult(), *layout);
      }
    } else if (isOutside(digits, insertion, access.layout)) {
      return moveTo(insertion.getResult(), access.layout, /*isDest=*/true);
    }
  } else if (user->hasTrait<OpTrait::ReturnLike>()) {
    access.base = getBase(access.value);
    return add(std::move(access));
  } else if (auto copy = dyn_cast<LinalgOp>(user);
             copy && isCopy(copy) && !taken.contains(copy) &&
             (isComputedWhole(access.value) || keepsRest(copy))) {
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
  Access access;
  access.kind = cluster.isSumOverRows(result) ? Access::Kind::accumulate
                                              : Access::Kind::store;
  access.value = access.source = access.landing = access.origin = result;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramResults.cpp - what a program writes -------------------------===//

#include "ProgramBuilder.h"

#include "MemoryLayout.h"
#include "RMSNorm/Rows/RowsProgram.h"
#include "RMSNorm/Source/Destinations.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

/// The row that what is written is put into, if it is a row of the cluster that
/// parts are put together to; the last one. And where it lies in the landing.
std::optional<std::pair<Value, Layout>>
ProgramBuilder::getAssembled(const Access &access) const {
  // What an op outside uses may be a view of the landing.
  const bool isViewed = access.kind == Access::Kind::escape &&
                        !isView(access.landing.getDefiningOp());
  for (Value value = isViewed ? getViewSource(access.value) : access.value;
       value != access.landing;) {
    auto insertion = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!insertion)
      break;
    if (const Layout *layout = cluster.findLayout(value);
        layout && !isLonger(value))
      return std::make_pair(value, *layout);
    value = insertion.getDest();
  }
  // The row itself may be reshaped, and inserted as a whole, more than once:
  // one of those is what `access` is a part of.
  Digits scratch = digits;
  auto writeUp = [&](Layout layout,
                     ArrayRef<Operation *> path) -> std::optional<Layout> {
    for (Operation *op : llvm::reverse(path)) {
      layout = scratch.resolve(layout);
      auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
      std::optional<Layout> next = insertion
                                       ? writeThrough(insertion, layout)
                                       : writeThrough(scratch, op, layout);
      if (!next)
        return std::nullopt;
      layout = std::move(*next);
    }
    return scratch.resolve(layout);
  };
  SmallVector<Operation *> path;
  Value row;
  size_t toRow = 0;
  std::function<bool(Value)> findSource = [&](Value value) {
    if (value == access.source)
      return writeUp(access.sourceLayout, path) ==
             scratch.resolve(access.landingLayout);
    Operation *op = value.getDefiningOp();
    auto insertion = dyn_cast_if_present<tensor::InsertSliceOp>(op);
    const bool isRow = !row && insertion && cluster.findLayout(value);
    if (isRow) {
      row = value;
      toRow = path.size();
    }
    if (insertion || (op && isView(op))) {
      path.push_back(op);
      if (findSource(op->getOperand(0)))
        return true;
      path.pop_back();
    }
    if (insertion && value != access.landing && findSource(insertion.getDest()))
      return true;
    if (isRow)
      row = {};
    return false;
  };
  if (!findSource(access.landing) || !row || isLonger(row))
    return std::nullopt;
  std::optional<Layout> layout = writeUp(
      *cluster.findLayout(row), ArrayRef<Operation *>(path).take_front(toRow));
  if (!layout || scratch.size() != digits.size())
    return std::nullopt;
  return std::make_pair(row, *layout);
}

/// What the rows of `landing` are written into: the newest tensor that has all
/// else of it.
Value ProgramBuilder::getDestination(Value landing) {
  auto isLanding = [&](Value value) {
    return llvm::any_of(written, [&](const Written &output) {
      return output.landing == value;
    });
  };
  std::function<bool(Value)> isOfMember = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && (members.contains(op) || isLanding(value) ||
                  ((isView(op) || isa<tensor::InsertSliceOp>(op)) &&
                   isOfMember(op->getOperand(0))));
  };
  Value destination = landing;
  bool isWhole = true, isReshaped = false;
  auto take = [&](Value viewed) {
    isReshaped |= !isa<tensor::CastOp>(destination.getDefiningOp());
    destination = viewed;
  };
  while (Operation *op = destination.getDefiningOp()) {
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    // A part of a row that is put together: one of those may have elements that
    // no member computes.
    if (insertion &&
        (isLanding(destination) || (cluster.findLayout(destination) &&
                                    cluster.insertsComputed(insertion))))
      destination = insertion.getDest(), isWhole = false;
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op);
             dps && ((access::getFilled(op) && isWhole) ||
                     members.contains(op) || isLanding(destination))) {
      // What rows are scattered into has all else.
      isWhole &= !isa<ScatterOp>(op);
      destination = dps.getTiedOpOperand(cast<OpResult>(destination))->get();
    } else if (isView(op) && !isa<tensor::ExtractSliceOp>(op) &&
               isOfMember(op->getOperand(0)))
      take(op->getOperand(0));
    else
      break;
  }
  // Where reshapes lie in between, types of unknown sizes do not tell.
  Sizes known = digits.getSizes();
  auto fits = [&](Value value) {
    if (failed(verifyCompatibleShape(value.getType(), landing.getType())))
      return false;
    return !isReshaped ||
           llvm::all_of(
               llvm::seq(cast<ShapedType>(landing.getType()).getRank()),
               [&](int64_t dim) {
                 return known.get(value, dim) == known.get(landing, dim);
               });
  };
  while (!fits(destination) && isView(destination.getDefiningOp()) &&
         !isa<tensor::ExtractSliceOp>(destination.getDefiningOp()))
    take(destination.getDefiningOp()->getOperand(0));
  return fits(destination) && !isOfMember(destination) ? destination : Value();
}

/// A new tensor of the shape of `landing`, all of which members compute; null
/// if they do not, or the shape is known by its value only.
Value ProgramBuilder::createDestination(Value landing) {
  if (!cluster.isComputedWhole(landing))
    return {};
  Operation *op = landing.getDefiningOp();
  rewriter.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(landing.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    const DimSource size = traceDim(landing, dim);
    Operation *source = size.value ? size.value.getDefiningOp() : nullptr;
    if (source && members.contains(source))
      return {};
    // A view of what has known sizes.
    if (size.value == landing && isView(op)) {
      Value inner = createDestination(op->getOperand(0));
      if (!inner)
        return {};
      rewriter.setInsertionPoint(op);
      Operation *view = rewriter.clone(*op);
      view->setOperand(0, inner);
      created.insert(created.begin(), view);
      return view->getResult(0);
    }
    if (size.value == landing)
      return {};
    sizes.push_back(materializeDim(rewriter, op->getLoc(), size));
  }
  auto empty = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes,
                                       type.getElementType());
  created.push_back(empty);
  return empty;
}

/// Fills all of `into` with `scalar`, by a kernel of its own.
Value ProgramBuilder::createFill(Value scalar, Value into) {
  OpBuilder apart(rewriter.getContext());
  auto fill = linalg::FillOp::create(apart, into.getLoc(), scalar, into);
  fill->setAttr(RMSNormDialect::kRowWiseAttrName, rewriter.getUnitAttr());
  // Listeners see it with its mark.
  rewriter.insert(fill);
  created.insert(created.begin(), fill);
  return fill.getResult(0);
}

/// Fills `into` with `scalar` around what `insertion` writes: for each
/// dimension what lies before it and after it, as far as dimensions before that
/// one have it.
Value ProgramBuilder::fillAround(tensor::InsertSliceOp insertion, Value scalar,
                                 Value into) {
  Location loc = insertion.getLoc();
  SmallVector<OpFoldResult> offsets(insertion.getType().getRank(),
                                    rewriter.getIndexAttr(0));
  const SmallVector<OpFoldResult> strides(offsets.size(),
                                          rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, into);
  auto fill = [&] {
    if (llvm::any_of(sizes, isZeroInteger))
      return;
    auto slice = tensor::ExtractSliceOp::create(rewriter, loc, into, offsets,
                                                sizes, strides);
    created.insert(created.begin(), slice);
    Value filled = createFill(scalar, slice);
    into = tensor::InsertSliceOp::create(rewriter, loc, filled, into, offsets,
                                         sizes, strides);
    created.insert(created.begin(), into.getDefiningOp());
  };
  auto getSum = [&](OpFoldResult a, OpFoldResult b, int64_t factor) {
    AffineExpr x, y;
    bindSymbols(rewriter.getContext(), x, y);
    return affine::makeComposedFoldedAffineApply(rewriter, loc, x + y * factor,
                                                 {a, b});
  };
  for (auto [dim, offset, size] : llvm::enumerate(insertion.getMixedOffsets(),
                                                  insertion.getMixedSizes())) {
    if (traceSize(size) == traceDim(into, dim))
      continue;
    const OpFoldResult all = sizes[dim];
    sizes[dim] = offset;
    fill();
    offsets[dim] = getSum(offset, size, 1);
    sizes[dim] = getSum(all, offsets[dim], -1);
    fill();
    offsets[dim] = offset;
    sizes[dim] = size;
  }
  return into;
}

/// Where rows are put into what a constant fills, or copied with it, all else
/// has it, too: a kernel of its own stores it.
LogicalResult ProgramBuilder::fillRest(Written &output) {
  Value scalar, into = output.destination;
  // Of another output there.
  if (llvm::is_contained(created, into.getDefiningOp()))
    return success();
  auto insertion = output.landing.getDefiningOp<tensor::InsertSliceOp>();
  if (Operation *fill = into.getDefiningOp(); getFilled(fill)) {
    scalar = getFilled(fill);
    into = cast<LinalgOp>(fill).getDpsInits().front();
    // Where whole rows are stored, there is nothing to fill.
    Sizes sizes = digits.getSizes();
    const bool isAll =
        output.computed == output.landing &&
        llvm::all_of(llvm::enumerate(output.layout), [&](const auto &sum) {
          return digits.counts(digits.resolve(Sum(sum.value())),
                               sizes.get(output.landing, sum.index()));
        });
    if (isAll || (insertion && !isInitRead(insertion.getDestMutable()) &&
                  cluster.insertsComputed(insertion))) {
      SmallVector<Written *> together;
      for (Written &other : written)
        if (isOneTensor(other, output))
          together.push_back(&other);
      for (Written *other : together)
        other->destination = into;
      return success();
    }
  } else if (Operation *copy = findCopy(output)) {
    Value rest = copy->getOperand(0);
    if (cluster.isComputedWhole(rest))
      return success();
    insertion = {};
    while (Operation *op = rest.getDefiningOp()) {
      auto before = dyn_cast<tensor::InsertSliceOp>(op);
      if (before && cluster.insertsComputed(before))
        rest = before.getDest();
      else if (isView(op) || isCopy(op))
        rest = op->getOperand(0);
      else
        break;
    }
    scalar = getFilled(rest.getDefiningOp());
    if (!scalar)
      return success();
    if (getViewSource(output.landing) != copy->getResult(0))
      return fail("is copied with a constant into a part of a tensor");
  } else {
    return success();
  }
  // What else is put into it is not looked at.
  for (const Written &other : written)
    if (other.landing != output.landing &&
        other.destination == output.destination)
      insertion = {};
  rewriter.setInsertionPoint(output.landing.getDefiningOp());
  // What is inserted may be padded itself. Of elements of which two are a byte
  // a part may begin within one.
  const bool isAround =
      insertion && insertion.getDest() == output.destination &&
      cluster.insertsComputed(insertion) &&
      llvm::all_of(insertion.getMixedStrides(), isOneInteger) &&
      !isa<Float4E2M1FNType>(scalar.getType());
  const Value filled =
      isAround ? fillAround(insertion, scalar, into) : createFill(scalar, into);
  const Value before = output.destination;
  for (Written &other : written)
    if (other.destination == before && !other.isSum)
      other.destination = filled;
  return success();
}

static IndexSet getIndexSet(const Digits &digits, const Sum &sum) {
  auto getNumber = [](const Size &size) {
    return size.isStatic() ? size.getNumber() : ShapedType::kDynamic;
  };
  IndexSet set{sum.offset, {}};
  for (const Term &term : sum.terms)
    set.terms.push_back(
        {getNumber(term.factor), getNumber(digits[term.digit].size)});
  if (sum.operand)
    set.terms.push_back({1, ShapedType::kDynamic});
  return set;
}

/// Whether no element lies at both layouts, as far as one can see: some index
/// has other values.
static bool areApart(const Digits &digits, const Layout &a, const Layout &b) {
  return llvm::any_of(llvm::zip_equal(a, b), [&](auto sums) {
    return getIndexSet(digits, std::get<0>(sums))
        .isDisjoint(getIndexSet(digits, std::get<1>(sums)));
  });
}

/// Whether `value` needs what a member computes.
bool ProgramBuilder::dependsOnMembers(Value value) {
  if (afterMembers.empty()) {
    afterMembers = members;
    for (Operation &op : *cluster.getAnchor()->getBlock())
      if (usesAny(&op, afterMembers))
        afterMembers.insert(&op);
  }
  return afterMembers.contains(value.getDefiningOp());
}

LogicalResult ProgramBuilder::collectWritten() {
  // One value may be put into a tensor in several places.
  auto isSame = [&](const Written &a, const Written &b) {
    return a.landing == b.landing && a.computed == b.computed &&
           digits.resolve(a.layout) == digits.resolve(b.layout);
  };
  for (const Access &access : cluster.getAccesses()) {
    if (access.isRead())
      continue;
    const Member &member = cluster.getMembers()[access.member];
    current = member.op;
    Written output{access.member,
                   access.source,
                   access.landing,
                   Value(),
                   access.landingLayout,
                   access.sourceLayout,
                   RowSum(),
                   access.kind == Access::Kind::accumulate};
    output.access = &access;
    if (auto assembled = getAssembled(access)) {
      output.computed = assembled->first;
      output.layout = assembled->second;
      output.sourceLayout = *cluster.findLayout(output.computed);
      // What parts are put into is written as what they are put together to.
      if (output.landing.getDefiningOp<tensor::InsertSliceOp>() &&
          cluster.findLayout(output.landing))
        output.landing = output.computed;
    }
    if (access.kind == Access::Kind::escape) {
      auto source = dyn_cast<OpResult>(access.source);
      output.isSum = source && members.contains(source.getOwner()) &&
                     cluster.isSumOverRows(source);
    }
    // Views of a sum are views of what the kernel stores.
    if (output.isSum && access.landing != access.source) {
      if (!amongOthers && getViewSource(access.landing) != access.source)
        return fail("inserts a sum over rows into another tensor");
      output.landing = access.source;
      output.layout = access.sourceLayout;
    }
    if (llvm::any_of(written, [&](const Written &other) {
          return isSame(other, output);
        }))
      continue;
    if (output.isSum) {
      auto sum = cast<OpResult>(access.source);
      output.sum = RowSum::match(sum);
      output.landing = output.sum.getResult(sum);
    }
    written.push_back(std::move(output));
  }
  DenseMap<Value, Value> newTensors;
  for (Written &output : written) {
    current = cluster.getMembers()[output.member].op;
    if (output.isSum) {
      Value destination = output.computed;
      if (Value last = output.sum.getDestination())
        destination = last;
      while (Operation *op = destination.getDefiningOp()) {
        if (!members.contains(op))
          break;
        destination = cast<DestinationStyleOpInterface>(op)
                          .getTiedOpOperand(cast<OpResult>(destination))
                          ->get();
      }
      if (Operation *fill = destination.getDefiningOp();
          getFilled(fill) && !output.sum.init)
        destination = cast<LinalgOp>(fill).getDpsInits().front();
      output.destination = destination;
      continue;
    }
    output.destination = getDestination(output.landing);
    if (!output.destination && !landAtOrigin(output)) {
      Value &created = newTensors[output.landing];
      if (!created)
        created = createDestination(output.landing);
      output.destination = created;
    }
    if (output.destination)
      writeWhatIsRead(output);
    if (amongOthers &&
        !(output.destination && !dependsOnMembers(output.destination) &&
          getPlace(output)))
      leaveToOthers(output);
  }
  // What others put beside it is put there after the kernel.
  for (bool isDone = !amongOthers; !isDone;) {
    isDone = true;
    for (Written &output : written)
      if (!output.isSum && isPutTogetherOutside(output)) {
        current = cluster.getMembers()[output.member].op;
        if (!leaveToOthers(output))
          return fail("is put together with what no kernel stores");
        isDone = false;
      }
  }
  for (Written &output : written) {
    if (output.isSum)
      continue;
    current = cluster.getMembers()[output.member].op;
    if (!output.destination)
      return fail("writes a view of what is not there");
    if (dependsOnMembers(output.destination))
      return fail("is inserted into what is computed of it");
    if (failed(fillRest(output)))
      return failure();
  }
  for (Written &output : written)
    keepApart(output);
  for (size_t number = 0; number < written.size();)
    if (llvm::any_of(ArrayRef(written).take_front(number),
                     [&](const Written &other) {
                       return isSame(other, written[number]);
                     }))
      written.erase(written.begin() + number);
    else
      ++number;
  for (auto [number, output] : llvm::enumerate(written)) {
    output.number = number + 1;
    for (const Written &other : ArrayRef(written).take_front(number))
      if (isOneTensor(other, output))
        output.number = other.number;
  }
  // The newest result is all that is left of several.
  for (const Written &output : written)
    for (const Written &other : written)
      if (output.number != other.number && isNewer(other, output))
        return failTogether("is inserted into what is stored elsewhere");
  // Rows are stored in no order.
  for (const Written &output : written)
    for (const Written &other : written)
      if (output.number == other.number && &output != &other &&
          !areApart(digits, digits.resolve(output.layout),
                    digits.resolve(other.layout)))
        return failTogether("writes where another result is written, too");
  // Of several that are put together one after another the last is left.
  for (const Written &output : written)
    for (const Written &other : written)
      if (output.number == other.number && output.landing != other.landing &&
          isNewer(other, output) && !output.landing.hasOneUse())
        return failTogether("uses a tensor before all of it is written");
  return success();
}

/// Lets `output`, which lands in a view of what it is inserted into, land in
/// that, if there is something to insert it into. Others take the view.
bool ProgramBuilder::landAtOrigin(Written &output) {
  const Access &access = *output.access;
  if (output.computed != access.source || output.landing != access.landing ||
      !isView(output.landing.getDefiningOp()) ||
      !access.origin.getDefiningOp<tensor::InsertSliceOp>())
    return false;
  Written other = output;
  other.landing = access.origin;
  other.layout = access.originLayout;
  other.computed = access.originSource;
  other.sourceLayout = access.originSourceLayout;
  std::swap(other, output);
  output.destination = getDestination(output.landing);
  if (output.destination && !dependsOnMembers(output.destination) &&
      getPlace(output))
    return true;
  std::swap(other, output);
  return false;
}

/// Lets `output`, whose destination is a reshape of a tensor that members read,
/// be written into that: its elements are seen to be the same there.
void ProgramBuilder::writeWhatIsRead(Written &output) {
  auto isRead = [&](Value value) {
    return llvm::any_of(cluster.getAccesses(), [&](const Access &access) {
      return access.isRead() && access.value == value;
    });
  };
  Value tensor = output.destination;
  Layout layout = output.layout;
  Digits scratch = digits;
  SmallVector<Operation *> views;
  while (!isRead(tensor)) {
    Operation *op = tensor.getDefiningOp();
    if (!op || !isView(op) || isa<tensor::ExtractSliceOp>(op))
      return;
    std::optional<Layout> next =
        readThrough(scratch, op, scratch.resolve(layout));
    if (!next || scratch.size() != digits.size())
      return;
    layout = std::move(*next);
    views.push_back(op);
    tensor = op->getOperand(0);
  }
  output.destination = tensor;
  output.layout = std::move(layout);
  output.views = std::move(views);
}

/// Has others copy `output`, in whose new tensor columns would lie apart as
/// they put it into another one: bufferization does not compute there what an
/// allocation holds.
void ProgramBuilder::keepApart(const Written &output) {
  // Fills of ours may lie in between.
  Value tensor = output.destination;
  for (Operation *op = tensor.getDefiningOp();
       llvm::is_contained(created, op) && !isa<tensor::EmptyOp>(op);
       op = tensor.getDefiningOp()) {
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      tensor = insertion.getDest();
    else if (auto fill = dyn_cast<linalg::FillOp>(op))
      tensor = fill.getDpsInits().front();
    else
      break;
  }
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return;
  int64_t elements = output.isSum ? std::max<int64_t>(1, columns) : 1;
  if (!output.isSum) {
    std::optional<Place> place = getPlace(output);
    if (!place || place->kind == TileKind::row)
      return;
  }
  if (!isInsertedApart(output.landing, elements))
    return;
  rewriter.setInsertionPoint(empty);
  auto allocation = bufferization::AllocTensorOp::create(
      rewriter, empty.getLoc(), empty.getType(), empty.getDynamicSizes());
  created.push_back(allocation);
  rewriter.replaceUsesWithIf(
      empty.getResult(), allocation.getResult(), [&](OpOperand &use) {
        return llvm::is_contained(created, use.getOwner());
      });
  for (Written &other : written)
    if (other.destination == empty.getResult())
      other.destination = allocation;
}

/// The op that `output` is put by to where it is written, if it is an insertion
/// or a copy, else null.
Operation *ProgramBuilder::findLast(const Written &output) const {
  if (Operation *copy = findCopy(output))
    return copy;
  Value value = output.landing;
  while (value != output.computed && isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value == output.computed
             ? nullptr
             : value.getDefiningOp<tensor::InsertSliceOp>();
}

/// Makes `output` the whole of what a member computes: others put it where it
/// belongs. Returns whether it was not that.
bool ProgramBuilder::leaveToOthers(Written &output) {
  const Value own = getViewSource(output.computed);
  if (output.landing == own || !members.contains(own.getDefiningOp()) ||
      !cluster.findLayout(own))
    return false;
  output.landing = output.computed = own;
  output.layout = output.sourceLayout = *cluster.findLayout(own);
  output.destination = getDestination(own);
  if (!output.destination)
    output.destination = createDestination(own);
  return true;
}

/// Whether parts of what `output` lands in are what members compute, and are
/// not stored where `output` is. One value may be put there more than once.
bool ProgramBuilder::isPutTogetherOutside(const Written &output) const {
  DenseMap<Value, unsigned> numStored, places;
  for (const Written &other : written)
    if (isOneTensor(other, output))
      ++numStored[other.computed];
  unsigned numPlaces = 0;
  DenseSet<Value> ofOthers;
  std::function<bool(Value)> isOutside = [&](Value value) {
    const unsigned stored = numStored.lookup(value);
    if (stored) {
      ++numPlaces;
      return ++places[value] > stored;
    }
    Operation *op = value.getDefiningOp();
    if (!op || ofOthers.contains(value))
      return false;
    if (members.contains(op))
      return true;
    const unsigned before = numPlaces;
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    if (insertion
            ? isOutside(insertion.getSource()) || isOutside(insertion.getDest())
            : (isView(op) || isCopy(op)) && isOutside(op->getOperand(0)))
      return true;
    if (numPlaces == before)
      ofOthers.insert(value);
    return false;
  };
  return isOutside(output.landing);
}

/// Whether `other` is inserted into what `output` is inserted into.
bool ProgramBuilder::isNewer(const Written &other, const Written &output) {
  Value value = other.landing;
  while (Operation *op = value.getDefiningOp()) {
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      value = insertion.getDest();
    else if (auto scatter = dyn_cast<ScatterOp>(op))
      value = scatter.getDest();
    else
      break;
    if (value == output.landing)
      return true;
  }
  return false;
}

/// Whether both are written into one tensor.
bool ProgramBuilder::isOneTensor(const Written &a, const Written &b) {
  return a.destination == b.destination &&
         (a.landing == b.landing || isNewer(a, b) || isNewer(b, a));
}

/// The op that copies what is computed to where it is written, or null.
Operation *ProgramBuilder::findCopy(const Written &output) const {
  Value value = output.landing;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<LinalgOp>(op))
      return members.contains(op) ? nullptr : op;
    if (!isView(op) && !isa<tensor::InsertSliceOp>(op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

/// Where `output` is stored; none if no kernel does so.
std::optional<ProgramBuilder::Place>
ProgramBuilder::getPlace(const Written &output, std::string *why) {
  std::optional<Place> place = getPlace(output.destination, output.layout,
                                        getColumnLeaves(output.sourceLayout),
                                        output.access->indices.size(), why);
  if (!place || place->kind != TileKind::column)
    return place;
  if (!rowDigits.empty()) {
    if (why)
      *why = "columns at one place for all rows" +
             describeMap("an index for each row", output.layout,
                         getColumnLeaves(output.sourceLayout),
                         /*numIndices=*/0);
    return std::nullopt;
  }
  // The columns of the only row.
  place->kind = TileKind::tile;
  return place;
}

LogicalResult ProgramBuilder::store(const Written &output) {
  FailureOr<Value> computed = getVectorOfView(output.computed);
  if (failed(computed))
    return failure();
  Value vector = *computed;
  std::string why;
  std::optional<Place> place = getPlace(output, &why);
  Operation *last = findLast(output);
  auto refuse = [&](const Twine &why) {
    current = last ? last : current;
    return fail(why);
  };
  if (!place)
    return refuse("writes " + why);
  if (ArrayRef(place->shape) !=
      getColumnShape(cast<VectorType>(vector.getType())))
    return fail("stores a part of a row");
  // What nothing is loaded for is a row's value, repeated.
  const bool isLoaded =
      llvm::any_of(builder.getBlock()->getOps<TileLoadOp>(), [&](auto load) {
        return getColumnShape(load.getType()) == ArrayRef(place->shape);
      });
  if (!isLoaded &&
      llvm::any_of(getColumnLeaves(output.sourceLayout),
                   [&](unsigned leaf) { return unrelated.contains(leaf); }))
    return fail("writes columns that its rows do not have");
  if (place->kind == TileKind::group && !place->hasRow &&
      !AccessMap(place->map, /*hasColumn=*/true).hasColumnLast())
    return fail("writes groups of the only row in an order of their own");
  if (std::string reason =
          whyNotInMemory(*place, output.destination, /*isLoad=*/false);
      !reason.empty())
    return refuse("writes " + reason);
  auto type = cast<RankedTensorType>(output.destination.getType());
  if (place->kind != TileKind::row &&
      getViewSource(output.destination).getDefiningOp<tensor::EmptyOp>() &&
      isInsertedApart(output.landing,
                      hasColumnsLast(*place, type) ? 1 : place->run))
    return refuse("writes columns that will not lie side by side");
  auto scatter = dyn_cast<ScatterOp>(cluster.getMembers()[output.member].op);
  auto store = TileStoreOp::create(
      builder, current->getLoc(), /*result=*/Type(), place->kind, vector,
      getBuffer(output.destination, output.number),
      place->hasRow ? Value(tile) : Value(),
      scatter ? ValueRange(indices.find(scatter)->second) : ValueRange(),
      /*map=*/AffineMapAttr(), scatter && scatter.getSkipNegative());
  setAccess(store, place->map);
  return success();
}

/// Finds the segments of a sum, for each of which its destination has an index,
/// in the order of the rows, then one for the columns. An index that counts
/// several is split, and dimensions of one element are dropped.
LogicalResult ProgramBuilder::placeSum(Written &output) {
  const SmallVector<unsigned> leaves = getColumnLeaves(output.layout);
  std::string why;
  std::optional<Place> place = getPlace(output.destination, output.layout,
                                        leaves, /*numIndices=*/0, &why);
  if (!place)
    return fail("sums up to " + why);
  if (!leaves.empty() && place->elements != columns)
    return fail("sums up a part of the columns");
  if (!lieTogether(output.destination,
                   leaves.empty() ? 1 : std::max<int64_t>(1, columns)))
    return fail("sums up to columns that will not lie side by side");
  const AccessMap access(place->map, /*hasColumn=*/!leaves.empty());
  const int64_t column = access.getNumRowDims();
  auto type = cast<RankedTensorType>(output.destination.getType());
  // One value a row may be summed up to a column, which is the last one then.
  const SmallVector<AccessIndex> indices(access.getIndices());
  auto hasTerms = [&](int64_t dim) { return !indices[dim].terms.empty(); };
  const auto dimensions = llvm::seq(type.getRank());
  std::optional<int64_t> single;
  if (leaves.empty())
    for (int64_t dim : dimensions)
      if (!hasTerms(dim))
        single = dim;
  auto isKept = [&](int64_t dim) { return hasTerms(dim) || dim == single; };
  SmallVector<int64_t> dims, sizes, shape;
  SmallVector<ReassociationIndices> dropped, split;
  bool isInOrder = true;
  for (int64_t dim : dimensions) {
    // What has one element goes with the next dimension that is kept, or with
    // the last one.
    if (dropped.empty() ||
        (llvm::any_of(dropped.back(), isKept) &&
         llvm::any_of(llvm::seq(dim, type.getRank()), isKept)))
      dropped.emplace_back();
    dropped.back().push_back(dim);
    SmallVector<AccessTerm> terms(indices[dim].terms);
    if (dim == single)
      terms.emplace_back().dim = column;
    if (terms.empty())
      continue;
    llvm::sort(terms, [](const AccessTerm &a, const AccessTerm &b) {
      return a.factor > b.factor;
    });
    split.emplace_back();
    int64_t left = type.getDimSize(dim);
    sizes.push_back(left);
    for (const AccessTerm &term : terms) {
      isInOrder &= indices[dim].offset == 0 && term.divisor == 1 &&
                   term.modulus == 0 &&
                   (dims.empty() || dims.back() < int64_t(term.dim));
      split.back().push_back(dims.size());
      dims.push_back(term.dim);
      shape.push_back(ShapedType::isDynamic(left) ? left : left / term.factor);
      left = term.factor;
    }
  }
  if (static_cast<int64_t>(sizes.size()) != type.getRank()) {
    output.dropped = std::move(dropped);
    output.whole = output.destination;
    // Of an argument only the last dimension is known to lie side by side.
    if (!amongOthers && (single || !isKept(type.getRank() - 1)))
      isInOrder = false;
  }
  if (!isInOrder)
    return fail("sums up to what lies in an order of its own" +
                describeMap("indices of rows in their order, then the column",
                            output.layout, leaves, /*numIndices=*/0));
  if (dims.size() != split.size())
    output.split = std::move(split);
  for (Value *tensor : {&output.destination, &output.sum.init}) {
    if (!*tensor)
      continue;
    rewriter.setInsertionPointAfterValue(*tensor);
    const Type element = getElementTypeOrSelf(*tensor);
    if (!output.dropped.empty()) {
      *tensor = tensor::CollapseShapeOp::create(
          rewriter, tensor->getLoc(), RankedTensorType::get(sizes, element),
          *tensor, output.dropped);
      created.insert(created.begin(), tensor->getDefiningOp());
    }
    if (!output.split.empty()) {
      *tensor = tensor::ExpandShapeOp::create(
          rewriter, tensor->getLoc(), RankedTensorType::get(shape, element),
          *tensor, output.split);
      created.insert(created.begin(), tensor->getDefiningOp());
    }
  }
  llvm::copy_if(dims, std::back_inserter(output.segments),
                [&](int64_t dim) { return dim < column; });
  return success();
}

LogicalResult ProgramBuilder::sumUp(Written &output) {
  Value vector = vectors.lookup(output.computed);
  if (Type type = getElementTypeOrSelf(vector); !type.isF32()) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return fail("sums rows up in " + text + ", kernels do in f32");
  }
  if (output.sum.kind == ReduceKind::mul)
    return fail("multiplies rows: a kernel adds them up, or takes their "
                "maximum or minimum");
  if (const int64_t own = getNumColumns(vector.getType());
      own != columns && own != 1)
    return fail("sums up a part of the columns");
  const bool isInit = output.sum.init == output.destination;
  if (failed(placeSum(output)))
    return failure();
  const int64_t kept = output.segments.size(), rest = rowDigits.size() - kept;
  if (!llvm::equal(output.segments, llvm::seq<int64_t>(0, kept)) &&
      !llvm::equal(output.segments, llvm::seq<int64_t>(rest, rest + kept)))
    return fail("keeps other dimensions of the rows than the first or the last "
                "ones where it sums over the rest");
  Value dest = getBuffer(output.destination, output.number);
  Value init;
  if (output.sum.init)
    init = isInit ? dest : getBuffer(output.sum.init);
  const int64_t rank =
      cast<RankedTensorType>(output.destination.getType()).getRank();
  AccumulateOp::create(builder, current->getLoc(), /*result=*/Type(), vector,
                       dest, init, output.sum.kind, output.sum.start,
                       AccessMap::getSum(builder.getContext(), rowDigits.size(),
                                         output.segments, rank));
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TilesVerifier.cpp - what holds of rmsnorm.tiles and traverses -----===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/IR/TileTypes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether all users of `value` in `block`, and in regions there, stand after
/// `mark`; `expected` is the error of the first that does not.
static LogicalResult verifyAfter(Value value, Operation *mark,
                                 const Twine &expected) {
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = mark->getBlock()->findAncestorOpInBlock(*user);
    if (!isa<FetchOp, ArriveOp, AwaitOp>(user) &&
        (!ancestor || !mark->isBeforeInBlock(ancestor)))
      return user->emitOpError(expected);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tiles
//===----------------------------------------------------------------------===//

LogicalResult TilesOp::verifyRegions() {
  Builder builder(getContext());
  auto rows = cast<RowsOp>((*this)->getParentOp());
  ScheduleAttr schedule = rows.getScheduleAttr();
  const int64_t tileRows = schedule ? schedule.getTileRows() : 1;
  // (C1)
  SmallVector<Type> common{builder.getIndexType()};
  for (Value copy : getCopies()) {
    if (!llvm::is_contained(rows.getBufferArguments(), copy) ||
        !rows.getAccess(copy).reads())
      return emitOpError("expected copies of buffers that rmsnorm.rows reads");
    const Type element = cast<MemRefType>(copy.getType()).getElementType();
    common.push_back(SlotType::get(
        getContext(),
        getTileType(tileRows, rows.getDigits(), element).getShape(), element));
  }
  Block &body = getBody().front();
  SmallVector<Type> expected = common;
  YieldOp published;
  if (isSplit()) {
    // (C2)
    Block &begin = getBegin().front();
    published = dyn_cast<YieldOp>(begin.getTerminator());
    if (begin.getArgumentTypes() != TypeRange(common) || !published ||
        published.getValues().empty() || getStages() < 3 || getCopies().empty())
      return emitOpError("expected 'begin' to have the tile's number and its "
                         "slots, to yield sums, and 3 stages at least");
    for (Value sum : published.getValues()) {
      auto traverse = sum.getDefiningOp<TraverseOp>();
      if (!traverse || !llvm::is_contained(traverse.getSums(), sum) ||
          traverse->getBlock() != &begin)
        return emitOpError("expected 'begin' to yield sums of its traverse");
    }
    for (Operation &op : begin)
      if (isa<FetchOp, ArriveOp, AwaitOp>(op))
        return op.emitOpError("expected to stand in 'body'");
    llvm::append_range(expected, published.getValues().getTypes());
  }
  llvm::append_range(expected, getInits().getTypes());
  if (body.getArgumentTypes() != TypeRange(expected))
    return emitOpError("expected 'body' to have the tile's number, its slots, "
                       "the sums of 'begin' and those over rows, got ")
           << body.getNumArguments() << " arguments";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getInits().getTypes() ||
      getResultTypes() != getInits().getTypes())
    return emitOpError("expected 'body' to yield, and the op to have, a value "
                       "for each of its ")
           << getInits().size() << " sums over rows";

  // (C3)
  auto fetches = llvm::to_vector(body.getOps<FetchOp>());
  auto arrives = llvm::to_vector(body.getOps<ArriveOp>());
  auto slots = ValueRange(getSlots());
  if (getCopies().empty()) {
    if (!fetches.empty() || !arrives.empty() || getStages() != 0)
      return emitOpError("expected no stages, fetch or arrive without copies");
  } else if (fetches.size() != 1 || arrives.size() != 1 || getStages() < 1 ||
             (schedule && int64_t(getStages()) > schedule.getRingSlots()) ||
             !llvm::equal(fetches.front().getSlots(), slots) ||
             !llvm::equal(arrives.front().getSlots(), slots) ||
             !fetches.front()->isBeforeInBlock(arrives.front())) {
    return emitOpError(
        "expected one fetch and after it one arrive, of all "
        "slots, and stages from 1 to the schedule's with copies");
  }
  for (BlockArgument slot : getSlots())
    if (failed(verifyAfter(slot, arrives.front(),
                           "expected to stand after rmsnorm.arrive")))
      return failure();
  // (C4)
  auto awaits = llvm::to_vector(body.getOps<AwaitOp>());
  if (!isSplit()) {
    if (!awaits.empty())
      return emitOpError("expected no await without 'begin'");
    return success();
  }
  if (awaits.size() != 1 ||
      !llvm::equal(awaits.front().getSums(), ValueRange(getSums())) ||
      !arrives.front()->isBeforeInBlock(awaits.front()))
    return emitOpError("expected one await, of all sums of 'begin', after "
                       "arrive");
  for (BlockArgument sum : getSums())
    if (failed(verifyAfter(sum, awaits.front(),
                           "expected to stand after rmsnorm.await")))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// slot_load, traverse
//===----------------------------------------------------------------------===//

LogicalResult SlotLoadOp::verify() {
  // (C1)
  if (getType() == getSlot().getType().getTile())
    return success();
  return emitOpError("expected the slot's tile, ")
         << getSlot().getType().getTile() << ", got " << getType();
}

LogicalResult TraverseOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  const size_t reductions = getKinds().size();
  // (C1)
  if (!yield || yield.getValues().size() != getNumResults() ||
      reductions > getNumResults())
    return emitOpError("expected a yielded value for each result, those of its "
                       "reductions first, got ")
           << (yield ? yield.getValues().size() : 0) << " values, "
           << getNumResults() << " results and " << reductions << " reductions";
  for (auto [index, value, result] :
       llvm::enumerate(yield.getValues(), getResults())) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (index < reductions) {
      auto first = dyn_cast<VectorType>(yield.getValues().front().getType());
      if (!type || !first || !isPerColumn(type) ||
          type.getShape() != first.getShape() ||
          !isa<FloatType>(type.getElementType()) ||
          result.getType() != getPerRowType(type))
        return emitOpError("expected to reduce float tiles of one shape RxN to "
                           "Rx1, got ")
               << value.getType() << " to " << result.getType();
      continue;
    }
    // (C2)
    if (type != result.getType() || !isPerColumn(type) ||
        getWalk() == Walk::looped)
      return emitOpError("expected held values to have their result's type, "
                         "several columns, and a walk other than looped, got ")
             << value.getType() << " and " << result.getType();
  }
  // (C5)
  if (getInFlight() < 1)
    return emitOpError("expected in_flight >= 1, got ") << getInFlight();
  if (getOrder() == Order::vectors &&
      cast<TilesOp>((*this)->getParentOp()).getInits().empty())
    return emitOpError("expected order(ops) where nothing is summed over rows");
  for (Operation &op : getBody().front()) {
    // (C4)
    auto store = dyn_cast<TileStoreOp>(op);
    const bool isStore = store && isPerColumn(store.getValue().getType());
    const bool isValue = op.getNumResults() != 0 &&
                         llvm::all_of(op.getResultTypes(), isPerColumn) &&
                         op.getNumRegions() == 0;
    if (!isStore && !isValue && &op != yield)
      return op.emitOpError("expected per-column values and stores of tiles in "
                            "rmsnorm.traverse");
    // (C3)
    for (Value operand : op.getOperands()) {
      if (!isPerColumn(operand.getType()) ||
          operand.getParentRegion() == &getBody())
        continue;
      Operation *def = operand.getDefiningOp();
      if (def && def->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (def && !isa<TraverseOp, TileLoadOp>(def))
        return op.emitOpError("expected per-column values from outside of "
                              "rmsnorm.traverse to be held ones, got one of ")
               << def->getName();
      // (C2)
      if (getWalk() == Walk::looped)
        return op.emitOpError("expected a walk other than looped where held "
                              "values are used");
    }
  }
  return success();
}

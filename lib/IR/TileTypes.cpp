// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileTypes.cpp - what the shape of a tile's value says -------------===//

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::rmsnorm;

APFloat rmsnorm::getIdentity(ReduceKind kind,
                             const llvm::fltSemantics &semantics) {
  switch (kind) {
  case ReduceKind::add:
    return APFloat::getZero(semantics);
  case ReduceKind::maximumf:
    return APFloat::getInf(semantics, /*Negative=*/true);
  case ReduceKind::minimumf:
    return APFloat::getInf(semantics);
  case ReduceKind::mul:
    return APFloat(semantics, 1);
  case ReduceKind::maxnumf:
  case ReduceKind::minnumf:
    return APFloat::getQNaN(semantics);
  }
  llvm_unreachable("unknown reduction kind");
}

bool rmsnorm::isIdentity(ReduceKind kind, const APFloat &value) {
  APFloat identity = getIdentity(kind, value.getSemantics());
  return identity.isNaN()    ? value.isNaN()
         : identity.isZero() ? value.isZero()
                             : value.bitwiseIsEqual(identity);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

VectorType rmsnorm::getTileType(int64_t rows, ArrayRef<int64_t> digits,
                                Type element) {
  SmallVector<int64_t> shape{rows};
  llvm::append_range(shape, digits);
  return VectorType::get(shape, element);
}

VectorType rmsnorm::getTypeOfRows(VectorType type, int64_t rows) {
  return getTileType(rows, getColumnShape(type), type.getElementType());
}

VectorType rmsnorm::getPerRowType(VectorType type) {
  return getTileType(type.getDimSize(0),
                     SmallVector<int64_t>(type.getRank() - 1, 1),
                     type.getElementType());
}

SmallVector<int64_t> rmsnorm::getDigitStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t digit = sizes.size(); digit-- > 1;)
    strides[digit - 1] = strides[digit] * sizes[digit];
  return strides;
}

bool rmsnorm::hasGroups(ArrayRef<int64_t> groups, ArrayRef<int64_t> whole) {
  if (groups.size() != whole.size())
    return false;
  while (!groups.empty() && groups.back() == 1) {
    groups = groups.drop_back();
    whole = whole.drop_back();
  }
  return groups == whole;
}

int64_t rmsnorm::getGroupColumns(VectorType type, ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (auto [own, size] :
       llvm::reverse(llvm::zip_equal(getColumnShape(type), sizes))) {
    if (own != 1)
      break;
    count *= size;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Parts of rows
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getColumnShapeOf(Value value) {
  return getColumnShape(cast<VectorType>(value.getType()));
}

/// Whether `value` has several indices of `digit`, but not all.
static bool isPartOf(Value value, size_t digit, ArrayRef<int64_t> sizes) {
  return isPerColumn(value.getType()) && getColumnShapeOf(value)[digit] != 1 &&
         getColumnShapeOf(value)[digit] != sizes[digit];
}

/// What `op` takes out of a row or puts into one, the row, and where it begins.
static std::optional<std::tuple<Value, Value, ArrayRef<int64_t>>>
getPart(Operation *op) {
  if (auto take = dyn_cast<TakeOp>(op))
    return std::make_tuple(take.getResult(), Value(take.getRow()),
                           take.getAt());
  if (auto put = dyn_cast<PutOp>(op))
    return std::make_tuple(Value(put.getPart()), put.getResult(), put.getAt());
  return std::nullopt;
}

/// The digits of which `op` accesses one index by itself.
static void addHeldDigits(Operation *op, ArrayRef<int64_t> sizes,
                          SmallVectorImpl<bool> &held) {
  auto add = [&](function_ref<bool(size_t)> isTaken) {
    for (size_t digit = 0; digit < sizes.size(); ++digit)
      held[digit] = held[digit] || (sizes[digit] > 1 && isTaken(digit));
  };
  if (auto found = getPart(op)) {
    const auto part = getColumnShapeOf(std::get<0>(*found));
    const auto whole = getColumnShapeOf(std::get<1>(*found));
    add([&](size_t digit) {
      return part[digit] == 1 && part[digit] != whole[digit];
    });
    return;
  }
  auto load = dyn_cast<TileLoadOp>(op);
  auto store = dyn_cast<TileStoreOp>(op);
  if (!load && !store)
    return;
  const Value value = load ? load.getResult() : store.getValue();
  const TileKind kind = load ? load.getKind() : store.getKind();
  if (kind != TileKind::tile && kind != TileKind::group)
    return;
  const auto own = getColumnShapeOf(value);
  size_t inner = own.size();
  while (inner > 0 && own[inner - 1] == 1)
    --inner;
  add([&](size_t digit) {
    // What has inner digits alone is the same for all outer ones, unless it
    // is stored.
    return own[digit] == 1 &&
           (digit < inner ? bool(store) : kind == TileKind::tile);
  });
}

namespace {
/// Where in a digit the parts of it lie that a program computes with.
class PartsInPlace {
public:
  PartsInPlace(ArrayRef<int64_t> sizes, size_t digit)
      : sizes(sizes), digit(digit) {}

  /// Adds what `op` says. Returns whether the parts can stay where they are.
  bool add(Operation *op);
  bool hasParts() const { return !parts.empty(); }
  /// The parts and where each begins; none if parts from several places meet.
  std::optional<SmallVector<std::pair<Value, int64_t>>> find() const;

private:
  bool isPart(Value value) const { return isPartOf(value, digit, sizes); }
  /// Of values that lie at one place the first that was seen.
  Value getFirst(Value value) const {
    while (Value other = sameAs.lookup(value))
      value = other;
    return value;
  }
  void join(Value one, Value other) {
    one = getFirst(one);
    other = getFirst(other);
    if (one != other)
      sameAs[other] = one;
  }

  ArrayRef<int64_t> sizes;
  size_t digit;
  SetVector<Value> parts;
  DenseMap<Value, Value> sameAs;
  SmallVector<std::pair<Value, int64_t>> places;
  SmallVector<TileLoadOp> loads;
  bool hasBytesOfTwo = false, odd = false;
};
} // namespace

/// Whether `value` is the same for all columns: a part that lies anywhere.
static bool isUniform(Value value) {
  if (!isPerColumn(value.getType()) || matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || isa<TileLoadOp, SlotLoadOp, TakeOp, PutOp>(op))
    return false;
  if (auto traverse = dyn_cast<TraverseOp>(op))
    return isUniform(traverse.getYield()
                         .getValues()[cast<OpResult>(value).getResultNumber()]);
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), isUniform);
}

/// Whether both are computed alike, and become one value.
static bool areEqual(Value one, Value other) {
  if (one == other)
    return true;
  auto result = dyn_cast<OpResult>(one), second = dyn_cast<OpResult>(other);
  return result && second &&
         result.getResultNumber() == second.getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             result.getOwner(), second.getOwner(),
             [](Value a, Value b) { return success(areEqual(a, b)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

bool PartsInPlace::add(Operation *op) {
  // Columns are summed up over rows, and copied ahead, by the threads that have
  // them in whole rows.
  if (isa<AccumulateOp, SumStoreOp, SlotLoadOp>(op))
    return false;
  SmallVector<Value> own;
  for (ValueRange values :
       {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values) {
      if (isPart(value))
        own.push_back(value);
      // What threads share has vectors of groups of powers of two.
      if (isPerColumn(value.getType()) &&
          !llvm::isPowerOf2_64(
              getGroupColumns(cast<VectorType>(value.getType()), sizes)))
        return false;
    }
  if (own.empty())
    return true;
  parts.insert(own.begin(), own.end());
  const int64_t inner = ShapedType::getNumElements(sizes.drop_front(digit + 1));
  for (Value value : own) {
    const auto shape = getColumnShapeOf(value);
    // No inner digit may be lacking: groups have numbers of their own.
    if (shape.drop_front(digit + 1) != sizes.drop_front(digit + 1))
      return false;
    // Two numbers of f4 are a byte.
    hasBytesOfTwo |= isa<Float4E2M1FNType>(getElementTypeOrSelf(value));
    odd |= shape[digit] * inner % 2 != 0;
  }
  // An operand that a part is computed from, or the part, lies where it does.
  auto joinAll = [&](Value result, ValueRange operands) {
    for (Value operand : operands)
      if (isPart(operand) && !isUniform(operand))
        join(result, operand);
  };
  if (auto found = getPart(op)) {
    auto [part, whole, at] = *found;
    if (isPart(part) == isPart(whole) ||
        getColumnShapeOf(whole)[digit] != sizes[digit])
      return false;
    odd |= at[digit] * inner % 2 != 0;
    if (!isUniform(part))
      places.push_back({part, at[digit]});
    return true;
  }
  if (auto load = dyn_cast<TileLoadOp>(op)) {
    for (TileLoadOp other : loads)
      if (areEqual(load, other))
        join(other, load);
    loads.push_back(load);
    return load.getKind() == TileKind::tile ||
           load.getKind() == TileKind::column;
  }
  if (auto store = dyn_cast<TileStoreOp>(op))
    return store.getKind() == TileKind::tile;
  if (auto traverse = dyn_cast<TraverseOp>(op)) {
    for (auto [held, result] :
         llvm::zip(traverse.getHeld(), traverse.getHeldResults()))
      if (isPart(result))
        joinAll(result, held);
    return true;
  }
  // A traverse says what it yields.
  if (isa<YieldOp>(op)) {
    auto traverse = dyn_cast<TraverseOp>(op->getParentOp());
    return traverse && llvm::none_of(traverse.getReduced(), [&](Value value) {
             return isPart(value);
           });
  }
  if (auto keep = dyn_cast<KeepOp>(op)) {
    if (isPart(keep))
      joinAll(keep, keep.getValue());
    return true;
  }
  // Of a value that is the same for all rows, or of one a row.
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    auto source = dyn_cast<VectorType>(broadcast.getSource().getType());
    joinAll(broadcast, broadcast.getSource());
    return !isPerColumn(broadcast.getSource().getType()) ||
           getColumnShape(source) == getColumnShape(broadcast.getType());
  }
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      isa<RowReduceOp, GroupReduceOp>(op))
    return false;
  joinAll(op->getResult(0), op->getOperands());
  return true;
}

std::optional<SmallVector<std::pair<Value, int64_t>>>
PartsInPlace::find() const {
  if (hasBytesOfTwo && odd)
    return std::nullopt;
  DenseMap<Value, int64_t> begins;
  for (auto [part, begin] : places)
    if (begins.try_emplace(getFirst(part), begin).first->second != begin)
      return std::nullopt;
  SmallVector<std::pair<Value, int64_t>> found;
  for (Value part : parts)
    found.push_back({part, begins.lookup(getFirst(part))});
  return found;
}

ColumnParts rmsnorm::getColumnParts(RowsOp rows) {
  const ArrayRef<int64_t> sizes = rows.getDigits();
  SmallVector<bool> held(sizes.size());
  rows.getBody().walk([&](Operation *op) { addHeldDigits(op, sizes, held); });
  std::map<size_t, SmallVector<std::pair<Value, int64_t>>> inPlace;
  for (size_t digit = 0; digit < sizes.size(); ++digit) {
    PartsInPlace own(sizes, digit);
    bool canStay = true;
    rows.getBody().walk(
        [&](Operation *op) { canStay = own.add(op) && canStay; });
    if (!own.hasParts() || held[digit])
      continue;
    std::optional<SmallVector<std::pair<Value, int64_t>>> found = own.find();
    if (canStay && found)
      inPlace[digit] = std::move(*found);
    else
      held[digit] = true;
  }
  // Threads share several digits as one. Of that a part is what lies side by
  // side, so it is one of the outermost; all of whole rows are one.
  int64_t first = 0, last = 0;
  bool hasPairs = false;
  auto isOutermost = [&](int64_t digit) {
    const bool isWhole = first > last && !hasPairs;
    return !isWhole && (digit == 0 || (first <= last && digit == last + 1));
  };
  while (true) {
    const int64_t end = sizes.size();
    hasPairs = held.back() && sizes.back() == 2;
    for (first = 0; first < end - hasPairs && !held[first];)
      ++first;
    for (last = end - 1 - hasPairs; last >= 0 && !held[last];)
      --last;
    auto other = llvm::find_if(
        inPlace, [&](const auto &one) { return !isOutermost(one.first); });
    if (other == inPlace.end())
      break;
    held[other->first] = true;
    inPlace.erase(other);
  }
  ColumnParts parts;
  parts.whole = rows.getColumns();
  parts.hasPairs = hasPairs;
  for (const auto &[digit, values] : inPlace)
    for (auto [value, begin] : values) {
      SmallVector<int64_t> &at = parts.inPlace[value];
      at.resize(sizes.size());
      at[digit] = begin;
    }
  if (first > last) {
    parts.part = hasPairs ? rows.getColumns() : 0;
    return parts;
  }
  const SmallVector<int64_t> strides = getDigitStrides(sizes);
  parts.part = strides[last];
  parts.whole = strides[first] * sizes[first];
  return parts;
}

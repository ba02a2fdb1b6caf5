// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Disjoint.cpp - what buffers share, and who writes them -------------===//

#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  return x && y && x.getResultNumber() == y.getResultNumber() &&
         isMemoryEffectFree(x.getOwner()) &&
         OperationEquivalence::isEquivalentTo(
             x.getOwner(), y.getOwner(),
             [](Value p, Value q) { return success(isSameValue(p, q)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

Value rmsnorm::getViewedBuffer(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    return view.getViewSource();
  auto transpose = buffer.getDefiningOp<memref::TransposeOp>();
  return transpose ? transpose.getIn() : Value();
}

Value rmsnorm::getRootBuffer(Value buffer) {
  while (Value viewed = getViewedBuffer(buffer))
    buffer = viewed;
  return buffer;
}

bool rmsnorm::isConstantBuffer(Value buffer) {
  buffer = getRootBuffer(buffer);
  if (auto get = buffer.getDefiningOp<memref::GetGlobalOp>()) {
    auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
        get, get.getNameAttr());
    return global && global.getConstant();
  }
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(),
                             RMSNormDialect::kConstantAttrName);
}

std::optional<std::pair<int64_t, int64_t>>
IndexSet::getRange(int64_t modulus) const {
  const int64_t first = modulus ? llvm::mod(offset, modulus) : offset;
  int64_t last = first;
  for (auto [factor, count] : terms) {
    if (ShapedType::isDynamic(factor) || factor < 0)
      return std::nullopt;
    if (modulus && factor % modulus == 0)
      continue;
    int64_t most;
    if (ShapedType::isDynamic(count) ||
        llvm::MulOverflow(factor, count - 1, most) ||
        llvm::AddOverflow(last, most, last))
      return std::nullopt;
  }
  if (modulus && last >= modulus)
    return std::nullopt;
  return std::make_pair(first, last);
}

bool IndexSet::isDisjoint(const IndexSet &other) const {
  llvm::SmallSetVector<int64_t, 8> moduli;
  // The values themselves.
  moduli.insert(0);
  int64_t divisor = 0;
  for (const IndexSet *set : {this, &other})
    for (auto [factor, count] : set->terms)
      if (!ShapedType::isDynamic(factor) && factor > 0) {
        divisor = std::gcd(divisor, factor);
        moduli.insert(factor);
      }
  moduli.insert(divisor);
  return llvm::any_of(moduli, [&](int64_t modulus) {
    auto own = getRange(modulus), others = other.getRange(modulus);
    return own && others &&
           (own->second < others->first || others->second < own->first);
  });
}

/// The source of `buffer`, then the views that lead to it.
static SmallVector<Value> getViews(Value buffer) {
  SmallVector<Value> views{buffer};
  while (Value viewed = getViewedBuffer(views.back()))
    views.push_back(viewed);
  std::reverse(views.begin(), views.end());
  return views;
}

namespace {
/// The elements that a chain of views leads to, or more: of each dimension of
/// the buffer, its root, an offset and digits, whose sum is the index.
class Footprint {
public:
  /// None if a view is of another kind than these.
  static std::optional<Footprint> get(ArrayRef<Value> rootAndViews);

  /// Whether they are certainly other elements of one buffer than `other`.
  bool isDisjoint(const Footprint &other) const;

private:
  using Variable = ValueBoundsConstraintSet::Variable;
  struct Digit {
    /// The dimension of the buffer.
    unsigned place;
    int64_t factor;
    /// How many values it has; kDynamic if only `size` says so.
    int64_t number;
    Variable size;
    /// Whether a slice may have left less of it.
    bool isMore = false;
  };
  /// The index of a dimension of a view, the outermost digit first.
  using Index = SmallVector<Digit, 2>;

  explicit Footprint(Value buffer);
  bool follow(Operation *view);
  void slice(Index &index, OpFoldResult offset, OpFoldResult size,
             OpFoldResult stride);
  void slice(Digit &digit, OpFoldResult offset, OpFoldResult size);
  void cut(memref::SubViewOp view);
  void expand(memref::ExpandShapeOp view);
  void collapse(memref::CollapseShapeOp view);

  SmallVector<Digit> getDigits(unsigned place) const;
  /// The first or the last index of dimension `place`.
  Variable getBound(unsigned place, bool isLast) const;
  IndexSet getIndices(unsigned place) const;
  bool isDisjoint(const Footprint &other, unsigned place) const;

  MLIRContext *context;
  /// Of each dimension of the buffer: multiples of values.
  SmallVector<SmallVector<std::pair<int64_t, OpFoldResult>>> offsets;
  /// Of the view, and of dimensions that it does not have any more.
  SmallVector<Index> indices, dropped;
};
} // namespace

Footprint::Footprint(Value buffer) : context(buffer.getContext()) {
  auto type = cast<MemRefType>(buffer.getType());
  offsets.resize(type.getRank());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(
        {Digit{unsigned(dim), 1, type.getDimSize(dim), Variable(buffer, dim)}});
}

void Footprint::slice(Digit &digit, OpFoldResult offset, OpFoldResult size) {
  offsets[digit.place].push_back({digit.factor, offset});
  digit.number = getConstantIntValue(size).value_or(ShapedType::kDynamic);
  digit.size = Variable(size);
}

void Footprint::slice(Index &index, OpFoldResult offset, OpFoldResult size,
                      OpFoldResult stride) {
  const std::optional<int64_t> step = getConstantIntValue(stride);
  bool isKnown =
      llvm::none_of(index, [](const Digit &digit) { return digit.isMore; });
  if (isKnown && index.size() == 1 && step && *step > 0) {
    slice(index.front(), offset, size);
    index.front().factor *= *step;
    return;
  }
  isKnown &= step == 1;
  std::optional<int64_t> first = getConstantIntValue(offset),
                         count = getConstantIntValue(size);
  auto constant = [&](int64_t value) -> OpFoldResult {
    return IntegerAttr::get(IndexType::get(context), value);
  };
  for (Digit &digit : llvm::reverse(index)) {
    const bool isOutermost = &digit == &index.front();
    const int64_t number = digit.number;
    const bool hasNumber = !ShapedType::isDynamic(number) && number > 0;
    if (!isKnown || !first || !count || (!isOutermost && !hasNumber)) {
      digit.isMore = true;
      continue;
    }
    if (isOutermost) {
      slice(digit, constant(*first), constant(*count));
    } else if (*first % number == 0 && *count % number == 0) {
      *first /= number;
      *count /= number;
    } else if (*first % number + *count <= number) {
      slice(digit, constant(*first % number), constant(*count));
      *first /= number;
      count = 1;
    } else {
      digit.isMore = true;
      first.reset();
    }
  }
}

void Footprint::cut(memref::SubViewOp view) {
  for (auto [index, offset, size, stride] :
       llvm::zip_equal(indices, view.getMixedOffsets(), view.getMixedSizes(),
                       view.getMixedStrides()))
    slice(index, offset, size, stride);
  const llvm::SmallBitVector isDropped = view.getDroppedDims();
  for (int64_t dim = indices.size() - 1; dim >= 0; --dim)
    if (isDropped[dim]) {
      dropped.push_back(std::move(indices[dim]));
      indices.erase(indices.begin() + dim);
    }
}

void Footprint::expand(memref::ExpandShapeOp view) {
  SmallVector<Index> expanded(view.getType().getRank());
  for (auto [index, dims] :
       llvm::zip_equal(indices, view.getReassociationIndices())) {
    // From the innermost dimension outwards; the outermost takes what is left.
    for (int64_t dim : llvm::reverse(ArrayRef(dims).drop_front())) {
      int64_t left = view.getType().getDimSize(dim);
      while (left != 1 && !index.empty()) {
        Digit &digit = index.back();
        const int64_t number = digit.number;
        const bool isKnown =
            !ShapedType::isDynamic(left) && left > 0 && !digit.isMore;
        if (isKnown && !ShapedType::isDynamic(number) && number > 0 &&
            left % number == 0) {
          left /= number;
          expanded[dim].insert(expanded[dim].begin(), digit);
          index.pop_back();
        } else if (isKnown &&
                   (ShapedType::isDynamic(number) || number % left == 0)) {
          Digit inner = digit;
          inner.number = left;
          inner.size =
              Variable(IntegerAttr::get(IndexType::get(context), left));
          expanded[dim].insert(expanded[dim].begin(), inner);
          digit.factor *= left;
          if (!ShapedType::isDynamic(number))
            digit.number /= left;
          digit.size = Variable(
              AffineMap::get(1, 0, getAffineDimExpr(0, context).floorDiv(left)),
              ArrayRef<Variable>(digit.size));
          left = 1;
        } else {
          // A slice of the dimension is none of the digits that it has so far.
          for (Index *some : {&index, &expanded[dim]})
            for (Digit &rest : *some)
              rest.isMore = true;
          break;
        }
      }
    }
    Index &outermost = expanded[dims.front()];
    outermost.insert(outermost.begin(), index.begin(), index.end());
  }
  indices = std::move(expanded);
}

void Footprint::collapse(memref::CollapseShapeOp view) {
  SmallVector<Index> collapsed;
  for (ArrayRef<int64_t> dims : view.getReassociationIndices()) {
    Index &whole = collapsed.emplace_back();
    for (int64_t dim : dims)
      for (const Digit &digit : indices[dim]) {
        Digit *outer = whole.empty() ? nullptr : &whole.back();
        if (!outer || outer->isMore || digit.isMore ||
            outer->place != digit.place ||
            ShapedType::isDynamic(digit.number) ||
            outer->factor != digit.factor * digit.number) {
          whole.push_back(digit);
          continue;
        }
        outer->factor = digit.factor;
        if (!ShapedType::isDynamic(outer->number))
          outer->number *= digit.number;
        outer->size = Variable(
            AffineMap::get(1, 0, getAffineDimExpr(0, context) * digit.number),
            ArrayRef<Variable>(outer->size));
      }
  }
  indices = std::move(collapsed);
}

bool Footprint::follow(Operation *view) {
  if (auto slice = dyn_cast<memref::SubViewOp>(view))
    return cut(slice), true;
  if (auto expanded = dyn_cast<memref::ExpandShapeOp>(view))
    return expand(expanded), true;
  if (auto collapsed = dyn_cast<memref::CollapseShapeOp>(view))
    return collapse(collapsed), true;
  if (auto transpose = dyn_cast<memref::TransposeOp>(view)) {
    SmallVector<Index> permuted;
    for (AffineExpr expr : transpose.getPermutation().getResults())
      permuted.push_back(indices[cast<AffineDimExpr>(expr).getPosition()]);
    indices = std::move(permuted);
    return true;
  }
  return isa<memref::CastOp>(view) &&
         isa<MemRefType>(view->getResult(0).getType());
}

std::optional<Footprint> Footprint::get(ArrayRef<Value> rootAndViews) {
  if (!isa<MemRefType>(rootAndViews.front().getType()))
    return std::nullopt;
  Footprint footprint(rootAndViews.front());
  for (Value view : rootAndViews.drop_front())
    if (!footprint.follow(view.getDefiningOp()))
      return std::nullopt;
  return footprint;
}

SmallVector<Footprint::Digit> Footprint::getDigits(unsigned place) const {
  SmallVector<Digit> digits;
  for (ArrayRef<Index> some : {ArrayRef(indices), ArrayRef(dropped)})
    for (const Index &index : some)
      llvm::copy_if(index, std::back_inserter(digits),
                    [&](const Digit &digit) { return digit.place == place; });
  return digits;
}

Footprint::Variable Footprint::getBound(unsigned place, bool isLast) const {
  SmallVector<Variable> operands;
  AffineExpr sum = getAffineConstantExpr(0, context);
  auto add = [&](int64_t factor, const Variable &value, int64_t constant) {
    sum =
        sum + (getAffineDimExpr(operands.size(), context) + constant) * factor;
    operands.push_back(value);
  };
  for (auto [factor, offset] : offsets[place])
    add(factor, Variable(offset), 0);
  if (isLast)
    for (const Digit &digit : getDigits(place))
      add(digit.factor, digit.size, -1);
  return Variable(AffineMap::get(operands.size(), 0, sum), operands);
}

IndexSet Footprint::getIndices(unsigned place) const {
  IndexSet set;
  for (auto [multiple, offset] : offsets[place])
    if (std::optional<int64_t> number = getConstantIntValue(offset);
        !number || llvm::MulOverflow(multiple, *number, *number) ||
        llvm::AddOverflow(set.offset, *number, set.offset))
      set.terms.push_back({multiple, ShapedType::kDynamic});
  for (const Digit &digit : getDigits(place))
    set.terms.push_back({digit.factor, digit.number});
  return set;
}

bool Footprint::isDisjoint(const Footprint &other, unsigned place) const {
  auto isBefore = [&](const Footprint &a, const Footprint &b) {
    return ValueBoundsConstraintSet::compare(
        a.getBound(place, /*isLast=*/true),
        ValueBoundsConstraintSet::ComparisonOperator::LT,
        b.getBound(place, /*isLast=*/false));
  };
  return isBefore(*this, other) || isBefore(other, *this) ||
         getIndices(place).isDisjoint(other.getIndices(place));
}

bool Footprint::isDisjoint(const Footprint &other) const {
  return llvm::any_of(llvm::seq<unsigned>(0, offsets.size()),
                      [&](unsigned place) { return isDisjoint(other, place); });
}

/// Whether `buffer` is an argument of an entry.
static bool isOfEntry(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  return function && function.getArgAttr(argument.getArgNumber(),
                                         RMSNormDialect::kRoleAttrName);
}

bool rmsnorm::areDisjoint(Value a, Value b, AliasAnalysis &aliases) {
  SmallVector<Value> viewsOfA = getViews(a), viewsOfB = getViews(b);
  if (!isSameValue(viewsOfA.front(), viewsOfB.front()))
    return (isOfEntry(viewsOfA.front()) && isOfEntry(viewsOfB.front())) ||
           aliases.alias(viewsOfA.front(), viewsOfB.front()).isNo();
  std::optional<Footprint> ofA = Footprint::get(viewsOfA),
                           ofB = Footprint::get(viewsOfB);
  return ofA && ofB && ofA->isDisjoint(*ofB);
}

bool rmsnorm::mayCross(Operation &op) {
  if (isMemoryEffectFree(&op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && op.getNumRegions() == 0 &&
         effects.onlyHasEffect<MemoryEffects::Allocate>();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramDigits.cpp - the digits of a program's columns --------------===//
//
// The number of a column is written in digits of which each value has all, none
// or, of those that rows are taken apart in, some. They follow from where the
// columns of all that a cluster reads and computes lie in its longest rows.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

/// Columns side by side: from `begin` on, as a number of columns of the longest
/// rows, to `end`.
using Extent = std::pair<int64_t, int64_t>;

/// The extents of the columns `leaves`, the innermost first.
SmallVector<Extent>
ProgramBuilder::getExtents(ArrayRef<unsigned> leaves) const {
  SmallVector<Extent> extents;
  for (unsigned leaf : leaves) {
    const int64_t stride = strides.lookup(leaf);
    extents.push_back({stride, stride * digits[leaf].size.getNumber()});
  }
  llvm::sort(extents);
  SmallVector<Extent> joined;
  for (Extent extent : extents)
    if (!joined.empty() && joined.back().second == extent.first)
      joined.back().second = extent.second;
    else
      joined.push_back(extent);
  return joined;
}

/// Whether it is known where the columns `leaves` lie, in the longest rows.
bool ProgramBuilder::areKnown(ArrayRef<unsigned> leaves) const {
  return llvm::all_of(leaves, [&](unsigned leaf) {
    auto it = strides.find(leaf);
    return digits[leaf].size.isStatic() && !digits[leaf].isPartial &&
           it != strides.end() &&
           it->second * digits[leaf].size.getNumber() <= columns;
  });
}

//===----------------------------------------------------------------------===//
// Where columns lie
//===----------------------------------------------------------------------===//

/// How many columns of the longest rows an index that is `sum` counts for one;
/// none if that is not known, 0 if the index has no columns.
static std::optional<int64_t>
getScale(const Digits &digits, const DenseMap<unsigned, int64_t> &strides,
         const Sum &sum) {
  int64_t scale = 0;
  for (const Term &term : sum.terms) {
    if (digits[term.digit].isRow || !term.factor.isStatic())
      return std::nullopt;
    auto stride = strides.find(term.digit);
    if (stride == strides.end())
      continue;
    const int64_t factor = term.factor.getNumber();
    if (stride->second % factor != 0 ||
        (scale != 0 && scale != stride->second / factor))
      return std::nullopt;
    scale = stride->second / factor;
  }
  return scale;
}

/// Of columns at `index` of what has the layout `own` one of the two is known
/// to lie somewhere: the other does so, too. Returns whether anything was new.
bool ProgramBuilder::follow(const Inclusion &inclusion) {
  bool isNew = false;
  for (auto [from, to] : llvm::zip_equal(digits.resolve(inclusion.index),
                                         digits.resolve(inclusion.own))) {
    std::optional<int64_t> scale = getScale(digits, strides, to);
    if (scale == 0)
      scale = getScale(digits, strides, from);
    if (!scale || *scale == 0)
      continue;
    for (const Sum *sum : {&from, &to})
      for (const Term &term : sum->terms)
        if (!digits[term.digit].isRow && term.factor.isStatic())
          isNew |=
              strides.try_emplace(term.digit, term.factor.getNumber() * *scale)
                  .second;
  }
  return isNew;
}

/// Where the columns at `index` begin in what has the layout `own`, as a number
/// of columns of the longest rows. None if they lie in another order.
std::optional<int64_t> ProgramBuilder::getOffset(const Layout &index,
                                                 const Layout &own) const {
  int64_t offset = 0;
  for (auto [from, to] :
       llvm::zip_equal(digits.resolve(index), digits.resolve(own))) {
    if (!digits.hasColumns(to)) {
      if (digits.hasColumns(from) || from.offset != to.offset)
        return std::nullopt;
      continue;
    }
    for (const Sum *sum : {&from, &to})
      if (llvm::any_of(sum->terms, [&](const Term &term) {
            return digits[term.digit].isRow;
          }))
        return std::nullopt;
    std::optional<int64_t> scale = getScale(digits, strides, to);
    if (!scale || *scale == 0 ||
        (!from.terms.empty() && getScale(digits, strides, from) != scale))
      return std::nullopt;
    offset += (from.offset - to.offset) * *scale;
  }
  return offset;
}

void ProgramBuilder::addInclusion(const Layout &index, const Layout *own,
                                  Operation *op) {
  if (own && own->size() == index.size())
    inclusions.push_back({index, *own, op});
}

/// Of a view of what members compute, or put together.
void ProgramBuilder::addViewInclusion(Value value) {
  const Layout *own = cluster.findLayout(value);
  if (!own)
    return;
  Layout index = digits.resolve(*own);
  Digits scratch = digits;
  Operation *op = value.getDefiningOp();
  while (op && isView(op)) {
    std::optional<Layout> next = readThrough(scratch, op, index);
    if (!next || scratch.size() != digits.size())
      return;
    index = std::move(*next);
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  addInclusion(index, cluster.findLayout(value), op);
}

/// Collects what is read of what is computed, and what is put where.
void ProgramBuilder::collectInclusions() {
  auto addInsertion = [&](tensor::InsertSliceOp op, const Layout *part,
                          const Layout *whole) {
    if (!part || !whole)
      return;
    if (std::optional<Layout> index = writeThrough(op, digits.resolve(*part)))
      addInclusion(*index, whole, op);
  };
  for (const Access &access : cluster.getAccesses()) {
    const Layout *own = cluster.findLayout(access.value);
    Operation *member = cluster.getMembers()[access.member].op;
    std::function<void(Value)> addChain = [&](Value value) {
      while (Operation *op = value.getDefiningOp()) {
        addViewInclusion(value);
        if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
          addInsertion(insertion, cluster.findLayout(insertion.getSource()),
                       cluster.findLayout(value));
          if (const Layout *before = cluster.findLayout(insertion.getDest()))
            addInclusion(*before, cluster.findLayout(value), op);
          addChain(insertion.getSource());
        } else if (!isView(op)) {
          break;
        }
        value = isa<tensor::InsertSliceOp>(op) ? op->getOperand(1)
                                               : op->getOperand(0);
      }
    };
    addChain(access.value);
    if (!access.isRead()) {
      addChain(access.source);
      continue;
    }
    if (access.kind == Access::Kind::member)
      addInclusion(access.layout, own, member);
    if (access.kind == Access::Kind::assembled)
      addInclusion(access.layout, own ? own : &access.loops, member);
    if (!access.parent)
      continue;
    const Access &parent = cluster.getAccesses()[*access.parent];
    auto insertion = parent.value.getDefiningOp<tensor::InsertSliceOp>();
    if (parent.kind != Access::Kind::assembled || !insertion ||
        access.whole.empty())
      continue;
    const Layout *row = cluster.findLayout(parent.value);
    row = row ? row : &parent.loops;
    if (access.operand == &insertion.getSourceMutable())
      addInsertion(insertion, &access.whole, row);
    else
      addInclusion(access.whole, row, insertion);
  }
}

//===----------------------------------------------------------------------===//
// The digits
//===----------------------------------------------------------------------===//

namespace {
/// What divides the number of a column, and what asks for it.
struct Cuts {
  std::map<int64_t, Operation *> all;
  /// Of what some indices are taken by themselves: apart from one another.
  SmallVector<Extent> taken;
  bool hasPairs = false;

  void add(int64_t cut, Operation *op) { all.try_emplace(cut, op); }
  void take(int64_t from, int64_t to) {
    auto overlaps = [&](Extent other) {
      return from < other.second && other.first < to;
    };
    while (true) {
      auto *other = llvm::find_if(taken, overlaps);
      if (other == taken.end())
        break;
      from = std::gcd(from, other->first);
      to = std::max(to, other->second);
      taken.erase(other);
    }
    taken.push_back({from, to});
  }
};
} // namespace

/// Says which of the columns `own` those of `part`, which begin at `offset`,
/// are taken out of.
static void addTaken(Cuts &cuts, ArrayRef<Extent> part, ArrayRef<Extent> own,
                     int64_t offset) {
  for (auto [begin, end] : own) {
    // From the innermost column on: where what is there of the part ends.
    int64_t place = begin, stride = begin;
    auto skip = [&](int64_t next) {
      if (next == place)
        return;
      const int64_t index = offset % next - offset % stride;
      const int64_t unit = std::gcd(std::gcd(place, index), next);
      if (unit == 1 && next == 2)
        cuts.hasPairs = true;
      else
        cuts.take(unit, next);
    };
    for (auto [first, last] : part) {
      if (first < begin || first >= end)
        continue;
      skip(first);
      place = last;
      stride = first;
    }
    skip(end);
  }
}

/// Places those of the columns `leaves` of which it is not known where they lie
/// in the longest rows: between the others, where there is room for as many, or
/// else around them. Returns whether there were any.
bool ProgramBuilder::placeBetween(ArrayRef<unsigned> leaves) {
  SmallVector<unsigned> known;
  bool isNew = false;
  llvm::copy_if(leaves, std::back_inserter(known),
                [&](unsigned leaf) { return strides.count(leaf); });
  for (unsigned leaf : llvm::reverse(leaves)) {
    if (strides.count(leaf))
      continue;
    int64_t place = 1;
    for (auto [begin, end] : getExtents(known)) {
      if (begin == place * digits[leaf].size.getNumber())
        break;
      place = end;
    }
    strides[leaf] = place;
    known.push_back(leaf);
    isNew = true;
  }
  return isNew;
}

LogicalResult ProgramBuilder::findDigits() {
  if (columns == kDynamicColumns || columns == 1) {
    columnDigits = {columns};
    for (const SmallVector<unsigned> &leaves : widest)
      for (unsigned leaf : leaves)
        strides[leaf] = 1;
    return success();
  }
  auto setStrides = [&](ArrayRef<unsigned> leaves) {
    int64_t stride = 1;
    for (unsigned leaf : llvm::reverse(leaves)) {
      strides.try_emplace(leaf, stride);
      stride *= digits[leaf].size.getNumber();
    }
  };
  llvm::for_each(widest, setStrides);
  collectInclusions();
  auto followAll = [&] {
    bool isNew = true;
    while (isNew) {
      isNew = false;
      for (const Inclusion &inclusion : inclusions)
        isNew |= follow(inclusion);
    }
  };
  followAll();
  // All sets of columns that a value has.
  SmallVector<std::pair<SmallVector<unsigned>, Operation *>> spaces;
  auto addSpace = [&](const Layout &layout, Operation *op) {
    SmallVector<unsigned> leaves = getColumnLeaves(layout);
    if (!leaves.empty() && llvm::all_of(leaves, [&](unsigned leaf) {
          return digits[leaf].size.isStatic() && !digits[leaf].isPartial;
        }))
      spaces.push_back({std::move(leaves), op});
  };
  for (const Member &member : cluster.getMembers()) {
    addSpace(member.loops, member.op);
    // What a norm reduces it has one value for.
    const LoopNest nest = *getLoopNest(member.op);
    if (nest.normColumns)
      addSpace(Layout(ArrayRef(member.loops).take_front(*nest.normColumns)),
               member.op);
    for (Value result : member.op->getResults())
      if (const Layout *layout = cluster.findLayout(result))
        addSpace(*layout, member.op);
  }
  for (const Access &access : cluster.getAccesses()) {
    Operation *op = cluster.getMembers()[access.member].op;
    for (const Layout *layout :
         {&access.layout, &access.loops, &access.whole, &access.sourceLayout})
      if (access.isRead() || layout == &access.sourceLayout)
        addSpace(*layout, op);
  }
  for (const Inclusion &inclusion : inclusions) {
    addSpace(inclusion.index, inclusion.op);
    addSpace(inclusion.own, inclusion.op);
  }
  // A digit that only counts parts is where those leave room. What is nowhere
  // in the longest rows begins where they do.
  for (const auto &[leaves, op] : spaces) {
    const bool isNowhere = llvm::none_of(
        leaves, [&](unsigned leaf) { return strides.count(leaf); });
    if (isNowhere)
      unrelated.insert(leaves.begin(), leaves.end());
    if (placeBetween(leaves))
      followAll();
  }
  Cuts cuts;
  for (const Inclusion &inclusion : inclusions) {
    const SmallVector<unsigned> part = getColumnLeaves(inclusion.index);
    const SmallVector<unsigned> own = getColumnLeaves(inclusion.own);
    std::optional<int64_t> offset = getOffset(inclusion.index, inclusion.own);
    if (!offset || !areKnown(part) || !areKnown(own))
      continue;
    const SmallVector<Extent> from = getExtents(part), to = getExtents(own);
    if (from != to)
      addTaken(cuts, from, to, *offset);
  }
  hasPairs = cuts.hasPairs;
  cuts.add(columns, cluster.getAnchor());
  if (cuts.hasPairs)
    cuts.add(2, cluster.getAnchor());
  for (auto [begin, end] : cuts.taken) {
    cuts.add(begin, cluster.getAnchor());
    cuts.add(end, cluster.getAnchor());
  }
  auto isInOne = [&](int64_t place) {
    return llvm::any_of(cuts.taken, [&](Extent taken) {
      return place > taken.first && place < taken.second;
    });
  };
  for (const auto &[leaves, op] : spaces)
    for (auto [begin, end] :
         areKnown(leaves) ? getExtents(leaves) : SmallVector<Extent>()) {
      cuts.add(begin, op);
      if (!isInOne(end))
        cuts.add(end, op);
    }
  cuts.all.erase(1);
  int64_t last = 1;
  Operation *lastOp = nullptr;
  for (auto [cut, op] : cuts.all) {
    if (cut % last != 0) {
      current = op;
      std::string place;
      llvm::raw_string_ostream(place) << (lastOp ? lastOp : op)->getName();
      return fail("divides columns by " + Twine(cut) + ", beside '" + place +
                  "', which divides them by " + Twine(last));
    }
    columnDigits.insert(columnDigits.begin(), cut / last);
    last = cut;
    lastOp = op;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The digits of a value that has the columns `leaves`, which belong to `op`.
FailureOr<SmallVector<int64_t>>
ProgramBuilder::getShape(ArrayRef<unsigned> leaves) {
  SmallVector<int64_t> shape(columnDigits.size(), 1);
  if (leaves.empty())
    return shape;
  // Of a number that only a call knows no other is a part.
  if (columns == kDynamicColumns && leaves.size() == 1)
    return SmallVector<int64_t>{countElements(leaves)};
  if (isPartial(leaves) || columns == kDynamicColumns)
    return fail("uses a part of a row whose columns do not divide it");
  if (!areKnown(leaves))
    return fail("has columns in another order than what is computed with it");
  const SmallVector<int64_t> places = getDigitStrides(columnDigits);
  for (auto [begin, end] : getExtents(leaves))
    for (auto [size, place, own] : llvm::zip(columnDigits, places, shape)) {
      const int64_t first = std::max(begin, place);
      const int64_t last = std::min(end, place * size);
      if (first >= last)
        continue;
      if (first != place || last % place != 0)
        return fail("divides columns in another way than what is computed "
                    "with it");
      own = last / place;
    }
  if (ShapedType::getNumElements(shape) != countElements(leaves))
    return fail("has columns in another order than what is computed with it");
  return shape;
}

VectorType ProgramBuilder::getVectorType(ArrayRef<int64_t> shape,
                                         Type element) {
  return getTileType(1, shape, element);
}

/// Where the columns `part` at `offset` begin in a row with the digits `whole`,
/// of which they are some.
FailureOr<SmallVector<int64_t>>
ProgramBuilder::getPartAt(int64_t offset, ArrayRef<int64_t> part,
                          ArrayRef<int64_t> whole) {
  SmallVector<int64_t> at;
  for (auto [size, place, own, all] :
       llvm::zip(columnDigits, getDigitStrides(columnDigits), part, whole)) {
    at.push_back(offset / place % size);
    if (offset < 0 || at.back() + own > all)
      return fail("uses a part of a row that lies across others");
  }
  return at;
}

/// Makes one of digits side by side that all values have, or none of them.
void ProgramBuilder::joinDigits() {
  SmallVector<Value> values;
  for (Operation &op : program)
    llvm::copy_if(op.getResults(), std::back_inserter(values),
                  [](Value value) { return isa<VectorType>(value.getType()); });
  auto getShapeOf = [](Value value) {
    return getColumnShape(cast<VectorType>(value.getType()));
  };
  for (size_t inner = columnDigits.size(); inner-- > 1;) {
    const size_t outer = inner - 1;
    auto isOne = [&](Value value) {
      const auto own = getShapeOf(value);
      return (own[outer] == 1 && own[inner] == 1) ||
             (own[outer] == columnDigits[outer] &&
              own[inner] == columnDigits[inner]);
    };
    // What is taken of a digit is of that one.
    auto isTaken = [&](Operation &op) {
      if (!isa<TakeOp, PutOp>(op))
        return false;
      const auto part = getShapeOf(op.getOperand(0));
      const auto whole =
          getShapeOf(isa<TakeOp>(op) ? op.getResult(0) : op.getOperand(1));
      return part[outer] != whole[outer] || part[inner] != whole[inner];
    };
    if (!llvm::all_of(values, isOne) || llvm::any_of(program, isTaken))
      continue;
    auto join = [&](ArrayRef<int64_t> sizes) {
      SmallVector<int64_t> joined(sizes);
      joined[outer] *= joined[inner];
      joined.erase(joined.begin() + inner);
      return joined;
    };
    for (Value value : values)
      value.setType(
          getVectorType(join(getShapeOf(value)),
                        cast<VectorType>(value.getType()).getElementType()));
    for (Operation &op : program) {
      // Nothing is taken of such digits.
      auto drop = [&](auto part) {
        SmallVector<int64_t> at(part.getAt());
        at.erase(at.begin() + inner);
        part.setAt(at);
      };
      if (auto take = dyn_cast<TakeOp>(op))
        drop(take);
      else if (auto put = dyn_cast<PutOp>(op))
        drop(put);
      else if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
          constant.setValueAttr(
              splat.resizeSplat(cast<ShapedType>(constant.getType())));
    }
    columnDigits = join(columnDigits);
  }
}

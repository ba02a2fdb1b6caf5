// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramPlaces.cpp - where the rows of a program lie ----------------===//

#include "ProgramBuilder.h"

#include "MemoryLayout.h"
#include "TileProgram.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

/// The undivided digits of columns in `layout`, the outermost first, as the
/// longest rows have them. Before it is known where in those all digits lie,
/// they are in the order in which members first have them.
SmallVector<unsigned>
ProgramBuilder::getColumnLeaves(ArrayRef<Sum> layout) const {
  SmallVector<unsigned> leaves;
  for (const Sum &sum : digits.resolve(Layout(layout)))
    for (const Term &term : sum.terms)
      if (!digits[term.digit].isRow && !llvm::is_contained(leaves, term.digit))
        leaves.push_back(term.digit);
  auto areIn = [&](const auto &map) {
    return llvm::all_of(leaves, [&](unsigned leaf) { return map.count(leaf); });
  };
  if (areIn(strides))
    llvm::stable_sort(leaves, [&](unsigned a, unsigned b) {
      return strides.lookup(a) > strides.lookup(b);
    });
  else if (areIn(ranks))
    llvm::stable_sort(leaves, [&](unsigned a, unsigned b) {
      return ranks.lookup(a) < ranks.lookup(b);
    });
  return leaves;
}

int64_t ProgramBuilder::countElements(ArrayRef<unsigned> leaves) const {
  Size size;
  for (unsigned leaf : leaves)
    size = size * digits[leaf].size;
  return size.isStatic() ? size.getNumber() : kDynamicColumns;
}

/// Whether a division of `leaves` does not come out even.
bool ProgramBuilder::isPartial(ArrayRef<unsigned> leaves) const {
  return llvm::any_of(leaves,
                      [&](unsigned leaf) { return digits[leaf].isPartial; });
}

/// Whether `row` is not put together, but each of its parts is written: it has
/// more columns than any member, or a part is one value.
bool ProgramBuilder::isLonger(Value row) const {
  if (countElements(getColumnLeaves(*cluster.findLayout(row))) > columns)
    return true;
  auto insertion = row.getDefiningOp<tensor::InsertSliceOp>();
  for (; insertion;
       insertion = insertion.getDest().getDefiningOp<tensor::InsertSliceOp>())
    if (const Layout *part = cluster.findLayout(insertion.getSource());
        part && getColumnLeaves(*part).empty() && columns > 1)
      return true;
  return false;
}

/// The current member does `why` beside members with more columns. Those do not
/// fit if it is the anchor.
LogicalResult ProgramBuilder::failWidest(const Twine &why) {
  if (current != cluster.getAnchor())
    return fail(why);
  for (const Member &member : cluster.getMembers())
    if (member.op != current &&
        countElements(getColumnLeaves(member.loops)) == columns) {
      current = member.op;
      // A loop around those over rows is none over columns of theirs.
      const auto *outer = llvm::find_if(member.loops, [&](const Sum &sum) {
        return digits.hasColumns(digits.resolve(sum));
      });
      if (std::any_of(outer, member.loops.end(), [&](const Sum &sum) {
            return digits.hasRows(digits.resolve(sum));
          }))
        return fail("works on each of the norm's rows more than once");
      return fail(
          "works on more elements for each row than the norm has columns");
    }
  return fail(why);
}

/// Puts the rows that one sum keeps in front and those that another one keeps
/// at the end, in the order of their results, where that suits all sums: each
/// keeps the first or the last of the rows.
void ProgramBuilder::orderRows() {
  SmallVector<SmallVector<unsigned>> sums;
  for (const Member &member : cluster.getMembers()) {
    auto op = dyn_cast<LinalgOp>(member.op);
    std::optional<LoopNest> nest = getLoopNest(member.op);
    const bool sumsRows =
        op && llvm::any_of(llvm::zip_equal(member.loops, nest->isReduction),
                           [&](auto loop) {
                             return std::get<1>(loop) &&
                                    digits.hasRows(std::get<0>(loop));
                           });
    if (!sumsRows)
      continue;
    for (const auto &[result, map] : nest->writes) {
      SmallVector<unsigned> &kept = sums.emplace_back();
      for (const Sum &sum : digits.resolve(getIndices(map, member.loops)))
        for (const Term &term : sum.terms)
          if (llvm::is_contained(rowDigits, term.digit) &&
              !llvm::is_contained(kept, term.digit))
            kept.push_back(term.digit);
    }
  }
  auto suits = [&](ArrayRef<unsigned> order) {
    return llvm::all_of(sums, [&](ArrayRef<unsigned> kept) {
      return order.take_front(kept.size()) == kept ||
             order.take_back(kept.size()) == kept;
    });
  };
  if (suits(rowDigits))
    return;
  SmallVector<SmallVector<unsigned>> orders;
  sums.emplace_back();
  for (const SmallVector<unsigned> &first : sums)
    for (const SmallVector<unsigned> &last : sums) {
      SmallVector<unsigned> order(first);
      for (unsigned row : rowDigits)
        if (!llvm::is_contained(first, row) && !llvm::is_contained(last, row))
          order.push_back(row);
      llvm::append_range(order, last);
      if (order.size() == rowDigits.size())
        orders.push_back(std::move(order));
    }
  if (auto *order = llvm::find_if(orders, suits); order != orders.end())
    rowDigits = *order;
}

LogicalResult ProgramBuilder::findColumns() {
  // What is divided by a size that only a call knows counts as several rows.
  std::function<void(unsigned)> addRow = [&](unsigned row) {
    const auto &parts = digits[row].parts;
    if (parts && !digits[parts->second].size.isStatic()) {
      addRow(parts->first);
      addRow(parts->second);
    } else if (!digits[row].size.isOne()) {
      rowDigits.push_back(row);
    }
  };
  llvm::for_each(cluster.getRowDigits(), addRow);
  for (unsigned row : rowDigits) {
    const Size &size = digits[row].size;
    const bool isKnown =
        size.isStatic() || llvm::is_contained(cluster.getRowDigits(), row) ||
        (size.getNumber() == 1 && size.getSources().size() == 1 &&
         digits.getSizes().getSource(size.getSources()[0]).value);
    if (digits[row].isPartial || !isKnown)
      return failTogether("divides rows by what is not known to divide them");
  }
  orderRows();
  // As the longest rows have them: parts may come in another order.
  SmallVector<const Member *> longest;
  for (const Member &member : cluster.getMembers())
    longest.push_back(&member);
  llvm::stable_sort(longest, [&](const Member *a, const Member *b) {
    return countElements(getColumnLeaves(a->loops)) >
           countElements(getColumnLeaves(b->loops));
  });
  for (const Member *member : longest)
    for (unsigned leaf : getColumnLeaves(member->loops))
      ranks.try_emplace(leaf, ranks.size());
  for (const Member &member : cluster.getMembers()) {
    current = member.op;
    SmallVector<unsigned> leaves = getColumnLeaves(member.loops);
    const int64_t elements = countElements(leaves);
    if (isPartial(leaves))
      return failTogether(
          "divides columns by what does not divide their number");
    for (unsigned leaf : leaves)
      if (const Size &size = digits[leaf].size;
          size.isStatic() && size.getNumber() > kMaxColumns)
        return fail("has rows of " + Twine(size.getNumber()) +
                    " elements, more than " + Twine(kMaxColumns));
    if (elements > columns)
      widest.clear();
    if (elements >= columns) {
      columns = elements;
      if (elements > 1 && !llvm::is_contained(widest, leaves))
        widest.push_back(leaves);
    }
    if (elements != kDynamicColumns)
      continue;
    if (leaves.size() != 1)
      return fail("divides columns of which only a call knows how many");
    if (dynamicColumns &&
        digits[*dynamicColumns].size != digits[leaves[0]].size)
      return fail("has columns of two sizes that only a call knows");
    dynamicColumns = leaves[0];
  }
  return success();
}

/// Where `operand` of the op of the frame lies, in the frame's loops.
Layout ProgramBuilder::getOperandLayout(OpOperand &operand) {
  auto op = cast<LinalgOp>(operand.getOwner());
  return getIndices(op.getMatchingIndexingMap(&operand), frame->loops);
}

FailureOr<SmallVector<int64_t>> ProgramBuilder::getShape(OpOperand &operand) {
  return getShape(getColumnLeaves(getOperandLayout(operand)));
}

bool ProgramBuilder::sumsRows(LinalgOp op) {
  for (auto [loop, type] :
       llvm::zip_equal(frame->loops, op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction &&
        digits.hasRows(digits.resolve(loop)))
      return true;
  return false;
}

bool ProgramBuilder::isOfOneValue(LinalgOp op) {
  return columns != 1 && countElements(getColumnLeaves(frame->loops)) == 1;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// What was `expected` of `layout`, and what it is: a map of the rows, then of
/// the columns, `order` and those that only the layout has.
std::string ProgramBuilder::describeMap(StringRef expected,
                                        const Layout &layout,
                                        ArrayRef<unsigned> order,
                                        unsigned numIndices) const {
  llvm::SetVector<unsigned> leaves(order.begin(), order.end());
  leaves.insert_range(getColumnLeaves(layout));
  SmallVector<unsigned> variables(cluster.getRowDigits());
  const unsigned numRowDims = variables.size();
  llvm::append_range(variables, digits.getCover(leaves.getArrayRef()));
  return (": expected " + expected + ", got " +
          AccessMap::getText(cluster.getMap(layout, variables, numIndices).map,
                             numRowDims))
      .str();
}

std::optional<ProgramBuilder::Place>
ProgramBuilder::getPlace(Value tensor, const Layout &layout,
                         ArrayRef<unsigned> order, unsigned numIndices,
                         std::string *why) {
  auto refuse = [&](StringRef what, StringRef expected) {
    if (why)
      *why = what.str() + describeMap(expected, layout, order, numIndices);
    return std::nullopt;
  };
  auto refuseOrder = [&] {
    return refuse("columns in an order of their own",
                  "them side by side in the innermost indices");
  };
  // In the order of the vector's elements.
  const SmallVector<unsigned> own = getColumnLeaves(layout);
  SmallVector<unsigned> leaves(order);
  llvm::erase_if(leaves,
                 [&](unsigned leaf) { return !llvm::is_contained(own, leaf); });
  if (leaves.size() != own.size())
    return refuseOrder();
  Place place;
  place.elements = countElements(leaves);
  FailureOr<SmallVector<int64_t>> shape = getShape(leaves);
  if (failed(shape))
    return refuseOrder();
  place.shape = *shape;
  place.hasRow = llvm::any_of(digits.resolve(layout), [&](const Sum &sum) {
    return digits.hasRows(sum);
  });
  // Of a single row the number is that of the first dimension of size 1: in
  // front of the columns, or of groups in any place.
  std::optional<size_t> number, last;
  auto type = cast<RankedTensorType>(tensor.getType());
  bool isAfter = false;
  if (rowDigits.empty() && numIndices == 0)
    for (auto [dim, sum] : llvm::enumerate(layout)) {
      const Sum index = digits.resolve(sum);
      isAfter |= digits.hasColumns(index);
      if (std::optional<size_t> &first = isAfter ? last : number;
          !first && index == Sum() && type.getDimSize(dim) == 1)
        first = dim;
    }
  place.hasRow |= number.has_value();
  // A value of which only single ones are side by side: what has an inner digit
  // has vectors, and so have halves of pairs.
  int64_t inner = 1;
  for (auto [size, own] : llvm::reverse(llvm::zip(columnDigits, place.shape))) {
    if (own != 1)
      break;
    inner *= size;
  }
  if (leaves.empty()) {
    place.kind = TileKind::row;
  } else if (inner == 1 || (hasPairs && inner == 2)) {
    place.kind =
        place.hasRow || numIndices != 0 ? TileKind::tile : TileKind::column;
  } else {
    place.kind = TileKind::group;
    if (!number)
      number = last;
    place.hasRow |= number.has_value();
  }
  // Digits of several, but in the order of the vector's elements.
  SmallVector<unsigned> cover = digits.getCover(leaves), covered;
  for (unsigned digit : cover)
    llvm::append_range(covered, digits.getLeaves(digit));
  if (covered != leaves)
    cover = leaves;
  // All rows by their number, where one index counts them so.
  SmallVector<unsigned> variables;
  Layout rest = digits.resolve(layout);
  if (place.hasRow && rowDigits.size() > 1) {
    SmallVector<Sum> sums;
    SmallVector<Size> sizes;
    for (unsigned row : rowDigits) {
      sums.push_back(digits.getSum(row));
      sizes.push_back(digits[row].size);
    }
    std::optional<Sum> all = digits.join(sums, sizes);
    for (auto [dim, sum] : llvm::enumerate(rest))
      if (all && sum == digits.resolve(*all))
        number = dim;
    if (number)
      rest[*number] = Sum();
  }
  if (place.hasRow && !number)
    variables = rowDigits;
  const unsigned first = variables.size();
  llvm::append_range(variables, cover);
  LayoutMap map = cluster.getMap(rest, variables, numIndices);
  if (!map.sizes.empty() ||
      llvm::is_contained(map.map.getResults(), AffineExpr()))
    return refuse(
        "rows in one index that are divided by what only a call knows",
        "an index for each part");
  // One column in place of several digits.
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < first; ++dim)
    dims.push_back(getAffineDimExpr(dim + number.has_value(), context));
  const unsigned rowDims = number ? 1 : first;
  AffineExpr column = getAffineDimExpr(rowDims, context);
  int64_t below = place.elements;
  for (auto [digit, next] : llvm::enumerate(cover)) {
    const Size &size = digits[next].size;
    if (cover.size() == 1) {
      dims.push_back(column);
      break;
    }
    if (!size.isStatic())
      return refuseOrder();
    below /= size.getNumber();
    AffineExpr part = below == 1 ? column : column.floorDiv(below);
    dims.push_back(digit == 0 ? part : part % size.getNumber());
  }
  AffineMap result = map.map.replaceDimsAndSymbols(
      dims, {}, rowDims + !cover.empty(), numIndices);
  if (number) {
    SmallVector<AffineExpr> exprs(result.getResults());
    exprs[*number] = getAffineDimExpr(0, context);
    result = AffineMap::get(result.getNumDims(), result.getNumSymbols(), exprs,
                            context);
  }
  const bool hasColumn = place.kind != TileKind::row;
  if (AccessMap access(result, hasColumn); access.isValid())
    result = access.joinDigits();
  place.map = result;
  const AccessMap access(place.map, hasColumn);
  if (!access.isValid())
    return refuseOrder();
  const bool isTogether =
      place.kind == TileKind::tile || place.kind == TileKind::column;
  if (hasColumn)
    place.run = access.getColumnRun(place.elements, type.getShape());
  // A store of single values writes them anywhere, but not in steps.
  const bool hasSteps =
      llvm::any_of(access.getIndices(), [](const AccessIndex &index) {
        return !index.terms.empty() &&
               llvm::all_of(index.terms, [](const AccessTerm &term) {
                 return term.factor != 1;
               });
      });
  if ((isTogether && place.run == 0) ||
      (place.kind == TileKind::group && hasSteps))
    return refuseOrder();
  return place;
}

bool ProgramBuilder::hasColumnsLast(const Place &place, RankedTensorType type) {
  const AccessMap access(place.map, /*hasColumn=*/true);
  return access.getDigits(access.getColumnDim()).front().place ==
         type.getRank() - 1;
}

/// Why no kernel accesses `tensor` as it will lie in memory.
std::string ProgramBuilder::whyNotInMemory(const Place &place, Value tensor,
                                           bool isLoad) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (std::string reason = whyNotStorable(place.kind, type, isLoad);
      !reason.empty())
    return reason;
  if (place.kind != TileKind::row) {
    const bool isApart = !isLoad && place.kind == TileKind::group;
    if (!isApart && place.run == 0)
      return "groups of columns that do not lie side by side";
    // A store writes each group by itself. The columns of a buffer's last
    // dimension lie side by side, those of dimensions before it anyhow.
    int64_t together = place.run;
    if (isApart)
      together = 1;
    else if (hasColumnsLast(place, type))
      together = std::min<int64_t>(
          type.isDynamicDim(type.getRank() - 1) ? 2 : type.getShape().back(),
          place.run);
    if (!lieTogether(tensor, together))
      return "columns that will not lie side by side";
  }
  if (type.getEncoding())
    return "a tensor with an encoding";
  return "";
}

/// What the body calls `tensor`, of what is written with its number, which is
/// not 0. What is read and what is written are apart, and so is what several
/// results begin with: whether they are one buffer is up to bufferization.
Value ProgramBuilder::getBuffer(Value tensor, unsigned written) {
  BlockArgument &argument = arguments[{tensor, written}];
  if (!argument)
    argument = buffers.addArgument(RowsOp::getArgumentType(tensor.getType()),
                                   tensor.getLoc());
  return argument;
}

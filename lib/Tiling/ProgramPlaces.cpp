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

/// The undivided digits of columns in `layout`. Their order is the same for all
/// vectors: that in which members first have them. Digits that no member has
/// count the parts that a row is put together from: where they stand is their
/// place.
SmallVector<unsigned>
ProgramBuilder::getColumnLeaves(ArrayRef<Sum> layout) const {
  SmallVector<unsigned> leaves;
  for (const Sum &sum : digits.resolve(Layout(layout)))
    for (const Term &term : sum.terms)
      if (!digits[term.digit].isRow && !llvm::is_contained(leaves, term.digit))
        leaves.push_back(term.digit);
  if (llvm::all_of(leaves, [&](unsigned leaf) { return ranks.count(leaf); }))
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

/// Says that `part` is taken out of `whole`, or put into it, which is the row
/// or a part of it itself.
void ProgramBuilder::addPart(const Layout &whole, const Layout &part) {
  const SmallVector<unsigned> all = getColumnLeaves(whole);
  if (countElements(all) == columns || llvm::is_contained(parts, all))
    parts.push_back(getColumnLeaves(part));
}

/// Whether one value for each of the columns `leaves` is a part of the row, not
/// that of a group: those of pairs are, beside other parts.
bool ProgramBuilder::isPart(ArrayRef<unsigned> leaves) const {
  return llvm::is_contained(parts, SmallVector<unsigned>(leaves)) ||
         (!parts.empty() && 2 * countElements(leaves) == columns);
}

/// Why one value for each of the columns `leaves` is not that of a group beside
/// the parts of the row; "" if it is.
std::string ProgramBuilder::whyNoGroupsOf(ArrayRef<unsigned> leaves) const {
  const int64_t groups = countElements(leaves);
  for (ArrayRef<unsigned> part : parts) {
    const int64_t own = countElements(part);
    if (own == groups || 2 * groups == columns)
      return "of which there are as many as columns in a part of a row";
    if (own * groups % columns != 0)
      return "of " + std::to_string(columns / groups) +
             ", beside parts of rows of " + std::to_string(own) +
             ", which are no whole groups";
  }
  return "";
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
  for (const Member &member : cluster.getMembers())
    for (unsigned leaf : getColumnLeaves(member.loops))
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

int64_t ProgramBuilder::getElements(OpOperand &operand) {
  return countElements(getColumnLeaves(getOperandLayout(operand)));
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

/// Whether the columns of `access` lie side by side in a tensor of `shape`:
/// they are the innermost index, and others that are to be counted in one with
/// it.
static bool haveColumnsTogether(const AccessMap &access,
                                ArrayRef<int64_t> shape) {
  int64_t next = 1, place = shape.size();
  const auto columns = access.getDigits(access.getColumnDim());
  for (const AccessMap::Digit &digit : columns) {
    // Dimensions of one element lie nowhere.
    for (--place; place > digit.place && shape[place] == 1;)
      --place;
    if (digit.place != place || digit.factor != 1 || digit.divisor != next)
      return false;
    next *= digit.modulus;
    // All but the outermost one fill their dimension.
    if (digit.modulus != 0 && shape[place] != digit.modulus &&
        columns.size() > 1)
      return false;
  }
  return true;
}

/// What was `expected` of `layout`, and what it is: a map of the rows, then of
/// the columns, `order` and those that only the layout has.
std::string ProgramBuilder::describeMap(StringRef expected,
                                        const Layout &layout,
                                        ArrayRef<unsigned> order,
                                        bool hasIndex) const {
  llvm::SetVector<unsigned> leaves(order.begin(), order.end());
  leaves.insert_range(getColumnLeaves(layout));
  SmallVector<unsigned> variables(cluster.getRowDigits());
  const unsigned numRowDims = variables.size();
  llvm::append_range(variables, digits.getCover(leaves.getArrayRef()));
  return (": expected " + expected + ", got " +
          AccessMap::getText(cluster.getMap(layout, variables, hasIndex).map,
                             numRowDims))
      .str();
}

std::optional<ProgramBuilder::Place>
ProgramBuilder::getPlace(Value tensor, const Layout &layout,
                         ArrayRef<unsigned> order, bool hasIndex,
                         std::string *why) {
  auto refuse = [&](StringRef what, StringRef expected) {
    if (why)
      *why = what.str() + describeMap(expected, layout, order, hasIndex);
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
  int64_t period = 0;
  place.elements = countElements(leaves);
  place.hasRow = llvm::any_of(digits.resolve(layout), [&](const Sum &sum) {
    return digits.hasRows(sum);
  });
  // Of a single row the number is that of the first dimension of size 1: in
  // front of the columns, or of groups in any place.
  std::optional<size_t> number, last;
  auto type = cast<RankedTensorType>(tensor.getType());
  bool isAfter = false;
  if (rowDigits.empty() && !hasIndex)
    for (auto [dim, sum] : llvm::enumerate(layout)) {
      const Sum index = digits.resolve(sum);
      isAfter |= digits.hasColumns(index);
      if (std::optional<size_t> &first = isAfter ? last : number;
          !first && index == Sum() && type.getDimSize(dim) == 1)
        first = dim;
    }
  place.hasRow |= number.has_value();
  if (leaves.empty()) {
    place.kind = TileKind::row;
  } else if (llvm::is_contained(widest, leaves)) {
    place.kind = place.hasRow || hasIndex ? TileKind::tile : TileKind::column;
  } else if (llvm::any_of(widest,
                          [&](ArrayRef<unsigned> whole) {
                            return isPrefix(leaves, whole);
                          }) &&
             !isPart(leaves)) {
    if (std::string reason = whyNoGroupsOf(leaves); !reason.empty()) {
      if (why)
        *why = "a value for each group of columns, " + reason;
      return std::nullopt;
    }
    place.kind = TileKind::group;
    if (!number)
      number = last;
    place.hasRow |= number.has_value();
  } else if (llvm::is_contained(widest, SmallVector<unsigned>(order)) &&
             ArrayRef(order).take_back(leaves.size()) == ArrayRef(leaves)) {
    // One for each column of a group, the same for all groups.
    if (place.hasRow || hasIndex)
      return refuseOrder();
    place.kind = TileKind::column;
    period = place.elements;
    place.elements = countElements(order);
  } else if (isPrefix(leaves, order)) {
    // A part of a row, or a value for each group of its columns.
    place.kind = place.hasRow || hasIndex ? TileKind::tile : TileKind::column;
  } else {
    return refuse("a value that neither lasts for side-by-side columns nor "
                  "comes again after all of them",
                  "leading or trailing columns");
  }
  const SmallVector<unsigned> cover = digits.getCover(leaves);
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
  LayoutMap map = cluster.getMap(rest, variables, hasIndex);
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
  if (period != 0)
    column = column % period;
  int64_t inner = period != 0 ? period : place.elements;
  for (auto [digit, next] : llvm::enumerate(cover)) {
    const Size &size = digits[next].size;
    if (cover.size() == 1) {
      dims.push_back(column);
      break;
    }
    if (!size.isStatic())
      return refuseOrder();
    inner /= size.getNumber();
    AffineExpr part = inner == 1 ? column : column.floorDiv(inner);
    dims.push_back(digit == 0 ? part : part % size.getNumber());
  }
  AffineMap result = map.map.replaceDimsAndSymbols(
      dims, {}, rowDims + !cover.empty(), hasIndex);
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
  if (!access.isValid() || (place.hasColumnsTogether() &&
                            !haveColumnsTogether(access, type.getShape())))
    return refuseOrder();
  return place;
}

/// Why no kernel accesses `tensor` as it will lie in memory.
std::string ProgramBuilder::whyNotInMemory(const Place &place, Value tensor,
                                           bool isLoad) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (std::string reason = whyNotStorable(place.kind, type, isLoad);
      !reason.empty())
    return reason;
  if (place.kind != TileKind::row) {
    // A store writes each group by itself.
    const AccessMap access(place.map, /*hasColumn=*/true);
    const bool isTogether = isLoad || place.hasColumnsTogether();
    // The last dimension of an argument has stride 1, those before it any.
    const bool isOfSeveral =
        access.getDigits(access.getColumnDim()).size() > 1 ||
        access.getPlace(access.getColumnDim()) != type.getRank() - 1;
    if (!lieTogether(tensor, isTogether && isOfSeveral ? place.elements : 1))
      return isOfSeveral && lieTogether(tensor, 1)
                 ? "columns of several dimensions, which may lie apart in "
                   "memory: expected them in one"
                 : "columns that will not lie side by side";
    if (isTogether && !haveColumnsTogether(access, type.getShape()))
      return "groups of columns that do not lie side by side";
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

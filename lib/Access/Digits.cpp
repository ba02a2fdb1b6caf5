// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Digits.cpp - indices as sums of digits times factors --------------===//

#include "RMSNorm/Access/Digits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

unsigned Digits::add(Size size, bool isRow) {
  digits.push_back({sizes.simplify(size), isRow, std::nullopt});
  return digits.size() - 1;
}

Sum Digits::getSum(unsigned digit) const {
  Sum sum;
  if (!digits[digit].size.isOne())
    sum.terms.push_back({digit, Size()});
  return resolve(sum);
}

Sum Digits::resolve(const Sum &sum) const {
  Sum resolved = sum;
  SmallVector<Term, 2> &terms = resolved.terms;
  for (size_t i = 0; i < terms.size();) {
    const auto parts = digits[terms[i].digit].parts;
    if (!parts) {
      ++i;
      continue;
    }
    const Term low = {parts->second, terms[i].factor};
    terms[i] = {parts->first, terms[i].factor * digits[parts->second].size};
    terms.insert(terms.begin() + i + 1, low);
  }
  return resolved;
}

Layout Digits::resolve(const Layout &layout) const {
  return llvm::map_to_vector(layout,
                             [&](const Sum &sum) { return resolve(sum); });
}

void Digits::divide(unsigned digit, const Size &low) {
  const Size size = digits[digit].size;
  const bool isRow = digits[digit].isRow;
  std::optional<Size> high = size.dividedBy(low);
  const bool isPartial = !high || digits[digit].isPartial;
  if (!high && size.isStatic() && low.isStatic())
    high = Size(llvm::divideCeil(size.getNumber(), low.getNumber()));
  const unsigned first = add(high ? *high : sizes.addUnknown(), isRow);
  digits[digit].parts = {first, add(low, isRow)};
  digits[first].isPartial = digits[first + 1].isPartial = isPartial;
}

/// Writes the two parts of a digit, where they are side by side, as the digit.
void Digits::undivide(SmallVectorImpl<Term> &terms) const {
  // A part has a higher number than its whole.
  for (unsigned digit = digits.size(); digit-- > 0;) {
    if (!digits[digit].parts)
      continue;
    auto [high, low] = *digits[digit].parts;
    for (Term &term : terms) {
      std::optional<Size> factor = term.digit == high
                                       ? term.factor.dividedBy(digits[low].size)
                                       : std::nullopt;
      auto *other =
          factor ? llvm::find(terms, Term{low, *factor}) : terms.end();
      if (other == terms.end())
        continue;
      term = {digit, *factor};
      terms.erase(other);
      break;
    }
  }
}

std::optional<Sum> Digits::scale(Sum sum, int64_t offset, int64_t stride) {
  int64_t scaled;
  if (offset < 0 || stride < 1 || (sum.operand && stride != 1) ||
      llvm::MulOverflow(sum.offset, stride, scaled) ||
      llvm::AddOverflow(scaled, offset, sum.offset))
    return std::nullopt;
  for (Term &term : sum.terms) {
    term.factor = term.factor * Size(stride);
    if (!term.factor.isUsable())
      return std::nullopt;
  }
  return sum;
}

std::optional<Sum> Digits::join(ArrayRef<Sum> sums, ArrayRef<Size> dims) const {
  Sum joined;
  for (auto [sum, dim] : llvm::zip_equal(sums, dims)) {
    const Size size = sizes.simplify(dim);
    if (sum.operand && sums.size() > 1)
      return std::nullopt;
    if (joined.offset != 0) {
      if (!size.isStatic() ||
          llvm::MulOverflow(joined.offset, size.getNumber(), joined.offset))
        return std::nullopt;
    }
    for (Term &term : joined.terms) {
      term.factor = term.factor * size;
      if (!term.factor.isUsable())
        return std::nullopt;
    }
    if (llvm::AddOverflow(joined.offset, sum.offset, joined.offset))
      return std::nullopt;
    llvm::append_range(joined.terms, sum.terms);
    joined.operand = sum.operand;
  }
  return joined;
}

Size Digits::getExtent(const Term &term) const {
  return term.factor * digits[term.digit].size;
}

/// Whether no sum of some of the terms reaches into a digit of the others.
bool Digits::areNested(ArrayRef<Term> terms) const {
  for (auto [index, a] : llvm::enumerate(terms))
    for (const Term &b : terms.drop_front(index + 1))
      if (!a.factor.dividedBy(getExtent(b)) &&
          !b.factor.dividedBy(getExtent(a)))
        return false;
  return true;
}

/// `sum = outer * dim + inner`, with `inner < dim`.
bool Digits::splitOnce(const Sum &sum, const Size &dim, Sum &outer,
                       Sum &inner) {
  if (!dim.isUsable() || sum.operand || sum.offset < 0 ||
      (sum.offset != 0 && !dim.isStatic()))
    return false;
  // Dividing a digit changes the terms: it begins anew.
  for (bool again = true; again;) {
    again = false;
    outer = inner = Sum();
    for (const Term &term : resolve(sum).terms) {
      if (std::optional<Size> factor = term.factor.dividedBy(dim)) {
        outer.terms.push_back({term.digit, *factor});
        continue;
      }
      std::optional<Size> low = dim.dividedBy(term.factor);
      const Size &size = digits[term.digit].size;
      const bool isWithin = low && (low->dividedBy(size) ||
                                    (low->isStatic() && size.isStatic() &&
                                     size.getNumber() <= low->getNumber()));
      if (isWithin) {
        inner.terms.push_back(term);
        continue;
      }
      if (!low)
        return false;
      divide(term.digit, *low);
      again = true;
      break;
    }
  }
  if (dim.isStatic()) {
    inner.offset = sum.offset % dim.getNumber();
    outer.offset = sum.offset / dim.getNumber();
    auto range = getRange(inner);
    return range && range->second < dim.getNumber();
  }
  return areNested(inner.terms);
}

std::optional<Layout> Digits::split(const Sum &sum, ArrayRef<Size> dims) {
  Layout parts(dims.size());
  if (dims.empty())
    return parts;
  if (dims.size() == 1) {
    parts[0] = sum;
    return parts;
  }
  Sum rest = sum;
  // What fails divides nothing: other ops count these digits whole.
  auto before = digits;
  for (size_t dim = dims.size() - 1; dim > 0; --dim) {
    Sum outer;
    if (!splitOnce(rest, sizes.simplify(dims[dim]), outer, parts[dim])) {
      digits = std::move(before);
      return std::nullopt;
    }
    rest = std::move(outer);
  }
  parts[0] = std::move(rest);
  return resolve(parts);
}

std::optional<std::pair<int64_t, int64_t>>
Digits::getRange(const Sum &sum) const {
  if (sum.operand)
    return std::nullopt;
  int64_t last = sum.offset;
  for (const Term &term : sum.terms) {
    const Size &size = digits[term.digit].size;
    int64_t most;
    if (!term.factor.isStatic() || !size.isStatic() ||
        llvm::MulOverflow(term.factor.getNumber(), size.getNumber() - 1,
                          most) ||
        llvm::AddOverflow(last, most, last))
      return std::nullopt;
  }
  return std::pair(sum.offset, last);
}

bool Digits::hasRows(const Sum &sum) const {
  return llvm::any_of(
      sum.terms, [&](const Term &term) { return digits[term.digit].isRow; });
}

bool Digits::hasColumns(const Sum &sum) const {
  return llvm::any_of(
      sum.terms, [&](const Term &term) { return !digits[term.digit].isRow; });
}

bool Digits::counts(const Sum &sum, Size size) const {
  if (sum.offset != 0 || sum.operand)
    return false;
  SmallVector<Term> left(resolve(sum).terms);
  undivide(left);
  Size counted;
  while (!left.empty()) {
    auto *next = llvm::find_if(
        left, [&](const Term &term) { return term.factor == counted; });
    if (next == left.end() || digits[next->digit].isPartial)
      return false;
    counted = getExtent(*next);
    left.erase(next);
  }
  return counted.isUsable() && counted == sizes.simplify(size);
}

/// Whether columns and the offset never count into a digit of the rows.
bool Digits::keepsRows(const Sum &sum) const {
  if (sum.operand)
    return false;
  if (sum.offset == 0 && areNested(sum.terms))
    return true;
  Sum columns = sum;
  llvm::erase_if(columns.terms,
                 [&](const Term &term) { return digits[term.digit].isRow; });
  auto range = getRange(columns);
  return range && llvm::all_of(sum.terms, [&](const Term &term) {
           return !digits[term.digit].isRow ||
                  (term.factor.isStatic() &&
                   range->second < term.factor.getNumber());
         });
}

bool Digits::haveSameRows(const Sum &a, const Sum &b) const {
  const Sum first = resolve(a), second = resolve(b);
  if (!hasRows(first) && !hasRows(second))
    return true;
  auto getRows = [&](const Sum &sum) {
    SmallVector<Term> rows;
    llvm::copy_if(sum.terms, std::back_inserter(rows),
                  [&](const Term &term) { return digits[term.digit].isRow; });
    llvm::sort(rows,
               [](const Term &a, const Term &b) { return a.digit < b.digit; });
    return rows;
  };
  return getRows(first) == getRows(second) && keepsRows(first) &&
         keepsRows(second);
}

SmallVector<unsigned> Digits::getLeaves(unsigned digit) const {
  SmallVector<unsigned> leaves = {digit};
  for (size_t i = 0; i < leaves.size();) {
    const auto parts = digits[leaves[i]].parts;
    if (!parts) {
      ++i;
      continue;
    }
    leaves[i] = parts->first;
    leaves.insert(leaves.begin() + i + 1, parts->second);
  }
  return leaves;
}

SmallVector<unsigned> Digits::getCover(ArrayRef<unsigned> leaves) const {
  SmallVector<unsigned> cover(leaves);
  for (unsigned digit = digits.size(); digit-- > 0;) {
    if (!digits[digit].parts)
      continue;
    auto [high, low] = *digits[digit].parts;
    auto *first =
        llvm::find_if(cover, [&, high = high, low = low](unsigned other) {
          return other == high || other == low;
        });
    // A digit of size 1 is in no sum.
    const bool hasHigh =
        llvm::is_contained(cover, high) || digits[high].size.isOne();
    const bool hasLow =
        llvm::is_contained(cover, low) || digits[low].size.isOne();
    if (first == cover.end() || !hasHigh || !hasLow)
      continue;
    *first = digit;
    llvm::erase_if(cover, [high = high, low = low](unsigned other) {
      return other == high || other == low;
    });
  }
  return cover;
}

AffineExpr Digits::getExpr(MLIRContext *context, Sum sum,
                           ArrayRef<unsigned> variables, unsigned numOperands,
                           SmallVectorImpl<unsigned> &symbols) const {
  sum = resolve(sum);
  undivide(sum.terms);
  auto getSize = [&](const Size &size) {
    AffineExpr expr = getAffineConstantExpr(size.getNumber(), context);
    for (unsigned source : size.getSources()) {
      auto *it = llvm::find(symbols, source);
      const unsigned number = it - symbols.begin();
      if (it == symbols.end())
        symbols.push_back(source);
      expr = expr * getAffineSymbolExpr(numOperands + number, context);
    }
    return expr;
  };
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (const Term &term : sum.terms) {
    // The rest of a variable is (variable floordiv divisor) mod size.
    unsigned digit = term.digit;
    Size divisor;
    bool isHighest = true;
    while (!llvm::is_contained(variables, digit)) {
      bool found = false;
      for (unsigned whole = 0; whole < digit && !found; ++whole) {
        if (!digits[whole].parts)
          continue;
        auto [high, low] = *digits[whole].parts;
        if (digit != high && digit != low)
          continue;
        found = true;
        if (digit == high)
          divisor = divisor * digits[low].size;
        else
          isHighest = false;
        digit = whole;
      }
      if (!found)
        return {};
    }
    AffineExpr part = getAffineDimExpr(
        llvm::find(variables, digit) - variables.begin(), context);
    if (!divisor.isOne())
      part = part.floorDiv(getSize(divisor));
    if (!isHighest)
      part = part % getSize(digits[term.digit].size);
    expr = expr + part * getSize(term.factor);
  }
  if (sum.operand)
    expr = expr + getAffineSymbolExpr(*sum.operand, context);
  return expr + sum.offset;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessMap.cpp - which elements of a buffer a tile has -------------===//

#include "RMSNorm/IR/AccessMap.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Adds `factor` times `expr` to `index`; false if it is no sum of digits.
static bool add(AffineExpr expr, int64_t factor, AccessIndex &index) {
  AccessTerm term;
  term.factor = factor;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.offset += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    term.dim = dim.getPosition();
    index.terms.push_back(term);
    return true;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    term.dim = symbol.getPosition();
    term.isOperand = true;
    index.terms.push_back(term);
    return true;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return add(binary.getLHS(), factor, index) &&
           add(binary.getRHS(), factor, index);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return false;
  const int64_t number = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return add(binary.getLHS(), factor * number, index);
  // A digit of a digit.
  AccessIndex inner;
  if (number < 1 || !add(binary.getLHS(), 1, inner) || !inner.getTerm() ||
      inner.getTerm()->factor != 1)
    return false;
  AccessTerm digit = *inner.getTerm();
  digit.factor = factor;
  if (expr.getKind() == AffineExprKind::Mod) {
    if (digit.modulus % number != 0)
      return false;
    digit.modulus = number;
  } else if (expr.getKind() == AffineExprKind::FloorDiv) {
    if (digit.modulus % number != 0)
      return false;
    digit.divisor *= number;
    digit.modulus /= number;
  } else {
    return false;
  }
  index.terms.push_back(digit);
  return true;
}

AffineExpr AccessTerm::getDigit(MLIRContext *context) const {
  AffineExpr expr = isOperand ? getAffineSymbolExpr(dim, context)
                              : getAffineDimExpr(dim, context);
  expr = expr.floorDiv(divisor);
  return modulus != 0 ? expr % modulus : expr;
}

AccessMap::AccessMap(AffineMap map, bool hasColumn)
    : map(map), column(hasColumn) {
  for (AffineExpr result : map.getResults())
    valid &= add(result, 1, indices.emplace_back());
}

AffineMap AccessMap::getPlain(MLIRContext *context, unsigned numRowDims,
                              bool hasColumn) {
  return AffineMap::getMultiDimIdentityMap(numRowDims + hasColumn, context);
}

AffineMap AccessMap::getSome(MLIRContext *context, unsigned numRowDims,
                             ArrayRef<int64_t> dims, bool hasColumn,
                             bool usesColumn) {
  SmallVector<AffineExpr> results;
  for (int64_t dim : dims)
    results.push_back(getAffineDimExpr(dim, context));
  if (usesColumn)
    results.push_back(getAffineDimExpr(numRowDims, context));
  return AffineMap::get(numRowDims + hasColumn, 0, results, context);
}

AffineMapAttr AccessMap::getSum(MLIRContext *context, unsigned numRowDims,
                                ArrayRef<int64_t> dims, int64_t rank) {
  if (dims.empty())
    return {};
  return AffineMapAttr::get(getSome(context, numRowDims, dims,
                                    /*hasColumn=*/true,
                                    rank > static_cast<int64_t>(dims.size())));
}

SmallVector<int64_t> AccessMap::getSumDims(std::optional<AffineMap> map) {
  return map ? AccessMap(*map, /*hasColumn=*/true).getRowDims()
             : SmallVector<int64_t>();
}

SmallVector<AccessMap::Digit> AccessMap::getDigits(unsigned dim) const {
  SmallVector<Digit> digits;
  for (auto [place, index] : llvm::enumerate(indices))
    for (const AccessTerm &term : index.terms)
      if (!term.isOperand && term.dim == dim)
        digits.push_back({term, static_cast<int64_t>(place)});
  llvm::sort(digits, [](const Digit &a, const Digit &b) {
    return a.divisor < b.divisor;
  });
  return digits;
}

int64_t AccessMap::getRange(const AccessTerm &term,
                            ArrayRef<int64_t> sizes) const {
  if (term.modulus != 0)
    return term.modulus;
  if (term.isOperand || ShapedType::isDynamic(sizes[term.dim]))
    return ShapedType::kDynamic;
  return llvm::divideCeil(sizes[term.dim], term.divisor);
}

/// Whether the terms of `index` can be read off it: each is a multiple of more
/// than the smaller ones come to.
static bool isMixedRadix(const AccessMap &map, const AccessIndex &index,
                         ArrayRef<int64_t> sizes) {
  SmallVector<AccessTerm> terms(index.terms);
  llvm::sort(terms, [](const AccessTerm &a, const AccessTerm &b) {
    return a.factor < b.factor;
  });
  int64_t most = 0;
  for (const AccessTerm &term : terms) {
    if (ShapedType::isDynamic(most) || term.factor <= most)
      return false;
    const int64_t range = map.getRange(term, sizes);
    most =
        ShapedType::isDynamic(range) ? range : most + term.factor * (range - 1);
  }
  return true;
}

bool AccessMap::isInjective(unsigned dim, ArrayRef<int64_t> sizes) const {
  int64_t next = 1;
  for (const Digit &digit : getDigits(dim)) {
    if (digit.divisor != next ||
        !isMixedRadix(*this, indices[digit.place], sizes))
      return false;
    if (digit.modulus == 0)
      return true;
    next *= digit.modulus;
  }
  return next == sizes[dim] || sizes[dim] == 1;
}

int64_t AccessMap::getPlace(unsigned dim) const {
  for (auto [place, index] : llvm::enumerate(indices))
    if (const AccessTerm *term = index.getTerm();
        term && !term->isOperand && term->dim == dim && term->isWhole())
      return place;
  return -1;
}

SmallVector<int64_t> AccessMap::getRowDims() const {
  SmallVector<int64_t> dims;
  for (const AccessIndex &index : indices)
    if (const AccessTerm *term = index.getTerm(); term && !term->isOperand &&
                                                  term->isWhole() &&
                                                  term->dim < getNumRowDims())
      dims.push_back(term->dim);
  return dims;
}

int64_t AccessMap::getOperandPlace(unsigned number) const {
  int64_t found = -1;
  for (auto [place, index] : llvm::enumerate(indices))
    for (const AccessTerm &term : index.terms)
      if (term.isOperand && term.dim == number) {
        if (found >= 0 || !index.getTerm() || !term.isWhole())
          return -1;
        found = place;
      }
  return found;
}

SmallVector<int64_t> AccessMap::getPlacesWithoutRow() const {
  SmallVector<int64_t> places;
  for (auto [place, index] : llvm::enumerate(indices))
    if (llvm::none_of(index.terms, [&](const AccessTerm &term) {
          return term.isOperand || term.dim < getNumRowDims();
        }))
      places.push_back(place);
  return places;
}

bool AccessMap::hasAllRows() const {
  return llvm::all_of(llvm::seq<unsigned>(0, getNumRowDims()),
                      [&](unsigned dim) { return !getDigits(dim).empty(); });
}

bool AccessMap::hasColumnLast() const {
  return column && !indices.empty() &&
         getPlace(getColumnDim()) == static_cast<int64_t>(indices.size()) - 1 &&
         getDigits(getColumnDim()).size() == 1;
}

int64_t AccessMap::getColumnRun(int64_t columns,
                                ArrayRef<int64_t> shape) const {
  if (!column || indices.empty())
    return 0;
  const SmallVector<Digit> digits = getDigits(getColumnDim());
  int64_t last = indices.size() - 1;
  while (!shape.empty() && last > 0 && shape[last] == 1)
    --last;
  if (digits.empty() || digits.front().divisor != 1 ||
      digits.front().factor != 1 || digits.front().place < last)
    return 0;
  return digits.front().modulus == 0 ? columns : digits.front().modulus;
}

bool AccessMap::isPlain() const {
  return map.getNumSymbols() == 0 && map.isIdentity();
}

/// Prints `expr` with the names that `getName` gives dimensions and symbols.
static void print(llvm::raw_ostream &stream, AffineExpr expr,
                  function_ref<std::string(AffineExpr)> getName,
                  bool isOperand = false) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    stream << constant.getValue();
    return;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) {
    stream << getName(expr);
    return;
  }
  const AffineExprKind kind = expr.getKind();
  StringRef sign = kind == AffineExprKind::Add        ? " + "
                   : kind == AffineExprKind::Mul      ? " * "
                   : kind == AffineExprKind::Mod      ? " mod "
                   : kind == AffineExprKind::FloorDiv ? " floordiv "
                                                      : " ceildiv ";
  stream << (isOperand ? "(" : "");
  print(stream, binary.getLHS(), getName, /*isOperand=*/true);
  stream << sign;
  print(stream, binary.getRHS(), getName, /*isOperand=*/true);
  stream << (isOperand ? ")" : "");
}

std::string AccessMap::getText(AffineMap map, unsigned numRowDims,
                               StringRef column) {
  const unsigned numColumns = map.getNumDims() - numRowDims;
  auto number = [](StringRef name, unsigned index, unsigned count) {
    return count == 1 ? name.str() : (name + Twine(index)).str();
  };
  auto getName = [&](AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return number("i", symbol.getPosition(), map.getNumSymbols());
    const unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    return dim < numRowDims ? number("r", dim, numRowDims)
                            : number(column, dim - numRowDims, numColumns);
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '(';
  llvm::interleaveComma(
      llvm::seq<unsigned>(0, map.getNumDims()), stream, [&](unsigned dim) {
        stream << getName(getAffineDimExpr(dim, map.getContext()));
      });
  stream << ')';
  if (map.getNumSymbols() > 0) {
    stream << '[';
    llvm::interleaveComma(llvm::seq<unsigned>(0, map.getNumSymbols()), stream,
                          [&](unsigned symbol) {
                            stream << getName(
                                getAffineSymbolExpr(symbol, map.getContext()));
                          });
    stream << ']';
  }
  stream << " -> (";
  llvm::interleaveComma(map.getResults(), stream,
                        [&](AffineExpr expr) { print(stream, expr, getName); });
  stream << ')';
  return text;
}

AffineMap AccessMap::joinDigits() const {
  SmallVector<AffineExpr> results(map.getResults());
  for (auto [place, index] : llvm::enumerate(indices)) {
    SmallVector<AccessTerm> terms(index.terms);
    auto join = [&] {
      for (AccessTerm &high : terms)
        for (AccessTerm &low : terms)
          if (&high != &low && !high.isOperand && !low.isOperand &&
              high.dim == low.dim && low.modulus != 0 &&
              high.divisor == low.divisor * low.modulus &&
              high.factor == low.factor * low.modulus) {
            low.modulus *= high.modulus;
            terms.erase(&high);
            return true;
          }
      return false;
    };
    while (join()) {
    }
    if (terms.size() == index.terms.size())
      continue;
    MLIRContext *context = map.getContext();
    results[place] = getAffineConstantExpr(index.offset, context);
    for (const AccessTerm &term : terms)
      results[place] = results[place] + term.getDigit(context) * term.factor;
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        map.getContext());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sizes.cpp - sizes of dimensions as products -----------------------===//

#include "RMSNorm/Access/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Block.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

Size Size::ofSource(unsigned source) {
  Size size;
  size.sources.push_back(source);
  return size;
}

Size Size::operator*(const Size &other) const {
  Size product;
  if (!isUsable() || !other.isUsable() ||
      llvm::MulOverflow(number, other.number, product.number))
    return Size(0);
  product.sources = sources;
  llvm::append_range(product.sources, other.sources);
  llvm::sort(product.sources);
  return product;
}

std::optional<Size> Size::dividedBy(const Size &other) const {
  if (!isUsable() || !other.isUsable() || number % other.number != 0)
    return std::nullopt;
  Size quotient(number / other.number);
  quotient.sources = sources;
  for (unsigned source : other.sources) {
    auto *it = llvm::find(quotient.sources, source);
    if (it == quotient.sources.end())
      return std::nullopt;
    quotient.sources.erase(it);
  }
  return quotient;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Sizes::Sizes(Block &block) {
  for (Operation &op : block)
    learn(op);
}

void Sizes::learn(Operation &op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [dim, group] :
         llvm::enumerate(expand.getReassociationIndices())) {
      Size product;
      for (int64_t part : group)
        product = product * get(expand.getResult(), part);
      equate(get(expand.getSrc(), dim), product);
    }
  }
  (void)visitEqualSizes(&op, [&](const DimSource &a, const DimSource &b) {
    equate(get(a), get(b));
    return success();
  });
}

Size Sizes::addUnknown() {
  sources.push_back({ShapedType::kDynamic, Value()});
  return Size::ofSource(sources.size() - 1);
}

Size Sizes::get(Value value, int64_t dim) { return get(traceDim(value, dim)); }

Size Sizes::get(DimSource source) {
  if (source.isStatic())
    return Size(source.size);
  if (source.dim < 0) {
    if (auto product = source.value.getDefiningOp<arith::MulIOp>())
      return get(OpFoldResult(product.getLhs())) *
             get(OpFoldResult(product.getRhs()));
  } else if (auto collapse =
                 source.value.getDefiningOp<tensor::CollapseShapeOp>()) {
    Size product;
    const ReassociationIndices group =
        collapse.getReassociationIndices()[source.dim];
    for (int64_t part : group)
      product = product * get(collapse.getSrc(), part);
    return product;
  }
  auto [it, isNew] =
      numbers.try_emplace({source.value, source.dim}, sources.size());
  if (isNew)
    sources.push_back(source);
  return simplify(Size::ofSource(it->second));
}

Size Sizes::simplify(Size size) const {
  while (true) {
    const unsigned *it = llvm::find_if(size.getSources(), [&](unsigned source) {
      return known.count(source);
    });
    if (it == size.getSources().end())
      return size;
    const Size &by = known.find(*it)->second;
    size = *size.dividedBy(Size::ofSource(*it)) * by;
    if (!size.isUsable())
      return size;
  }
}

void Sizes::equate(Size a, Size b) {
  a = simplify(a);
  b = simplify(b);
  if (!a.isUsable() || !b.isUsable())
    return;
  // A common factor of both says nothing.
  Size common(std::gcd(a.getNumber(), b.getNumber()));
  SmallVector<unsigned> rest(b.getSources());
  for (unsigned source : a.getSources())
    if (auto *it = llvm::find(rest, source); it != rest.end()) {
      rest.erase(it);
      common = common * Size::ofSource(source);
    }
  a = *a.dividedBy(common);
  b = *b.dividedBy(common);
  auto isOne = [](const Size &size) {
    return size.getNumber() == 1 && size.getSources().size() == 1;
  };
  // Of two sizes the later is written as the earlier.
  if (isOne(a) && isOne(b) && a.getSources()[0] < b.getSources()[0])
    std::swap(a, b);
  if (!isOne(a))
    std::swap(a, b);
  if (isOne(a))
    known.try_emplace(a.getSources()[0], b);
}

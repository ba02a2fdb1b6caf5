// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowIndex.cpp - rows of buffers with some leading dimensions -------===//

#include "RowIndex.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool match(Value row, scf::ForallOp loop, RowIndex &index) {
  if (auto indices = row.getDefiningOp<affine::AffineDelinearizeIndexOp>()) {
    const int64_t dim = cast<OpResult>(row).getResultNumber();
    if (indices.getLinearIndex() != loop.getInductionVar(0) ||
        (index.indices && index.indices != indices) ||
        (!index.dims.empty() && index.dims.back() >= dim))
      return false;
    index.indices = indices;
    index.dims.push_back(dim);
    return true;
  }
  auto sum = row.getDefiningOp<arith::AddIOp>();
  auto product =
      sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product || !match(product.getLhs(), loop, index) ||
      !match(sum.getRhs(), loop, index))
    return false;
  OpFoldResult size = index.indices.getPaddedBasis()[index.dims.back()];
  return size && traceSize(size) == traceSize(product.getRhs());
}

std::optional<RowIndex> rmsnorm::matchRowIndex(Value row, scf::ForallOp loop) {
  RowIndex index;
  if (!row || !match(row, loop, index))
    return std::nullopt;
  return index;
}

bool rmsnorm::isRowIndex(Operation *op) {
  return isa<affine::AffineDelinearizeIndexOp, arith::MulIOp, arith::AddIOp>(
             op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<TileLoadOp>(user) || isRowIndex(user);
         });
}

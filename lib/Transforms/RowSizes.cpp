// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSizes.cpp - the sizes that the ops of a cluster share ----------===//

#include "RowSizes.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::redirectDims(ArrayRef<tensor::DimOp> dims, scf::ForallOp loop) {
  SmallVector<std::pair<DimSource, Value>> hoisted;
  for (tensor::DimOp op : dims) {
    DimSource source = traceSize(op.getResult());
    const bool hoists =
        loop &&
        (!source.value ||
         !loop->isAncestor(source.value.getParentBlock()->getParentOp()));
    if (!hoists &&
        (source.value == op.getSource() || source.value == op.getResult()))
      continue;
    auto known = llvm::find_if(hoisted, [&](const auto &other) {
      return hoists && other.first == source;
    });
    Value size;
    if (known != hoisted.end()) {
      size = known->second;
    } else {
      OpBuilder builder(hoists ? loop.getOperation() : op.getOperation());
      size = getValueOrCreateConstantIndexOp(
          builder, op.getLoc(), materializeDim(builder, op.getLoc(), source));
    }
    if (hoists && known == hoisted.end())
      hoisted.push_back({source, size});
    op.replaceAllUsesWith(size);
    op.erase();
  }
}

/// Where the size of row dimension `dim` of `anchor` comes from: its result, or
/// where that has no rows, as it sums over them, an operand.
static DimSource traceRowDim(Operation *anchor, unsigned dim) {
  Value value = anchor->getResult(0);
  if (auto op = dyn_cast<linalg::LinalgOp>(anchor)) {
    std::optional<unsigned> place =
        op.getMatchingIndexingMap(op.getDpsInitOperand(0))
            .getResultPosition(getAffineDimExpr(dim, op.getContext()));
    unsigned found = place.value_or(0);
    if (!place &&
        failed(op.mapIterationSpaceDimToOperandDim(dim, value, found)))
      llvm_unreachable("every loop has an operand with its size");
    dim = found;
  }
  return traceDim(value, dim);
}

RowSizes::RowSizes(RewriterBase &rewriter, const RowCluster &cluster)
    : rewriter(rewriter), cluster(cluster) {
  Operation *anchor =
      *llvm::find_if(cluster.getOpsInOrder(), [](Operation *op) {
        return getAnchorRowDims(op).has_value();
      });
  for (int64_t dim = 0; dim < cluster.rowDims; ++dim) {
    int64_t size = cluster.rowSizes[dim];
    rows.push_back(ShapedType::isDynamic(size)
                       ? materializeDim(rewriter, anchor->getLoc(),
                                        traceRowDim(anchor, dim))
                       : rewriter.getIndexAttr(size));
  }
  auto isStatic = [](const DimSource &size) { return size.isStatic(); };
  auto known = llvm::find_if(cluster.columns, isStatic);
  columns = known != cluster.columns.end() ? *known : cluster.columns.front();
}

OpFoldResult RowSizes::countRows(Location loc) {
  int64_t constant = 1;
  Value product;
  for (OpFoldResult size : rows) {
    if (std::optional<int64_t> value = getConstantIntValue(size))
      constant *= *value;
    else if (product)
      product =
          arith::MulIOp::create(rewriter, loc, product, cast<Value>(size));
    else
      product = cast<Value>(size);
  }
  if (!product || constant == 0)
    return rewriter.getIndexAttr(constant);
  if (constant == 1)
    return product;
  Value factor = arith::ConstantIndexOp::create(rewriter, loc, constant);
  return arith::MulIOp::create(rewriter, loc, product, factor).getResult();
}

void RowSizes::share(Operation *op, int64_t rowDims) {
  Location loc = op->getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    Value tensor = operand.get();
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    Operation *definition = tensor.getDefiningOp();
    if (!type || wholes.contains(tensor) ||
        cluster.members.contains(definition) ||
        cluster.uniforms.contains(definition) ||
        (definition &&
         definition->getParentOp()->hasAttr(RMSNormDialect::kRowsAttrName)))
      continue;
    // Rows are counted in all sizes but the first, before they are ordered and
    // after.
    std::optional<int64_t> columnDim = getColumnDim(operand, rowDims);
    bool isKnown = !columnDim || !type.isDynamicDim(*columnDim) ||
                   traceDim(tensor, *columnDim) == columns;
    SmallVector<int64_t> rowDimsOf = getOperandRowDims(operand, rowDims);
    const bool isOrdered = llvm::is_sorted(rowDimsOf);
    auto isCounted = [&](int64_t dim) {
      return dim < static_cast<int64_t>(rowDimsOf.size()) &&
             (dim > 0 || !isOrdered);
    };
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (isCounted(dim) && type.isDynamicDim(dim))
        isKnown &= traceDim(tensor, dim) == traceSize(rows[rowDimsOf[dim]]);
    if (isKnown)
      continue;
    Value &slice = slices[tensor];
    if (!slice) {
      SmallVector<OpFoldResult> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        OpFoldResult size;
        if (!type.isDynamicDim(dim))
          size = rewriter.getIndexAttr(type.getDimSize(dim));
        else if (dim == columnDim)
          size = getNumColumns(loc);
        else
          size = isCounted(dim)
                     ? rows[rowDimsOf[dim]]
                     : tensor::getMixedSize(rewriter, loc, tensor, dim);
        // The type stays what it is.
        if (type.isDynamicDim(dim))
          size = getValueOrCreateConstantIndexOp(rewriter, loc, size);
        sizes.push_back(size);
      }
      SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
      slice = tensor::ExtractSliceOp::create(rewriter, loc, type, tensor, zeros,
                                             sizes, ones);
      wholes[slice] = tensor;
    }
    operand.set(slice);
  }
}

OpFoldResult RowSizes::getNumColumns(Location loc) {
  if (!numColumns)
    numColumns = materializeDim(rewriter, loc, columns);
  return numColumns;
}

Value RowSizes::insertIntoWhole(Value tensor, Value slice) {
  auto extract = slice.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor::InsertSliceOp::create(
      rewriter, tensor.getLoc(), tensor, wholes.lookup(slice),
      extract.getMixedOffsets(), extract.getMixedSizes(),
      extract.getMixedStrides());
}

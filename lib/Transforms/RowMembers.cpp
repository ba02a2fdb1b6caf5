// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowMembers.cpp - whether one op works on the rows of a cluster -----===//

#include "RowMembers.h"

#include "Reshapes.h"
#include "RowSums.h"
#include "TileProgram.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<int64_t> rmsnorm::getRowSizes(Operation *op, int64_t rowDims) {
  return cast<RowWiseOpInterface>(op).getRowSizes(rowDims);
}

static std::string formatSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      sizes, stream,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          stream << "?";
        else
          stream << size;
      },
      "x");
  return sizes.empty() ? "one" : text;
}

std::optional<int64_t> rmsnorm::getColumnDim(OpOperand &operand,
                                             int64_t rowDims) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return std::nullopt;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (isGroupReshape(operand.getOwner(), rowDims))
    return rowDims;
  if (!linalgOp) {
    // A norm's; of its operands one value a row has no columns.
    const bool perRow =
        type.getRank() == rowDims &&
        cast<RowWiseOpInterface>(operand.getOwner()).usesRow(operand, rowDims);
    return perRow ? std::nullopt : std::optional(type.getRank() - 1);
  }
  if (linalgOp.getNumLoops() == rowDims)
    return std::nullopt;
  for (auto [dim, expr] :
       llvm::enumerate(linalgOp.getMatchingIndexingMap(&operand).getResults()))
    if (expr == getAffineDimExpr(rowDims, expr.getContext()))
      return dim;
  return std::nullopt;
}

SmallVector<DimSource> rmsnorm::getColumns(Operation *op, int64_t rowDims) {
  SmallVector<DimSource> columns;
  if (isGroupReshape(op, rowDims))
    return {traceDim(getRowsOfGroups(op), rowDims)};
  for (OpOperand &operand : op->getOpOperands())
    if (std::optional<int64_t> dim = getColumnDim(operand, rowDims))
      columns.push_back(traceDim(operand.get(), *dim));
  return columns;
}

bool rmsnorm::hasColumns(Operation *op, int64_t rowDims,
                         const RowCluster &cluster) {
  SmallVector<DimSource> columns = getColumns(op, rowDims);
  return columns.empty() || llvm::any_of(columns, [&](const DimSource &size) {
           return llvm::is_contained(cluster.columns, size);
         });
}

/// Whether `op` works on groups of columns.
static bool usesGroups(Operation *op, int64_t rowDims) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return isGroupReshape(op, rowDims) ||
         (linalgOp && linalgOp.getNumLoops() > rowDims + 1);
}

std::string rmsnorm::whyNotRowWise(Operation *op, const RowCluster &cluster) {
  std::string reason =
      cast<RowWiseOpInterface>(op).whyNotRowWise(cluster.rowDims);
  if (!reason.empty())
    return reason;
  SmallVector<int64_t> sizes = getRowSizes(op, cluster.rowDims);
  for (auto [size, other] : llvm::zip(sizes, cluster.rowSizes))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(other) &&
        size != other)
      return llvm::formatv("its rows are {0}, not {1}", formatSizes(sizes),
                           formatSizes(cluster.rowSizes));
  if (usesGroups(op, cluster.rowDims) && isa<linalg::LinalgOp>(op)) {
    // Groups of the cluster's columns, all of them.
    SmallVector<int64_t> ranges =
        cast<linalg::LinalgOp>(op).getStaticLoopRanges();
    ArrayRef<int64_t> groups = ArrayRef(ranges).take_back(2);
    if (ShapedType::isDynamicShape(groups) ||
        !llvm::is_contained(
            cluster.columns,
            DimSource{ShapedType::getNumElements(groups), Value()}))
      return llvm::formatv("it has {0} loops", ranges.size());
  }
  if (usesGroups(op, cluster.rowDims)
          ? llvm::any_of(cluster.members, takesPart)
          : takesPart(op) && llvm::any_of(cluster.members, [&](Operation *one) {
              return usesGroups(one, cluster.rowDims);
            }))
    return "rows would be both divided into groups and taken apart";
  if (!hasColumns(op, cluster.rowDims, cluster))
    return "its rows are not known to have as many columns";
  return "";
}

bool rmsnorm::usesRow(OpOperand &use, int64_t rowDims) {
  if (auto sum = dyn_cast<OpResult>(use.get());
      sum && sumsOverRows(sum, rowDims))
    return false;
  // Rows that are written in another order are others' rows.
  if (auto op = use.get().getDefiningOp<linalg::LinalgOp>();
      op && op.getNumLoops() >= rowDims &&
      !llvm::is_sorted(getOperandRowDims(
          *op.getTiedOpOperand(cast<OpResult>(use.get())), rowDims)))
    return false;
  return cast<RowWiseOpInterface>(use.getOwner()).usesRow(use, rowDims);
}

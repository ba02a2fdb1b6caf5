// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowReduction.cpp - reductions of rows ------------------------------===//

#include "RMSNorm/Tiling/RowReduction.h"
#include "TileProgram.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isRowReduction(linalg::LinalgOp op) {
  const unsigned columns = op.getNumLoops() - 1;
  if (columns == 0 || op.getNumReductionLoops() != 1 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      linalg::isaContractionOpInterface(op) ||
      !whyNoKernel(op, /*everywhere=*/true).empty())
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    // A result has all rows; columns lie side by side.
    for (unsigned row = 0; row < columns; ++row)
      if (op.isDpsInit(&operand) && !map.isFunctionOfDim(row))
        return false;
    std::optional<unsigned> place =
        map.getResultPosition(getAffineDimExpr(columns, op.getContext()));
    return !place || *place + 1 == map.getNumResults();
  });
}

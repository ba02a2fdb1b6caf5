// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowReduction.cpp - reductions of rows ------------------------------===//

#include "RMSNorm/Tiling/RowReduction.h"
#include "RMSNorm/Access/Loops.h"
#include "TileProgram.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isRowReduction(linalg::LinalgOp op) {
  const unsigned loops = op.getNumLoops();
  if (loops < 2 || op.getNumReductionLoops() != 1 ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      linalg::isaContractionOpInterface(op) ||
      !whyNoKernel(op, /*everywhere=*/true).empty())
    return false;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  const SmallVector<unsigned> rows = *access::getRowLoops(op);
  if (llvm::is_contained(rows, reduced.front()))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    // A result has all rows; columns lie side by side.
    for (unsigned row : rows)
      if (op.isDpsInit(&operand) && !map.isFunctionOfDim(row))
        return false;
    std::optional<unsigned> place = map.getResultPosition(
        getAffineDimExpr(reduced.front(), op.getContext()));
    return !place || *place + 1 == map.getNumResults();
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeBackward.cpp - the tile program of rmsnorm.backward ------===//

#include "RowMath.h"
#include "VectorizeNorms.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

BackwardRow rmsnorm::vectorizeBackward(OpBuilder &builder, BackwardOp op,
                                       const BackwardOperands &operands,
                                       Value columns) {
  RowMath math(builder, op.getLoc());
  Type inputElement = getElementTypeOrSelf(operands.input.getType());
  Type dxElement = getElementTypeOrSelf(op.getDx().getType());
  // What every elementwise step rounds to, if it does.
  Type step;
  if (op.getCasting() == Casting::none && !inputElement.isF32())
    step = inputElement;

  Value x = math.extend(operands.input);
  Value dy = math.extend(operands.dy);
  if (step && getElementTypeOrSelf(operands.dy.getType()) != step)
    dy = math.round(dy, step);
  Value g = dy;
  if (operands.weight)
    g = math.maybeRound(
        math.mul(dy, math.weight(operands.weight, op.getOffset(), step)), step);
  Value rstd = operands.rstd ? math.maybeRound(operands.rstd, step)
                             : math.rstd(x, columns, op.getEps(), step);

  // A factor that is the same along the row leaves the sum: it then needs no
  // rstd, and if that is computed here, both sums take one traversal. Where a
  // rounding lies between, xhat is what must be summed.
  int64_t staticColumns = cast<VectorType>(x.getType()).getDimSize(1);
  Value xhat, c;
  if (step) {
    xhat = math.round(math.mul(x, rstd), step);
    Value product = math.round(math.mul(g, xhat), step);
    c = math.divideByColumns(math.sum(product, columns), staticColumns,
                             columns);
    c = math.round(c, step);
  } else {
    c = math.mul(math.sum(math.mul(g, x), columns), rstd);
    c = math.divideByColumns(c, staticColumns, columns);
    xhat = math.mul(x, rstd);
  }

  BackwardRow row;
  Value along = math.maybeRound(math.mul(xhat, c), step);
  Value rest = math.maybeRound(math.sub(g, along), step);
  Value dx = math.mul(rest, rstd);
  if (step && dxElement != step)
    dx = math.round(dx, step);
  row.dx = math.truncate(dx, dxElement);
  if (op.getDweight()) {
    if (op.getCasting() == Casting::llama)
      xhat = math.round(xhat, inputElement);
    row.dweight = math.maybeRound(math.mul(dy, xhat), step);
  }
  return row;
}

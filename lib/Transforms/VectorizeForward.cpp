// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeForward.cpp - the tile program of rmsnorm.forward --------===//

#include "RowMath.h"
#include "VectorizeNorms.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

ForwardRow rmsnorm::vectorizeForward(OpBuilder &builder, ForwardOp op,
                                     Value input, Value columns,
                                     llvm::function_ref<Value()> loadWeight) {
  RowMath math(builder, op.getLoc());
  Type inputElement = getElementTypeOrSelf(input.getType());
  Type outputElement = getElementTypeOrSelf(op.getOutput().getType());
  // What every elementwise step rounds to, if it does.
  Type step = op.getCasting() == Casting::none ? inputElement : Type();

  Value x = math.extend(input);
  Value rstd = math.rstd(x, columns, op.getEps(), step);
  Value y = math.mul(x, rstd);
  if (op.getCasting() != Casting::gemma)
    y = math.round(y, inputElement);
  if (op.getWeight()) {
    y = math.mul(y, math.weight(loadWeight(), op.getOffset(), step));
    if (step && inputElement != outputElement)
      y = math.round(y, inputElement);
  }
  return {math.truncate(y, outputElement), rstd};
}

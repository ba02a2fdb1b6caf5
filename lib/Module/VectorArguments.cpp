// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorArguments.cpp - which arguments rows are read of ------------===//

#include "RMSNorm/Module/VectorArguments.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/Rows/RowClasses.h"
#include "RMSNorm/Rows/RowsProgram.h"

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<unsigned> rmsnorm::getVectorArguments(func::FuncOp function) {
  llvm::SmallSetVector<unsigned, 8> arguments;
  for (Value buffer : getVectorBuffers(getRows(function))) {
    auto argument = dyn_cast<BlockArgument>(getRootBuffer(buffer));
    if (argument && argument.getOwner()->getParentOp() == function)
      arguments.insert(argument.getArgNumber());
  }
  return arguments.takeVector();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorArguments.cpp - which arguments rows are read of ------------===//

#include "RMSNorm/Module/VectorArguments.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::rmsnorm;

BlockArgument rmsnorm::getFunctionArgument(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    if (auto rows = dyn_cast<RowsOp>(argument.getOwner()->getParentOp()))
      buffer = rows.getOperandOf(argument);
  return dyn_cast<BlockArgument>(getRootBuffer(buffer));
}

SmallVector<unsigned> rmsnorm::getVectorArguments(func::FuncOp function) {
  llvm::SmallSetVector<unsigned, 8> arguments;
  auto add = [&](Value base, TileKind kind) {
    BlockArgument argument = getFunctionArgument(base);
    if (kind != TileKind::row && kind != TileKind::group && argument &&
        argument.getOwner()->getParentOp() == function)
      arguments.insert(argument.getArgNumber());
  };
  // Tiles first: the normalised dimension is theirs.
  function.walk([&](TileLoadOp load) {
    if (load.getKind() == TileKind::tile)
      add(load.getBase(), load.getKind());
  });
  function.walk([&](TileLoadOp load) { add(load.getBase(), load.getKind()); });
  function.walk(
      [&](TileStoreOp store) { add(store.getBase(), store.getKind()); });
  return arguments.takeVector();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.cpp - parts of rows ------------------------------------------===//

#include "RMSNorm/IR/Parts.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

llvm::SmallDenseSet<int64_t> rmsnorm::getParts(RowsOp rows) {
  llvm::SmallDenseSet<int64_t> parts;
  auto add = [&](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.getRank() == 2 &&
        vector.getDimSize(1) < int64_t(rows.getColumns()) &&
        !rows.getDynamicColumns())
      parts.insert(vector.getDimSize(1));
  };
  rows.getBody().walk([&](Operation *op) {
    if (isa<vector::ExtractStridedSliceOp, vector::DeinterleaveOp>(op))
      add(op->getResult(0).getType());
    else if (auto load = dyn_cast<TileLoadOp>(op);
             load && load.getKind() == TileKind::tile)
      add(load.getType());
    else if (auto store = dyn_cast<TileStoreOp>(op);
             store && store.getKind() == TileKind::tile)
      add(store.getValue().getType());
  });
  return parts;
}

Value rmsnorm::getHalfOfPairs(Operation *op) {
  if (auto pairs = dyn_cast<vector::DeinterleaveOp>(op))
    return pairs.getRes1();
  auto pairs = dyn_cast<vector::InterleaveOp>(op);
  return pairs ? pairs.getLhs() : Value();
}

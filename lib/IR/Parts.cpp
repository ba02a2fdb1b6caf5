// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.cpp - parts of rows ------------------------------------------===//

#include "RMSNorm/IR/Parts.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

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
    else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op))
      add(insert.getSourceVectorType());
    else if (auto load = dyn_cast<TileLoadOp>(op);
             load && load.getKind() == TileKind::tile)
      add(load.getType());
    else if (auto store = dyn_cast<TileStoreOp>(op);
             store && store.getKind() == TileKind::tile)
      add(store.getValue().getType());
  });
  return parts;
}

int64_t rmsnorm::getPartColumns(RowsOp rows) {
  int64_t part = 0;
  llvm::SmallDenseSet<int64_t> parts = getParts(rows);
  auto add = [&](ArrayAttr offsets, VectorType type) {
    // What no verifier has seen yet.
    if (offsets.size() != 2 || type.getRank() != 2)
      return;
    part = std::gcd(part, cast<IntegerAttr>(offsets[1]).getInt());
    part = std::gcd(part, type.getDimSize(1));
    parts.erase(type.getDimSize(1));
  };
  rows.getBody().walk([&](Operation *op) {
    if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
      add(slice.getOffsets(), slice.getType());
    } else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
      add(insert.getOffsets(), insert.getSourceVectorType());
    } else if (Value half = getHalfOfPairs(op)) {
      const int64_t pairs = cast<VectorType>(half.getType()).getShape().back();
      part = std::gcd(part, 2 * pairs);
      parts.erase(pairs);
    }
  });
  // What was taken out of constants is stored only.
  for (int64_t columns : parts)
    part = std::gcd(part, columns);
  // What is put into a longer row leaves a rest of it.
  return part == 0 ? 0 : std::gcd(part, int64_t(rows.getColumns()));
}

bool rmsnorm::hasPairs(RowsOp rows) {
  return rows.getBody()
      .walk([](Operation *op) {
        return getHalfOfPairs(op) ? WalkResult::interrupt()
                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

Value rmsnorm::getHalfOfPairs(Operation *op) {
  if (auto pairs = dyn_cast<vector::DeinterleaveOp>(op))
    return pairs.getRes1();
  auto pairs = dyn_cast<vector::InterleaveOp>(op);
  return pairs ? pairs.getLhs() : Value();
}

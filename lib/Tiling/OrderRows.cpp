// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OrderRows.cpp - rmsnorm-order-rows ---------------------------------===//

#include "ClusterProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_ORDERROWS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The tensor that `value` is a view of.
static Value getRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!access::isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The tensors that `op` reads or, if `written`, that its results may be
/// computed into. A tensor.empty has no contents to keep.
static void collect(Operation *op, bool written, DenseSet<Value> &tensors) {
  auto add = [&](Value value) {
    Value root = getRoot(value);
    if (isa<TensorType>(root.getType()) &&
        !root.getDefiningOp<tensor::EmptyOp>())
      tensors.insert(root);
  };
  op->walk([&](Operation *nested) {
    if (auto rows = dyn_cast<RowsOp>(nested); rows && written) {
      for (OpOperand *operand : rows.getWritten())
        add(operand->get());
    } else if (auto dps = dyn_cast<DestinationStyleOpInterface>(nested);
               dps && written) {
      for (Value init : dps.getDpsInits())
        add(init);
    } else if (!written || nested->getNumRegions() != 0) {
      // What a loop carries is computed in place.
      for (Value operand : nested->getOperands())
        add(operand);
    }
  });
}

static bool sumsOverRows(RowsOp rows) {
  return rows->walk([](AccumulateOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Moves `group`, ops that stand side by side, in front of `rows`, and what
/// needs them after `rows`. False if that is not possible.
static bool bringTo(ArrayRef<Operation *> group, RowsOp rows) {
  DenseSet<Operation *> users(group.begin(), group.end());
  DenseSet<Value> read, written;
  for (Operation *op = group.front(); op != rows; op = op->getNextNode()) {
    if (llvm::is_contained(group, op)) {
      collect(op, /*written=*/false, read);
      continue;
    }
    if (!isMemoryEffectFree(op))
      return false;
    const bool isUser = usesAny(op, users);
    if (isUser)
      users.insert(op);
    collect(op, /*written=*/!isUser, isUser ? read : written);
  }
  collect(rows, /*written=*/true, written);
  if (usesAny(rows, users) ||
      llvm::any_of(written, [&](Value value) { return read.contains(value); }))
    return false;
  moveUsers(DenseSet<Operation *>(group.begin(), group.end()),
            Block::iterator(group.front()), rows);
  for (Operation *op : group)
    op->moveBefore(rows);
  return true;
}

namespace {
struct OrderRows final : rmsnorm::impl::OrderRowsBase<OrderRows> {
  using OrderRowsBase::OrderRowsBase;

  void runOnOperation() override {
    llvm::MapVector<Block *, SmallVector<RowsOp>> blocks;
    getOperation()->walk([&](RowsOp rows) {
      if (rows.hasTensors())
        blocks[rows->getBlock()].push_back(rows);
    });
    for (auto &[block, programs] : blocks) {
      SmallVector<Operation *> group;
      // That are passed since the first of the group stood where it was.
      unsigned sums = 0;
      for (RowsOp rows : programs) {
        if (sumsOverRows(rows)) {
          // Nothing moves over two: that may be half of a training step.
          if (++sums == 2)
            group.clear();
          continue;
        }
        if (group.empty() || !bringTo(group, rows)) {
          group.clear();
          sums = 0;
        }
        group.push_back(rows);
      }
    }
  }
};
} // namespace

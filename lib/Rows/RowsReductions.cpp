// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsReductions.cpp - what a program reduces last, and sums up -----===//

#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<AccumulateOp> mlir::rmsnorm::getColumnSums(Block &program) {
  auto rows = cast<RowsOp>(program.getParentOp()->getParentOp());
  SmallVector<AccumulateOp> sums;
  for (auto sum : program.getOps<AccumulateOp>())
    if (isPerColumn(sum.getSource().getType()) || rows.getColumns() == 1)
      sums.push_back(sum);
  return sums;
}

static bool isColumnWork(Operation *op) {
  return !isa<RowReduceOp>(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
         (llvm::any_of(op->getOperandTypes(), isPerColumn) ||
          llvm::any_of(op->getResultTypes(), isPerColumn));
}

bool mlir::rmsnorm::isLastReduction(RowReduceOp reduce) {
  if (reduce->getParentOfType<RowsOp>().getColumns() == 1)
    return false;
  for (Operation *op = reduce; op; op = op->getNextNode())
    if (isColumnWork(op))
      return false;
  return true;
}

RowReduceOp mlir::rmsnorm::getReductionAfter(TileLoadOp load) {
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(load.getOperation(), &needed, options);
  RowReduceOp last;
  for (auto reduce : load->getBlock()->getOps<RowReduceOp>())
    if (!needed.contains(reduce))
      last = reduce;
  return last;
}

void mlir::rmsnorm::sinkLastReductions(Block &program) {
  auto rows = cast<RowsOp>(program.getParentOp()->getParentOp());
  // Rows of one column have no work on columns to come after.
  if (rows.getColumns() == 1)
    return;
  Operation *end = program.getTerminator();
  // In their order, each with all its users: a user of two moves twice.
  for (auto reduce : llvm::to_vector(program.getOps<RowReduceOp>())) {
    llvm::SetVector<Operation *> slice;
    getForwardSlice(reduce.getOperation(), &slice);
    slice.remove(end);
    // The stored values may be read again.
    auto isRead = [&](Operation *op) {
      auto store = dyn_cast<TileStoreOp>(op);
      return store &&
             llvm::any_of(program.getOps<TileLoadOp>(), [&](TileLoadOp load) {
               return rows.mayAlias(load.getBase(), store.getBase());
             });
    };
    if (llvm::any_of(slice, [&](Operation *op) {
          return isColumnWork(op) || isa<RowReduceOp>(op) || isRead(op);
        }))
      continue;
    slice.insert(reduce);
    SmallVector<Operation *> ops(slice.begin(), slice.end());
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : ops)
      op->moveBefore(end);
  }
}

namespace {
/// Follows the operands of the sums over rows, operands first.
class SumsCollector {
public:
  SumsCollector(Block &program, SumsSlice &slice)
      : program(program), slice(slice) {}

  void collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &program)
      return;
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && !isPerColumn(vector) && dependsOnReduction(value)) {
      slice.saved.insert(value);
      return;
    }
    if (!slice.needed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      collect(operand);
  }

private:
  bool dependsOnReduction(Value value) {
    auto it = depends.find(value);
    if (it != depends.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    const bool result = op && op->getBlock() == &program &&
                        (isa<RowReduceOp>(op) ||
                         llvm::any_of(op->getOperands(), [&](Value operand) {
                           return dependsOnReduction(operand);
                         }));
    return depends[value] = result;
  }

  Block &program;
  SumsSlice &slice;
  DenseMap<Value, bool> depends;
};
} // namespace

SumsSlice mlir::rmsnorm::getSumsSlice(Block &program) {
  SumsSlice slice;
  SumsCollector collector(program, slice);
  for (AccumulateOp sum : getColumnSums(program))
    collector.collect(sum.getSource());
  return slice;
}

bool mlir::rmsnorm::overwritesWhatSumsRead(RowsOp rows,
                                           const SumsSlice &slice) {
  Block &program = rows.getTiles().getBody().front();
  return llvm::any_of(slice.needed, [&](Operation *op) {
    auto load = dyn_cast<TileLoadOp>(op);
    return load &&
           llvm::any_of(program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
             return rows.mayAlias(store.getBase(), load.getBase());
           });
  });
}

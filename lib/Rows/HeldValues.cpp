// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeldValues.cpp - what stays in registers between traversals -------===//

#include "HeldValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isColumnOperand(Value value) {
  auto load = value.getDefiningOp<TileLoadOp>();
  return load && load.getKind() == TileKind::column;
}

/// Collects the narrow tiles and per-column operands that `value` is computed
/// from. Fails at a value that cannot, need not, or should not be computed
/// again.
bool HeldValues::comesFromNarrow(Value value, int64_t segment,
                                 llvm::SmallDenseSet<Value> &sources) const {
  Operation *def = value.getDefiningOp();
  if (!isPerColumn(value.getType()) ||
      (def && def->hasTrait<OpTrait::ConstantLike>()))
    return true;
  if (!def || !segments.contains(def) || !isPure(def) ||
      isa<RowReduceOp, AccumulateOp, GroupReduceOp>(def) || isFunction(def) ||
      segments.get(def) >= segment)
    return false;
  if (isa<arith::ExtFOp>(def)) {
    sources.insert(def->getOperand(0));
    return true;
  }
  return llvm::all_of(def->getOperands(), [&](Value operand) {
    return comesFromNarrow(operand, segment, sources);
  });
}

bool HeldValues::isComputedAgain(Value value, int64_t segment) const {
  llvm::SmallDenseSet<Value> sources;
  return !whole.contains(value) && comesFromNarrow(value, segment, sources) &&
         !sources.empty() &&
         llvm::count_if(sources, std::not_fn(isColumnOperand)) <= 1;
}

bool HeldValues::isUsedBehind(Value value) const {
  const int64_t segment = segments.get(value.getDefiningOp());
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return segments.get(user) > segment;
  });
}

/// Whether a later segment needs `source` for anything but `held`.
bool HeldValues::isNeededBeside(Value source, Value held) const {
  if (source == held)
    return false;
  return isUsedBehind(source) ||
         llvm::any_of(source.getUsers(), [&](Operation *user) {
           return llvm::any_of(user->getResults(), [&](Value result) {
             return isPerColumn(result.getType()) &&
                    isNeededBeside(result, held);
           });
         });
}

/// The product of a row and a weight takes as many registers as both of them,
/// and no instructions to be computed again.
void HeldValues::find(Block &program) {
  for (Operation &op : program)
    for (Value value : op.getResults()) {
      llvm::SmallDenseSet<Value> sources;
      if (!isPerColumn(value.getType()) || !isUsedBehind(value) ||
          !comesFromNarrow(value, segments.get(&op) + 1, sources))
        continue;
      int64_t bits = 0;
      for (Value source : sources)
        bits += cast<VectorType>(source.getType()).getElementTypeBitWidth();
      if (bits >= cast<VectorType>(value.getType()).getElementTypeBitWidth() &&
          llvm::none_of(sources, [&](Value source) {
            return isNeededBeside(source, value);
          }))
        whole.insert(value);
    }
}

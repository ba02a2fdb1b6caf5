// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Disjoint.cpp - what buffers share, and who writes them -------------===//

#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  return x && y && x.getResultNumber() == y.getResultNumber() &&
         isMemoryEffectFree(x.getOwner()) &&
         OperationEquivalence::isEquivalentTo(
             x.getOwner(), y.getOwner(),
             [](Value p, Value q) { return success(isSameValue(p, q)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

Value rmsnorm::getViewedBuffer(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    return view.getViewSource();
  auto transpose = buffer.getDefiningOp<memref::TransposeOp>();
  return transpose ? transpose.getIn() : Value();
}

Value rmsnorm::getRootBuffer(Value buffer) {
  while (Value viewed = getViewedBuffer(buffer))
    buffer = viewed;
  return buffer;
}

bool rmsnorm::isConstantBuffer(Value buffer) {
  buffer = getRootBuffer(buffer);
  if (auto get = buffer.getDefiningOp<memref::GetGlobalOp>()) {
    auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
        get, get.getNameAttr());
    return global && global.getConstant();
  }
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(),
                             RMSNormDialect::kConstantAttrName);
}

/// The source of `buffer`, then the views that lead to it.
static SmallVector<Value> getViews(Value buffer) {
  SmallVector<Value> views{buffer};
  while (Value viewed = getViewedBuffer(views.back()))
    views.push_back(viewed);
  std::reverse(views.begin(), views.end());
  return views;
}

/// Whether `buffer` is an argument of an entry.
static bool isOfEntry(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  return function && function.getArgAttr(argument.getArgNumber(),
                                         RMSNormDialect::kRoleAttrName);
}

bool rmsnorm::areDisjoint(Value a, Value b, AliasAnalysis &aliases) {
  SmallVector<Value> viewsOfA = getViews(a), viewsOfB = getViews(b);
  if (!isSameValue(viewsOfA.front(), viewsOfB.front()))
    return (isOfEntry(viewsOfA.front()) && isOfEntry(viewsOfB.front())) ||
           aliases.alias(viewsOfA.front(), viewsOfB.front()).isNo();
  for (auto [x, y] : llvm::drop_begin(llvm::zip(viewsOfA, viewsOfB))) {
    auto sliceX = x.getDefiningOp<memref::SubViewOp>();
    auto sliceY = y.getDefiningOp<memref::SubViewOp>();
    if (sliceX && sliceY) {
      FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
          a.getContext(), HyperrectangularSlice(sliceX),
          HyperrectangularSlice(sliceY));
      if (succeeded(overlap) && !*overlap)
        return true;
    }
    if (!isSameValue(x, y))
      return false;
  }
  return false;
}

bool rmsnorm::mayCross(Operation &op) {
  if (isMemoryEffectFree(&op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && op.getNumRegions() == 0 &&
         effects.onlyHasEffect<MemoryEffects::Allocate>();
}

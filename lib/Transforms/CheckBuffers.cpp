// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckBuffers.cpp - rmsnorm-check-buffers --------------------------===//

#include "RowIndex.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_CHECKBUFFERS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// "argument 'weight'" or "a new memref<...>".
static std::string describe(Value buffer, func::FuncOp function) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument || argument.getOwner() != &function.front()) {
    stream << "a new " << buffer.getType();
    return text;
  }
  unsigned number = argument.getArgNumber();
  if (auto name = function.getArgAttrOfType<StringAttr>(
          number, RMSNormDialect::kNameAttrName))
    stream << "argument '" << name.getValue() << "'";
  else
    stream << "argument #" << number;
  return text;
}

/// A tile must be the loop's row of a buffer that exists outside of the loop,
/// and one that a kernel can address.
template <typename OpTy> static LogicalResult checkTile(OpTy op) {
  auto type = cast<ShapedType>(op.getBase().getType());
  // Two numbers a byte: no thread may write half of one.
  if (isa<Float4E2M1FNType>(type.getElementType())) {
    const int64_t columns = type.getRank() ? type.getShape().back() : 1;
    const bool isWhole =
        op.getKind() == TileKind::tile ||
        (isa<TileLoadOp>(op) && op.getKind() == TileKind::column);
    if (!isWhole || ShapedType::isDynamic(columns) || columns % 16 != 0)
      return op.emitOpError("expected f4E2M1FN, of which two are a byte, in "
                            "rows of a multiple of 16 columns, got ")
             << type
             << (isWhole ? "" : " of which an element is for several columns");
    // A mask has a byte for each element.
  } else if (unsigned bits = type.getElementTypeBitWidth();
             bits % 8 != 0 && bits > 1)
    return op.emitOpError("expected elements of whole bytes in memory, got ")
           << type.getElementType();
  if (op.getKind() != TileKind::row && type.getShape().back() > kMaxColumns)
    return op.emitOpError("expected rows of at most ")
           << kMaxColumns << " elements, got " << type.getShape().back();
  Operation *base = op.getBase().getDefiningOp();
  auto loop = dyn_cast<scf::ForallOp>(op->getParentOp());
  if (!loop)
    return success();
  if (base && loop->isAncestor(base))
    return op.emitOpError("expected a tile of whole rows of a buffer, got one "
                          "of the result of '")
           << base->getName() << "'";
  // One block works on one row: which one is the loop's affair.
  auto index = matchRowIndex(op.getRow(), loop);
  bool isRow = !op.getRow() || op.getRow() == loop.getInductionVar(0) ||
               (index && (isa<TileLoadOp>(op) || index->hasAll())) ||
               (isZeroInteger(op.getRow()) &&
                loop.getStaticUpperBound() == ArrayRef<int64_t>(1));
  if (!isRow)
    return op.emitOpError("expected the row of the iteration, got another one");
  return success();
}

/// Other work than norms and what is row-wise beside them. Buffers, copies and
/// results that are wrong then follow from it, and so do fills of what it sums
/// up in.
static LogicalResult checkWork(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> others;
  function.walk([&](linalg::LinalgOp op) { others.push_back(op); });
  if (!llvm::all_of(others, llvm::IsaPred<linalg::FillOp>))
    llvm::erase_if(others, llvm::IsaPred<linalg::FillOp>);
  for (linalg::LinalgOp op : others)
    op->emitOpError(
        "expected to be part of a loop over rows, which needs a norm whose "
        "rows it uses or computes (see the remarks of rmsnorm-tile-clusters); "
        "functions with other work are for rmsnorm-embed-tensors, decomposed "
        "norms for rmsnorm-raise");
  return success(others.empty());
}

static LogicalResult check(Operation *op, func::FuncOp function) {
  if (isa<memref::AllocOp, memref::AllocaOp>(op))
    return op->emitOpError("expected every tensor to have a buffer among the "
                           "arguments, got an allocation of ")
           << op->getResult(0).getType()
           << "; is a value used outside of the loop over rows, or read after "
              "its destination is written?";
  if (auto global = dyn_cast<memref::GetGlobalOp>(op))
    return global.emitOpError("expected every tensor to have a buffer among "
                              "the arguments, got a constant of different "
                              "values, ")
           << global.getType();
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.emitOpError("expected no copy, got one of ")
           << describe(copy.getSource(), function) << " to "
           << describe(copy.getTarget(), function)
           << "; is it read after another result is written to it?";
  if (isa<ForwardOp, BackwardOp>(op))
    return op->emitOpError("expected a norm on tensors to be lowered to "
                           "kernels, got one on memrefs");
  for (Value result : op->getResults())
    if (isa<TensorType>(result.getType()))
      return op->emitOpError("expected no tensors, got ") << result.getType();
  if (isa<func::ReturnOp>(op) && op->getNumOperands() > 0)
    return op->emitOpError("expected results to be written to arguments, got "
                           "a returned ")
           << op->getOperand(0).getType();
  if (auto load = dyn_cast<TileLoadOp>(op))
    return checkTile(load);
  if (auto store = dyn_cast<TileStoreOp>(op))
    return checkTile(store);
  bool isHost = op->getParentOp() == function;
  // Which loops are ours is said, not guessed from what is in them.
  bool isRowLoop = isHost && op->hasAttr(RMSNormDialect::kRowsAttrName);
  if (isa<scf::ForallOp>(op) && !isRowLoop)
    return op->emitOpError("expected a public function to hold no loops but "
                           "those of rmsnorm-tile-clusters, got another one");
  if (isHost && !isa<scf::ForallOp, RowsOp, func::ReturnOp>(op) &&
      !isMemoryEffectFree(op))
    return op->emitOpError("expected a public function to hold nothing but "
                           "loops over rows and index arithmetic");
  return success();
}

namespace {
struct CheckBuffers final : rmsnorm::impl::CheckBuffersBase<CheckBuffers> {
  using CheckBuffersBase::CheckBuffersBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || function.isDeclaration())
      return;
    if (failed(checkWork(function)))
      return signalPassFailure();
    // All of them: what is wrong first may follow from what is wrong later.
    bool failedAny = false;
    function.walk([&](Operation *op) {
      if (op != function && failed(check(op, function)))
        failedAny = true;
    });
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckBuffers.cpp - rmsnorm-check-buffers --------------------------===//

#include "RMSNorm/Access/Loops.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_CHECKBUFFERS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// All that is wrong with a function: one error, on the op that is wrong first,
/// and notes on the others.
class Problems {
public:
  /// Begins the text on `op`. What bufferization makes has the location of what
  /// the user wrote, and no name there.
  Diagnostic &add(Operation *op) {
    Diagnostic *text;
    if (error)
      text = &error->attachNote(op->getLoc());
    else
      text = error.emplace(emitError(op->getLoc())).getUnderlyingDiagnostic();
    if (!isa<memref::MemRefDialect>(op->getDialect()))
      *text << "'" << op->getName() << "' op ";
    return *text;
  }
  bool isEmpty() const { return !error; }

private:
  std::optional<InFlightDiagnostic> error;
};
} // namespace

/// "argument 'weight'" or "a new memref<...>".
static std::string describe(Value buffer, func::FuncOp function) {
  buffer = getRootBuffer(buffer);
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

/// Other work than what is row-wise. Buffers, copies and results that are wrong
/// then follow from it, and so do fills of what it sums up in.
static void checkWork(func::FuncOp function, Problems &problems) {
  SmallVector<linalg::LinalgOp> others;
  function.walk([&](linalg::LinalgOp op) { others.push_back(op); });
  if (!llvm::all_of(others, access::getFilled))
    llvm::erase_if(others, access::getFilled);
  for (linalg::LinalgOp op : others)
    if (problems.isEmpty())
      problems.add(op)
          << "expected to be part of a kernel, as what works row by row on "
             "tensors is; functions with other work are for "
             "rmsnorm-embed-tensors, where norms and ops marked "
             "rmsnorm.row_wise begin kernels";
    else
      problems.add(op) << "expected to be part of a kernel, too";
}

static void check(Operation *op, func::FuncOp function, Problems &problems) {
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    problems.add(op) << "expected what one kernel computes for another to be "
                        "returned, or computed into an argument, and arguments "
                        "to be read before they are written, got a new "
                     << op->getResult(0).getType() << " here";
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    problems.add(op) << "expected constants of one value, and others to be "
                        "arguments, got a constant of different values, "
                     << global.getType();
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    problems.add(op) << "expected no copy, got one of "
                     << describe(copy.getSource(), function) << " to "
                     << describe(copy.getTarget(), function)
                     << "; is it read after another result is written to it?";
  } else if (isa<ForwardOp, BackwardOp>(op)) {
    problems.add(op) << "expected a norm on tensors to be lowered to kernels, "
                        "got one on memrefs";
  } else if (auto types = llvm::make_filter_range(op->getResultTypes(),
                                                  llvm::IsaPred<TensorType>);
             !types.empty()) {
    problems.add(op) << "expected no tensors, got " << *types.begin();
  } else if (isa<func::ReturnOp>(op)) {
    // An allocation is said to be wrong where it is.
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()) ||
          !getRootBuffer(operand).getDefiningOp<memref::AllocOp>()) {
        problems.add(op) << "expected results to be written to arguments, got "
                            "a returned "
                         << operand.getType();
        break;
      }
  } else if (op->getParentOp() == function && !isa<RowsOp>(op) &&
             !isMemoryEffectFree(op)) {
    problems.add(op) << "expected a public function to hold nothing but "
                        "rmsnorm.rows and index arithmetic";
  }
}

namespace {
struct CheckBuffers final : rmsnorm::impl::CheckBuffersBase<CheckBuffers> {
  using CheckBuffersBase::CheckBuffersBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || function.isDeclaration())
      return;
    Problems problems;
    checkWork(function, problems);
    // All of them: what is wrong first may follow from what is wrong later.
    if (problems.isEmpty())
      function.walk([&](Operation *op) {
        if (op != function)
          check(op, function, problems);
      });
    if (!problems.isEmpty())
      signalPassFailure();
  }
};
} // namespace

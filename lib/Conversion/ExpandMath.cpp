// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - math by the instructions of GPUs ------------------===//

#include "ExpandMath.h"

#include "DeviceOps.h"
#include "ExpandFunctions.h"
#include "RMSNorm/IR/FloatRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

/// Whether `value` is 1 plus a number that is never negative, as in a sigmoid.
static bool isOneOrMore(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  auto isOne = [](Value term) { return matchPattern(term, m_OneFloat()); };
  auto isPower = [](Value term) {
    return isa_and_present<math::ExpOp, math::Exp2Op>(term.getDefiningOp());
  };
  return (isOne(sum.getLhs()) && isPower(sum.getRhs())) ||
         (isPower(sum.getLhs()) && isOne(sum.getRhs()));
}

/// Replaces `op`, on f32 scalars or vectors, by scalars that `lowering` makes
/// of those of its operands.
static void
scalarize(Operation *op,
          function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> lowering) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value result;
  if (auto type = dyn_cast<VectorType>(op->getResult(0).getType())) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      SmallVector<Value> scalars;
      for (Value operand : op->getOperands())
        scalars.push_back(vector::ExtractOp::create(b, operand, i));
      elements.push_back(lowering(b, scalars));
    }
    result = vector::FromElementsOp::create(b, type, elements);
  } else {
    result = lowering(b, op->getOperands());
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

static void lowerDivision(arith::DivFOp op, const F32Intrinsics &intrinsics) {
  // A divisor may be so small or large that it, or its reciprocal, is flushed
  // to zero. One computed from f8 or f16 is not.
  const FloatRange range = getFloatRange(op.getRhs());
  bool large =
      isOneOrMore(op.getRhs()) ||
      (!matchPattern(op.getRhs(), m_Constant()) &&
       range.unit >= FloatRange::least && range.bound < FloatRange::most);
  bool inverse = matchPattern(op.getLhs(), m_OneFloat());
  scalarize(op, [&](ImplicitLocOpBuilder &b, ValueRange scalars) -> Value {
    if (!large)
      return createIntrinsic(b, b.getF32Type(), intrinsics.divide, scalars);
    Value reciprocal =
        createIntrinsic(b, b.getF32Type(), intrinsics.reciprocal, scalars[1]);
    if (inverse)
      return reciprocal;
    return arith::MulFOp::create(b, scalars[0], reciprocal);
  });
}

LogicalResult rmsnorm::expandMath(gpu::GPUModuleOp module,
                                  const F32Intrinsics &intrinsics) {
  if (failed(expandFunctions(module)))
    return failure();
  // Before the powers of two, which say that a divisor is not small. Scalars
  // are of a row, not of each of its columns: exact, as a scale that is stored.
  module.walk([&](arith::DivFOp op) {
    if (isa<VectorType>(op.getType()) && isF32(op.getResult()))
      lowerDivision(op, intrinsics);
  });
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) || isNative(op))
      return WalkResult::advance();
    StringRef intrinsic = isa<math::RsqrtOp>(op)  ? intrinsics.rsqrt
                          : isa<math::Exp2Op>(op) ? intrinsics.exp2
                                                  : "";
    if (intrinsic.empty() || !isF32(op->getOperand(0)))
      return op->emitError("no lowering for '")
             << op->getName() << "' on " << op->getOperand(0).getType()
             << " in device code";
    scalarize(op, [&](ImplicitLocOpBuilder &b, ValueRange scalars) {
      return createIntrinsic(b, b.getF32Type(), intrinsic, scalars);
    });
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

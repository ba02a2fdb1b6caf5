// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - math without device libraries --------------------===//

#include "ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Selected by both back ends, as one instruction or a short sequence.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::RoundEvenOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// Approximated by upstream's polynomials, within a few ulp of f32.
static bool isApproximated(StringRef name) {
  return llvm::is_contained<StringRef>(
      {"math.tanh", "math.erf", "math.erfc", "math.exp", "math.expm1",
       "math.log", "math.log1p", "math.log2", "math.sin", "math.cos",
       "math.atan", "math.atan2", "math.asin", "math.acos", "math.cbrt"},
      name);
}

/// Ops whose f16 and bf16 forms are computed in f32.
static bool isWidened(StringRef name) {
  return isApproximated(name) || name == "math.rsqrt" || name == "math.exp2" ||
         name == "math.sqrt";
}

/// Replaces an f32 scalar or vector op by scalar calls of `lowering`.
static void scalarize(Operation *op, ScalarF32Lowering lowering) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value operand = op->getOperand(0);
  auto type = dyn_cast<VectorType>(operand.getType());
  if (!type) {
    op->getResult(0).replaceAllUsesWith(lowering(b, operand));
    op->erase();
    return;
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(lowering(b, vector::ExtractOp::create(b, operand, i)));
  op->getResult(0).replaceAllUsesWith(
      vector::FromElementsOp::create(b, type, elements).getResult());
  op->erase();
}

LogicalResult rmsnorm::expandMath(gpu::GPUModuleOp module,
                                  ScalarF32Lowering rsqrt,
                                  ScalarF32Lowering exp2) {
  bool hasMath = false;
  module.walk([&](Operation *op) {
    hasMath |=
        isa_and_present<math::MathDialect>(op->getDialect()) && !isNative(op);
  });
  if (hasMath) {
    RewritePatternSet patterns(module.getContext());
    populateMathF32ExpansionPatterns(patterns, isWidened);
    populateMathPolynomialApproximationPatterns(patterns, isApproximated);
    math::populateExpansionPatterns(patterns,
                                    {"sinh", "cosh", "tan", "asinh", "acosh",
                                     "atanh", "powf", "fpowi", "clampf"});
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return failure();
  }
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) || isNative(op))
      return WalkResult::advance();
    bool f32 = getElementTypeOrSelf(op->getOperand(0).getType()).isF32();
    if (f32 && isa<math::RsqrtOp>(op))
      scalarize(op, rsqrt);
    else if (f32 && isa<math::Exp2Op>(op))
      scalarize(op, exp2);
    else
      return op->emitError("no lowering for '")
             << op->getName() << "' on " << op->getOperand(0).getType()
             << " in device code";
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

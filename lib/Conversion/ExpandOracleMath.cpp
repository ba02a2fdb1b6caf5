// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandOracleMath.cpp - rmsnorm-expand-oracle-math -----------------===//

#include "ExpandFloat8.h"
#include "RMSNorm/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_EXPANDORACLEMATH
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

/// f64 to f16, bf16 or f8 through f32 rounded to odd: truncated, with the last
/// bit set wherever that is inexact. Rounding this again to at most 22 bits is
/// rounding once; through f32 rounded to nearest it is not.
struct TruncateThroughOdd : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!op.getIn().getType().isF64() ||
        !(type.isF16() || type.isBF16() || isFloat8(type)))
      return rewriter.notifyMatchFailure(op, "not f64 to f16, bf16 or f8");
    Location loc = op.getLoc();
    Type f32 = rewriter.getF32Type(), i32 = rewriter.getI32Type();
    Value in = op.getIn();
    Value nearest = arith::TruncFOp::create(rewriter, loc, f32, in);
    Value back = arith::ExtFOp::create(rewriter, loc, in.getType(), nearest);
    // Both ordered: NaN stays what it is.
    Value inexact = arith::CmpFOp::create(rewriter, loc,
                                          arith::CmpFPredicate::ONE, back, in);
    Value away =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT,
                              math::AbsFOp::create(rewriter, loc, back),
                              math::AbsFOp::create(rewriter, loc, in));
    Value bits = arith::BitcastOp::create(rewriter, loc, i32, nearest);
    Value step = arith::ExtUIOp::create(rewriter, loc, i32, away);
    Value one =
        arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(1));
    Value odd = arith::OrIOp::create(
        rewriter, loc, arith::SubIOp::create(rewriter, loc, bits, step), one);
    Value chosen = arith::SelectOp::create(rewriter, loc, inexact, odd, bits);
    Value single = arith::BitcastOp::create(rewriter, loc, f32, chosen);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, single);
    return success();
  }
};

/// A math op on f16 or bf16 is done in f32.
struct WidenMath : RewritePattern {
  explicit WidenMath(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  static bool isNarrow(Type type) {
    return type.isF16() || type.isBF16() || isFloat8(type);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) ||
        op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        llvm::none_of(op->getOperandTypes(), isNarrow))
      return rewriter.notifyMatchFailure(op, "not math on narrow floats");
    auto widen = [&](Type type) {
      return isNarrow(type) ? rewriter.getF32Type() : type;
    };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isNarrow(operand.getType()))
        operand = arith::ExtFOp::create(rewriter, op->getLoc(),
                                        rewriter.getF32Type(), operand);
      operands.push_back(operand);
    }
    Type type = op->getResult(0).getType();
    Operation *wide =
        mlir::clone(rewriter, op, TypeRange{widen(type)}, ValueRange(operands));
    Value result = wide->getResult(0);
    if (isNarrow(type))
      result = arith::TruncFOp::create(rewriter, op->getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandOracleMath final
    : rmsnorm::impl::ExpandOracleMathBase<ExpandOracleMath> {
  using ExpandOracleMathBase::ExpandOracleMathBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<TruncateThroughOdd, WidenMath>(context);
    populateExpandFloat8Patterns(patterns);
    math::populateExpansionPatterns(
        patterns, {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "powf",
                   "fpowi", "exp2", "round", "rsqrt"});
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    WalkResult walk = getOperation()->walk([](Operation *op) {
      if (!isa_and_present<math::MathDialect>(op->getDialect()) ||
          isInstruction(op))
        return WalkResult::advance();
      op->emitError("expected math that the oracle can do without a maths "
                    "library, got '")
          << op->getName() << "' of " << op->getOperand(0).getType()
          << " (see rmsnorm-expand-oracle-math)";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
  }

private:
  static bool isInstruction(Operation *op) {
    return isa<math::SqrtOp, math::AbsFOp, math::AbsIOp, math::CopySignOp,
               math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp,
               math::RoundEvenOp, math::CountLeadingZerosOp,
               math::CountTrailingZerosOp, math::CtPopOp, math::IsFiniteOp,
               math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op);
  }
};
} // namespace

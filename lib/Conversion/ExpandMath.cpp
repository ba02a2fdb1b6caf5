// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.cpp - math without device libraries --------------------===//

#include "ExpandMath.h"

#include "DeviceOps.h"
#include "RMSNorm/IR/FloatRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

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
  return llvm::is_contained<StringRef>({"math.erfc", "math.expm1", "math.log",
                                        "math.log1p", "math.log2", "math.sin",
                                        "math.cos", "math.atan", "math.atan2",
                                        "math.asin", "math.acos", "math.cbrt"},
                                       name);
}

/// Ops whose f16 and bf16 forms are computed in f32.
static bool isWidened(StringRef name) {
  return isApproximated(name) ||
         llvm::is_contained<StringRef>({"math.erf", "math.exp", "math.exp2",
                                        "math.rsqrt", "math.sqrt", "math.tanh"},
                                       name);
}

static bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

//===----------------------------------------------------------------------===//
// Functions by instructions
//===----------------------------------------------------------------------===//

namespace {

/// Arithmetic on values of one type, f32 or vectors of it.
struct VectorMath {
  ImplicitLocOpBuilder b;
  Type type;

  Value constant(double value) {
    return createScalarOrSplatConstant(b, b.getLoc(), type,
                                       APFloat(static_cast<float>(value)));
  }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
  Value fma(Value lhs, Value rhs, Value sum) {
    return math::FmaOp::create(b, lhs, rhs, sum);
  }
  /// A polynomial, by its coefficients from that of the highest power down.
  Value polynomial(Value value, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, value, constant(coefficient));
    return sum;
  }
  Value selectBelow(double limit, Value value, Value below, Value above) {
    Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value,
                                          constant(limit));
    return arith::SelectOp::create(b, isBelow, below, above);
  }
  /// e^(factor * value).
  Value exp(Value value, double factor = 1) {
    return math::Exp2Op::create(
        b, mul(value, constant(factor * llvm::numbers::log2e)));
  }
};

struct ExpandExp final : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()))
      return rewriter.notifyMatchFailure(op, "not f32");
    VectorMath a{{op.getLoc(), rewriter}, op.getType()};
    rewriter.replaceOp(op, a.exp(op.getOperand()));
    return success();
  }
};

/// 1 - 2 / (e^2|x| + 1), which cancels near 0, where Cephes' polynomial (tanhf,
/// |x| < 0.625) is taken.
struct ExpandTanh final : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()))
      return rewriter.notifyMatchFailure(op, "not f32");
    VectorMath a{{op.getLoc(), rewriter}, op.getType()};
    Value x = op.getOperand();
    Value magnitude = math::AbsFOp::create(a.b, x);
    Value one = a.constant(1);
    Value quotient = arith::DivFOp::create(
        a.b, one, a.add(one, a.exp(magnitude, /*factor=*/2)));
    Value large =
        math::CopySignOp::create(a.b, a.fma(a.constant(-2), quotient, one), x);
    Value square = a.mul(x, x);
    Value sum = a.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2,
                                      -5.37397155531e-2, 1.33314422036e-1,
                                      -3.33332819422e-1});
    Value small = a.fma(a.mul(sum, square), x, x);
    rewriter.replaceOp(op, a.selectBelow(0.625, magnitude, small, large));
    return success();
  }
};

/// 1 - 2^p(|x|), which cancels near 0, where x q(x^2) is taken. p and q are
/// minimax polynomials: of log2(erfc(x)) from 0.75 to 3.92, weighted by
/// erfc(x), and of erf(x) / x up to 0.75. p falls for ever: no x is too large.
struct ExpandErf final : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getResult()))
      return rewriter.notifyMatchFailure(op, "not f32");
    VectorMath a{{op.getLoc(), rewriter}, op.getType()};
    Value x = op.getOperand();
    Value magnitude = math::AbsFOp::create(a.b, x);
    Value complement = math::Exp2Op::create(
        a.b, a.polynomial(magnitude, {-2.034471278e-03, 2.417350419e-02,
                                      -1.363319082e-01, -9.320028831e-01,
                                      -1.620744753e+00, -1.476653894e-03}));
    Value large = math::CopySignOp::create(
        a.b, arith::SubFOp::create(a.b, a.constant(1), complement), x);
    Value small =
        a.mul(a.polynomial(a.mul(x, x),
                           {4.158813049e-03, -2.636023427e-02, 1.127373496e-01,
                            -3.761192957e-01, 1.128379086e+00}),
              x);
    rewriter.replaceOp(op, a.selectBelow(0.75, magnitude, small, large));
    return success();
  }
};

/// A number added to this one, up to 2^22 in magnitude, is rounded to an
/// integer in the lowest bits: ulp(1.5 * 2^23) = 1.
constexpr double kRounder = 12582912.0;

/// `value`, which has integers only, before it was rounded to them, to even;
/// null if it is no such value.
static Value getUnrounded(ImplicitLocOpBuilder &b, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto rounding = dyn_cast_or_null<math::RoundEvenOp>(op))
    return rounding.getOperand();
  // Rounding and a clamp to integers commute.
  FloatAttr scalar;
  DenseFPElementsAttr splat;
  if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                       arith::MinNumFOp>(op) ||
      !(matchPattern(op->getOperand(1), m_Constant(&scalar)) ||
        (matchPattern(op->getOperand(1), m_Constant(&splat)) &&
         splat.isSplat())))
    return {};
  const APFloat bound =
      scalar ? scalar.getValue() : splat.getSplatValue<APFloat>();
  Value in = bound.isInteger() ? getUnrounded(b, op->getOperand(0)) : Value();
  if (!in)
    return {};
  Operation *clamp = b.clone(*op);
  clamp->setOperand(0, in);
  return clamp->getResult(0);
}

/// An addition and the lowest byte, in place of a conversion, which takes GPUs
/// four times as long; they permute four bytes at a time. The value has
/// integers only; those that are no i8 are poison.
struct ExpandToI8 final : OpRewritePattern<arith::FPToSIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::FPToSIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getIn()) ||
        !getElementTypeOrSelf(op.getType()).isSignlessInteger(8))
      return rewriter.notifyMatchFailure(op, "not from f32 to i8");
    VectorMath a{{op.getLoc(), rewriter}, op.getIn().getType()};
    Value in = getUnrounded(a.b, op.getIn());
    if (!in)
      return rewriter.notifyMatchFailure(op, "not rounded to even");
    Type words = a.b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(a.type))
      words = vector.clone(words);
    Value bits =
        arith::BitcastOp::create(a.b, words, a.add(in, a.constant(kRounder)));
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), bits);
    return success();
  }
};

} // namespace

void rmsnorm::populateExpandFunctionsPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandErf, ExpandExp, ExpandTanh, ExpandToI8>(
      patterns.getContext());
  math::populateExpansionPatterns(patterns, {"clampf", "fpowi"});
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
  bool hasMath = false;
  module.walk([&](Operation *op) {
    hasMath |=
        isa<arith::FPToSIOp>(op) ||
        (isa_and_present<math::MathDialect>(op->getDialect()) && !isNative(op));
  });
  if (hasMath) {
    RewritePatternSet patterns(module.getContext());
    populateExpandFunctionsPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, isWidened);
    populateMathPolynomialApproximationPatterns(patterns, isApproximated);
    // Not asinh, acosh and atanh: their expansions are logarithms of
    // differences that cancel, and asinh(-1e4) would be -inf.
    math::populateExpansionPatterns(patterns, {"sinh", "cosh", "tan", "powf"});
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return failure();
  }
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

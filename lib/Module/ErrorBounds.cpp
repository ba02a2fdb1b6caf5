// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorBounds.cpp - how far outputs may be from the oracle's --------===//

#include "RMSNorm/Module/ErrorBounds.h"
#include "RMSNorm/IR/FloatRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

/// Relative error of one f32 rounding.
constexpr double u = 0x1p-24;

struct Error {
  /// Of f32 roundings, see `ofValue` for relative to what. The second grows
  /// with the square root of the number of columns.
  double relative = 0, relativePerSqrt = 0;
  /// Of roundings to narrower types that may have gone to the other side: how
  /// far they moved the value all together, and the chance of any one.
  double flips = 0, flipChance = 0, flipChancePerSqrt = 0;
  /// The value was just rounded to a narrow type and may be a neighbour.
  bool flipped = false;
  /// Exact, with so many significant bits; 0: not known.
  unsigned bits = 0;
  bool nonNegative = false;
  /// Relative to the value; if not, to its magnitude, as the value may have
  /// cancelled.
  bool ofValue = true;
  /// rmsnorm-add-magnitudes computes the absolute value.
  bool tight = true;
  /// It computes a magnitude: not below the absolute value.
  bool hasMagnitude = true;
  /// An element of a buffer or a constant, perhaps extended.
  bool leaf = false;

  bool isExact() const {
    return relative == 0 && relativePerSqrt == 0 && flips == 0 && !flipped;
  }
};

unsigned getPrecision(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFPMantissaWidth();
}

/// Distance of neighbouring values relative to the value, at worst.
double relativeUlp(Type type) {
  return std::ldexp(1.0, 1 - int(getPrecision(type)));
}

/// What a later operation sees of a value that may be a neighbour.
Error settle(Error error, Type type) {
  if (error.flipped)
    error.flips += relativeUlp(type);
  error.flipped = false;
  return error;
}

/// Adds the rounding of a result of type `type` to the error of its operands.
Error addRounding(Error error, Type type, bool alwaysRounds) {
  error.leaf = false;
  if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() >= 32) {
    if (alwaysRounds) {
      error.relative += u;
      error.bits = 0;
    }
    return error;
  }
  if (error.isExact()) {
    error.bits = getPrecision(type);
    return error;
  }
  error.flipped = true;
  error.bits = 0;
  // A boundary between two values of the type lies between the oracle's and
  // ours; they are at least half the worst distance apart. What has cancelled
  // is nearer to zero than its error tells.
  double distance = relativeUlp(type) / 2;
  error.flipChance += error.ofValue ? 2 * (error.relative + u) / distance : 1;
  error.flipChancePerSqrt += 2 * error.relativePerSqrt / distance;
  return error;
}

/// The larger of both in every respect.
Error worst(Error a, Error b) {
  Error error;
  error.relative = std::max(a.relative, b.relative);
  error.relativePerSqrt = std::max(a.relativePerSqrt, b.relativePerSqrt);
  error.flips = std::max(a.flips, b.flips);
  error.flipChance = a.flipChance + b.flipChance;
  error.flipChancePerSqrt = a.flipChancePerSqrt + b.flipChancePerSqrt;
  error.bits = a.bits && b.bits ? std::max(a.bits, b.bits) : 0;
  error.nonNegative = a.nonNegative && b.nonNegative;
  error.ofValue = a.ofValue && b.ofValue;
  error.tight = a.tight && b.tight && error.nonNegative;
  error.hasMagnitude = a.hasMagnitude && b.hasMagnitude;
  return error;
}

/// Before the rounding.
Error product(Error a, Error b, bool square) {
  Error error = worst(a, b);
  error.relative = a.relative + b.relative;
  error.relativePerSqrt = a.relativePerSqrt + b.relativePerSqrt;
  error.flips = a.flips + b.flips;
  error.bits = a.bits && b.bits ? a.bits + b.bits : 0;
  error.nonNegative |= square;
  error.tight = a.tight && b.tight;
  return error;
}

/// Before the rounding; none if nothing is known of it.
std::optional<Error> sum(Error a, Error b) {
  Error error = worst(a, b);
  error.bits = 0;
  if (a.isExact() && b.isExact()) {
    error.ofValue = true;
    error.tight |= a.leaf && b.leaf;
    return error;
  }
  // Terms of one sign do not cancel.
  error.ofValue &= error.nonNegative;
  if (!error.ofValue && !error.hasMagnitude)
    return std::nullopt;
  return error;
}

/// A sum of many terms of this error, without its growth with their number;
/// none if nothing is known of it.
std::optional<Error> addUp(Error error) {
  if (!error.nonNegative)
    error.ofValue = error.tight = false;
  if (!error.ofValue && !error.hasMagnitude)
    return std::nullopt;
  error.relative += 8 * u;
  error.bits = 0;
  error.leaf = false;
  return error;
}

class TileProgramErrors {
public:
  std::optional<Error> get(Value value);

private:
  std::optional<Error> compute(Value value);

  DenseMap<Value, std::optional<Error>> known;
};

} // namespace

std::optional<Error> TileProgramErrors::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<Error> error = compute(value);
  // Small integers, their sums and products.
  if (error && getFloatRange(value).isExact()) {
    error->relative = error->relativePerSqrt = 0;
    error->ofValue = true;
  }
  known[value] = error;
  return error;
}

std::optional<Error> TileProgramErrors::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return std::nullopt;
  if (isa<TileLoadOp>(op)) {
    Error exact;
    exact.bits = getPrecision(value.getType());
    exact.leaf = true;
    return exact;
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Type integer = op->getOperand(0).getType();
    Error converted; // of a size, if it is a scalar
    converted.nonNegative =
        isa<arith::UIToFPOp>(op) || !isa<VectorType>(integer);
    converted.leaf =
        isa_and_nonnull<TileLoadOp>(op->getOperand(0).getDefiningOp());
    converted.bits = getElementTypeOrSelf(integer).getIntOrFloatBitWidth();
    if (converted.bits <= getPrecision(value.getType()))
      return converted;
    return addRounding(converted, value.getType(), true);
  }
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    Error exact;
    exact.bits = getPrecision(value.getType());
    exact.leaf = true;
    DenseElementsAttr elements;
    FloatAttr scalar;
    if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
      exact.nonNegative = !elements.getSplatValue<APFloat>().isNegative();
    else if (matchPattern(value, m_Constant(&scalar)))
      exact.nonNegative = !scalar.getValue().isNegative();
    return exact;
  }

  // What overflows f8 becomes NaN, infinity or the largest number.
  if (isa<arith::TruncFOp>(op) &&
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 16)
    return std::nullopt;
  SmallVector<Error> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      continue;
    std::optional<Error> error = get(operand);
    if (!error)
      return std::nullopt;
    // A truncation right before a store stays a flip; what else uses it sees
    // its size.
    operands.push_back(isa<vector::BroadcastOp, vector::ShapeCastOp, KeepOp>(op)
                           ? *error
                           : settle(*error, operand.getType()));
  }

  using Result = std::optional<Error>;
  Type type = value.getType();
  // 24 bits hold some products of narrow values.
  auto roundProduct = [&](Error error) {
    bool exact = error.isExact() && error.bits && error.bits <= 24;
    return addRounding(error, type, !exact);
  };
  auto roundSum = [&](Result error) -> Result {
    return error ? addRounding(*error, type, true) : error;
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case<vector::BroadcastOp, vector::ShapeCastOp, KeepOp, arith::ExtFOp,
            arith::NegFOp>([&](auto) {
        Error error = operands[0];
        if (isa<arith::NegFOp>(op))
          error.nonNegative = error.leaf = false;
        return error;
      })
      .Case<math::AbsFOp>([&](auto) {
        Error error = operands[0];
        error.nonNegative = true;
        error.leaf = false;
        return error;
      })
      .Case<arith::TruncFOp>(
          [&](auto) { return addRounding(operands[0], type, true); })
      .Case<arith::MulFOp>([&](auto) {
        bool square = op->getOperand(0) == op->getOperand(1);
        return roundProduct(product(operands[0], operands[1], square));
      })
      .Case<arith::DivFOp>([&](auto) -> Result {
        if (!operands[1].ofValue)
          return std::nullopt;
        Error error = product(operands[0], operands[1], false);
        error.bits = 0;
        error.hasMagnitude &= operands[1].tight;
        return addRounding(error, type, true);
      })
      .Case<arith::AddFOp, arith::SubFOp>([&](auto) {
        Error b = operands[1];
        if (isa<arith::SubFOp>(op))
          b.nonNegative = false;
        return roundSum(sum(operands[0], b));
      })
      .Case<math::FmaOp>([&](auto) {
        bool square = op->getOperand(0) == op->getOperand(1);
        return roundSum(
            sum(product(operands[0], operands[1], square), operands[2]));
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>(
          [&](auto) { return worst(operands[0], operands[1]); })
      .Case<arith::SelectOp>([&](auto) -> Result {
        Error error = worst(operands[0], operands[1]);
        // Magnitudes may choose the other one.
        error.hasMagnitude = false;
        return error.ofValue ? error : Result();
      })
      .Case<math::RsqrtOp, math::SqrtOp>([&](auto) -> Result {
        Error error = operands[0];
        if (!error.ofValue)
          return std::nullopt;
        error.relative = error.relative / 2 + 4 * u;
        error.relativePerSqrt /= 2;
        error.bits = 0;
        error.nonNegative = true;
        error.hasMagnitude &= error.tight;
        return addRounding(error, type, false);
      })
      .Case<RowReduceOp>([&](RowReduceOp reduce) -> Result {
        unsigned number = cast<OpResult>(value).getResultNumber();
        Error error = operands[number];
        auto kind = cast<ReduceKindAttr>(reduce.getKinds()[number]).getValue();
        if (kind == ReduceKind::maximumf || kind == ReduceKind::minimumf) {
          error.tight &= error.nonNegative;
          error.leaf = false;
          return error.ofValue ? error : Result();
        }
        if (kind != ReduceKind::add)
          return std::nullopt;
        std::optional<Error> total = addUp(error);
        if (total)
          total->relativePerSqrt += u;
        return total;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// How an output whose values have this error, T of them in a row, is bounded.
static OutputErrorBound getBound(const Error &error) {
  OutputErrorBound bound;
  bound.ulps = error.flipped ? 1 : 0;
  (error.ofValue ? bound.relative : bound.magnitude) =
      error.relative + error.flips;
  (error.ofValue ? bound.relativePerSqrtTerms : bound.magnitudePerSqrtTerms) =
      error.relativePerSqrt;
  if (error.isExact()) {
    bound.derivation = "computed exactly as the oracle does";
  } else {
    // The oracle rounds its result to f32, too.
    if (!error.flipped)
      bound.relative += u;
    bound.derivation =
        "f32: a product or sum 2^-24, a sum of T terms (8 + sqrt(T)) 2^-24 of "
        "their magnitude, rsqrt 2^-22; a rounding to a narrower type one ulp "
        "of it";
  }
  return bound;
}

/// As getBound for a sum over M rows.
static std::optional<OutputErrorBound> getSumBound(Error error, Type type) {
  double flips = error.flips;
  error.flips = 0;
  std::optional<Error> sum = addUp(error);
  if (!sum)
    return std::nullopt;
  Error rounded = *sum;
  if (!getElementTypeOrSelf(type).isF32())
    rounded = addRounding(*sum, type, true);
  OutputErrorBound bound = getBound(rounded);
  bound.magnitudePerSqrtRows = u;
  bound.flip = flips;
  if (flips > 0) {
    bound.flipChance = error.flipChance;
    bound.flipChancePerSqrtTerms = error.flipChancePerSqrt;
  }
  bound.derivation =
      "f32: as for rows, a sum over M rows (8 + sqrt(M)) 2^-24 of the terms' "
      "magnitude; terms rounded to a narrower type may be moved by an ulp each";
  return bound;
}

llvm::MapVector<unsigned, OutputErrorBound>
rmsnorm::deriveErrorBounds(func::FuncOp function) {
  llvm::MapVector<unsigned, OutputErrorBound> bounds;
  SmallVector<unsigned> vectors = getVectorArguments(function);
  TileProgramErrors errors;
  auto set = [&](Value base, std::optional<OutputErrorBound> bound) {
    BlockArgument argument = getFunctionArgument(base);
    if (!argument || !bound || argument.getOwner()->getParentOp() != function)
      return;
    bound->termsArgument = vectors.empty() ? 0 : vectors.front();
    bounds[argument.getArgNumber()] = std::move(*bound);
  };
  function.walk([&](Operation *op) {
    if (auto store = dyn_cast<TileStoreOp>(op)) {
      if (std::optional<Error> error = errors.get(store.getValue()))
        set(store.getBase(), getBound(*error));
    } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      if (std::optional<Error> error = errors.get(accumulate.getSource()))
        set(accumulate.getDest(),
            getSumBound(settle(*error, accumulate.getSource().getType()),
                        accumulate.getDest().getType()));
    }
  });
  return bounds;
}

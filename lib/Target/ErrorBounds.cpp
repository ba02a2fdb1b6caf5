// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorBounds.cpp - how far outputs may be from the oracle's --------===//

#include "ErrorBounds.h"

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
constexpr double largestWeight = 4;

struct Error {
  double relative = 0, relativePerSqrt = 0;
  double absolutePerSqrt = 0;
  /// The value was just rounded to a narrow type and may be a neighbour.
  bool flipped = false;
  bool nonNegative = false;

  bool isExact() const {
    return relative == 0 && relativePerSqrt == 0 && absolutePerSqrt == 0 &&
           !flipped;
  }
};

/// Distance of neighbouring values relative to the value, at worst.
double relativeUlp(Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  return std::ldexp(1.0, 1 - int(element.getFPMantissaWidth()));
}

/// What a later operation sees of a value that may be a neighbour.
Error settle(Error error, Type type) {
  if (error.flipped)
    error.relative += relativeUlp(type);
  error.flipped = false;
  return error;
}

/// Adds the rounding of a result of type `type` to the error of its operands.
Error addRounding(Error error, Type type, bool alwaysRounds) {
  if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() >= 32) {
    if (alwaysRounds)
      error.relative += u;
    return error;
  }
  error.flipped = !error.isExact();
  return error;
}

Error worst(Error a, Error b) {
  return {std::max(a.relative, b.relative),
          std::max(a.relativePerSqrt, b.relativePerSqrt),
          std::max(a.absolutePerSqrt, b.absolutePerSqrt), false,
          a.nonNegative && b.nonNegative};
}

class TileProgramErrors {
public:
  std::optional<Error> get(Value value);

private:
  std::optional<Error> compute(Value value);
  Error product(Error a, Error b, bool square);
  Error sum(Error a, Error b);

  DenseMap<Value, std::optional<Error>> known;
};

} // namespace

Error TileProgramErrors::product(Error a, Error b, bool square) {
  return {a.relative + b.relative, a.relativePerSqrt + b.relativePerSqrt,
          (a.absolutePerSqrt + b.absolutePerSqrt) * largestWeight, false,
          square || (a.nonNegative && b.nonNegative)};
}

Error TileProgramErrors::sum(Error a, Error b) {
  if (a.isExact() && b.isExact())
    return {0, 0, 0, false, a.nonNegative && b.nonNegative};
  if (a.nonNegative && b.nonNegative)
    return worst(a, b);
  // The part per sqrt(N) is far below the rest for sizes that exist; it is
  // taken at N = 2^20.
  auto absolute = [](Error e) {
    return e.absolutePerSqrt +
           (e.relative + e.relativePerSqrt * 0x1p10) * largestWeight;
  };
  return {0, 0, absolute(a) + absolute(b), false, false};
}

std::optional<Error> TileProgramErrors::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<Error> error = compute(value);
  known[value] = error;
  return error;
}

std::optional<Error> TileProgramErrors::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return std::nullopt;
  if (isa<TileLoadOp>(op))
    return Error();
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    // A size; the conversion of one above 2^24 rounds.
    return Error{u, 0, 0, false, true};
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    Error exact;
    DenseElementsAttr elements;
    FloatAttr scalar;
    if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
      exact.nonNegative = !elements.getSplatValue<APFloat>().isNegative();
    else if (matchPattern(value, m_Constant(&scalar)))
      exact.nonNegative = !scalar.getValue().isNegative();
    return exact;
  }

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
  return TypeSwitch<Operation *, Result>(op)
      .Case<vector::BroadcastOp, vector::ShapeCastOp, KeepOp, arith::ExtFOp,
            arith::NegFOp>([&](auto) {
        Error error = operands[0];
        if (isa<arith::NegFOp>(op))
          error.nonNegative = false;
        return error;
      })
      .Case<math::AbsFOp>([&](auto) {
        Error error = operands[0];
        error.nonNegative = true;
        return error;
      })
      .Case<arith::TruncFOp>(
          [&](auto) { return addRounding(operands[0], type, true); })
      .Case<arith::MulFOp, arith::DivFOp>([&](auto) {
        bool square = op->getOperand(0) == op->getOperand(1);
        return addRounding(product(operands[0], operands[1], square), type,
                           true);
      })
      .Case<arith::AddFOp, arith::SubFOp>([&](auto) {
        Error b = operands[1];
        if (isa<arith::SubFOp>(op))
          b.nonNegative = false;
        return addRounding(sum(operands[0], b), type, true);
      })
      .Case<math::FmaOp>([&](auto) {
        bool square = op->getOperand(0) == op->getOperand(1);
        Error error = product(operands[0], operands[1], square);
        return addRounding(sum(error, operands[2]), type, true);
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>(
          [&](auto) { return worst(operands[0], operands[1]); })
      .Case<arith::SelectOp>(
          [&](auto) { return worst(operands[0], operands[1]); })
      .Case<math::RsqrtOp, math::SqrtOp>([&](auto) {
        Error error = operands[0];
        error.relative = error.relative / 2 + 4 * u;
        error.relativePerSqrt /= 2;
        error.nonNegative = true;
        return addRounding(error, type, false);
      })
      .Case<RowReduceOp>([&](RowReduceOp reduce) -> Result {
        unsigned number = cast<OpResult>(value).getResultNumber();
        Error error = operands[number];
        auto kind = cast<ReduceKindAttr>(reduce.getKinds()[number]).getValue();
        if (kind == ReduceKind::maximumf || kind == ReduceKind::minimumf)
          return error;
        if (kind != ReduceKind::add || !error.nonNegative)
          return std::nullopt;
        error.relative += 8 * u;
        error.relativePerSqrt += u;
        return error;
      })
      .Default([](Operation *) { return std::nullopt; });
}

llvm::MapVector<unsigned, OutputErrorBound>
rmsnorm::deriveErrorBounds(func::FuncOp function) {
  llvm::MapVector<unsigned, OutputErrorBound> bounds;
  SmallVector<unsigned> vectors = getVectorArguments(function);
  TileProgramErrors errors;
  function.walk([&](TileStoreOp store) {
    auto argument = dyn_cast<BlockArgument>(store.getBase());
    std::optional<Error> error = errors.get(store.getValue());
    if (!argument || !error || argument.getOwner()->getParentOp() != function)
      return;
    OutputErrorBound bound;
    bound.ulps = error->flipped ? 1 : 0;
    bound.relative = error->relative;
    bound.relativePerSqrtTerms = error->relativePerSqrt;
    bound.absolutePerSqrtTerms = error->absolutePerSqrt;
    bound.termsArgument = vectors.empty() ? 0 : vectors.front();
    if (error->isExact()) {
      bound.derivation = "computed exactly as the oracle does";
    } else {
      // The oracle rounds its result to f32, too.
      if (!error->flipped)
        bound.relative += u;
      bound.derivation =
          "f32: a product or sum 2^-24, a sum of T squares (8 + sqrt(T)) "
          "2^-24, rsqrt 2^-22; a rounding to a narrower type one ulp of it";
    }
    bounds[argument.getArgNumber()] = std::move(bound);
  });
  return bounds;
}

SmallVector<unsigned> rmsnorm::getVectorArguments(func::FuncOp function) {
  llvm::SmallSetVector<unsigned, 8> arguments;
  auto add = [&](Value base, TileKind kind) {
    auto argument = dyn_cast<BlockArgument>(base);
    if (kind != TileKind::row && argument &&
        argument.getOwner()->getParentOp() == function)
      arguments.insert(argument.getArgNumber());
  };
  // Tiles first: the normalised dimension is theirs.
  function.walk([&](TileLoadOp load) {
    if (load.getKind() == TileKind::tile)
      add(load.getBase(), load.getKind());
  });
  function.walk([&](TileLoadOp load) { add(load.getBase(), load.getKind()); });
  function.walk(
      [&](TileStoreOp store) { add(store.getBase(), store.getKind()); });
  return arguments.takeVector();
}

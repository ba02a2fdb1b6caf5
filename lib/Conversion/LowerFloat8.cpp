// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerFloat8.cpp - f8 in device code --------------------------------===//

#include "DeviceModules.h"
#include "ExpandFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Clamps
//===----------------------------------------------------------------------===//

namespace {
/// `source`, clamped to [-largest, largest] by some number of ops.
struct Clamp {
  Value source;
  bool fromAbove = false, fromBelow = false;
  /// Whether the limits are the largest numbers and NaN stays NaN.
  bool saturates = true;

  bool isBounded() const { return fromAbove && fromBelow; }
};
} // namespace

/// Steps through maxima and minima with constants.
static Clamp matchClamp(Value value, const APFloat &largest) {
  Clamp clamp{value};
  while (Operation *op = clamp.source.getDefiningOp()) {
    const bool isMinimum = isa<arith::MinimumFOp, arith::MinNumFOp>(op);
    FloatAttr scalar;
    DenseElementsAttr splat;
    if (!isMinimum && !isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
      break;
    // Canonicalization moves constants to the right.
    if (matchPattern(op->getOperand(1), m_Constant(&splat)) && splat.isSplat())
      scalar = splat.getSplatValue<FloatAttr>();
    else if (!matchPattern(op->getOperand(1), m_Constant(&scalar)))
      break;
    APFloat limit = isMinimum ? scalar.getValue() : -scalar.getValue();
    APFloat bound = largest;
    bool losesInfo;
    bound.convert(limit.getSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    if (!(limit <= bound) || limit < -bound)
      break;
    clamp.saturates &=
        limit == bound && isa<arith::MaximumFOp, arith::MinimumFOp>(op);
    (isMinimum ? clamp.fromAbove : clamp.fromBelow) = true;
    clamp.source = op->getOperand(0);
  }
  return clamp;
}

//===----------------------------------------------------------------------===//
// By instructions
//===----------------------------------------------------------------------===//

namespace {
/// Converts fragments, scalars or vectors of rank 1, four elements at a time.
class Converter {
public:
  Converter(const Float8Instructions &chip, Operation *op)
      : chip(chip), b(op->getLoc(), op) {}

  Value truncate(arith::TruncFOp op, FloatType type);
  Value extend(arith::ExtFOp op, FloatType type);

private:
  Value number(Type type, const APFloat &value) {
    APFloat single = value;
    bool losesInfo;
    single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return createScalarOrSplatConstant(b, b.getLoc(), type, single);
  }

  const Float8Instructions &chip;
  ImplicitLocOpBuilder b;
};
} // namespace

Value Converter::truncate(arith::TruncFOp op, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  const APFloat largest = APFloat::getLargest(semantics);
  Clamp clamp = matchClamp(op.getIn(), largest);
  const bool fixed = chip.saturate && !clamp.isBounded();
  Value in = chip.saturate && clamp.isBounded() && clamp.saturates
                 ? clamp.source
                 : op.getIn();
  in = toF32(b, in);
  // What rounds up to the largest number does not overflow: it is less than
  // half a step above, or half, if that is even.
  APFloat half = largest;
  APFloat before = largest;
  bool losesInfo;
  before.next(/*nextDown=*/true);
  for (APFloat *value : {&half, &before})
    value->convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
  APFloat step = half;
  step.subtract(before, APFloat::rmNearestTiesToEven);
  half.add(scalbn(step, -1, APFloat::rmNearestTiesToEven),
           APFloat::rmNearestTiesToEven);
  const bool isEven = !largest.bitcastToAPInt()[0];
  const bool hasInfinity = APFloat::semanticsHasInf(semantics);
  Value overflows;
  if (fixed)
    overflows = arith::CmpFOp::create(
        b, isEven ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE,
        math::AbsFOp::create(b, in), number(in.getType(), half));
  if (fixed && !hasInfinity)
    in = arith::SelectOp::create(
        b, overflows,
        number(in.getType(), APFloat::getQNaN(APFloat::IEEEsingle())), in);

  auto vector = dyn_cast<VectorType>(in.getType());
  SmallVector<Value> elements;
  for (int64_t i = 0, e = vector ? vector.getNumElements() : 1; i < e; ++i)
    elements.push_back(vector ? vector::ExtractOp::create(b, in, i).getResult()
                              : in);
  const size_t count = elements.size();
  elements.resize(llvm::alignTo(count, 4), number(b.getF32Type(), largest));
  SmallVector<Value> words;
  for (size_t i = 0; i < count; i += 4)
    words.push_back(chip.truncate(b, ArrayRef(elements).slice(i, 4), type));
  const int64_t numWords = words.size();
  Value packed = vector::FromElementsOp::create(
      b, VectorType::get({numWords}, b.getI32Type()), words);
  Value bytes = vector::BitCastOp::create(
      b, VectorType::get({4 * numWords}, b.getI8Type()), packed);
  if (!vector)
    bytes = vector::ExtractOp::create(b, bytes, 0);
  else if (count % 4 != 0)
    bytes = vector::ExtractStridedSliceOp::create(
        b, bytes, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{int64_t(count)},
        ArrayRef<int64_t>{1});
  // Infinity is behind the largest number.
  if (fixed && hasInfinity)
    bytes = arith::AddIOp::create(
        b, bytes, arith::ExtUIOp::create(b, bytes.getType(), overflows));
  return bytes;
}

Value Converter::extend(arith::ExtFOp op, FloatType type) {
  Value in = op.getIn();
  auto vector = dyn_cast<VectorType>(in.getType());
  const int64_t count = vector ? vector.getNumElements() : 1;
  const int64_t padded = llvm::alignTo(count, 4);
  auto bytesType = VectorType::get({padded}, b.getI8Type());
  Value bytes =
      arith::BitcastOp::create(b, withElement(in.getType(), b.getI8Type()), in);
  if (!vector)
    bytes = vector::BroadcastOp::create(b, bytesType, bytes);
  else if (padded != count)
    bytes = vector::InsertStridedSliceOp::create(
        b, bytes,
        createScalarOrSplatConstant(b, b.getLoc(), bytesType, int64_t(0)),
        ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  Value words = vector::BitCastOp::create(
      b, VectorType::get({padded / 4}, b.getI32Type()), bytes);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < padded / 4; ++i)
    llvm::append_range(
        elements, chip.extend(b, vector::ExtractOp::create(b, words, i), type));
  elements.resize(count);
  if (!vector)
    return elements.front();
  return vector::FromElementsOp::create(
      b, VectorType::get({count}, b.getF32Type()), elements);
}

static void useInstructions(gpu::GPUModuleOp module,
                            const Float8Instructions &chip) {
  auto isConverted = [&](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return isFloat8(type) && (!vector || vector.getRank() == 1) &&
           chip.convert(cast<FloatType>(getElementTypeOrSelf(type)));
  };
  module.walk([&](Operation *op) {
    if (auto truncate = dyn_cast<arith::TruncFOp>(op);
        truncate && isConverted(op->getResult(0).getType()) &&
        !getElementTypeOrSelf(truncate.getIn().getType()).isF64()) {
      Type type = truncate.getType();
      Value bytes = Converter(chip, op).truncate(
          truncate, cast<FloatType>(getElementTypeOrSelf(type)));
      OpBuilder b(op);
      op->replaceAllUsesWith(
          arith::BitcastOp::create(b, op->getLoc(), type, bytes));
      op->erase();
    } else if (auto extend = dyn_cast<arith::ExtFOp>(op);
               extend && isConverted(extend.getIn().getType())) {
      Value wide = Converter(chip, op).extend(
          extend,
          cast<FloatType>(getElementTypeOrSelf(extend.getIn().getType())));
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->replaceAllUsesWith(ValueRange(fromF32(b, wide, extend.getType())));
      op->erase();
    }
  });
}

//===----------------------------------------------------------------------===//
// All of a module
//===----------------------------------------------------------------------===//

/// What is extended on the way to f32 is extended there at once.
static void mergeExtensions(gpu::GPUModuleOp module) {
  module.walk([](arith::ExtFOp op) {
    auto inner = op.getIn().getDefiningOp<arith::ExtFOp>();
    if (inner && isFloat8(inner.getIn().getType()))
      op.getInMutable().assign(inner.getIn());
  });
}

/// f4 saturates by itself, what NaN becomes in it is nowhere said.
static void dropClampsToFloat4(gpu::GPUModuleOp module) {
  module.walk([](arith::TruncFOp op) {
    auto type = dyn_cast<Float4E2M1FNType>(getElementTypeOrSelf(op.getType()));
    if (!type)
      return;
    Clamp clamp =
        matchClamp(op.getIn(), APFloat::getLargest(type.getFloatSemantics()));
    if (clamp.saturates)
      op.getInMutable().assign(clamp.source);
  });
}

/// f8 and f4 are no more than bits from here on.
static void retype(gpu::GPUModuleOp module) {
  auto toBits = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  };
  auto toBytes = [&](Value value) {
    if (Type type = value.getType(); isFloat8(type))
      value.setType(withElement(type, toBits(type)));
  };
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), toBytes);
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && isFloat8(constant.getType())) {
      TypedAttr value = constant.getValue();
      IntegerType bits = toBits(constant.getType());
      if (auto scalar = dyn_cast<FloatAttr>(value))
        value = IntegerAttr::get(bits, scalar.getValue().bitcastToAPInt());
      else
        value = cast<DenseElementsAttr>(value).bitcast(bits);
      constant.setValueAttr(value);
    }
    llvm::for_each(op->getResults(), toBytes);
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
      kernel.setFunctionType(
          FunctionType::get(kernel.getContext(),
                            kernel.getBody().front().getArgumentTypes(), {}));
    if (auto cast = dyn_cast<arith::BitcastOp>(op);
        cast && cast.getIn().getType() == cast.getType()) {
      cast.replaceAllUsesWith(cast.getIn());
      cast.erase();
    }
  });
}

LogicalResult
rmsnorm::lowerFloat8(gpu::GPUModuleOp module,
                     const std::optional<Float8Instructions> &instructions) {
  WalkResult walk = module.walk<WalkOrder::PreOrder>([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isFloat8) ||
                   llvm::any_of(op->getOperandTypes(), isFloat8)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!walk.wasInterrupted())
    return success();
  MLIRContext *context = module.getContext();
  if (failed(computeInF32(module, {Float8E4M3FNType::get(context),
                                   Float8E4M3FNUZType::get(context),
                                   Float8E5M2Type::get(context),
                                   Float8E8M0FNUType::get(context),
                                   Float4E2M1FNType::get(context)})))
    return failure();
  mergeExtensions(module);
  dropClampsToFloat4(module);
  if (failed(packFloat4(module)))
    return failure();
  if (instructions)
    useInstructions(module, *instructions);
  RewritePatternSet patterns(module.getContext());
  populateExpandFloat8Patterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
    return failure();
  walk = module.walk([](Operation *op) -> WalkResult {
    if (isa_and_present<math::MathDialect>(op->getDialect()) &&
        llvm::any_of(op->getOperandTypes(), isFloat8))
      return op->emitError("no lowering for '")
             << op->getName() << "' on " << op->getOperand(0).getType()
             << " in device code";
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  retype(module);
  return success();
}

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

static Value createNumber(ImplicitLocOpBuilder &b, Type type,
                          const APFloat &value) {
  APFloat single = value;
  bool losesInfo;
  single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return createScalarOrSplatConstant(b, b.getLoc(), type, single);
}

/// Whether `value`, f32, becomes something beyond the largest number of a type
/// of `semantics`.
static Value createOverflows(ImplicitLocOpBuilder &b, Value value,
                             const llvm::fltSemantics &semantics) {
  // A number that rounds to the largest one does not overflow: it is less than
  // half a step above it, or half a step, if the largest one is even.
  const APFloat largest = APFloat::getLargest(semantics);
  APFloat half = largest;
  APFloat before = largest;
  bool losesInfo;
  before.next(/*nextDown=*/true);
  for (APFloat *number : {&half, &before})
    number->convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
  APFloat step = half;
  step.subtract(before, APFloat::rmNearestTiesToEven);
  half.add(scalbn(step, -1, APFloat::rmNearestTiesToEven),
           APFloat::rmNearestTiesToEven);
  const bool isEven = !largest.bitcastToAPInt()[0];
  return arith::CmpFOp::create(
      b, isEven ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE,
      math::AbsFOp::create(b, value), createNumber(b, value.getType(), half));
}

Value rmsnorm::truncateByInstructions(const Float8Instructions &chip,
                                      arith::TruncFOp op) {
  auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  const auto mode =
      op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
  auto vector = dyn_cast<VectorType>(op.getType());
  if ((vector && vector.getRank() != 1) || !chip.truncates(type, mode) ||
      getElementTypeOrSelf(op.getIn().getType()).isF64())
    return Value();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  const APFloat largest = APFloat::getLargest(semantics);
  // f4 always saturates; powers of two never do.
  const bool saturates =
      chip.saturate && !isa<Float4E2M1FNType, Float8E8M0FNUType>(type);
  Clamp clamp = matchClamp(op.getIn(), largest);
  const bool fixed = saturates && !clamp.isBounded();
  Value in = saturates && clamp.isBounded() && clamp.saturates ? clamp.source
                                                               : op.getIn();
  in = toF32(b, in);
  const bool hasInfinity = APFloat::semanticsHasInf(semantics);
  Value overflows;
  if (fixed)
    overflows = createOverflows(b, in, semantics);
  if (fixed && !hasInfinity)
    in = arith::SelectOp::create(
        b, overflows,
        createNumber(b, in.getType(), APFloat::getQNaN(APFloat::IEEEsingle())),
        in);

  SmallVector<Value> elements;
  for (int64_t i = 0, e = vector ? vector.getNumElements() : 1; i < e; ++i)
    elements.push_back(vector ? vector::ExtractOp::create(b, in, i).getResult()
                              : in);
  const size_t perWord = 32 / type.getWidth();
  const int64_t numBytes = elements.size() * type.getWidth() / 8;
  elements.resize(llvm::alignTo(elements.size(), perWord),
                  createNumber(b, b.getF32Type(), largest));
  SmallVector<Value> words;
  for (size_t i = 0; i < elements.size(); i += perWord)
    words.push_back(
        chip.truncate(b, ArrayRef(elements).slice(i, perWord), type, mode));
  const int64_t numWords = words.size();
  Value packed = vector::FromElementsOp::create(
      b, VectorType::get({numWords}, b.getI32Type()), words);
  Value bytes = vector::BitCastOp::create(
      b, VectorType::get({4 * numWords}, b.getI8Type()), packed);
  if (!vector)
    bytes = vector::ExtractOp::create(b, bytes, 0);
  else if (numBytes % 4 != 0)
    bytes = vector::ExtractStridedSliceOp::create(
        b, bytes, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{numBytes},
        ArrayRef<int64_t>{1});
  // Infinity is beyond the largest number.
  if (fixed && hasInfinity)
    bytes = arith::AddIOp::create(
        b, bytes, arith::ExtUIOp::create(b, bytes.getType(), overflows));
  return bytes;
}

Value rmsnorm::extendByInstructions(const Float8Instructions &chip,
                                    ImplicitLocOpBuilder &b, Value bytes,
                                    FloatType type, VectorType result) {
  if (!chip.extends(type))
    return Value();
  const int64_t numBytes = cast<VectorType>(bytes.getType()).getNumElements();
  const int64_t padded = llvm::alignTo(numBytes, 4);
  auto bytesType = VectorType::get({padded}, b.getI8Type());
  if (padded != numBytes)
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
  elements.resize(result.getNumElements());
  return vector::FromElementsOp::create(b, result, elements);
}

/// The operand of `op`, as f32; null if `chip` has no instructions for it.
static Value extend(const Float8Instructions &chip, arith::ExtFOp op) {
  Value in = op.getIn();
  auto type = cast<FloatType>(getElementTypeOrSelf(in.getType()));
  auto vector = dyn_cast<VectorType>(in.getType());
  if ((vector && vector.getRank() != 1) || !chip.extends(type))
    return Value();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  const int64_t count = vector ? vector.getNumElements() : 1;
  Value bytes =
      arith::BitcastOp::create(b, withElement(in.getType(), b.getI8Type()), in);
  if (!vector)
    bytes = vector::BroadcastOp::create(b, VectorType::get({4}, b.getI8Type()),
                                        bytes);
  Value elements = extendByInstructions(
      chip, b, bytes, type, VectorType::get({count}, b.getF32Type()));
  return vector ? elements
                : vector::ExtractOp::create(b, elements, 0).getResult();
}

static void useInstructions(gpu::GPUModuleOp module,
                            const Float8Instructions &chip) {
  // f4 is packed where it is loaded and stored, and bits of its own elsewhere.
  auto isConverted = [](Type type) {
    return isFloat8(type) && !isa<Float4E2M1FNType>(getElementTypeOrSelf(type));
  };
  module.walk([&](Operation *op) {
    if (auto truncate = dyn_cast<arith::TruncFOp>(op);
        truncate && isConverted(truncate.getType())) {
      Value bytes = truncateByInstructions(chip, truncate);
      if (!bytes)
        return;
      OpBuilder b(op);
      op->replaceAllUsesWith(
          arith::BitcastOp::create(b, op->getLoc(), truncate.getType(), bytes));
      op->erase();
    } else if (auto extension = dyn_cast<arith::ExtFOp>(op);
               extension && isConverted(extension.getIn().getType())) {
      Value wide = extend(chip, extension);
      if (!wide)
        return;
      ImplicitLocOpBuilder b(op->getLoc(), op);
      op->replaceAllUsesWith(ValueRange(fromF32(b, wide, extension.getType())));
      op->erase();
    }
  });
}

//===----------------------------------------------------------------------===//
// All of a module
//===----------------------------------------------------------------------===//

/// An extension to f32 in two steps becomes one.
static void mergeExtensions(gpu::GPUModuleOp module) {
  module.walk([](arith::ExtFOp op) {
    auto inner = op.getIn().getDefiningOp<arith::ExtFOp>();
    if (inner && isFloat8(inner.getIn().getType()))
      op.getInMutable().assign(inner.getIn());
  });
}

/// f4 saturates by itself. No specification says which f4 a NaN becomes.
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
  if (failed(packFloat4(module, instructions)))
    return failure();
  if (instructions)
    useInstructions(module, *instructions);
  RewritePatternSet patterns(module.getContext());
  populateExpandFloat8Patterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
    return failure();
  retype(module);
  return success();
}

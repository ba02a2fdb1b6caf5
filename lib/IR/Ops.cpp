// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.cpp - operator level: syntax, verifiers, effects --------------===//

#include "AccessFormat.h"
#include "EnumFormat.h"
#include "Norms.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// What norms do alike
//===----------------------------------------------------------------------===//

static void getNormEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

static LogicalResult reifyNormShapes(DestinationStyleOpInterface op,
                                     OpBuilder &builder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  if (!op.hasPureTensorSemantics())
    return failure();
  for (Value init : op.getDpsInits())
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), init));
  return success();
}

/// The operand that is `dweight`, the last one, if there is one.
static OpOperand *getNormDweight(Operation *op, Value dweight) {
  return dweight ? &op->getOpOperands().back() : nullptr;
}

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

namespace {

/// The constraints that forward and backward share, by their number. An absent
/// operand satisfies all of them.
class NormVerifier {
public:
  NormVerifier(DestinationStyleOpInterface op, Value input)
      : op(op), inputType(cast<ShapedType>(input.getType())),
        shape(inputType.getShape()) {}

  /// (C1)
  LogicalResult verifyKinds() {
    bool wantTensor = isa<RankedTensorType>(inputType);
    for (Value operand : op->getOperands()) {
      auto tensor = dyn_cast<RankedTensorType>(operand.getType());
      if (bool(tensor) != wantTensor)
        return op->emitOpError("expected all operands to be tensors or all to "
                               "be memrefs, got ")
               << inputType << " and " << operand.getType();
      if (tensor && tensor.getEncoding())
        return op->emitOpError("expected tensors without encoding, got ")
               << tensor;
    }
    return success();
  }

  /// (C2)
  LogicalResult verifyNarrow(StringRef name, Value value) {
    if (!value)
      return success();
    Type type = getElementTypeOrSelf(value);
    if (type.isF16() || type.isBF16() || type.isF32())
      return success();
    return op->emitOpError("expected ")
           << name << " to have element type f16, bf16 or f32, got " << type;
  }
  LogicalResult verifyF32(StringRef name, Value value) {
    if (!value || getElementTypeOrSelf(value).isF32())
      return success();
    return op->emitOpError("expected ")
           << name << " to have element type f32, got "
           << getElementTypeOrSelf(value);
  }

  /// (C3)
  LogicalResult verifyInput() {
    if (inputType.getRank() < 1 || inputType.getShape().back() == 0)
      return op->emitOpError("expected input to have rank >= 1 and a last "
                             "dimension that is not 0, got ")
             << inputType;
    return success();
  }

  /// (C4)
  LogicalResult verifySameShape(StringRef name, Value value) {
    return verifyShape(name, value, 0, shape.size(), "the shape of input");
  }

  /// (C5)
  LogicalResult verifyPerColumn(StringRef name, Value value) {
    return verifyShape(name, value, shape.size() - 1, shape.size(),
                       "rank 1 and the size of input's last dimension");
  }

  /// (C6)
  LogicalResult verifyPerRow(StringRef name, Value value) {
    return verifyShape(name, value, 0, shape.size() - 1,
                       "the shape of input without its last dimension");
  }

  /// (C7)
  LogicalResult verifyLayouts(Value rstd) {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type)
        continue;
      SmallVector<int64_t> strides;
      int64_t offset;
      if (failed(type.getStridesAndOffset(strides, offset)))
        return op->emitOpError("expected strided memrefs, got ") << type;
      if (operand != rstd && strides.back() != 1)
        return op->emitOpError("expected memrefs with an inner stride of 1, "
                               "got ")
               << type;
    }
    return success();
  }

  /// (C8), (C9)
  LogicalResult verifyScalars(const APFloat &eps, const APFloat &offset,
                              bool hasWeight) {
    if (!eps.isFinite() || eps.isZero() || eps.isNegative())
      return op->emitOpError("expected eps to be finite and > 0, got ")
             << eps.convertToFloat();
    if (!offset.isFinite())
      return op->emitOpError("expected offset to be finite, got ")
             << offset.convertToFloat();
    if (!offset.isZero() && !hasWeight)
      return op->emitOpError("expected offset to be 0 without weight, got ")
             << offset.convertToFloat();
    return success();
  }

  /// (C10)
  LogicalResult verifyResults() {
    SmallVector<Type> expected;
    if (isa<RankedTensorType>(inputType))
      llvm::append_range(expected, op.getDpsInits().getTypes());
    if (llvm::equal(op->getResultTypes(), expected))
      return success();
    if (expected.empty())
      return op->emitOpError("expected no results on memrefs, got ")
             << op->getNumResults();
    return op->emitOpError("expected results of the destinations' types (")
           << expected << "), got (" << SmallVector<Type>(op->getResultTypes())
           << ")";
  }

private:
  /// `value` must have the sizes begin to end of `shape`, into which its own
  /// static sizes are merged: all operands agree, not just each with input.
  LogicalResult verifyShape(StringRef name, Value value, size_t begin,
                            size_t end, StringRef what) {
    if (!value)
      return success();
    MutableArrayRef<int64_t> expected =
        MutableArrayRef<int64_t>(shape).slice(begin, end - begin);
    ArrayRef<int64_t> sizes = cast<ShapedType>(value.getType()).getShape();
    if (failed(verifyCompatibleShape(sizes, expected))) {
      InFlightDiagnostic diag = op->emitOpError("expected ")
                                << name << " to have " << what << " (";
      llvm::interleave(
          expected,
          [&](int64_t size) {
            if (ShapedType::isDynamic(size))
              diag << "?";
            else
              diag << size;
          },
          [&] { diag << "x"; });
      return diag << "), got " << value.getType();
    }
    for (auto [mine, theirs] : llvm::zip(expected, sizes))
      if (ShapedType::isDynamic(mine))
        mine = theirs;
    return success();
  }

  DestinationStyleOpInterface op;
  ShapedType inputType;
  /// The sizes of input as far as the operands seen so far tell.
  SmallVector<int64_t> shape;
};

} // namespace

/// The constraints of `norm`, whose `elements` have the shape of input.
template <typename OpTy>
static LogicalResult
verifyNorm(OpTy norm, ArrayRef<std::pair<StringRef, Value>> elements) {
  NormVerifier verifier(norm, norm.getInput());
  if (failed(verifier.verifyKinds())) // C1
    return failure();
  for (auto [name, value] : elements)
    if (failed(verifier.verifyNarrow(name, value))) // C2
      return failure();
  if (failed(verifier.verifyNarrow("weight", norm.getWeight())) || // C2
      failed(verifier.verifyF32("rstd", norm.getRstd())) ||        // C2
      failed(verifier.verifyInput()))                              // C3
    return failure();
  for (auto [name, value] : elements)
    if (failed(verifier.verifySameShape(name, value))) // C4
      return failure();
  return failure(
      failed(verifier.verifyPerColumn("weight", norm.getWeight())) ||   // C5
      failed(verifier.verifyPerColumn("dweight", norm.getDweight())) || // C5
      failed(verifier.verifyPerRow("rstd", norm.getRstd())) ||          // C6
      failed(verifier.verifyLayouts(norm.getRstd())) ||                 // C7
      failed(verifier.verifyScalars(norm.getEps(), norm.getOffset(),
                                    bool(norm.getWeight()))) || // C8, C9
      failed(verifier.verifyResults()));                        // C10
}

LogicalResult ForwardOp::verify() {
  return verifyNorm(*this, {{"input", getInput()}, {"output", getOutput()}});
}

LogicalResult BackwardOp::verify() {
  // (C11), first: the other constraints of dweight speak of weight.
  if (getDweight() && !getWeight())
    return emitOpError("expected dweight only with weight");
  if (failed(verifyNorm(
          *this, {{"dy", getDy()}, {"input", getInput()}, {"dx", getDx()}})))
    return failure();
  // (C2)
  if (getDweight()) {
    Type type = getElementTypeOrSelf(getDweight());
    Type weight = getElementTypeOrSelf(getWeight());
    if (!type.isF32() && type != weight)
      return emitOpError("expected dweight to have element type f32 or that "
                         "of weight (")
             << weight << "), got " << type;
  }
  return success();
}

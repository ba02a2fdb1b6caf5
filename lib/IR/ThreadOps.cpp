// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadOps.cpp - thread level --------------------------------------===//

#include "EnumFormat.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/Dominance.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isFragment(VectorType type) {
  const unsigned bits = type.getElementTypeBitWidth();
  const bool fits = (bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits)) ||
                    isa<Float4E2M1FNType>(type.getElementType());
  return type.getNumElements() <= kMaxFragmentElements && fits;
}

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormThreadOps.cpp.inc"

//===----------------------------------------------------------------------===//
// workspace
//===----------------------------------------------------------------------===//

std::optional<int64_t> WorkspaceOp::getStaticBytes() {
  MemRefType type = getType();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, size, bytes) || bytes >= int64_t(1) << 62))
      return std::nullopt;
  return bytes;
}

OpFoldResult WorkspaceOp::getMixedSize(int64_t dim) {
  MemRefType type = getType();
  if (!type.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(getContext()), type.getDimSize(dim));
  return getSizes()[type.getDynamicDimIndex(dim)];
}

LogicalResult WorkspaceOp::verify() {
  MemRefType type = getType();
  // (C1)
  if (int64_t(getSizes().size()) != int64_t(type.getNumDynamicDims()))
    return emitOpError("expected as many sizes as dynamic dimensions, got ")
           << getSizes().size() << " for " << type;
  // (C2)
  Type element = type.getElementType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError("expected a packed memref without memory space, of "
                       "elements of whole bytes, got ")
           << type;
  // (C3)
  if (!getStaticBytes())
    return emitOpError("expected a buffer below 2^62 bytes, got ") << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Memory and threads
//===----------------------------------------------------------------------===//

static LogicalResult verifyAlignment(Operation *op, int64_t alignment,
                                     Type fragment) {
  int64_t elementBytes =
      llvm::divideCeil(cast<VectorType>(fragment).getElementTypeBitWidth(), 8);
  if (llvm::isPowerOf2_64(alignment) && alignment >= elementBytes &&
      alignment <= 16)
    return success();
  return op->emitOpError("expected an alignment that is a power of two from ")
         << elementBytes << " to 16 bytes, got " << alignment;
}

LogicalResult GlobalLoadOp::verify() {
  return verifyAlignment(*this, getAlignment(), getType());
}

LogicalResult GlobalStoreOp::verify() {
  return verifyAlignment(*this, getAlignment(), getValue().getType());
}

LogicalResult AsyncCopyOp::verify() {
  return verifyAlignment(*this, getAlignment(), getFragment());
}

LogicalResult CopyWaitOp::verify() {
  // (C1)
  if (static_cast<int64_t>(getPending()) >= 0)
    return success();
  return emitOpError("expected a number of groups >= 0, got ")
         << static_cast<int64_t>(getPending());
}

LogicalResult SubgroupReduceOp::verify() {
  if (llvm::isPowerOf2_64(getWidth()) && getWidth() <= 64)
    return success();
  return emitOpError("expected a width that is a power of two up to 64, got ")
         << getWidth();
}

LogicalResult ExchangePublishOp::verify() {
  const int64_t most = getExchange().getValues();
  const int64_t count = getValues().size();
  if (count >= 1 && count <= most)
    return success();
  return emitOpError("expected 1 to ") << most << " values, got " << count;
}

LogicalResult ExchangeReadOp::verify() {
  const int64_t count = getExchange().getValues();
  if (getValue() < static_cast<uint64_t>(count))
    return success();
  return emitOpError("expected a value number below ")
         << count << ", got " << static_cast<int64_t>(getValue());
}

LogicalResult LaunchDependentsOp::verify() {
  Operation *kernel =
      (*this)->getParentWithTrait<OpTrait::IsIsolatedFromAbove>();
  DominanceInfo dominance;
  WalkResult walk = kernel->walk([&](GridWaitOp wait) {
    return dominance.properlyDominates(wait, *this) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return success();
  return emitOpError("expected rmsnorm.grid_wait on every path in front of it");
}

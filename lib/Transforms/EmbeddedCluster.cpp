// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedCluster.cpp - clusters among the work of others -----------===//

#include "EmbeddedCluster.h"
#include "Gathers.h"
#include "TileProgram.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isSplat(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// What of a tensor an iteration accesses: which dimensions are rows, and
/// whether one is the columns.
static std::pair<SmallVector<int64_t>, bool> getKind(OpOperand &operand,
                                                     int64_t rowDims) {
  return {getOperandRowDims(operand, rowDims),
          getColumnDim(operand, rowDims).has_value()};
}

/// A buffer is accessed in one way only.
static bool accessesInTwoWays(OpOperand &operand, const RowCluster &cluster) {
  if (!isa<RankedTensorType>(operand.get().getType()) ||
      isSplat(operand.get()) || cluster.rowDims == 0)
    return false;
  return llvm::any_of(operand.get().getUses(), [&](OpOperand &other) {
    return (other.getOwner() == operand.getOwner() ||
            cluster.members.contains(other.getOwner())) &&
           getKind(other, cluster.rowDims) != getKind(operand, cluster.rowDims);
  });
}

std::string rmsnorm::whyNotEmbedded(Operation *op, const RowCluster &cluster) {
  if (takesPart(op))
    return "it is a slice";
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!isa<DestinationStyleOpInterface>(op) ||
      (linalgOp && linalgOp.getNumLoops() > cluster.rowDims + 1))
    return "it divides columns into groups";
  if (linalgOp && gathers(linalgOp))
    return "it gathers rows of a table";
  if (std::string reason = whyNoKernel(op); !reason.empty())
    return reason;
  const bool isStatic = llvm::any_of(
      cluster.columns, [](const DimSource &size) { return size.isStatic(); });
  for (OpOperand &operand : op->getOpOperands()) {
    if (accessesInTwoWays(operand, cluster))
      return "of a tensor it accesses rows, and others columns";
    std::optional<int64_t> dim = getColumnDim(operand, cluster.rowDims);
    if (dim && isStatic &&
        cast<ShapedType>(operand.get().getType()).isDynamicDim(*dim))
      return "the number of columns is in the type of some of its operands "
             "only";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The cluster
//===----------------------------------------------------------------------===//

static bool isRead(OpOperand &operand) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(operand.getOwner()))
    return linalgOp.payloadUsesValueFromOperand(&operand);
  return !cast<DestinationStyleOpInterface>(operand.getOwner())
              .isDpsInit(&operand);
}

/// Whether, as far as one can see, the last dimension of what `tensor` will be
/// in memory has a stride of 1.
static bool hasInnerStrideOne(Value tensor) {
  while (Operation *definition = tensor.getDefiningOp()) {
    if (auto buffer = dyn_cast<bufferization::ToTensorOp>(definition)) {
      auto type = dyn_cast<MemRefType>(buffer.getBuffer().getType());
      return type && type.isLastDimUnitStride();
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(definition)) {
      const llvm::SmallBitVector dropped = slice.getDroppedDims();
      const int64_t last = slice.getSourceType().getRank() - 1;
      if (last >= 0 &&
          (dropped.test(last) || !isOneInteger(slice.getMixedStrides()[last])))
        return false;
    } else if (!isa<tensor::CastOp, tensor::CollapseShapeOp,
                    tensor::ExpandShapeOp>(definition)) {
      break;
    }
    tensor = definition->getOperand(0);
  }
  return true;
}

/// Whether a kernel can load, or store, what an op has as `operand`: a row of
/// columns side by side or one value, or the columns of all rows, or a value
/// for them. None has a dimension of size 1 beside.
static bool isAccessible(OpOperand &operand, int64_t rowDims) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return true;
  auto [rowDimsOf, isColumn] = getKind(operand, rowDims);
  const int64_t rank = rowDimsOf.size() + (isColumn ? 1 : 0);
  return isStorable(type.getElementType()) && type.getRank() == rank &&
         (!isColumn || hasInnerStrideOne(operand.get()));
}

/// Whether `op` would load or store what no kernel can.
static bool accessesOther(Operation *op, const RowCluster &cluster) {
  const bool isMember = cluster.members.contains(op);
  const int64_t rowDims = isMember ? cluster.rowDims : 0;
  auto isInside = [&](Operation *other) {
    return other && (cluster.members.contains(other) ||
                     cluster.uniforms.contains(other));
  };
  auto destinations = cast<DestinationStyleOpInterface>(op);
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (isAccessible(operand, rowDims))
      return false;
    const bool loads = isRead(operand) && !isSplat(operand.get()) &&
                       !isInside(operand.get().getDefiningOp());
    const bool stores =
        isMember && destinations.isDpsInit(&operand) &&
        !llvm::all_of(destinations.getTiedOpResult(&operand).getUsers(),
                      isInside);
    return loads || stores;
  });
}

/// Whether `value` is, or is a part of, a buffer that memory ops know, too.
static bool isBuffer(Value value) {
  while (Operation *definition = value.getDefiningOp()) {
    if (isa<bufferization::ToTensorOp>(definition))
      return true;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(definition))
      return false;
    value = definition->getOperand(0);
  }
  return false;
}

static bool mayWrite(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const auto &effect) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect());
  });
}

/// The first op that the loop must not be moved over, from the first member,
/// whose place it would leave, to the last one, whose place it takes. What uses
/// the cluster moves behind the loop.
static Operation *findBarrier(const RowCluster &cluster) {
  SmallVector<Operation *> ops = cluster.getOpsInOrder();
  const bool accessesBuffers = llvm::any_of(ops, [](Operation *op) {
    return llvm::any_of(op->getOperands(), isBuffer);
  });
  llvm::DenseSet<Operation *> users;
  for (Operation *op = ops.front(); op != ops.back(); op = op->getNextNode()) {
    if (cluster.members.contains(op) || cluster.uniforms.contains(op))
      continue;
    const bool isUser = anyOperand(op, cluster, [&](Operation *definition) {
      return cluster.members.contains(definition) || users.contains(definition);
    });
    if (isUser)
      users.insert(op);
    if ((isUser && !isMemoryEffectFree(op)) ||
        (accessesBuffers && mayWrite(op)))
      return op;
  }
  return nullptr;
}

bool rmsnorm::cutOnce(RowCluster &cluster) {
  if (cluster.members.empty())
    return false;
  auto drop = [&](auto predicate, StringRef reason = "") {
    const size_t count = cluster.members.size() + cluster.uniforms.size();
    cluster.uniforms.remove_if(predicate);
    cluster.members.remove_if(predicate);
    if (!containsAnchor(cluster.members)) {
      cluster.refusal = reason;
      cluster.members.clear();
      cluster.uniforms.clear();
    }
    return cluster.members.size() + cluster.uniforms.size() != count;
  };
  if (drop([&](Operation *op) { return accessesOther(op, cluster); },
           "kernels cannot access its tensors as they will lie in memory"))
    return true;
  const bool isUsed = llvm::any_of(cluster.members, [&](Operation *member) {
    return llvm::any_of(member->getUsers(), [&](Operation *user) {
      return !cluster.members.contains(user) && !isa<tensor::DimOp>(user);
    });
  });
  if (!isUsed)
    return drop([](Operation *) { return true; }, "nobody uses it");
  // Uniforms that feed nothing any more.
  if (drop([&](Operation *op) {
        return cluster.uniforms.contains(op) &&
               llvm::none_of(op->getUsers(), [&](Operation *user) {
                 return cluster.members.contains(user) ||
                        cluster.uniforms.contains(user);
               });
      }))
    return true;
  Operation *barrier = findBarrier(cluster);
  if (!barrier)
    return false;
  // The part with an anchor stays, the one before if both have one.
  llvm::SetVector<Operation *> before;
  for (Operation *op : cluster.members)
    if (op->isBeforeInBlock(barrier))
      before.insert(op);
  const bool keepsBefore = containsAnchor(before);
  return drop([&](Operation *op) {
    return op->isBeforeInBlock(barrier) != keepsBefore;
  });
}

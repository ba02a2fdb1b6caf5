// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedOperands.cpp - operands that several rows share -------------===//

#include "SharedOperands.h"
#include "EmbeddedCluster.h"
#include "Gathers.h"
#include "TileProgram.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::GenericOp;
using linalg::LinalgOp;

namespace {
class Preparation {
public:
  Preparation(RewriterBase &rewriter, RowCluster &cluster, bool embedded)
      : rewriter(rewriter), cluster(cluster), embedded(embedded) {}

  void run() {
    for (Operation *op : cluster.getOpsInOrder())
      if (cluster.members.contains(op) && isa<LinalgOp>(op))
        prepare(cast<LinalgOp>(op));
  }

private:
  void prepare(LinalgOp op);
  llvm::SmallBitVector getUnitDims(OpOperand &operand);
  void dropUnitDims(OpOperand &operand, const llvm::SmallBitVector &dims);
  GenericOp fuseProducer(OpOperand &operand);
  void replaceMember(Operation *op, Operation *other);
  GenericOp generalize(LinalgOp op);

  RewriterBase &rewriter;
  RowCluster &cluster;
  const bool embedded;
};
} // namespace

void Preparation::replaceMember(Operation *op, Operation *other) {
  if (Attribute attr = op->getAttr(RMSNormDialect::kRowWiseAttrName))
    other->setAttr(RMSNormDialect::kRowWiseAttrName, attr);
  cluster.members.remove(op);
  cluster.members.insert(other);
}

GenericOp Preparation::generalize(LinalgOp op) {
  if (auto generic = dyn_cast<GenericOp>(op.getOperation()))
    return generic;
  rewriter.setInsertionPoint(op);
  Attribute attr = op->getAttr(RMSNormDialect::kRowWiseAttrName);
  const bool isMember = cluster.members.remove(op);
  GenericOp generic = *linalg::generalizeNamedOp(rewriter, op);
  if (attr)
    generic->setAttr(RMSNormDialect::kRowWiseAttrName, attr);
  if (isMember)
    cluster.members.insert(generic);
  return generic;
}

/// The dimensions of size 1 of an operand that is not a row for each row: what
/// has no other dimension of the rows is the same for all of them.
llvm::SmallBitVector Preparation::getUnitDims(OpOperand &operand) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto op = cast<LinalgOp>(operand.getOwner());
  llvm::SmallBitVector dims(type.getRank());
  SmallVector<int64_t> rowDims = getOperandRowDims(operand, cluster.rowDims);
  const bool hasRow = static_cast<int64_t>(rowDims.size()) == cluster.rowDims;
  for (auto [dim, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    const bool isRow = loop && loop.getPosition() < cluster.rowDims;
    const int64_t last = type.getRank() - 1;
    dims[dim] =
        type.getDimSize(dim) == 1 &&
        (hasRow ? !loop && static_cast<int64_t>(dim) != last : !loop || isRow);
  }
  return dims;
}

void Preparation::dropUnitDims(OpOperand &operand,
                               const llvm::SmallBitVector &dims) {
  auto op = cast<GenericOp>(operand.getOwner());
  rewriter.setInsertionPoint(op);
  Value dropped;
  auto type = cast<RankedTensorType>(operand.get().getType());
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!dims.test(dim))
      kept.push_back(type.getDimSize(dim));
  // What exporters expand to broadcast it.
  auto expand = operand.get().getDefiningOp<tensor::ExpandShapeOp>();
  if (expand && expand.getSrcType() == type.clone(kept))
    dropped = expand.getSrc();
  else
    dropped =
        tensor::dropGivenUnitDims(rewriter, op.getLoc(), operand.get(), dims);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      maps[operand.getOperandNumber()].dropResults(dims);
  rewriter.modifyOpInPlace(op, [&] {
    operand.set(dropped);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// Whether the dimensions of all operands of `op` are loops in their order, so
/// that they are in what uses its result.
static bool keepsOrder(LinalgOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    int64_t next = 0;
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      const bool isNext = dim && dim.getPosition() >= next;
      if (isNext)
        next = dim.getPosition() + 1;
      return isNext || isa<AffineConstantExpr>(expr);
    });
  });
}

/// Computes an operand that several rows share where it is used, as nothing
/// stands between the loops of rows: its own elementwise op would be a kernel,
/// and its result one more tensor in memory. Null if it has none.
GenericOp Preparation::fuseProducer(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<LinalgOp>();
  if (!producer || cluster.members.contains(producer) ||
      cluster.uniforms.contains(producer) ||
      producer->getBlock() != operand.getOwner()->getBlock() ||
      producer.getNumLoops() != producer.getNumParallelLoops() ||
      producer->getNumResults() != 1 || !producer.hasPureTensorSemantics() ||
      !whyNoKernel(producer).empty() || (embedded && !isRepeatable(producer)) ||
      !whyNoGathers(producer, producer.getNumLoops() - 1).empty() ||
      !keepsOrder(producer))
    return {};
  // A copy of its own: what else uses it does not matter.
  auto consumer = cast<LinalgOp>(operand.getOwner());
  rewriter.setInsertionPoint(consumer);
  GenericOp copy = generalize(cast<LinalgOp>(rewriter.clone(*producer)));
  rewriter.modifyOpInPlace(consumer, [&] { operand.set(copy->getResult(0)); });
  const unsigned number = operand.getOperandNumber();
  GenericOp generic = generalize(consumer);
  OpOperand &fused = generic->getOpOperand(number);
  if (linalg::areElementwiseOpsFusable(&fused)) {
    auto result = linalg::fuseElementwiseOps(rewriter, &fused);
    if (succeeded(result)) {
      replaceMember(generic, result->fusedOp);
      for (OpResult old : generic->getResults())
        rewriter.replaceAllUsesWith(old, result->replacements.lookup(old));
      rewriter.eraseOp(generic);
      if (copy->use_empty())
        rewriter.eraseOp(copy);
      if (producer->use_empty())
        rewriter.eraseOp(producer);
      return cast<GenericOp>(result->fusedOp);
    }
  }
  rewriter.modifyOpInPlace(generic, [&] { fused.set(producer->getResult(0)); });
  rewriter.eraseOp(copy);
  return {};
}

void Preparation::prepare(LinalgOp op) {
  // Fusion puts the producer's operands among those of the op, and dropped
  // dimensions may reveal a producer: from the start again, until neither does.
  for (unsigned number = 0; number < op.getNumDpsInputs(); ++number) {
    OpOperand *operand = &op->getOpOperand(number);
    if (!isa<RankedTensorType>(operand->get().getType()) ||
        cluster.members.contains(operand->get().getDefiningOp()))
      continue;
    llvm::SmallBitVector dims = getUnitDims(*operand);
    const bool isPartialOperand = isPartial(
        getOperandRowDims(*operand, cluster.rowDims), cluster.rowDims);
    if (!isPartialOperand && dims.none())
      continue;
    if (GenericOp fused = isPartialOperand ? fuseProducer(*operand) : nullptr) {
      op = cast<LinalgOp>(fused.getOperation());
      number = -1;
      continue;
    }
    if (dims.none())
      continue;
    op = cast<LinalgOp>(generalize(op).getOperation());
    dropUnitDims(op->getOpOperand(number), dims);
    number = -1;
  }
}

void rmsnorm::prepareSharedOperands(RewriterBase &rewriter, RowCluster &cluster,
                                    bool embedded) {
  Preparation(rewriter, cluster, embedded).run();
}

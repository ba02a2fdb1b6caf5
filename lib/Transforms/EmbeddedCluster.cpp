// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedCluster.cpp - clusters among the work of others -----------===//

#include "EmbeddedCluster.h"
#include "RowMembers.h"
#include "TileProgram.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isSplat(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

namespace {
/// What of a tensor an iteration accesses: which dimensions are rows, and which
/// loops behind those, 0 and 1, count its other ones.
struct AccessedDims {
  SmallVector<int64_t> rows, columns;
  bool operator!=(const AccessedDims &other) const {
    return rows != other.rows || columns != other.columns;
  }
};
} // namespace

static AccessedDims getAccessedDims(OpOperand &operand, int64_t rowDims) {
  AccessedDims dims;
  dims.rows = getOperandRowDims(operand, rowDims);
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (op && op.getNumLoops() > rowDims + 1) {
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (static_cast<int64_t>(dim.getPosition()) >= rowDims)
          dims.columns.push_back(dim.getPosition() - rowDims);
  } else if (getColumnDim(operand, rowDims)) {
    dims.columns = {0};
    if (isa<tensor::CollapseShapeOp>(operand.getOwner()))
      dims.columns = {0, 1};
  }
  return dims;
}

/// A buffer is accessed in one way only.
static bool accessesInTwoWays(OpOperand &operand, const RowCluster &cluster) {
  if (!isa<RankedTensorType>(operand.get().getType()) ||
      isSplat(operand.get()) || cluster.rowDims == 0)
    return false;
  return llvm::any_of(operand.get().getUses(), [&](OpOperand &other) {
    return (other.getOwner() == operand.getOwner() ||
            cluster.members.contains(other.getOwner())) &&
           getAccessedDims(other, cluster.rowDims) !=
               getAccessedDims(operand, cluster.rowDims);
  });
}

/// Whether `op` sums up columns, or columns of rows.
static bool reduces(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return isa<ForwardOp, BackwardOp>(op) ||
         (linalgOp && linalgOp.getNumReductionLoops() > 0);
}

static bool sumsOverRows(Operation *op, int64_t rowDims) {
  return llvm::any_of(op->getResults(), [&](OpResult result) {
    return rmsnorm::sumsOverRows(result, rowDims);
  });
}

/// Whether threads can hold rows of `columns` of which parts begin at multiples
/// of `part`: vectors of a thread are as far apart as parts are, or nearer, and
/// stay in registers (rmsnorm.schedule). One row is that of a whole subgroup.
static bool canTakeApart(int64_t columns, int64_t part, bool isOneRow) {
  constexpr int64_t kMostSubgroup = 64, kMostVector = 16;
  const int64_t step = part & -part;
  if (isOneRow && step < kMostSubgroup * kMostVector)
    return false;
  return columns <= 8192 &&
         (columns <= 16 * step || columns <= (step > 1 ? 128 : 16));
}

/// The most columns of a group, whose vectors neighbours of a subgroup hold.
static constexpr int64_t kMaxGroup = 128;

/// Why no kernel takes rows apart as `op` and the members do, if those or it
/// do.
static std::string whyNoParts(Operation *op, const RowCluster &cluster) {
  const int64_t columns = cluster.columns.front().size;
  int64_t part = 0;
  bool sums = false, isLonger = false;
  llvm::SmallDenseSet<int64_t> pairs, slices;
  auto add = [&](Operation *member) {
    sums |= sumsOverRows(member, cluster.rowDims);
    if (!takesPart(member))
      return;
    auto slice = cast<OffsetSizeAndStrideOpInterface>(member);
    const int64_t size = slice.getStaticSizes().back();
    part = std::gcd(part, size);
    auto insert = dyn_cast<tensor::InsertSliceOp>(member);
    const int64_t whole =
        cast<ShapedType>(insert ? insert.getType()
                                : member->getOperand(0).getType())
            .getShape()
            .back();
    isLonger |= insert && whole > columns;
    if (slice.getStaticStrides().back() != 1) {
      pairs.insert(size);
      return;
    }
    slices.insert_range(ArrayRef<int64_t>{size, whole});
    part = std::gcd(part, slice.getStaticOffsets().back());
  };
  llvm::for_each(cluster.members, add);
  add(op);
  if (part == 0)
    return "";
  if (sums)
    return "rows would be both taken apart and summed up";
  if (isLonger)
    return "rows would be put into longer ones";
  if (pairs.size() > 1 ||
      llvm::any_of(pairs, [&](int64_t size) { return slices.contains(size); }))
    return "rows would be taken apart both into pairs of columns and into "
           "others of as many columns";
  const bool isOneRow =
      llvm::all_of(cluster.rowSizes, [](int64_t size) { return size == 1; });
  if (ShapedType::isDynamic(columns) || !canTakeApart(columns, part, isOneRow))
    return "rows would be taken apart into parts that are too small, or too "
           "large, for what a thread holds";
  return "";
}

/// Why no tile program divides columns into groups as `op` does.
static std::string whyNoGroups(linalg::LinalgOp op, const RowCluster &cluster) {
  const int64_t size = op.getStaticLoopRanges().back();
  if (size < 2 || size > kMaxGroup || !llvm::isPowerOf2_64(size))
    return "its groups of columns are not of 2, 4, 8, ... 128";
  for (OpOperand &operand : op->getOpOperands()) {
    const SmallVector<int64_t> columns =
        getAccessedDims(operand, cluster.rowDims).columns;
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    // Threads read whole vectors of a group's columns.
    if (columns.size() == 1 && columns.front() == 1 &&
        type.getShape().back() % 16 != 0)
      return "what is the same for all groups of columns is no multiple of 16 "
             "of them";
  }
  return "";
}

std::string rmsnorm::whyNotEmbedded(Operation *op, const RowCluster &cluster) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (isa<tensor::CollapseShapeOp>(op) &&
      !cluster.members.contains(op->getOperand(0).getDefiningOp()))
    return "it puts groups together that others compute";
  if (std::string reason = whyNoKernel(op); !reason.empty())
    return reason;
  if (linalgOp && linalgOp.getNumLoops() > cluster.rowDims + 1)
    if (std::string reason = whyNoGroups(linalgOp, cluster); !reason.empty())
      return reason;
  if (std::string reason = whyNoParts(op, cluster); !reason.empty())
    return reason;
  const bool isStatic = llvm::any_of(
      cluster.columns, [](const DimSource &size) { return size.isStatic(); });
  if (reduces(op) && cluster.columns.front().isStatic() &&
      llvm::any_of(getColumns(op, cluster.rowDims),
                   [&](const DimSource &size) {
                     return size.isStatic() &&
                            !(size == cluster.columns.front());
                   }) &&
      (!linalgOp || linalgOp.getNumLoops() <= cluster.rowDims + 1))
    return "it reduces parts of rows, or what there is of each group";
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
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  return !op || !op.isDpsInit(&operand) ||
         (takesPart(op) && isInitRead(operand));
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

/// Whether columns of `tensor` are put where they do not lie side by side: its
/// buffer will be that place.
static bool isInsertedApart(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            user))
      return isInsertedApart(user->getResult(0));
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    if (destination && destination.isDpsInit(&use))
      return isInsertedApart(destination.getTiedOpResult(&use));
    if (!insert)
      return false;
    const int64_t last = insert.getType().getRank() - 1;
    return (last >= 0 && (insert.getDroppedDims().test(last) ||
                          !isOneInteger(insert.getMixedStrides()[last]))) ||
           isInsertedApart(insert.getResult());
  });
}

/// Whether a kernel can load, or store, what an op has as `operand`: a row of
/// columns side by side or one value, or the columns of all rows, or a value
/// for them. None has a dimension of size 1 beside.
static bool isAccessible(OpOperand &operand, int64_t rowDims) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return true;
  const AccessedDims dims = getAccessedDims(operand, rowDims);
  const int64_t rank = dims.rows.size() + dims.columns.size();
  return isStorable(type.getElementType()) && type.getRank() == rank &&
         (dims.columns.empty() || hasInnerStrideOne(operand.get()));
}

/// Whether the body of `op` reads a table that kernels cannot.
static bool readsOtherTable(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->getOps<tensor::ExtractOp>(),
                      [](tensor::ExtractOp extract) {
                        return !hasInnerStrideOne(extract.getTensor());
                      });
}

/// Whether `op` would load or store what no kernel can.
static bool accessesOther(Operation *op, const RowCluster &cluster) {
  const bool isMember = cluster.members.contains(op);
  const int64_t rowDims = isMember ? cluster.rowDims : 0;
  auto isInside = [&](Operation *other) {
    return other && (cluster.members.contains(other) ||
                     cluster.uniforms.contains(other));
  };
  auto isStored = [&](Value result) {
    return isMember && !llvm::all_of(result.getUsers(), isInside);
  };
  // Parts are of, and groups are put together from, what is computed here.
  if ((takesPart(op) || isa<tensor::CollapseShapeOp>(op)) &&
      !isInside(op->getOperand(0).getDefiningOp()))
    return true;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      linalgOp && readsOtherTable(linalgOp))
    return true;
  if (llvm::any_of(op->getResults(), [&](Value result) {
        return isStored(result) && isInsertedApart(result);
      }))
    return true;
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinations && isStored(op->getResult(0)) &&
      !isStorable(getElementTypeOrSelf(op->getResult(0))))
    return true;
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (isAccessible(operand, rowDims))
      return false;
    const bool loads = isRead(operand) && !isSplat(operand.get()) &&
                       !isInside(operand.get().getDefiningOp());
    const bool stores = destinations && destinations.isDpsInit(&operand) &&
                        isStored(destinations.getTiedOpResult(&operand));
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

/// Whether `op` or its body uses one.
static bool accessesBuffer(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        return WalkResult(
            failure(llvm::any_of(nested->getOperands(), isBuffer)));
      })
      .wasInterrupted();
}

bool rmsnorm::isRepeatable(linalg::LinalgOp op) {
  return !readsOtherTable(op) && !accessesBuffer(op) &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           auto type = dyn_cast<RankedTensorType>(operand.get().getType());
           return !type || !isRead(operand) ||
                  (isStorable(type.getElementType()) &&
                   hasInnerStrideOne(operand.get()));
         });
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
  const bool accessesBuffers = llvm::any_of(ops, accessesBuffer);
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
  // What only those knew that are gone: how long parts of rows are.
  llvm::SetVector<Operation *> strangers = cluster.getStrangers();
  if (drop([&](Operation *op) { return strangers.contains(op); }))
    return true;
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

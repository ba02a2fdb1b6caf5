// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshapes.cpp - reshapes of arguments and results ------------------===//

#include "Reshapes.h"
#include "RMSNorm/Source/Destinations.h"

#include "RMSNorm/Access/Loops.h"
#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isReshape(Operation *op) {
  return isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

/// Of `rank` dimensions, the last two together.
static SmallVector<ReassociationIndices> getGroupedDims(int64_t rank) {
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    dims.push_back({dim});
  dims.back().push_back(rank - 1);
  return dims;
}

/// Whether `op`, on tensors, divides the columns of rows into groups, [.., N]
/// to [.., K, N / K] of static size, or puts groups together again.
static bool isGroupReshape(Operation *op) {
  if (!isReshape(op))
    return false;
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto expanded = cast<RankedTensorType>(expand ? expand.getType()
                                                : op->getOperand(0).getType());
  const int64_t rank = expanded.getRank();
  return rank >= 2 &&
         !ShapedType::isDynamicShape(expanded.getShape().take_back(2)) &&
         (expand
              ? expand.getReassociationIndices()
              : cast<tensor::CollapseShapeOp>(op).getReassociationIndices()) ==
             getGroupedDims(rank);
}

/// Whether `value` is made of columns divided into groups.
static bool hasGroups(Value value, DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return isGroupReshape(expand) &&
           !llvm::is_contained(expand.getResultType().getShape().take_back(2),
                               1);
  if (!isa_and_present<linalg::LinalgOp>(op) || !seen.insert(value).second)
    return false;
  const int64_t rank = cast<ShapedType>(value.getType()).getRank();
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return type && type.getRank() == rank && hasGroups(operand, seen);
  });
}

static bool hasGroups(Value value) {
  DenseSet<Value> seen;
  return hasGroups(value, seen);
}

/// Whether `use` is by an op on groups of columns, and of an operand that has
/// groups and their columns, or is written by it.
static bool usesGroups(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op)
    return false;
  if (op.isDpsInit(&use) && hasGroups(op.getTiedOpResult(&use)))
    return true;
  AffineMap map = op.getMatchingIndexingMap(&use);
  const unsigned loops = op.getNumLoops(), rank = map.getNumResults();
  return rank >= 2 && loops >= 2 &&
         map.getResult(rank - 2) ==
             getAffineDimExpr(loops - 2, map.getContext()) &&
         map.getResult(rank - 1) ==
             getAffineDimExpr(loops - 1, map.getContext()) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           auto type = dyn_cast<RankedTensorType>(operand.getType());
           return type && type.getRank() == static_cast<int64_t>(loops) &&
                  hasGroups(operand);
         });
}

/// Whether an operand of `op` has groups and their columns.
static bool worksOnGroups(linalg::LinalgOp op) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return type && type.getRank() == static_cast<int64_t>(op.getNumLoops()) &&
           hasGroups(operand);
  });
}

/// Whether `value` is one for each group of columns.
static bool isOfGroups(Value value, DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return false;
  if (access::isView(op) || access::isCopy(op))
    return isOfGroups(op->getOperand(0), seen);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || access::getFilled(op))
    return false;
  return linalgOp.getNumReductionLoops() > 0
             ? worksOnGroups(linalgOp)
             : llvm::any_of(linalgOp.getDpsInputs(), [&](Value operand) {
                 auto type = dyn_cast<RankedTensorType>(operand.getType());
                 return type &&
                        type.getRank() ==
                            cast<ShapedType>(value.getType()).getRank() &&
                        isOfGroups(operand, seen);
               });
}

static bool isOfGroups(Value value) {
  DenseSet<Value> seen;
  return isOfGroups(value, seen);
}

/// Whether ops use `value`, or views and copies of it, with groups of columns.
static bool isUsedWithGroups(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (access::isView(user) || access::isCopy(user))
      return isUsedWithGroups(user->getResult(0));
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op && worksOnGroups(op);
  });
}

/// Whether the last dimension of `tensor` is there to have a place only: others
/// must lie side by side if they count groups.
static bool hasUnitDimLast(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getRank() > 2 && type.getShape().back() == 1;
}

/// Whether dimensions of `tensor` are used as one.
static bool isCollapsed(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    return collapse &&
           llvm::any_of(
               llvm::seq<int64_t>(0, collapse.getResultType().getRank()),
               [&](int64_t dim) { return !getUncollapsedDim(user, dim); });
  });
}

/// Whether `tensor` has parts of rows that a norm or a reduction works on, or
/// `isWide` and it works on those of `tensor`: of its last dimensions, used as
/// one, or of what is computed of it, element by element or row by row.
static bool isOfWiderRows(Value tensor, bool isWide,
                          DenseSet<std::pair<Value, unsigned>> &seen) {
  if (!seen.insert({tensor, isWide}).second)
    return false;
  return llvm::any_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      const int64_t rank = collapse.getResultType().getRank();
      return isOfWiderRows(
          collapse.getResult(),
          isWide || (rank > 0 && !getUncollapsedDim(collapse, rank - 1)), seen);
    }
    std::optional<access::LoopNest> nest = access::getLoopNest(user);
    if (!nest)
      return false;
    auto *read = llvm::find_if(
        nest->reads, [&](const auto &entry) { return entry.first == &use; });
    if (read == nest->reads.end() || read->second.getNumResults() == 0)
      return false;
    auto last = dyn_cast<AffineDimExpr>(
        read->second.getResult(read->second.getNumResults() - 1));
    if (isWide && last &&
        (nest->normColumns == last.getPosition() ||
         nest->isReduction[last.getPosition()]))
      return true;
    return llvm::any_of(nest->writes, [&](const auto &write) {
      return write.second == read->second &&
             isOfWiderRows(write.first, isWide, seen);
    });
  });
}

static bool isOfWiderRows(Value tensor) {
  DenseSet<std::pair<Value, unsigned>> seen;
  return isOfWiderRows(tensor, /*isWide=*/false, seen);
}

bool rmsnorm::isReshaped(BlockArgument argument) {
  return isCollapsed(argument) || isOfWiderRows(argument) ||
         (hasUnitDimLast(argument) && isUsedWithGroups(argument)) ||
         llvm::any_of(argument.getUses(),
                      [](OpOperand &use) { return usesGroups(use); });
}

/// The layout of what `op` makes of a tensor with `layout`; none if that is not
/// known.
static std::optional<access::Layout>
follow(access::Digits &digits, Operation *op, const access::Layout &layout) {
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return access::writeThrough(insertion, layout);
  if (access::isView(op))
    return access::writeThrough(digits, op, layout);
  std::optional<access::LoopNest> nest = access::getLoopNest(op);
  std::optional<access::Layout> loops =
      nest ? access::invert(*nest, nest->reads.front().second, layout)
           : std::nullopt;
  if (!loops)
    return std::nullopt;
  return access::getIndices(nest->writes.front().second, *loops);
}

bool rmsnorm::mustBePacked(Value tensor, bool isWhole) {
  if (isOfWiderRows(tensor))
    return true;
  SmallVector<Operation *> path;
  Value root = tensor;
  while (Operation *op = root.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp>(op) ||
        (!access::isView(op) && !isa<tensor::InsertSliceOp>(op) &&
         !access::isCopy(op)))
      break;
    path.push_back(op);
    root = op->getOperand(0);
  }
  if (hasUnitDimLast(tensor) && isOfGroups(tensor))
    return true;
  if (path.empty())
    return false;
  access::Digits digits(access::Sizes(*path.front()->getBlock()));
  access::Layout layout;
  for (int64_t dim = 0; dim < cast<ShapedType>(root.getType()).getRank(); ++dim)
    layout.push_back(digits.getSum(
        digits.add(digits.getSizes().get(root, dim), /*isRow=*/true)));
  for (Operation *op : llvm::reverse(path)) {
    std::optional<access::Layout> next =
        follow(digits, op, digits.resolve(layout));
    if (!next)
      return false;
    layout = std::move(*next);
  }
  layout = digits.resolve(layout);
  if (llvm::any_of(llvm::drop_end(layout),
                   [](const access::Sum &sum) { return sum.terms.size() > 1; }))
    return true;
  // Halves or pairs, as exporters stack them.
  auto isPart = [&](int64_t dim) {
    const int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(dim);
    return layout[dim].terms.empty() && !ShapedType::isDynamic(size) &&
           size != 1;
  };
  const int64_t rank = layout.size();
  return isWhole && rank > 1 && (isPart(rank - 1) || isPart(rank - 2));
}

bool rmsnorm::isRead(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    if (isa<tensor::DimOp>(use.getOwner()))
      return false;
    if (isReshape(use.getOwner()) ||
        isa<tensor::ExtractSliceOp>(use.getOwner()))
      return isRead(use.getOwner()->getResult(0));
    auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return !op || !op.isDpsInit(&use) || isInitRead(use);
  });
}

Value rmsnorm::undoReshape(OpBuilder &builder, Operation *reshape, Value tensor,
                           Value source) {
  Location loc = reshape->getLoc();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, source.getType(),
                                           tensor,
                                           expand.getReassociationIndices());
  return tensor::ExpandShapeOp::create(
      builder, loc, source.getType(), tensor,
      cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices(),
      tensor::getMixedSizes(builder, loc, source));
}

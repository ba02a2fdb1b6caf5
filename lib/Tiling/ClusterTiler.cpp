// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterTiler.cpp - finds the clusters that become kernels ----------===//

#include "ClusterTiler.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/ElementOps.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Elementwise.h"
#include "RMSNorm/Tiling/RowReduction.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using access::Columns;

/// Asks for the sizes of what members compute, and of views of it, where they
/// come from: the members are about to go.
static void redirectDims(const access::Cluster &cluster) {
  llvm::SetVector<Operation *> users;
  for (const access::Member &member : cluster.getMembers())
    users.insert(member.op->user_begin(), member.op->user_end());
  for (size_t i = 0; i < users.size(); ++i)
    if (access::isView(users[i]))
      users.insert(users[i]->user_begin(), users[i]->user_end());
  for (Operation *user : users) {
    auto dim = dyn_cast<tensor::DimOp>(user);
    if (!dim)
      continue;
    DimSource source = traceSize(dim.getResult());
    if (source.value == dim.getResult())
      continue;
    OpBuilder builder(dim);
    dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
        builder, dim.getLoc(), materializeDim(builder, dim.getLoc(), source)));
    dim.erase();
  }
}

/// Whether a kernel uses or computes `value`, but for views.
static bool isOfKernel(Value value, const DenseSet<Operation *> &kernels) {
  value = access::getViewSource(value);
  if (kernels.contains(value.getDefiningOp()))
    return true;
  if (value.getDefiningOp<tensor::EmptyOp>() ||
      matchPattern(value, m_Constant()))
    return false;
  llvm::SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    if (kernels.contains(users[i]))
      return true;
    if (access::isView(users[i]) || isa<tensor::InsertSliceOp>(users[i]))
      users.insert(users[i]->user_begin(), users[i]->user_end());
  }
  return false;
}

/// Whether `op` stands next to a kernel: one uses what the other
/// computes, or both use the same.
static bool isNextToKernel(Operation *op,
                           const DenseSet<Operation *> &kernels) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  auto isOf = [&](Value value) { return isOfKernel(value, kernels); };
  return llvm::any_of(op->getOperands(), isOf) ||
         llvm::any_of(op->getResults(), isOf) || llvm::any_of(captured, isOf);
}

/// Whether `tensor`, which a program writes, is a new one.
static bool isOfNoArgument(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto rows = dyn_cast<RowsOp>(op))
      tensor =
          rows.getWritten()[cast<OpResult>(tensor).getResultNumber()]->get();
    else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
      tensor = insertion.getDest();
    else if (access::isView(op))
      tensor = op->getOperand(0);
    else if (access::getFilled(op))
      tensor = cast<linalg::LinalgOp>(op).getDpsInits().front();
    else
      return isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op);
  }
  return false;
}

/// The iterations of `op` that are known to be there.
static int64_t getStaticElements(linalg::LinalgOp op) {
  int64_t count = 1;
  for (int64_t size : op.getStaticLoopRanges())
    if (!ShapedType::isDynamic(size))
      count = llvm::SaturatingMultiply<uint64_t>(count, size);
  return count;
}

/// The cluster of an op next to `cluster` that holds all of it: of a LayerNorm
/// whose row is that of several heads, each with a norm. The op asks for a
/// cluster, or reduces rows.
static std::optional<access::Cluster>
findWider(const access::Cluster &cluster, const DenseSet<Operation *> &excluded,
          bool amongOthers) {
  for (const auto &[op, reason] : cluster.getRefusals()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!access::asksForCluster(op) && !(linalgOp && isRowReduction(linalgOp)))
      continue;
    std::optional<access::Cluster> wider =
        access::Cluster::grow(op, /*others=*/{}, excluded, amongOthers);
    if (wider &&
        llvm::all_of(cluster.getMembers(), [&](const access::Member &member) {
          return wider->findMember(member.op);
        }))
      return wider;
  }
  return std::nullopt;
}

namespace {
/// Finds ops that are made to be in kernels, and forgets ops that are gone.
struct Forgetter final : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (access::asksForCluster(op))
      anchors.insert(op);
  }
  void notifyOperationErased(Operation *op) override {
    anchors.remove(op);
    left.erase(op);
    apart.erase(op);
    others.erase(op);
    kernels.erase(op);
  }
  bool isNextToKernel(Operation *op) const {
    return ::isNextToKernel(op, kernels);
  }
  llvm::SetVector<Operation *> anchors;
  /// What cannot begin a kernel, and why.
  DenseMap<Operation *, std::string> others;
  /// What stays next to a cluster, and why.
  llvm::MapVector<Operation *, std::string> left;
  /// An op in a program that stayed next to another one, and why.
  struct Apart {
    Location where;
    std::string name, reason;
  };
  DenseMap<Operation *, Apart> apart;
  /// Of the members of programs, by where they stand.
  DenseMap<std::pair<Operation *, Location>, std::string> names;
  DenseSet<Operation *> kernels;
};

class ClusterTiler {
public:
  ClusterTiler(Operation *root, bool required, MakeKernel make,
               SmallVectorImpl<ClusterRemark> &remarks)
      : root(root), required(required), make(make), remarks(remarks) {}

  LogicalResult run() {
    if (required && failed(checkElementOps()))
      return failure();
    Forgetter ops;
    IRRewriter rewriter(root->getContext(), &ops);
    root->walk([&](Operation *op) {
      if (access::asksForCluster(op))
        ops.anchors.insert(op);
      if (isa<RowsOp>(op))
        ops.kernels.insert(op);
    });
    while (!ops.anchors.empty() || addLeft(rewriter, ops)) {
      Operation *anchor = ops.anchors.front();
      ops.anchors.remove(anchor);
      auto linalgOp = dyn_cast<linalg::LinalgOp>(anchor);
      const bool isElementwise =
          linalgOp && linalgOp.getNumReductionLoops() == 0;
      // Elements of a single row are many rows, if nothing is reduced.
      const bool isRow = required && isElementwise &&
                         !access::asksForCluster(anchor) &&
                         access::getRowLoops(anchor)->empty();
      std::string reason =
          tile(rewriter, anchor, ops, isRow ? Columns::none : Columns::last);
      // Columns that do not lie side by side do not matter then.
      if (reason.empty() ||
          (required && isElementwise && !isRow &&
           tile(rewriter, anchor, ops, Columns::none).empty()))
        continue;
      // What is not row-wise is refused where it is used, if it is.
      if (required && linalgOp && !access::asksForCluster(anchor) &&
          !access::Cluster::grow(anchor)) {
        ops.others.try_emplace(anchor, std::move(reason));
        continue;
      }
      if (required) {
        InFlightDiagnostic error = anchor->emitOpError("is in no kernel: it ")
                                   << reason;
        if (linalgOp)
          error << "; functions with other work are for rmsnorm-embed-tensors";
        return failure();
      }
      remarks.push_back({anchor->getLoc(), getWrittenName(anchor).str(),
                         "not made a kernel of: it ", std::move(reason)});
    }
    if (isAllOurs() && (failed(checkLeft(ops)) || failed(checkBetween(ops))))
      return failure();
    // Of what is inserted one after another the first says why.
    auto isNext = [&](Operation *op) {
      auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
      return insertion &&
             ops.left.contains(insertion.getDest().getDefiningOp());
    };
    for (const auto &[op, reason] : ops.left)
      if (ops.isNextToKernel(op) && !ops.kernels.contains(op) && !isNext(op))
        remarks.push_back({op->getLoc(), getWrittenName(op).str(),
                           "not tiled with the norm next to it: it ", reason});
    return success();
  }

private:
  /// Where all work has to be in kernels, what no kernel computes is refused
  /// where it stands.
  LogicalResult checkElementOps() {
    WalkResult walk = root->walk([](linalg::LinalgOp op) {
      Operation *payload = findNotComputable(op);
      if (!payload)
        return WalkResult::advance();
      payload->emitOpError(whyNotComputable(payload));
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }

  /// Whether all work has to be in kernels: that of a function that is called
  /// by others.
  bool isAllOurs() {
    auto function = dyn_cast<FunctionOpInterface>(root);
    return required && !(function && function.isPrivate());
  }

  /// Where all work has to be in kernels, names the first op on tensors that is
  /// in none, and why.
  LogicalResult checkLeft(const Forgetter &ops) {
    auto check = [&](Operation *op) -> WalkResult {
      if (isa<linalg::LinalgOp>(op)) {
        auto it = ops.others.find(op);
        if (it == ops.others.end() || isOpTriviallyDead(op))
          return WalkResult::skip();
        const std::string left = ops.left.lookup(op);
        emitError(op->getLoc())
            << "'" << getWrittenName(op) << "' op is in no kernel: it "
            << (left.empty() ? it->second : left)
            << "; functions with other work are for rmsnorm-embed-tensors, "
               "where norms and ops marked rmsnorm.row_wise begin kernels";
        return WalkResult::interrupt();
      }
      if (isa<RowsOp>(op))
        return WalkResult::skip();
      auto isTensor = llvm::IsaPred<TensorType>;
      auto it = ops.left.find(op);
      const bool isRefused = it != ops.left.end() && ops.isNextToKernel(op);
      auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
      auto allocation = dyn_cast<bufferization::AllocTensorOp>(op);
      // What is put together for a result is in its argument.
      const bool isApart =
          insertion &&
          insertion->hasAttr(RMSNormDialect::kElementwiseAttrName) &&
          (isOfNoArgument(insertion.getDest()) ||
           access::getFilled(insertion.getDest().getDefiningOp()));
      const bool isOther =
          !insertion && !access::isView(op) &&
          !isa<ForwardOp, BackwardOp, tensor::EmptyOp, tensor::DimOp>(op) &&
          !(allocation && !allocation.getCopy()) &&
          !op->hasTrait<OpTrait::ConstantLike>() &&
          !op->hasTrait<OpTrait::IsTerminator>() &&
          (llvm::any_of(op->getOperandTypes(), isTensor) ||
           llvm::any_of(op->getResultTypes(), isTensor));
      if ((!isRefused && !isOther && !isApart) || isOpTriviallyDead(op))
        return WalkResult::advance();
      InFlightDiagnostic error = emitError(op->getLoc())
                                 << "'" << getWrittenName(op)
                                 << "' op is in no kernel: ";
      if (isRefused)
        error << "it " << it->second;
      else if (isApart)
        error
            << "expected it to put together what kernels compute, for a result";
      else
        error << "expected norms, and linalg, arith and math ops on tensors "
                 "that work row by row";
      return WalkResult::interrupt();
    };
    return failure(root->walk<WalkOrder::PreOrder>(check).wasInterrupted());
  }

  /// Refuses the first tensor that one kernel writes for another and nobody
  /// has: only a call brings memory. Refuses, too, if the other one merges
  /// dimensions of an argument, which may not lie side by side. Names the op
  /// that could be in one kernel with the rest, if there is one.
  LogicalResult checkBetween(const Forgetter &ops) {
    WalkResult walk = root->walk([&](RowsOp rows) -> WalkResult {
      for (auto [operand, result] :
           llvm::zip_equal(rows.getWritten(), rows->getResults())) {
        const bool isNew = isOfNoArgument(operand->get());
        RowsOp user = findReader(result, /*merged=*/!isNew);
        if (!user)
          continue;
        for (RowsOp one : {rows, user})
          if (auto it = ops.apart.find(one); it != ops.apart.end())
            return emitError(it->second.where)
                   << "'" << it->second.name
                   << "' op is in no kernel with what it uses or computes, "
                      "which no argument holds"
                   << (isNew ? "" : " in its shape") << ": it "
                   << it->second.reason;
        if (!isNew)
          continue;
        Value argument =
            rows.getBufferArguments()[operand->getOperandNumber() -
                                      rows.getBuffers().getBeginOperandIndex()];
        Operation *first = rows;
        for (Operation *store : argument.getUsers())
          if (first == rows || store->isBeforeInBlock(first))
            first = store;
        const Location where = first->getLoc();
        InFlightDiagnostic error = emitError(where);
        if (auto it = ops.names.find({rows, where}); it != ops.names.end())
          error << "'" << it->second << "' op ";
        error << "expected what one kernel computes for another to be "
                 "returned, or computed into an argument, got "
              << result.getType() << ", for which a module has no memory";
        error.attachNote(user.getLoc()) << "the other kernel begins here";
        return error;
      }
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  /// Of the ops of `cluster`, which no kernel holds together because of `all`,
  /// the first that none holds with those that one does: ops join the anchor
  /// one by one. None if no kernel holds the anchor by itself.
  std::optional<NoProgram> findMisfit(RewriterBase &rewriter,
                                      const access::Cluster &cluster,
                                      DenseSet<Operation *> excluded,
                                      const NoProgram &all, Columns columns) {
    Operation *anchor = cluster.getAnchor();
    llvm::SetVector<Operation *> ops = getOps(cluster);
    ops.remove_if([&](Operation *op) { return excluded.contains(op); });
    excluded.insert(ops.begin(), ops.end());
    excluded.erase(anchor);
    auto grow = [&] {
      return access::Cluster::grow(anchor, /*others=*/{}, excluded,
                                   /*amongOthers=*/!required, columns);
    };
    auto whyNot = [&](const access::Cluster &cluster) {
      return whyNoRows(rewriter, cluster, /*amongOthers=*/!required,
                       /*onAllChips=*/!required);
    };
    std::optional<access::Cluster> known = grow();
    if (!known || whyNot(*known))
      return std::nullopt;
    for (bool again = true; again;) {
      again = false;
      for (Operation *op : ops) {
        if (!excluded.erase(op))
          continue;
        std::optional<access::Cluster> larger = grow();
        if (!larger || !getOps(*larger).contains(op)) {
          excluded.insert(op);
          continue;
        }
        std::optional<NoProgram> problem = whyNot(*larger);
        if (!problem) {
          again = true;
          continue;
        }
        // Nobody else inserts what a member computes.
        if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
            insertion && required)
          if (Operation *source =
                  access::getViewSource(insertion.getSource()).getDefiningOp();
              source && source != anchor && larger->findMember(source))
            op = source;
        if (problem->op && problem->op != op)
          problem->reason = "fits in no kernel with '" +
                            getWrittenName(problem->op).str() + "': that " +
                            problem->reason;
        problem->op = op;
        return problem;
      }
    }
    // Some join together only.
    for (Operation *op : llvm::reverse(ops))
      if (op != anchor)
        return NoProgram{op, all.reason};
    return std::nullopt;
  }

  /// The first program that reads `value`, perhaps a view of it, or with more
  /// written to it; null if none does. With `merged` one that reads dimensions
  /// merged which may lie apart.
  static RowsOp findReader(Value value, bool merged) {
    RowsOp first;
    llvm::SetVector<std::pair<Value, unsigned>> values;
    values.insert({value, merged});
    for (size_t i = 0; i < values.size(); ++i) {
      auto [next, isMerged] = values[i];
      for (OpOperand &use : next.getUses()) {
        Operation *user = use.getOwner();
        if (auto rows = dyn_cast<RowsOp>(user)) {
          const SmallVector<OpOperand *> written = rows.getWritten();
          if (auto *it = llvm::find(written, &use); it != written.end())
            values.insert({rows->getResult(it - written.begin()), isMerged});
          else if (!isMerged && (!first || rows->isBeforeInBlock(first)))
            first = rows;
        } else if (access::isView(user) || isa<tensor::InsertSliceOp>(user)) {
          values.insert({user->getResult(0), isMerged && !mayCopy(user)});
        }
      }
    }
    return first;
  }

  /// Whether `op` merges dimensions of a tensor which may lie apart.
  static bool mayCopy(Operation *op) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
    if (!collapse)
      return false;
    Value source = collapse.getSrc();
    while (auto rows = source.getDefiningOp<RowsOp>())
      source =
          rows.getWritten()[cast<OpResult>(source).getResultNumber()]->get();
    auto argument = dyn_cast<BlockArgument>(source);
    auto function =
        argument
            ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
            : FunctionOpInterface();
    if (!function)
      return false;
    auto layout = function.getArgAttrOfType<MemRefLayoutAttrInterface>(
        argument.getArgNumber(),
        bufferization::BufferizationDialect::kBufferLayoutAttrName);
    auto type = cast<RankedTensorType>(source.getType());
    return layout && !layout.isIdentity() &&
           !memref::CollapseShapeOp::isGuaranteedCollapsible(
               MemRefType::get(type.getShape(), type.getElementType(), layout),
               collapse.getReassociationIndices());
  }

  /// Where all work has to be in kernels, what has no place in one begins
  /// another. Adds the first of the ops with the most loops, then elements, a
  /// reduction if there is one, of rows before others: the rest works on its
  /// rows, or parts of them. Elsewhere what a scatter stores begins one, as
  /// nobody else has a kernel for that.
  bool addLeft(RewriterBase &rewriter, Forgetter &ops) {
    linalg::LinalgOp first;
    if (!isAllOurs()) {
      first = copyMoved(rewriter, ops, llvm::IsaPred<ScatterOp>);
      return first && ops.anchors.insert(first);
    }
    auto getRank = [](linalg::LinalgOp op) {
      return std::make_tuple(isRowReduction(op), op.getNumReductionLoops() > 0,
                             !access::getFilled(op), op.getNumLoops(),
                             getStaticElements(op));
    };
    root->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && access::getRowLoops(op) &&
          !op->use_empty() && !ops.others.contains(op) &&
          (!first || getRank(first) < getRank(op)))
        first = op;
    });
    if (!first)
      first = copyMoved(rewriter, ops,
                        llvm::IsaPred<tensor::InsertSliceOp, ScatterOp>);
    return first && ops.anchors.insert(first);
  }

  /// Copies the first tensor that is inserted or scattered as it is, and
  /// returns the copy. What a kernel computes is there already.
  linalg::LinalgOp copyMoved(RewriterBase &rewriter, Forgetter &ops,
                             function_ref<bool(Operation *)> moves) {
    Operation *moving = nullptr;
    root->walk([&](Operation *op) {
      if (!moves(op) || op->use_empty() || refused.contains(op))
        return WalkResult::advance();
      Value moved = op->getOperand(0);
      Operation *source = moved.getDefiningOp();
      if (llvm::is_contained(cast<ShapedType>(moved.getType()).getShape(), 0) ||
          ops.others.contains(source) ||
          (isa<tensor::InsertSliceOp>(op) && isa_and_present<RowsOp>(source) &&
           moved.hasOneUse()))
        return WalkResult::advance();
      moving = op;
      return WalkResult::interrupt();
    });
    if (!moving)
      return {};
    rewriter.setInsertionPoint(moving);
    const Location loc = moving->getLoc();
    Value source = moving->getOperand(0);
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, source),
        getElementTypeOrSelf(source));
    auto copy = linalg::CopyOp::create(rewriter, loc, source, empty);
    auto setSource = [&](Value value) {
      rewriter.modifyOpInPlace(moving, [&] { moving->setOperand(0, value); });
    };
    setSource(copy->getResult(0));
    // A copy alone is of no use to a scatter.
    if (isa<ScatterOp>(moving)) {
      std::optional<NoProgram> problem;
      DenseSet<Operation *> excluded;
      do {
        auto cluster = access::Cluster::grow(copy, /*others=*/{}, excluded,
                                             /*amongOthers=*/!required);
        problem = NoProgram{moving, "stores what is not row by row"};
        if (cluster && cluster->findMember(moving))
          problem = whyNoRows(rewriter, *cluster, /*amongOthers=*/!required,
                              /*onAllChips=*/!required);
      } while (problem && problem->op && problem->op != moving &&
               problem->op != copy && excluded.insert(problem->op).second);
      if (problem) {
        setSource(source);
        rewriter.eraseOp(copy);
        refused.insert(moving);
        ops.left.try_emplace(moving, problem->reason);
        return copyMoved(rewriter, ops, moves);
      }
    }
    // It stands for what it was made of.
    copy->setAttr(RMSNormDialect::kElementwiseAttrName,
                  rewriter.getStringAttr(getWrittenName(moving)));
    if (auto it = ops.left.find(moving); it != ops.left.end())
      ops.apart.try_emplace(
          copy,
          Forgetter::Apart{loc, getWrittenName(moving).str(), it->second});
    return copy;
  }

  /// Makes a kernel of the largest cluster around `anchor` that has one, with
  /// the columns that it has in this way. Returns why there is none.
  std::string tile(RewriterBase &rewriter, Operation *anchor, Forgetter &ops,
                   Columns columns) {
    auto destinations = dyn_cast<DestinationStyleOpInterface>(anchor);
    if (destinations && !destinations.hasPureTensorSemantics())
      return "is not on tensors";
    if (isDeviceCode(anchor->getParentOp()))
      return "stands in device code, which launches no kernel";
    DenseSet<Operation *> excluded;
    const std::string left = ops.left.lookup(anchor);
    while (true) {
      std::optional<access::Cluster> cluster =
          access::Cluster::grow(anchor, /*others=*/{}, excluded,
                                /*amongOthers=*/!required, columns);
      if (!cluster)
        return "works on no rows, or not row by row";
      // A norm of several dimensions.
      if (columns == Columns::last &&
          access::getRowLoops(anchor, Columns::reduced) !=
              access::getRowLoops(anchor) &&
          llvm::any_of(cluster->getRefusals(), [](const auto &refusal) {
            return refusal.second == access::kUsesSum;
          })) {
        auto before = ops.left;
        if (tile(rewriter, anchor, ops, Columns::reduced).empty())
          return "";
        ops.left = std::move(before);
      }
      std::optional<access::Cluster> widest;
      while (std::optional<access::Cluster> wider =
                 columns == Columns::none
                     ? std::nullopt
                     : findWider(widest ? *widest : *cluster, excluded,
                                 /*amongOthers=*/!required))
        widest = std::move(wider);
      const access::Cluster &chosen = widest ? *widest : *cluster;
      for (const auto &[op, reason] : chosen.getRefusals())
        ops.left.try_emplace(op, reason);
      redirectDims(chosen);
      // Members are gone afterwards.
      Operation *first = chosen.getAnchor();
      const bool isFound = !access::asksForCluster(first);
      const Location where = first->getLoc();
      const std::string name = getWrittenName(first).str();
      std::optional<Forgetter::Apart> apart;
      for (const access::Member &member : chosen.getMembers()) {
        if (apart)
          break;
        if (auto it = ops.apart.find(member.op); it != ops.apart.end())
          apart = it->second;
        else if (auto it = ops.left.find(member.op); it != ops.left.end())
          apart = {member.op->getLoc(), getWrittenName(member.op).str(),
                   it->second};
      }
      SmallVector<std::pair<Location, std::string>> names;
      for (const access::Member &member : chosen.getMembers())
        names.emplace_back(member.op->getLoc(), getWrittenName(member.op));
      Operation *kernel = nullptr;
      std::optional<NoProgram> problem =
          make(rewriter, chosen, /*onAllChips=*/!required || widest, kernel);
      if (!problem) {
        ops.kernels.insert(kernel);
        if (apart)
          ops.apart.try_emplace(kernel, *apart);
        for (auto &[loc, member] : names)
          ops.names.try_emplace({kernel, loc}, member);
        if (isFound && widest)
          remarks.push_back({where, name,
                             "begins the kernel of the norm next to it, as its "
                             "rows hold those of the norm",
                             ""});
        else if (isFound && !left.empty())
          remarks.push_back(
              {where, name, "begins another kernel: in the one next to it, it ",
               left});
        return "";
      }
      // What only the wider cluster has is left out of it; else there is none.
      if (widest && (!problem->op || cluster->findMember(problem->op))) {
        Operation *part = problem->op ? problem->op : anchor;
        problem->reason = "would begin a kernel that '" +
                          getWrittenName(part).str() +
                          "' cannot be part of: that " + problem->reason;
        problem->op = first;
      }
      // The anchor makes one with nothing beside it, or there is none.
      if (!problem->op || problem->op == anchor ||
          excluded.contains(problem->op)) {
        std::string reason = problem->reason;
        problem = findMisfit(rewriter, *cluster, excluded, *problem, columns);
        if (!problem)
          return reason;
      }
      ops.left.try_emplace(problem->op, problem->reason);
      excluded.insert(problem->op);
    }
  }

  Operation *root;
  const bool required;
  /// Scatters that no kernel holds, of a copy either.
  DenseSet<Operation *> refused;
  MakeKernel make;
  SmallVectorImpl<ClusterRemark> &remarks;
};
} // namespace

LogicalResult rmsnorm::makeKernels(Operation *root, bool required,
                                   MakeKernel make,
                                   SmallVectorImpl<ClusterRemark> &remarks) {
  return ClusterTiler(root, required, make, remarks).run();
}

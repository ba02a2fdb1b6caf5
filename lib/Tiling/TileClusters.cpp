// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileClusters.cpp - rmsnorm-tile-clusters --------------------------===//

#include "ClusterProgram.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Tiling/Passes.h"
#include "RMSNorm/Tiling/RowReduction.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_TILECLUSTERS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

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

/// Whether a program over rows uses or computes `value`, but for views.
static bool isOfRows(Value value) {
  value = access::getViewSource(value);
  if (value.getDefiningOp<RowsOp>())
    return true;
  if (value.getDefiningOp<tensor::EmptyOp>() ||
      matchPattern(value, m_Constant()))
    return false;
  llvm::SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    if (isa<RowsOp>(users[i]))
      return true;
    if (access::isView(users[i]) || isa<tensor::InsertSliceOp>(users[i]))
      users.insert(users[i]->user_begin(), users[i]->user_end());
  }
  return false;
}

/// Whether `op` stands next to a program over rows: one uses what the other
/// computes, or both use the same.
static bool isNextToRows(Operation *op) {
  return llvm::any_of(op->getOperands(), isOfRows) ||
         llvm::any_of(op->getResults(), isOfRows);
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
/// Forgets ops that are gone.
struct Forgetter final : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override {
    anchors.remove(op);
    left.erase(op);
    others.erase(op);
  }
  llvm::SetVector<Operation *> anchors;
  /// What cannot begin a kernel.
  DenseSet<Operation *> others;
  /// What stays next to a cluster, and why.
  llvm::MapVector<Operation *, std::string> left;
};

struct TileClusters final : rmsnorm::impl::TileClustersBase<TileClusters> {
  using TileClustersBase::TileClustersBase;

  void runOnOperation() override {
    Forgetter ops;
    IRRewriter rewriter(&getContext(), &ops);
    getOperation()->walk([&](Operation *op) {
      if (access::asksForCluster(op))
        ops.anchors.insert(op);
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
      // What is not row-wise rmsnorm-check-buffers refuses, once for all.
      if (required && linalgOp && !access::asksForCluster(anchor) &&
          !access::Cluster::grow(anchor)) {
        ops.others.insert(anchor);
        continue;
      }
      if (required) {
        InFlightDiagnostic error = anchor->emitOpError("is in no kernel: it ")
                                   << reason;
        if (linalgOp)
          error << "; functions with other work are for rmsnorm-embed-tensors";
        return signalPassFailure();
      }
      if (remarks)
        anchor->emitRemark("not made a kernel of: it ") << reason;
    }
    if (required && failed(checkBetween()))
      return signalPassFailure();
    if (remarks)
      for (const auto &[op, reason] : ops.left)
        if (isNextToRows(op) && !isa<RowsOp>(op))
          op->emitRemark("not tiled with the norm next to it: it ") << reason;
  }

private:
  /// Refuses the first tensor that nobody has which one kernel writes for
  /// another: only a call brings memory.
  LogicalResult checkBetween() {
    auto function = dyn_cast<FunctionOpInterface>(getOperation());
    if (function && function.isPrivate())
      return success();
    WalkResult walk = getOperation()->walk([&](RowsOp rows) -> WalkResult {
      for (auto [operand, result] :
           llvm::zip_equal(rows.getWritten(), rows->getResults())) {
        if (!access::getViewSource(operand->get())
                 .getDefiningOp<tensor::EmptyOp>())
          continue;
        RowsOp user = findReader(result);
        if (!user)
          continue;
        Value argument =
            rows.getBufferArguments()[operand->getOperandNumber() -
                                      rows.getBuffers().getBeginOperandIndex()];
        Location where = rows.getLoc();
        for (Operation *store : argument.getUsers())
          where = store->getLoc();
        InFlightDiagnostic error =
            emitError(where)
            << "expected what one kernel computes for another to be returned, "
               "or computed into an argument, got "
            << result.getType() << ", for which a module has no memory";
        error.attachNote(user.getLoc()) << "the other kernel begins here";
        return error;
      }
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  /// The program that reads `value`, perhaps a view of it, or null.
  static RowsOp findReader(Value value) {
    for (Operation *user : value.getUsers()) {
      if (auto rows = dyn_cast<RowsOp>(user))
        return rows;
      if (access::isView(user) || isa<tensor::InsertSliceOp>(user))
        if (RowsOp rows = findReader(user->getResult(0)))
          return rows;
    }
    return {};
  }

  /// Where all work has to be in kernels, what has no place in one begins
  /// another. Adds the first of the ops with the most loops, then elements, a
  /// reduction if there is one, of rows before others: the rest works on its
  /// rows, or parts of them.
  bool addLeft(RewriterBase &rewriter, Forgetter &ops) {
    auto function = dyn_cast<FunctionOpInterface>(getOperation());
    if (!required || (function && function.isPrivate()))
      return false;
    linalg::LinalgOp first;
    auto getRank = [](linalg::LinalgOp op) {
      return std::make_tuple(isRowReduction(op), op.getNumReductionLoops() > 0,
                             !access::getFilled(op), op.getNumLoops(),
                             getStaticElements(op));
    };
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && access::getRowLoops(op) &&
          !op->use_empty() && !ops.others.contains(op) &&
          (!first || getRank(first) < getRank(op)))
        first = op;
    });
    if (!first)
      first = copyInserted(rewriter);
    return first && ops.anchors.insert(first);
  }

  /// Copies the first tensor that is inserted as it is, and returns the copy.
  /// What a kernel computes is there already.
  linalg::LinalgOp copyInserted(RewriterBase &rewriter) {
    tensor::InsertSliceOp insertion;
    getOperation()->walk([&](tensor::InsertSliceOp op) {
      if (op->use_empty() || (op.getSource().getDefiningOp<RowsOp>() &&
                              op.getSource().hasOneUse()))
        return WalkResult::advance();
      insertion = op;
      return WalkResult::interrupt();
    });
    if (!insertion)
      return {};
    rewriter.setInsertionPoint(insertion);
    const Location loc = insertion.getLoc();
    Value source = insertion.getSource();
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, source),
        insertion.getSourceType().getElementType());
    auto copy = linalg::CopyOp::create(rewriter, loc, source, empty);
    rewriter.modifyOpInPlace(insertion, [&] {
      insertion.getSourceMutable().assign(copy->getResult(0));
    });
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
    const std::string apart = ops.left.lookup(anchor);
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
          llvm::any_of(cluster->getRefusals(),
                       [](const auto &refusal) {
                         return refusal.second == access::kUsesSum;
                       }) &&
          tile(rewriter, anchor, ops, Columns::reduced).empty())
        return "";
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
      RowsOp rows;
      std::optional<NoProgram> problem =
          buildRows(rewriter, chosen, /*amongOthers=*/!required,
                    /*onAllChips=*/!required || widest, rows);
      if (!problem) {
        // rmsnorm-generalize-elementwise does so where all code is ours.
        RewritePatternSet scaling(&getContext());
        arith::populateExpandScalingExtTruncPatterns(scaling);
        walkAndApplyPatterns(rows, std::move(scaling));
        if (remarks && isFound && widest)
          emitRemark(where) << "begins the kernel of the norm next to it, as "
                               "its rows hold those of the norm";
        else if (remarks && isFound && !apart.empty())
          emitRemark(where) << "begins another kernel: in that of the norm "
                               "next to it, it "
                            << apart;
        return "";
      }
      // What only the wider cluster has is left out of it; else there is none.
      if (widest && cluster->findMember(problem->op)) {
        problem->reason = "would begin a kernel that '" +
                          problem->op->getName().getStringRef().str() +
                          "' cannot be part of: that " + problem->reason;
        problem->op = first;
      }
      if (problem->op == anchor)
        return problem->reason;
      ops.left.try_emplace(problem->op, problem->reason);
      if (!excluded.insert(problem->op).second)
        return problem->reason;
    }
  }
};
} // namespace

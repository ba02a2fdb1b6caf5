// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramOps.cpp - what a program computes ---------------------------===//

#include "ProgramBuilder.h"

#include "RMSNorm/Source/Decompose.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

/// Runs `run`, and takes the error it reports for the problem. Handlers are the
/// context's: what other threads report of other functions is not for this one.
LogicalResult ProgramBuilder::findError(function_ref<LogicalResult()> run,
                                        const Twine &what) {
  std::string message;
  const uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(
      builder.getContext(), [&](Diagnostic &diagnostic) {
        if (llvm::get_threadid() != thread)
          return failure();
        if (message.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  return succeeded(run()) ? success() : fail(what + message);
}

LogicalResult ProgramBuilder::vectorize(LinalgOp op) {
  if (!frame->norm)
    if (std::string reason = whyNoKernel(op, onAllChips); !reason.empty())
      return fail("has no tile program: " + reason);
  return findError([&] { return vectorizeLinalg(builder, op, *this); },
                   "has no tile program: ");
}

LogicalResult ProgramBuilder::emit(LinalgOp op, Frame where) {
  frame = &where;
  if (!frame->computed && sumsRows(op)) {
    sums.push_back({op, where});
    frame = nullptr;
    return success();
  }
  for (Operation &payload : op.getBlock()->without_terminator())
    if (isIndexing(payload) &&
        !llvm::all_of(payload.getUsers(), [&](Operation *user) {
          return isa<tensor::ExtractOp>(user) || isIndexing(*user);
        }))
      return fail("uses the numbers of its loops, of linalg.index");
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // Reductions along rows leave groups of their columns, if anything.
    const SmallVector<unsigned> kept = getColumnLeaves(getOperandLayout(init));
    if (op.getNumReductionLoops() > 0 &&
        !isPrefix(kept, getColumnLeaves(frame->loops)))
      return fail("reduces other columns than the last of a group");
    // Each value of a group is that of several threads.
    const SmallVector<unsigned> all = getColumnLeaves(frame->loops);
    if (op.getNumReductionLoops() > 0 && !kept.empty() && kept != all &&
        columns != kDynamicColumns && areKnown(all))
      if (const int64_t first = getExtents(all).front().first;
          first != 1 && !(hasPairs && first == 2))
        return fail("reduces groups of values of groups of columns");
    if (op.getNumReductionLoops() > 0 && kept.empty() && !isOfOneValue(op) &&
        countElements(getColumnLeaves(frame->loops)) != columns)
      return failWidest("reduces a part of the columns");
  }
  LogicalResult result = vectorize(op);
  frame = nullptr;
  return result;
}

/// What a member, or what is `below` an access of it, computes where it is
/// used.
LogicalResult ProgramBuilder::emitComputed(unsigned member,
                                           std::optional<unsigned> below) {
  ArrayRef<Access> all = cluster.getAccesses();
  auto isBelow = [&](const Access &access) {
    std::optional<unsigned> above = access.parent;
    while (above && above != below)
      above = all[*above].parent;
    return above == below;
  };
  // What it needs comes after it in the list.
  for (const Access &access : llvm::reverse(all)) {
    const unsigned number = getNumber(access);
    if (access.member != member || computed.count(number) || !isBelow(access))
      continue;
    if (access.kind == Access::Kind::computed) {
      current = access.value.getDefiningOp();
      if (failed(emit(cast<LinalgOp>(current), {member, number, access.loops})))
        return failure();
    } else if (access.kind == Access::Kind::assembled &&
               !cluster.findLayout(access.value)) {
      current = access.value.getDefiningOp();
      FailureOr<Value> row =
          assemble(cast<tensor::InsertSliceOp>(current), &access);
      if (failed(row))
        return failure();
      computed[number] = *row;
    }
  }
  return success();
}

/// In the order of the block; what is computed where it is used, there.
LogicalResult ProgramBuilder::emitAll() {
  struct Step {
    Operation *op;
    Frame frame;
  };
  SmallVector<Step, 0> steps;
  llvm::MapVector<Operation *, unsigned> insertions;
  for (const Access &access : cluster.getAccesses()) {
    std::function<void(Value)> insert = [&](Value value) {
      while (Operation *op = value.getDefiningOp()) {
        auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
        if (insertion && cluster.findLayout(value)) {
          if (isLonger(value))
            return;
          insertions.insert({insertion, access.member});
          insert(insertion.getSource());
          value = insertion.getDest();
        } else if (isView(op) && !isa<tensor::ExtractSliceOp>(op)) {
          value = op->getOperand(0);
        } else {
          break;
        }
      }
    };
    if (access.isRead())
      insert(access.value);
    else if (auto row = getAssembled(access))
      insert(row->first);
  }
  for (auto [op, member] : insertions) {
    Frame frame;
    frame.member = member;
    steps.push_back({op, frame});
  }
  for (auto [number, member] : llvm::enumerate(cluster.getMembers()))
    steps.push_back(
        {member.op,
         {static_cast<unsigned>(number), std::nullopt, member.loops}});
  llvm::stable_sort(steps, [](const Step &a, const Step &b) {
    return a.op != b.op && a.op->isBeforeInBlock(b.op);
  });
  for (Step &step : steps) {
    current = cluster.getMembers()[step.frame.member].op;
    auto insertion = dyn_cast<tensor::InsertSliceOp>(step.op);
    const Access *row = insertion ? findRow(insertion) : nullptr;
    LogicalResult result = success();
    if (row)
      result = emitComputed(row->member, getNumber(*row));
    else if (!insertion)
      result = emitComputed(step.frame.member, std::nullopt);
    if (failed(result))
      return failure();
    current = cluster.getMembers()[step.frame.member].op;
    if (insertion) {
      // Without it the row is loaded.
      if (current == cluster.getAnchor())
        current = insertion;
      FailureOr<Value> vector = assemble(insertion, row);
      result = vector;
      if (succeeded(vector))
        vectors[insertion.getResult()] = *vector;
    } else if (auto op = dyn_cast<LinalgOp>(step.op))
      result = emit(op, step.frame);
    else if (auto op = dyn_cast<ScatterOp>(step.op))
      result = emitScatter(op, step.frame);
    else
      result = emitNorm(step.op, step.frame);
    if (failed(result))
      return failure();
  }
  for (auto &[op, where] : sums) {
    current = cluster.getMembers()[where.member].op;
    frame = &where;
    if (failed(vectorize(op)))
      return failure();
    frame = nullptr;
  }
  for (auto [result, own] : summands)
    vectors[result] = vectors.lookup(own);
  // All but numbers that the program uses.
  for (NormBody &norm : norms)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(norm.block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  return success();
}

/// A scatter computes what it stores: its source, and where.
LogicalResult ProgramBuilder::emitScatter(ScatterOp op, Frame where) {
  frame = &where;
  const LoopNest nest = *getLoopNest(op);
  for (const auto &[operand, map] : nest.reads) {
    const Access *access = findAccess(*operand);
    if (!access)
      return fail("reads what is not known");
    const SmallVector<unsigned> leaves =
        getColumnLeaves(getIndices(map, where.loops));
    FailureOr<Value> vector = getRead(*access, op.getLoc(), leaves);
    if (failed(vector))
      return failure();
    Value value = *vector;
    if (operand == &op.getSourceMutable()) {
      setVector(cast<OpResult>(op.getResult()), value);
      continue;
    }
    if (!leaves.empty())
      return fail("stores columns of one row at an index for each");
    auto type = cast<VectorType>(value.getType());
    if (!type.getElementType().isIndex())
      value = arith::IndexCastOp::create(
          builder, op.getLoc(), type.clone(builder.getIndexType()), value);
    indices[op].push_back(value);
  }
  frame = nullptr;
  return success();
}

/// Emits the ops that a norm consists of. Their loops are those of what they
/// read.
LogicalResult ProgramBuilder::emitNorm(Operation *op, Frame where) {
  NormBody &body = norms.emplace_back();
  body.nest = *getLoopNest(op);
  where.norm = &body;
  for (const auto &[operand, map] : body.nest.reads)
    body.layouts[operand->get()] = getIndices(map, where.loops);
  IRRewriter inBody(op->getContext());
  inBody.setInsertionPointToEnd(&body.block);
  const SmallVector<Value> results = decomposeNorm(inBody, op);
  // What a sum is rounded to is up to what stores it.
  DenseMap<Value, Value> rounded;
  for (LinalgOp step : body.block.getOps<LinalgOp>()) {
    if (isa<linalg::FillOp>(step))
      continue;
    Value first = step->getOperand(0);
    if (llvm::any_of(sums, [&](const auto &sum) {
          return sum.first == first.getDefiningOp();
        })) {
      rounded[step->getResult(0)] = first;
      continue;
    }
    where.loops.assign(step.getNumLoops(), Sum());
    for (OpOperand *operand : step.getDpsInputOperands())
      for (auto [expr, sum] :
           llvm::zip(step.getMatchingIndexingMap(operand).getResults(),
                     body.layouts.lookup(operand->get())))
        where.loops[cast<AffineDimExpr>(expr).getPosition()] = sum;
    for (OpResult result : step->getResults())
      body.layouts[result] =
          getIndices(step.getIndexingMapMatchingResult(result), where.loops);
    if (failed(emit(step, where)))
      return failure();
  }
  for (auto [result, computed] : llvm::zip_equal(op->getResults(), results)) {
    Value own = computed;
    if (Value sum = rounded.lookup(own))
      own = sum;
    if (Value vector = vectors.lookup(own))
      vectors[result] = vector;
    else
      summands.push_back({result, own});
  }
  return success();
}

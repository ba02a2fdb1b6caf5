// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterProgram.cpp - a kernel in the place of a cluster ------------===//

#include "ProgramBuilder.h"

#include "MemoryLayout.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

/// What the program uses from outside beside its buffers becomes operands.
/// Constants and float arithmetic are computed inside: a launch computes
/// indices only.
void ProgramBuilder::moveScalars(RowsOp rows) {
  Block &body = rows.getBody().front();
  IRMapping mapping;
  OpBuilder inside = OpBuilder::atBlockBegin(&body);
  OpBuilder atUser = inside;
  auto isInside = [&](Value value) {
    return rows->isAncestor(value.getParentBlock()->getParentOp());
  };
  auto findOperand = [&](Value value) {
    for (auto [operand, argument] :
         llvm::zip(rows->getOperands(), body.getArguments()))
      if (value.getType().isIndex() && operand.getType().isIndex() &&
          traceSize(operand) == traceSize(value))
        return Value(argument);
    return Value();
  };
  // Numbers are, if they follow from sizes.
  std::function<bool(Value)> isComputed = [&](Value value) {
    if (isInside(value) || mapping.contains(value) || findOperand(value))
      return true;
    Operation *def = value.getDefiningOp();
    if (!def || !isPure(def) || def->getNumRegions() != 0 ||
        isa<TensorType>(def->getOperandTypes().empty()
                            ? value.getType()
                            : def->getOperand(0).getType()))
      return false;
    return def->hasTrait<OpTrait::ConstantLike>() ||
           !value.getType().isIntOrIndex() ||
           llvm::all_of(def->getOperands(), isComputed);
  };
  std::function<Value(Value)> get = [&](Value value) -> Value {
    if (isInside(value))
      return value;
    if (Value known = mapping.lookupOrNull(value))
      return known;
    if (Value argument = findOperand(value))
      return argument;
    if (isComputed(value)) {
      Operation *def = value.getDefiningOp();
      for (Value operand : def->getOperands())
        mapping.map(operand, get(operand));
      // What follows from sizes is computed where it is used.
      const bool ofSizes = llvm::any_of(def->getOperands(), [&](Value operand) {
        Value inner = mapping.lookup(operand);
        return inner.getType().isIntOrIndex() &&
               !matchPattern(inner, m_Constant());
      });
      (ofSizes ? atUser : inside).clone(*def, mapping);
      return mapping.lookup(value);
    }
    rows.getScalarsMutable().append(value);
    BlockArgument argument = body.addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  };
  rows.getTiles().walk([&](Operation *op) {
    atUser.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(get(operand.get()));
  });
}

bool rmsnorm::usesAny(Operation *op, const DenseSet<Operation *> &definitions) {
  return op
      ->walk([&](Operation *nested) {
        if (llvm::any_of(nested->getOperands(), [&](Value value) {
              return definitions.contains(value.getDefiningOp());
            }))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

void rmsnorm::moveUsers(DenseSet<Operation *> definitions,
                        Block::iterator first, Operation *last) {
  Operation *end = last;
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(first, last->getIterator()))) {
    if (definitions.contains(&op) || !usesAny(&op, definitions))
      continue;
    definitions.insert(&op);
    op.moveAfter(end);
    end = &op;
  }
}

/// The ops of the block that make operands and sizes, and numbers that members
/// take from outside.
SmallVector<Operation *> ProgramBuilder::getNeeded() const {
  SmallVector<Operation *> needed;
  auto add = [&](Value value) {
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (op && op->getBlock() == cluster.getAnchor()->getBlock())
      needed.push_back(op);
  };
  auto addNumbers = [&](Operation *op) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value operand : op->getOperands())
      if (!isa<ShapedType>(operand.getType()))
        captured.insert(operand);
    llvm::for_each(captured, add);
  };
  for (auto &[key, argument] : arguments)
    add(key.first);
  auto addSize = [&](unsigned digit) {
    for (unsigned source : digits[digit].size.getSources())
      add(digits.getSizes().getSource(source).value);
  };
  llvm::for_each(rowDigits, addSize);
  if (dynamicColumns)
    addSize(*dynamicColumns);
  for (const Member &member : cluster.getMembers())
    addNumbers(member.op);
  for (const Access &access : cluster.getAccesses())
    if (access.kind == Access::Kind::computed)
      addNumbers(access.value.getDefiningOp());
  for (const Written &output : written)
    for (Operation *view : output.views)
      for (Value operand : llvm::drop_begin(view->getOperands()))
        add(operand);
  return needed;
}

/// The op that the program stands after.
Operation *ProgramBuilder::getPosition() const {
  if (position)
    return position;
  Operation *last = cluster.getMembers().back().op;
  for (Operation *op : getNeeded())
    if (last->isBeforeInBlock(op))
      last = op;
  return last;
}

/// Has all that the program needs made in front of `op`, unless this is a
/// trial. False if something cannot be: it has effects, or needs one of
/// `users`, of members.
bool ProgramBuilder::moveInFront(Operation *op,
                                 const DenseSet<Operation *> &users) {
  const SmallVector<Operation *> needed = getNeeded();
  llvm::SetVector<Operation *> moved(needed.begin(), needed.end());
  moved.remove_if([&](Operation *other) { return other->isBeforeInBlock(op); });
  for (size_t i = 0; i < moved.size(); ++i) {
    Operation *other = moved[i];
    if (!isPure(other) || other->getNumRegions() != 0 || users.contains(other))
      return false;
    for (Value operand : other->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && definition->getBlock() == op->getBlock() &&
          !definition->isBeforeInBlock(op))
        moved.insert(definition);
  }
  if (isTrial)
    return true;
  SmallVector<Operation *> sorted = moved.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *other : sorted)
    rewriter.moveOpBefore(other, op);
  return true;
}

static bool mayWrite(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const auto &effect) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect());
  });
}

/// All is computed where the last member stands: what stands in between and has
/// effects must not notice. If it uses members, and members after it need
/// nothing that is made there, all is computed in front of it.
LogicalResult ProgramBuilder::checkOrder() {
  SmallVector<Operation *> moved;
  for (const Member &member : cluster.getMembers())
    moved.push_back(member.op);
  for (const Access &access : cluster.getAccesses())
    if (access.kind == Access::Kind::computed ||
        access.kind == Access::Kind::assembled)
      moved.push_back(access.value.getDefiningOp());
  Operation *first = *llvm::min_element(
      moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  const bool accessesBuffers = llvm::any_of(
      arguments, [](const auto &entry) { return isBuffer(entry.first.first); });
  DenseSet<Operation *> users = members;
  Operation *last = getPosition();
  for (Operation *op = first; op != last; op = op->getNextNode()) {
    if (members.contains(op))
      continue;
    const bool isUser = usesAny(op, users);
    if (isUser)
      users.insert(op);
    if ((!isUser || isMemoryEffectFree(op)) &&
        (!accessesBuffers || !mayWrite(op)))
      continue;
    if (!accessesBuffers && isUser && moveInFront(op, users)) {
      position = op->getPrevNode();
      return success();
    }
    // What is not on the anchor's side.
    Operation *anchor = cluster.getAnchor();
    auto *apart = llvm::find_if(moved, [&](Operation *other) {
      return other->isBeforeInBlock(op) != anchor->isBeforeInBlock(op);
    });
    current = apart != moved.end() ? *apart : anchor;
    return fail("would be moved over '" + op->getName().getStringRef() +
                "', which has effects");
  }
  return success();
}

RowsOp ProgramBuilder::createRows() {
  Location loc = cluster.getAnchor()->getLoc();
  rewriter.setInsertionPointAfter(getPosition());
  auto getSize = [&](std::pair<Value, int64_t> dim) {
    return materializeDim(rewriter, loc, traceDim(dim.first, dim.second));
  };
  SmallVector<OpFoldResult> sizes;
  for (unsigned row : rowDigits) {
    const Size &size = digits[row].size;
    auto *it = llvm::find(cluster.getRowDigits(), row);
    if (size.isStatic())
      sizes.push_back(rewriter.getIndexAttr(size.getNumber()));
    else if (it != cluster.getRowDigits().end())
      sizes.push_back(
          getSize(cluster.getRowDims()[it - cluster.getRowDigits().begin()]));
    else
      sizes.push_back(materializeDim(
          rewriter, loc, digits.getSizes().getSource(size.getSources()[0])));
  }
  if (sizes.empty())
    sizes.push_back(rewriter.getIndexAttr(1));
  Value count;
  if (dynamicColumns)
    for (const Member &member : cluster.getMembers()) {
      const LoopNest nest = *getLoopNest(member.op);
      for (auto [dim, loop] : llvm::zip_equal(nest.dims, member.loops))
        if (!count &&
            getColumnLeaves({loop}) == SmallVector<unsigned>{*dynamicColumns})
          count = cast<Value>(getSize(dim));
    }
  SmallVector<int64_t> segments;
  SmallVector<Value> operands;
  SmallVector<AccessKind> kinds;
  SmallVector<Type> types;
  for (auto [key, argument] : arguments) {
    const Value tensor = key.first;
    const bool isWritten = key.second != 0;
    const bool isRead = llvm::any_of(argument.getUsers(),
                                     [&, argument = argument](Operation *user) {
                                       auto sum = dyn_cast<AccumulateOp>(user);
                                       return sum && sum.getInit() == argument;
                                     });
    operands.push_back(tensor);
    kinds.push_back(!isWritten ? AccessKind::read
                    : isRead   ? AccessKind::update
                               : AccessKind::write);
    if (isWritten)
      types.push_back(tensor.getType());
  }
  for (const Written &output : written)
    if (!output.segments.empty())
      segments = output.segments;
  RowsOp rows =
      rmsnorm::createRows(rewriter, loc, types, sizes, count, columnDigits,
                          operands, kinds, ScheduleAttr(), segments);
  for (NormBody &norm : norms)
    rows->getBlock()->getOperations().splice(Block::iterator(rows),
                                             norm.block.getOperations());
  Block &body = rows.getTiles().getBody().front();
  for (auto [argument, buffer] :
       llvm::zip_equal(buffers.getArguments(), rows.getBufferArguments()))
    argument.replaceAllUsesWith(buffer);
  tile.replaceAllUsesWith(body.getArgument(0));
  body.getOperations().splice(body.end(), program.getOperations());
  rewriter.setInsertionPointToEnd(&body);
  YieldOp::create(rewriter, loc);
  moveScalars(rows);
  return rows;
}

/// Whether some kernel holds the program: the verifiers say where it does not.
/// Why not they say of ops that nobody wrote.
LogicalResult ProgramBuilder::check(RowsOp rows) {
  current = nullptr;
  if (succeeded(findError([&] { return verify(rows); }, "")))
    return success();
  problem->reason = "and what is computed with it use parts of rows, groups of "
                    "columns or tables together as no kernel can";
  return failure();
}

/// Whether all chips can hold the program, or `onAllChips` is false and all can
/// hold its groups of columns.
LogicalResult ProgramBuilder::checkLimits(RowsOp rows) {
  const std::string reason =
      onAllChips ? whyNotOnAllChips(rows) : whyNoGroups(rows);
  if (reason.empty())
    return success();
  return failTogether(reason);
}

/// Erases the program, and the sizes that were computed for it.
void ProgramBuilder::discard(RowsOp rows) {
  Operation *first = getPosition();
  Operation *op = rows->getPrevNode();
  rewriter.eraseOp(rows);
  while (op != first) {
    Operation *before = op->getPrevNode();
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
    op = before;
  }
}

void ProgramBuilder::replaceMembers(RowsOp rows) {
  DenseMap<unsigned, Value> results;
  unsigned number = 0;
  DenseSet<Operation *> views = {rows};
  Operation *last = rows;
  for (auto &[key, argument] : arguments)
    if (key.second != 0)
      results[key.second] = rows.getResult(number++);
  for (const Written &output : written) {
    if (llvm::any_of(written, [&](const Written &other) {
          return isNewer(other, output);
        }))
      continue;
    Value result = results.lookup(output.number);
    rewriter.setInsertionPointAfter(last);
    auto take = [&](Operation *view) {
      views.insert(last = view);
      result = view->getResult(0);
    };
    if (!output.split.empty())
      take(tensor::CollapseShapeOp::create(rewriter, rows.getLoc(), result,
                                           output.split));
    if (!output.dropped.empty()) {
      SmallVector<OpFoldResult> sizes;
      {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(rows);
        sizes = tensor::getMixedSizes(rewriter, rows.getLoc(), output.whole);
      }
      take(tensor::ExpandShapeOp::create(rewriter, rows.getLoc(),
                                         output.whole.getType(), result,
                                         output.dropped, sizes));
    }
    for (Operation *op : llvm::reverse(output.views)) {
      Operation *view = rewriter.clone(*op);
      view->setOperand(0, result);
      take(view);
    }
    if (result.getType() != output.landing.getType())
      take(tensor::CastOp::create(rewriter, rows.getLoc(),
                                  output.landing.getType(), result));
    rewriter.replaceAllUsesWith(output.landing, result);
  }
  // What uses results and stands in front.
  moveUsers(views, rows->getBlock()->begin(), last);
  // Views and insertions of what is computed, now of use to nobody.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*rows->getBlock())))
    if (isOpTriviallyDead(&op) || (members.contains(&op) && op.use_empty())) {
      members.erase(&op);
      rewriter.eraseOp(&op);
    }
}

std::optional<NoProgram> ProgramBuilder::run(RowsOp &rows, bool trial) {
  isTrial = trial;
  if (failed(findColumns()) || failed(findDigits()) || failed(emitAll()) ||
      failed(collectWritten()))
    return problem;
  if (written.empty())
    return NoProgram{cluster.getAnchor(), "is used by nobody"};
  // What is computed first is stored first.
  auto getMember = [&](const Written &output) {
    Value value = output.computed;
    while (!vectors.contains(value) && value.getDefiningOp() &&
           isView(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto it = origins.find(vectors.lookup(value));
    return it == origins.end() ? output.member : it->second;
  };
  llvm::stable_sort(written, [&](const Written &a, const Written &b) {
    return getMember(a) < getMember(b);
  });
  for (bool sums : {false, true})
    for (Written &output : written) {
      current = cluster.getMembers()[output.member].op;
      if (output.isSum == sums && failed(sums ? sumUp(output) : store(output)))
        return problem;
    }
  if (failed(checkOrder()))
    return problem;
  joinDigits();
  if (columnDigits.size() > 5) {
    (void)failTogether("divide columns into more than 5 digits");
    return problem;
  }
  rows = createRows();
  if (failed(check(rows)) || failed(checkLimits(rows)) || trial) {
    discard(rows);
    return problem;
  }
  created.clear();
  replaceMembers(rows);
  return std::nullopt;
}

std::optional<NoProgram> rmsnorm::buildRows(RewriterBase &rewriter,
                                            const Cluster &cluster,
                                            bool amongOthers, bool onAllChips,
                                            RowsOp &rows) {
  return ProgramBuilder(rewriter, cluster, amongOthers, onAllChips).run(rows);
}

std::optional<NoProgram> rmsnorm::whyNoRows(RewriterBase &rewriter,
                                            const Cluster &cluster,
                                            bool amongOthers, bool onAllChips,
                                            SmallVectorImpl<Value> *results) {
  RowsOp rows;
  ProgramBuilder builder(rewriter, cluster, amongOthers, onAllChips);
  std::optional<NoProgram> problem = builder.run(rows, /*trial=*/true);
  if (!problem && results)
    for (Value landing : builder.getLandings())
      results->push_back(landing);
  return problem;
}

llvm::SetVector<Operation *> rmsnorm::getOps(const access::Cluster &cluster) {
  llvm::SetVector<Operation *> ops;
  std::function<void(Value)> addWay = [&](Value value) {
    Operation *op = value.getDefiningOp();
    const bool isInsertion = isa_and_present<tensor::InsertSliceOp>(op);
    if (!op || cluster.findMember(op) ||
        !(isInsertion || access::isView(op) || access::isCopy(op)) ||
        !ops.insert(op))
      return;
    addWay(op->getOperand(0));
    if (isInsertion)
      addWay(op->getOperand(1));
  };
  for (const access::Member &member : cluster.getMembers())
    ops.insert(member.op);
  for (const access::Access &access : cluster.getAccesses())
    if (!access.isRead())
      addWay(access.value);
    else if (access.kind == access::Access::Kind::computed ||
             access.kind == access::Access::Kind::assembled)
      ops.insert(access.value.getDefiningOp());
  auto sorted = ops.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return {sorted.begin(), sorted.end()};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsProgram.cpp - what the passes on rmsnorm.rows share -----------===//

#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<RowsOp> mlir::rmsnorm::getRows(Operation *root) {
  SmallVector<RowsOp> all;
  root->walk([&](RowsOp rows) { all.push_back(rows); });
  return all;
}

bool mlir::rmsnorm::liesApart(MemRefType type, int64_t columns) {
  SmallVector<int64_t> strides;
  int64_t offset, covered = 1;
  if (!type.isLastDimUnitStride() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return true;
  for (int64_t dim = type.getRank() - 1; dim >= 0 && covered < columns; --dim) {
    const int64_t size = type.getDimSize(dim);
    if (size != 1 && strides[dim] != covered)
      return true;
    if (ShapedType::isDynamic(size))
      break;
    covered *= size;
  }
  return false;
}

LogicalResult mlir::rmsnorm::verifyNotPlaced(RowsOp rows) {
  TilesOp tiles = rows.getTiles();
  if (tiles.getBody().getOps<TraverseOp>().empty() &&
      tiles.getCopies().empty() && !tiles.isSplit())
    return success();
  InFlightDiagnostic error =
      rows.emitOpError("expected a straight-line program, got one with "
                       "traverses or copies");
  error.attachNote() << "rmsnorm-place-tiles comes later";
  return error;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

bool mlir::rmsnorm::isFunction(Operation *op) {
  if (op->getNumResults() != 1 || !isPerColumn(op->getResult(0).getType()) ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  if (isa<arith::DivFOp>(op))
    return true;
  return isa_and_present<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
              math::FmaOp, math::RoundEvenOp, math::TruncOp>(op);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

RowsOp mlir::rmsnorm::createRows(OpBuilder &builder, Location loc,
                                 TypeRange results,
                                 ArrayRef<OpFoldResult> sizes,
                                 Value dynamicColumns, ArrayRef<int64_t> digits,
                                 ValueRange buffers, ArrayRef<AccessKind> kinds,
                                 ScheduleAttr schedule,
                                 ArrayRef<int64_t> segments) {
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> staticSizes;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  auto accesses = llvm::map_to_vector(kinds, [&](AccessKind kind) -> Attribute {
    return AccessAttr::get(builder.getContext(), kind, /*constant=*/false,
                           /*alias=*/-1);
  });
  auto rows =
      RowsOp::create(builder, loc, results, dynamicSizes, dynamicColumns,
                     buffers, /*scalars=*/ValueRange(), staticSizes, digits,
                     builder.getArrayAttr(accesses), schedule, segments);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = rows.getBody().emplaceBlock();
  for (Value operand : rows->getOperands())
    body.addArgument(RowsOp::getArgumentType(operand.getType()),
                     operand.getLoc());
  builder.setInsertionPointToStart(&body);
  auto tiles = TilesOp::create(builder, loc, /*results=*/TypeRange(),
                               /*copies=*/ValueRange(), /*inits=*/ValueRange(),
                               /*stages=*/0);
  YieldOp::create(builder, loc);
  tiles.getBody().emplaceBlock().addArgument(builder.getIndexType(), loc);
  return rows;
}

void mlir::rmsnorm::setColumns(RowsOp rows, int64_t columns) {
  const int64_t old = rows.getColumns();
  auto bound = [&](Value value) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (type && type.getRank() == 2 && type.getDimSize(1) == old)
      value.setType(VectorType::get({type.getDimSize(0), columns},
                                    type.getElementType()));
  };
  rows.getBody().walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), bound);
    llvm::for_each(op->getResults(), bound);
    DenseElementsAttr splat;
    if (op->getNumResults() == 1 && matchPattern(op, m_Constant(&splat)))
      op->setAttr("value", splat.resizeSplat(
                               cast<ShapedType>(op->getResult(0).getType())));
  });
  rows.setDigits(columns);
}

Value mlir::rmsnorm::addBuffer(RewriterBase &rewriter, RowsOp rows,
                               Value buffer, AccessKind kind, unsigned index) {
  SmallVector<Value> buffers(rows.getBuffers());
  SmallVector<Attribute> accesses(rows.getAccesses().getValue());
  const unsigned argument =
      rows.getBufferArguments().front().getArgNumber() + index;
  buffers.insert(buffers.begin() + index, buffer);
  accesses.insert(accesses.begin() + index,
                  AccessAttr::get(rows.getContext(), kind, /*constant=*/false,
                                  /*alias=*/-1));
  rewriter.modifyOpInPlace(rows, [&] {
    rows.getBuffersMutable().assign(buffers);
    rows.setAccessesAttr(rewriter.getArrayAttr(accesses));
    rows.getBody().insertArgument(argument, buffer.getType(), buffer.getLoc());
  });
  return rows.getBody().getArgument(argument);
}

/// What the body does with `buffer`.
static AccessKind getAccessKind(Value buffer) {
  bool reads = false, writes = false;
  for (Operation *user : buffer.getUsers()) {
    reads |= isa<TileLoadOp, TilesOp>(user);
    auto setSum = [&](auto sum, Value dest) {
      reads |= sum.getInit() == buffer;
      writes |= dest == buffer;
    };
    if (auto sum = dyn_cast<AccumulateOp>(user))
      setSum(sum, sum.getDest());
    else if (auto store = dyn_cast<SumStoreOp>(user))
      setSum(store, store.getBase());
    writes |= isa<TileStoreOp>(user);
  }
  return !writes ? AccessKind::read
         : reads ? AccessKind::update
                 : AccessKind::write;
}

void mlir::rmsnorm::pruneOperands(RewriterBase &rewriter, RowsOp rows) {
  SmallVector<AccessAttr> accesses;
  DenseMap<int64_t, int64_t> members;
  rewriter.modifyOpInPlace(rows, [&] {
    auto old = llvm::to_vector(rows.getAccesses().getAsRange<AccessAttr>());
    for (int64_t index = old.size() - 1; index >= 0; --index) {
      BlockArgument buffer = rows.getBufferArguments()[index];
      if (buffer.use_empty()) {
        rows.getBody().eraseArgument(buffer.getArgNumber());
        rows.getBuffersMutable().erase(index);
        continue;
      }
      const AccessKind kind = getAccessKind(buffer);
      accesses.push_back(
          AccessAttr::get(rows.getContext(), kind,
                          old[index].getConstant() && kind == AccessKind::read,
                          old[index].getAlias()));
      ++members[old[index].getAlias()];
    }
    for (int64_t index = rows.getScalars().size() - 1; index >= 0; --index) {
      BlockArgument scalar = rows.getBody().getArgument(
          rows->getNumOperands() - rows.getScalars().size() + index);
      if (!scalar.use_empty())
        continue;
      rows.getBody().eraseArgument(scalar.getArgNumber());
      rows.getScalarsMutable().erase(index);
    }
    // A class of one is none.
    SmallVector<Attribute> kept;
    for (AccessAttr access : llvm::reverse(accesses))
      kept.push_back(AccessAttr::get(
          rows.getContext(), access.getKind(), access.getConstant(),
          members.lookup(access.getAlias()) > 1 ? access.getAlias() : -1));
    rows.setAccessesAttr(rewriter.getArrayAttr(kept));
  });
}

//===----------------------------------------------------------------------===//
// Dead ops
//===----------------------------------------------------------------------===//

/// Drops the results that nobody uses, and the op if none is left.
static void dropDeadResults(RewriterBase &rewriter, RowReduceOp op) {
  SmallVector<Attribute> kinds;
  SmallVector<Value> inputs, results;
  SmallVector<Type> types;
  for (auto [kind, input, result] :
       llvm::zip(op.getKinds(), op.getInputs(), op.getResults())) {
    if (result.use_empty())
      continue;
    kinds.push_back(kind);
    inputs.push_back(input);
    results.push_back(result);
    types.push_back(result.getType());
  }
  if (results.size() == op.getNumResults())
    return;
  if (!results.empty()) {
    rewriter.setInsertionPoint(op);
    auto live = RowReduceOp::create(rewriter, op.getLoc(), types,
                                    rewriter.getArrayAttr(kinds), inputs);
    for (auto [result, replacement] : llvm::zip(results, live.getResults()))
      rewriter.replaceAllUsesWith(result, replacement);
  }
  rewriter.eraseOp(op);
}

void mlir::rmsnorm::eraseDeadOps(RewriterBase &rewriter, Block &program) {
  // From the end, so that what feeds only dead ones is seen dead.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program)))
    if (auto reduce = dyn_cast<RowReduceOp>(op))
      dropDeadResults(rewriter, reduce);
    else if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

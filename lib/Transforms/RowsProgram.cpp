// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsProgram.cpp - what the passes on rmsnorm.rows share -----------===//

#include "RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<RowsOp> mlir::rmsnorm::getRows(Operation *root) {
  SmallVector<RowsOp> all;
  root->walk([&](RowsOp rows) { all.push_back(rows); });
  return all;
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
// Facts
//===----------------------------------------------------------------------===//

/// The loads `value` is computed from, through per-column values only.
static void collectLoads(Value value, SetVector<Operation *> &loads,
                         DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPerColumn(value.getType()) || !seen.insert(value).second)
    return;
  if (isa<TileLoadOp>(op))
    loads.insert(op);
  for (Value operand : op->getOperands())
    collectLoads(operand, loads, seen);
}

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

namespace {
/// Follows what the sums over rows use, operands first.
class SumsCollector {
public:
  SumsCollector(Block &program, SumsSlice &slice)
      : program(program), slice(slice) {}

  void collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &program)
      return;
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && vector.getDimSize(1) == 1 && dependsOnReduction(value)) {
      slice.saved.insert(value);
      return;
    }
    if (!slice.needed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      collect(operand);
  }

private:
  bool dependsOnReduction(Value value) {
    auto it = depends.find(value);
    if (it != depends.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    const bool result = op && op->getBlock() == &program &&
                        (isa<RowReduceOp>(op) ||
                         llvm::any_of(op->getOperands(), [&](Value operand) {
                           return dependsOnReduction(operand);
                         }));
    return depends[value] = result;
  }

  Block &program;
  SumsSlice &slice;
  DenseMap<Value, bool> depends;
};
} // namespace

SumsSlice mlir::rmsnorm::getSumsSlice(Block &program) {
  SumsSlice slice;
  SumsCollector collector(program, slice);
  for (auto sum : program.getOps<AccumulateOp>())
    collector.collect(sum.getSource());
  return slice;
}

/// Whether `op` is arithmetic on all of `columns` columns, or the load of an
/// operand that several rows share, which comes from the caches.
static bool isColumnOperation(Operation *op, int64_t columns) {
  if (auto load = dyn_cast<TileLoadOp>(op))
    return load.getKind() == TileKind::column ||
           (load.getKind() == TileKind::tile && load.getDims());
  auto type = op->getNumResults() == 1
                  ? dyn_cast<VectorType>(op->getResult(0).getType())
                  : VectorType();
  return type && type.getDimSize(1) == columns &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect());
}

/// Bits an element takes in memory: a mask has a byte.
static int64_t getStoredBits(Type vector) {
  return std::max<int64_t>(8,
                           cast<VectorType>(vector).getElementTypeBitWidth());
}

/// The columns of which the parts that `program` takes rows apart into begin
/// and end at multiples.
static int64_t getPart(Block &program) {
  int64_t part = 0;
  auto add = [&](ArrayAttr offsets, VectorType type) {
    part = std::gcd(part, cast<IntegerAttr>(offsets[1]).getInt());
    part = std::gcd(part, type.getDimSize(1));
  };
  for (Operation &op : program) {
    if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op))
      add(slice.getOffsets(), slice.getType());
    else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op))
      add(insert.getOffsets(), insert.getSourceVectorType());
    else if (auto pairs = dyn_cast<vector::DeinterleaveOp>(op))
      part = std::gcd(part, pairs.getSourceVectorType().getDimSize(1));
  }
  return part;
}

ProgramFacts mlir::rmsnorm::getProgramFacts(RowsOp rows) {
  ProgramFacts facts;
  facts.singleRow = rows.hasSingleRow();
  facts.columns = rows.getColumns();
  facts.dynamicColumns = bool(rows.getDynamicColumns());
  Block &program = rows.getTiles().getBody().front();
  facts.part = getPart(program);
  SetVector<Operation *> before, after;
  DenseSet<Value> seenBefore, seenAfter;
  Operation *lastReduce = nullptr;
  for (auto reduce : program.getOps<RowReduceOp>()) {
    ++facts.numReductions;
    lastReduce = reduce;
    for (Value input : reduce.getInputs())
      collectLoads(input, before, seenBefore);
  }
  auto collectAfter = [&](Operation *op, Value value) {
    if (lastReduce && lastReduce->isBeforeInBlock(op))
      collectLoads(value, after, seenAfter);
  };
  int64_t widestTile = 8;
  auto visit = [&](TileKind kind, Value value) {
    const int64_t bits = getStoredBits(value.getType());
    if (kind != TileKind::row)
      facts.narrowestBits = std::min(facts.narrowestBits, bits);
    if (kind == TileKind::tile)
      widestTile = std::max(widestTile, bits);
    return bits;
  };
  int64_t storedBitsPerColumn = 0;
  llvm::SmallDenseSet<Value> loaded;
  for (Operation &op : program) {
    if (auto load = dyn_cast<TileLoadOp>(op)) {
      const int64_t bits = visit(load.getKind(), load);
      // What several rows share comes from the caches, as a weight does.
      const bool isTile = load.getKind() == TileKind::tile;
      if (isTile && !load.getDims() && loaded.insert(load.getBase()).second)
        facts.loadedBitsPerColumn += bits;
      if (load.getKind() == TileKind::column || (isTile && load.getDims()))
        facts.columnOperandBits += bits;
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      const int64_t bits = visit(store.getKind(), store.getValue());
      if (store.getKind() == TileKind::tile)
        storedBitsPerColumn += bits;
      collectAfter(&op, store.getValue());
    } else if (isa<GroupReduceOp, GroupBroadcastOp>(op)) {
      const auto in = cast<VectorType>(op.getOperand(0).getType());
      const auto out = cast<VectorType>(op.getResult(0).getType());
      facts.groupColumns = std::max(
          facts.groupColumns,
          facts.columns / std::min(in.getDimSize(1), out.getDimSize(1)));
    } else if (auto sum = dyn_cast<AccumulateOp>(op)) {
      ++facts.numColumnSums;
      collectAfter(&op, sum.getSource());
    }
  }
  for (Operation &op : program)
    // One for each group of columns is next to none for each column.
    if (isFunction(&op) &&
        cast<VectorType>(op.getResult(0).getType()).getDimSize(1) ==
            facts.columns) {
      ++facts.numFunctions;
      facts.numRepeatedFunctions += seenBefore.contains(op.getResult(0)) &&
                                    seenAfter.contains(op.getResult(0));
    }
  const int64_t numOperations = llvm::count_if(program, [&](Operation &op) {
    return isColumnOperation(&op, facts.columns);
  });
  facts.manyOperations =
      facts.columns > 1 &&
      2 * 8 * numOperations >
          5 * (facts.loadedBitsPerColumn + storedBitsPerColumn);
  for (Operation *op : getSumsSlice(program).needed)
    if (auto load = dyn_cast<TileLoadOp>(op);
        load && load.getKind() != TileKind::row)
      facts.sumsNarrowestBits = std::min<int64_t>(
          facts.sumsNarrowestBits, getStoredBits(load.getType()));
  for (Operation *load : before)
    if (after.contains(load))
      facts.liveBitsPerColumn +=
          getStoredBits(cast<TileLoadOp>(load).getType());
  // Beside wider tiles bytes set no pace: 16 of them are two accesses and
  // twice the registers of what they are computed from. Hand-written kernels
  // with bytes out of bf16 reach 0.98 of a copy with vectors of 8 elements.
  if (widestTile > 8)
    facts.narrowestBits = std::max<int64_t>(facts.narrowestBits, 16);
  return facts;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Block &mlir::rmsnorm::createBody(OpBuilder &builder, RowsOp rows) {
  OpBuilder::InsertionGuard guard(builder);
  Block &body = rows.getBody().emplaceBlock();
  for (Value operand : rows->getOperands())
    body.addArgument(operand.getType(), operand.getLoc());
  builder.setInsertionPointToStart(&body);
  auto tiles = TilesOp::create(builder, rows.getLoc(), /*results=*/TypeRange(),
                               /*copies=*/ValueRange(), /*inits=*/ValueRange(),
                               /*stages=*/0);
  YieldOp::create(builder, rows.getLoc());
  Block &tile = tiles.getBody().emplaceBlock();
  tile.addArgument(builder.getIndexType(), rows.getLoc());
  return tile;
}

void mlir::rmsnorm::setColumns(RowsOp rows, int64_t columns) {
  const int64_t old = rows.getColumns();
  auto bound = [&](Value value) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (type && type.getDimSize(1) == old)
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
  rows.setColumns(columns);
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
                                    rewriter.getArrayAttr(kinds), inputs,
                                    op.getColumns());
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgram.cpp - a tile program as one thread executes it ------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

ThreadProgram::ThreadProgram(OpBuilder &builder, Location loc,
                             KernelArguments &arguments, ScheduleAttr schedule,
                             const ChipInfo &chip, const ProgramFacts &facts)
    : builder(builder), loc(loc), arguments(arguments), schedule(schedule),
      chip(chip), facts(facts) {}

Value ThreadProgram::emitI32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value ThreadProgram::emitIndex(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void ThreadProgram::emitThreadIds(Value strip) {
  thread = arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(),
      gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  Value threadsPerRow = emitI32(schedule.getThreadsPerRow());
  Value subgroupSize = emitI32(chip.subgroupSize);
  if (schedule.getRowGroups() == 1) {
    threadInRow = thread;
    rowGroup = emitI32(0);
  } else {
    threadInRow = arith::RemUIOp::create(builder, loc, thread, threadsPerRow);
    rowGroup = arith::DivUIOp::create(builder, loc, thread, threadsPerRow);
  }
  lane = arith::RemUIOp::create(builder, loc, thread, subgroupSize);
  subgroup = arith::DivUIOp::create(builder, loc, thread, subgroupSize);
  firstColumn = arith::MulIOp::create(builder, loc, threadInRow,
                                      emitI32(getVectorWidth()));
  if (strip)
    firstColumn = emitColumnSum(
        arith::MulIOp::create(builder, loc, strip,
                              emitI32(schedule.getStripColumns())),
        firstColumn);
  if (schedule.getCluster() > 1)
    emitRank();
}

bool ThreadProgram::needsToggle() const {
  if (schedule.getCluster() > 1)
    return facts.numReductions > 0;
  // Two exchanges a tile already alternate between two places.
  return facts.numReductions == 1 &&
         schedule.getThreadsPerRow() > chip.subgroupSize && facts.columns > 1;
}

Value ThreadProgram::emitNextToggle(Value toggle) {
  // Clusters number their publishes, others alternate between two places.
  Value one = emitI32(1);
  if (schedule.getCluster() > 1)
    return arith::AddIOp::create(builder, loc, toggle, one);
  return arith::XOrIOp::create(builder, loc, toggle, one);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int64_t ThreadProgram::getNumRows(Type type) const {
  // Of a tile's row_groups x rows_per_group rows a thread holds the latter, of
  // an accumulator's row_groups one.
  auto vector = dyn_cast<VectorType>(type);
  return vector ? std::max<int64_t>(1, vector.getDimSize(0) /
                                           schedule.getRowGroups())
                : 1;
}

Type ThreadProgram::getFragmentType(Type type) const {
  Type element = getElementTypeOrSelf(type);
  return isPerColumn(type) ? VectorType::get({getVectorWidth()}, element)
                           : element;
}

Value ThreadProgram::getFragment(Value value, int64_t row, int64_t vector,
                                 int64_t numVectors) {
  DenseElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat()) {
    Type type = getFragmentType(value.getType());
    TypedAttr attr = splat.getSplatValue<TypedAttr>();
    if (auto vectorType = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vectorType, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  }
  if (!isa<VectorType>(value.getType())) {
    if (Value scalar = scalars->lookupOrNull(value))
      return scalar;
    return arguments.getScalar(value);
  }
  if (getNumRows(value.getType()) == 1)
    row = 0;
  if (!isPerColumn(value.getType())) {
    vector = 0;
    numVectors = 1;
  } else if (held.contains(value)) {
    vector += chunkBegin;
    numVectors = getNumVectors();
  }
  return fragments[value][row * numVectors + vector];
}

Value ThreadProgram::emitIdentity(ReduceKind kind, Type type) {
  auto floatType = cast<FloatType>(getElementTypeOrSelf(type));
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  APFloat value = APFloat::getZero(semantics);
  switch (kind) {
  case ReduceKind::add:
    break;
  case ReduceKind::maximumf:
    value = APFloat::getInf(semantics, /*Negative=*/true);
    break;
  case ReduceKind::minimumf:
    value = APFloat::getInf(semantics);
    break;
  case ReduceKind::mul:
    value = APFloat(semantics, 1);
    break;
  }
  TypedAttr attr = FloatAttr::get(floatType, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = SplatElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

Value ThreadProgram::emitCombine(ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::add:
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  case ReduceKind::maximumf:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  case ReduceKind::minimumf:
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  case ReduceKind::mul:
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("unknown reduction kind");
}

bool ThreadProgram::isZeroOnPadding(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (matchPattern(value, m_AnyZeroFloat()))
    return true;
  if (auto load = dyn_cast<TileLoadOp>(op))
    return load.getKind() != TileKind::row;
  if (isa<RingLoadOp>(op))
    return true;
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, math::AbsFOp, KeepOp>(
          op))
    return isZeroOnPadding(op->getOperand(0));
  // Both operands: zero times a per-row value may be zero times infinity.
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp,
          arith::MinimumFOp>(op))
    return isZeroOnPadding(op->getOperand(0)) &&
           isZeroOnPadding(op->getOperand(1));
  return false;
}

/// The product that `value` is, if it is summed with fused multiply-adds.
arith::MulFOp ThreadProgram::getFusedProduct(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && isFusedProduct(op) ? cast<arith::MulFOp>(op) : arith::MulFOp();
}

ThreadProgram::Reduction ThreadProgram::Reduction::get(Operation *op) {
  if (auto reduce = dyn_cast<RowReduceOp>(op))
    return {op, reduce.getKinds(), reduce.getInputs()};
  if (auto begin = dyn_cast<RowReduceBeginOp>(op))
    return {op, begin.getKinds(), begin.getInputs()};
  return {};
}

bool ThreadProgram::isFusedProduct(Operation *op) const {
  auto product = dyn_cast<arith::MulFOp>(op);
  if (!product || !product->hasOneUse() || !isPerColumn(product.getType()) ||
      !getElementTypeOrSelf(product.getType()).isF32())
    return false;
  OpOperand &use = *product->use_begin();
  if (isa<AccumulateOp>(use.getOwner()))
    return true;
  Reduction reduce = Reduction::get(use.getOwner());
  return reduce && reduce.getKind(use.getOperandNumber()) == ReduceKind::add &&
         isZeroOnPadding(product);
}

/// Visits what a thread holds of a value of type `type` in a chunk of
/// `numVectors` vectors, or of that what is emitted now. What is the same for
/// all rows is visited with the first.
void ThreadProgram::forEachFragment(
    Type type, int64_t numVectors,
    function_ref<void(int64_t row, int64_t vector)> visit) {
  for (int64_t row = 0; row < getNumRows(type); ++row)
    for (int64_t vector = 0; vector < numVectors; ++vector)
      if (onlyRow.value_or(row) == row && onlyVector.value_or(vector) == vector)
        visit(row, vector);
}

/// Emits the fragments of `value`.
void ThreadProgram::emitFragments(
    Value value, int64_t numVectors,
    function_ref<Value(int64_t row, int64_t vector)> emit) {
  const size_t count = getNumRows(value.getType()) * numVectors;
  fragments[value].resize(count);
  forEachFragment(value.getType(), numVectors,
                  [&](int64_t row, int64_t vector) {
                    Value fragment = emit(row, vector);
                    fragments[value][row * numVectors + vector] = fragment;
                  });
}

LogicalResult ThreadProgram::emitElementwise(Operation *op,
                                             int64_t numVectors) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return op->emitOpError("expected an elementwise op or an op of the tile "
                           "level in a tile program");
  Type type = op->getResult(0).getType();
  if (!isPerColumn(type))
    numVectors = 1;
  emitFragments(op->getResult(0), numVectors, [&](int64_t row, int64_t vector) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, getFragment(operand, row, vector, numVectors));
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(getFragmentType(type));
    return clone->getResult(0);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

bool ThreadProgram::isControl(Operation *op) const {
  if (auto load = dyn_cast<TileLoadOp>(op))
    return load.getKind() == TileKind::column && load.getSegment() == 0 &&
           schedule.getCache() == Cache::shared;
  return isa<TileRingOp, RingCopyOp, CopyCommitOp, CopyWaitOp, RowReduceEndOp,
             scf::IfOp>(op);
}

SmallVector<ThreadProgram::Segment>
ThreadProgram::getSegments(ArrayRef<Operation *> ops) const {
  SmallVector<Segment> segments(1);
  for (Operation *operation : ops) {
    Operation &op = *operation;
    bool perColumn = llvm::any_of(op.getResultTypes(), isPerColumn) ||
                     (isa<TileStoreOp>(op) &&
                      isPerColumn(cast<TileStoreOp>(op).getValue().getType()));
    Reduction reduce = Reduction::get(&op);
    if (reduce && isPerColumn(reduce.inputs.front().getType())) {
      segments.back().reduce = reduce;
      segments.emplace_back();
    } else if (isControl(&op)) {
      segments.back().control = &op;
      segments.emplace_back();
    } else if (perColumn) {
      segments.back().columnOps.push_back(&op);
    } else if (!llvm::all_of(
                   op.getResultTypes(),
                   [](Type type) { return type.isIntOrIndexOrFloat(); }) ||
               op.getNumResults() == 0) {
      segments.back().rowOps.push_back(&op);
    }
  }
  return segments;
}

Value ThreadProgram::getScalar(Value value, IRMapping &scalarMap) {
  if (Value mapped = scalarMap.lookupOrNull(value))
    return mapped;
  return arguments.getScalar(value);
}

SmallVector<Operation *>
ThreadProgram::getOps(iterator_range<Block::iterator> range) {
  SmallVector<Operation *> ops;
  for (Operation &op : range)
    ops.push_back(&op);
  return ops;
}

LogicalResult ThreadProgram::emitTile(Block &program, IRMapping &scalarMap,
                                      Value toggleValue) {
  scalars = &scalarMap;
  toggle = toggleValue;
  reductionNumber = 0;
  isOnce = false;
  return emitOps(getOps(program.without_terminator()));
}

LogicalResult ThreadProgram::emitOnce(ArrayRef<Operation *> ops,
                                      IRMapping &scalarMap) {
  scalars = &scalarMap;
  isOnce = true;
  return emitOps(ops);
}

LogicalResult ThreadProgram::emitOps(ArrayRef<Operation *> ops) {
  // Addresses belong to the block they are computed in.
  auto outerOffsets = rowOffsets;
  auto outerLive = rowLive;
  columns = {};
  if (failed(emitScalarOps(ops)) || failed(emitRowAddresses(ops)))
    return failure();
  for (Segment &segment : getSegments(ops))
    if (failed(emitSegment(segment)) ||
        (segment.control && failed(emitControl(segment.control))))
      return failure();
  rowOffsets = std::move(outerOffsets);
  rowLive = std::move(outerLive);
  return success();
}

/// Index arithmetic and the like: everything that is not a vector.
LogicalResult ThreadProgram::emitScalarOps(ArrayRef<Operation *> ops) {
  for (Operation *operation : ops) {
    Operation &op = *operation;
    if (op.getNumResults() == 0 ||
        !llvm::all_of(op.getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); }))
      continue;
    if (!isPure(&op) || op.getNumRegions() != 0)
      return op.emitOpError("expected scalars of a tile program to be computed "
                            "without side effects");
    for (Value operand : op.getOperands()) {
      if (!operand.getType().isIntOrIndexOrFloat())
        return op.emitOpError("expected scalar operands, got ")
               << operand.getType();
      if (!scalars->contains(operand))
        scalars->map(operand, arguments.getScalar(operand));
    }
    builder.clone(op, *scalars);
  }
  return success();
}

/// Row offsets and live rows of every access, before any loop over columns.
LogicalResult ThreadProgram::emitRowAddresses(ArrayRef<Operation *> ops) {
  auto scalar = [&](Value value) { return getScalar(value, *scalars); };
  auto emitRowLive = [&](Value rows) {
    if (!rows || rowLive.count(rows))
      return;
    // Tile row u * G + g belongs to group g.
    Value live = arith::IndexCastUIOp::create(
        builder, loc, builder.getI32Type(), scalar(rows));
    for (int64_t u = 0; u < schedule.getRowsPerGroup(); ++u) {
      Value tileRow = arith::AddIOp::create(
          builder, loc, rowGroup, emitI32(u * schedule.getRowGroups()));
      rowLive[rows].push_back(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, tileRow, live));
    }
  };
  auto visit = [&](auto op, TileKind kind, Value count) -> LogicalResult {
    auto type = dyn_cast<MemRefType>(op.getBase().getType());
    if (!type)
      return op.emitOpError("expected a bufferized program, got base ")
             << op.getBase().getType();
    int64_t numRowDims = type.getRank() - (kind == TileKind::row ? 0 : 1);
    auto [strides, offset] = type.getStridesAndOffset();
    if (kind != TileKind::row && strides.back() != 1)
      return op.emitOpError("expected an inner stride of 1, got base ") << type;
    if (count && !columns)
      columns = arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                             scalar(count));
    Value rows = op.getRows();
    emitRowLive(rows);
    SmallVector<Value> &offsets = rowOffsets[{op.getBase(), op.getRow()}];
    if (!offsets.empty())
      return success();
    for (int64_t u = 0; u < schedule.getRowsPerGroup(); ++u) {
      Value elements = emitIndex(0);
      if (op.getRow()) {
        Value row = scalar(op.getRow());
        if (rows) {
          // Rows that do not exist read the last one that does.
          Value tileRow = arith::AddIOp::create(
              builder, loc, rowGroup, emitI32(u * schedule.getRowGroups()));
          Value wide = arith::IndexCastUIOp::create(
              builder, loc, builder.getIndexType(), tileRow);
          Value last =
              arith::SubIOp::create(builder, loc, scalar(rows), emitIndex(1));
          row = arith::AddIOp::create(
              builder, loc, row,
              arith::MinUIOp::create(builder, loc, wide, last));
        }
        for (int64_t dim = numRowDims - 1; dim >= 0; --dim) {
          Value index = row;
          if (dim > 0) {
            Value size = arguments.getSize(op.getBase(), dim);
            index = arith::RemUIOp::create(builder, loc, row, size);
            row = arith::DivUIOp::create(builder, loc, row, size);
          }
          elements = arith::AddIOp::create(
              builder, loc, elements,
              arith::MulIOp::create(builder, loc, index,
                                    arguments.getStride(op.getBase(), dim)));
        }
      }
      offsets.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getI64Type(), elements));
    }
    return success();
  };
  for (Operation *op : ops) {
    LogicalResult result = success();
    if (auto load = dyn_cast<TileLoadOp>(op))
      result = visit(load, load.getKind(), load.getColumns());
    else if (auto store = dyn_cast<TileStoreOp>(op))
      result = visit(store, store.getKind(), store.getColumns());
    else if (auto copy = dyn_cast<RingCopyOp>(op))
      result = visit(copy, TileKind::tile, Value());
    else if (auto sum = dyn_cast<AccumulateOp>(op))
      emitRowLive(sum.getRows());
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult ThreadProgram::emitSegment(Segment &segment) {
  for (Operation *op : segment.rowOps)
    if (failed(emitRowOp(op)))
      return failure();
  if (segment.columnOps.empty() && !segment.reduce)
    return success();
  if (ownsStrip())
    return emitStripColumns(segment);
  SmallVector<Value> partials;
  if (failed(facts.hasDynamicColumns() ? emitDynamicColumns(segment, partials)
                                       : emitStaticColumns(segment, partials)))
    return failure();
  if (!segment.reduce)
    return success();
  SmallVector<Value> totals = combineThreads(segment.reduce, partials);
  if (auto begin = dyn_cast<RowReduceBeginOp>(segment.reduce.op))
    return emitBegin(begin, totals);
  setResults(segment.reduce.op->getResults(), totals);
  return success();
}

/// `totals`, those of the rows of each result in turn, are the results.
void ThreadProgram::setResults(ResultRange results, ArrayRef<Value> totals) {
  const auto *next = totals.begin();
  for (Value result : results) {
    SmallVector<Value> held;
    for (int64_t row = 0; row < getNumRows(result.getType()); ++row, ++next) {
      Value total = *next;
      Type element = getElementTypeOrSelf(result.getType());
      if (!element.isF32())
        total = arith::TruncFOp::create(builder, loc, element, total);
      held.push_back(total);
    }
    fragments[result] = std::move(held);
  }
}

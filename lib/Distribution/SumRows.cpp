// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SumRows.cpp - the second half of a sum over rows ------------------===//

#include "SumRows.h"

#include "KernelArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A block owns `lanes` x kWidth columns. Thread (lane, walker) adds up rows
/// walker, walker + walkers, ... of kWidth columns, in that order; a tree over
/// the walkers in workgroup memory does the rest.
class RowSummer {
public:
  RowSummer(SumRowsOp op, gpu::GPUFuncOp kernel, KernelArguments &arguments,
            int64_t lanes, int64_t walkers)
      : op(op), arguments(arguments), lanes(lanes), walkers(walkers),
        loc(op.getLoc()), builder(op.getContext()) {
    builder.setInsertionPointToEnd(&kernel.getBody().front());
  }

  /// Columns a thread adds up.
  static constexpr int64_t kWidth = 4;

  void run(bool dependent);
  int64_t getWorkgroupBytes() const { return lanes * walkers * kWidth * 4; }

private:
  void emitIds();
  Value sumWalkedRows();
  Value load(Value row, Value rows);
  Value combineWalkers(Value sum);
  void store(Value sum);

  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  VectorType getFragmentType() {
    return VectorType::get({kWidth}, builder.getF32Type());
  }

  SumRowsOp op;
  KernelArguments &arguments;
  int64_t lanes, walkers;
  Location loc;
  OpBuilder builder;
  /// i32: the thread's number, which rows it walks, its first column and how
  /// many of its columns exist. i64: elements between rows.
  Value thread, walker, column, valid, stride;
};
} // namespace

/// Rows a thread has in flight, whether they exist or not: with 32 walkers one
/// latency for the rows of three blocks on each of 132 multiprocessors. Does
/// not change the order.
static constexpr int64_t kRowsInFlight = 16;

void RowSummer::emitIds() {
  auto cast = [&](Value value) {
    return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                        value);
  };
  thread = cast(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  Value block = cast(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
  Value lane = arith::RemUIOp::create(builder, loc, thread, i32(lanes));
  walker = arith::DivUIOp::create(builder, loc, thread, i32(lanes));
  column = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, block, i32(lanes * kWidth)),
      arith::MulIOp::create(builder, loc, lane, i32(kWidth)));
  Value columns = arguments.getSize(op.getDest(), 0);
  valid = arith::SubIOp::create(builder, loc, cast(columns), column);
  stride =
      arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), columns);
}

/// Zeros, if there is no such row.
Value RowSummer::load(Value row, Value rows) {
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row, rows);
  Value last = arith::SubIOp::create(builder, loc, rows, index(1));
  Value existing = arith::MinUIOp::create(builder, loc, row, last);
  Value offset =
      arith::MulIOp::create(builder, loc,
                            arith::IndexCastUIOp::create(
                                builder, loc, builder.getI64Type(), existing),
                            stride);
  Value count = arith::SelectOp::create(builder, loc, exists, valid, i32(0));
  // The workspace is aligned and packed.
  auto type = cast<MemRefType>(op.getPartials().getType());
  int64_t alignment = 4;
  if (!type.isDynamicDim(1))
    alignment = std::gcd(int64_t(16), type.getDimSize(1) * 4);
  return GlobalLoadOp::create(builder, loc, getFragmentType(),
                              arguments.getPointer(op.getPartials()), offset,
                              column, count, alignment, /*segment=*/0,
                              CachePolicy::evict_first);
}

Value RowSummer::sumWalkedRows() {
  Value rows = arguments.getSize(op.getPartials(), 0);
  Value first = arith::IndexCastUIOp::create(builder, loc,
                                             builder.getIndexType(), walker);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(getFragmentType()));
  auto loop = scf::ForOp::create(builder, loc, first, rows,
                                 index(walkers * kRowsInFlight), zero);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < kRowsInFlight; ++i)
    loaded.push_back(
        load(arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                   index(i * walkers)),
             rows));
  Value sum = loop.getRegionIterArg(0);
  for (Value fragment : loaded)
    sum = arith::AddFOp::create(builder, loc, sum, fragment);
  scf::YieldOp::create(builder, loc, sum);
  return loop.getResult(0);
}

/// Halves the walkers that hold a sum until the first holds all of it.
Value RowSummer::combineWalkers(Value sum) {
  // Element e of all threads, then the next: no bank conflicts.
  auto place = [&](Value owner, int64_t element) -> Value {
    Value number = arith::AddIOp::create(builder, loc, owner,
                                         i32(element * lanes * walkers));
    return arith::MulIOp::create(builder, loc, number, i32(4));
  };
  auto leave = [&](Value value) {
    for (int64_t element = 0; element < kWidth; ++element)
      WorkgroupStoreOp::create(
          builder, loc, vector::ExtractOp::create(builder, loc, value, element),
          place(thread, element));
  };
  leave(sum);
  for (int64_t half = walkers / 2; half > 0; half /= 2) {
    BarrierOp::create(builder, loc);
    Value continues = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, walker, i32(half));
    auto branch = scf::IfOp::create(builder, loc, TypeRange(getFragmentType()),
                                    continues, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, sum);
      builder.setInsertionPointToStart(branch.thenBlock());
      Value other =
          arith::AddIOp::create(builder, loc, thread, i32(half * lanes));
      SmallVector<Value> elements;
      for (int64_t element = 0; element < kWidth; ++element)
        elements.push_back(WorkgroupLoadOp::create(
            builder, loc, builder.getF32Type(), place(other, element)));
      Value theirs = vector::FromElementsOp::create(
          builder, loc, getFragmentType(), elements);
      Value next = arith::AddFOp::create(builder, loc, sum, theirs);
      if (half > 1)
        leave(next);
      scf::YieldOp::create(builder, loc, next);
    }
    sum = branch.getResult(0);
  }
  return sum;
}

void RowSummer::store(Value sum) {
  Type element = cast<MemRefType>(op.getDest().getType()).getElementType();
  if (!element.isF32())
    sum = arith::TruncFOp::create(builder, loc,
                                  VectorType::get({kWidth}, element), sum);
  Value owns = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     walker, i32(0));
  Value count = arith::SelectOp::create(builder, loc, owns, valid, i32(0));
  Value row = arith::ConstantIntOp::create(builder, loc, 0, 64);
  GlobalStoreOp::create(builder, loc, sum, arguments.getPointer(op.getDest()),
                        row, column, count, element.getIntOrFloatBitWidth() / 8,
                        CachePolicy::normal);
}

void RowSummer::run(bool dependent) {
  if (dependent)
    LaunchDependentsOp::create(builder, loc);
  emitIds();
  if (dependent)
    GridWaitOp::create(builder, loc);
  store(combineWalkers(sumWalkedRows()));
  gpu::ReturnOp::create(builder, loc);
}

LogicalResult rmsnorm::distributeSumRows(SumRowsOp op, SymbolTable &symbols) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  if (!func)
    return op.emitOpError("expected to stand in a function");
  const int64_t columns =
      cast<MemRefType>(op.getDest().getType()).getDimSize(0);
  const int64_t lanes = op.getLanes();
  const int64_t walkers = op.getWalkers();

  Location loc = op.getLoc();
  auto kernel = createKernel(loc, (func.getName() + "_sum_rows").str(),
                             lanes * walkers, symbols);
  // Few blocks: the compiler would rather fit eight on a multiprocessor than
  // leave the loads together.
  kernel->setAttr(RMSNormDialect::kMinBlocksAttrName,
                  OpBuilder(op).getI64IntegerAttr(1));
  OpBuilder host(op);
  KernelArguments arguments(host, kernel.getBody().front());
  RowSummer summer(op, kernel, arguments, lanes, walkers);
  // As the kernels that write what is summed.
  bool dependent = false;
  func.walk([&](gpu::LaunchFuncOp launch) {
    dependent |= launch->hasAttr(RMSNormDialect::kDependentLaunchAttrName);
  });
  summer.run(dependent);

  // Also without rows: the sum of none is zero.
  Value numColumns =
      ShapedType::isDynamic(columns)
          ? memref::DimOp::create(host, loc, op.getDest(), 0).getResult()
          : arith::ConstantIndexOp::create(host, loc, columns).getResult();
  Value perBlock =
      arith::ConstantIndexOp::create(host, loc, lanes * RowSummer::kWidth);
  Value grid = arith::CeilDivUIOp::create(host, loc, numColumns, perBlock);
  auto launch = createLaunch(host, kernel, grid, lanes * walkers,
                             summer.getWorkgroupBytes(), arguments);
  if (dependent)
    launch->setAttr(RMSNormDialect::kDependentLaunchAttrName,
                    host.getUnitAttr());
  op.erase();
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kernel.h - the kernel that is being emitted -----------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_KERNEL_H
#define RMSNORM_LIB_DISTRIBUTION_KERNEL_H

#include "KernelArguments.h"
#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Schedule/Layout.h"
#include "ValueDigits.h"
#include "WorkgroupPlan.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// The numbers of a thread, i32 each. Emitted once, at the kernel's entry.
struct Threads {
  /// Its number in the block, in its row group, that of the group.
  Value thread, threadInRow, rowGroup;
  /// Its place in its subgroup, and the subgroup's number.
  Value lane, subgroup;
  /// Where its first vector begins; the part of this that each digit of the
  /// columns adds (Layout::getDigits); its place among the threads that share
  /// the digit.
  Value firstColumn;
  SmallVector<Value, 3> columns, places;
  /// The block's rank in its cluster and where its part of the row ends; null
  /// but in clusters.
  Value rank, endColumn;
};

/// Bytes that an element of `value` takes in memory.
int64_t getElementBytes(Value value);

/// The state that all emitters of one kernel share: the place where they build,
/// the numbers of the launch and of the thread, and the fragments that a thread
/// holds of each value.
class Kernel {
public:
  Kernel(RowsOp rows, const Layout &layout, const ChipInfo &chip,
         gpu::GPUFuncOp function, OpBuilder host)
      : rows(rows), layout(layout), chip(chip), loc(rows.getLoc()),
        builder(
            ImplicitLocOpBuilder::atBlockEnd(loc, &function.getBody().front())),
        host(host), arguments(host, function.getBody().front()),
        partsInPlace(getColumnParts(rows).inPlace) {}

  /// Emits the numbers of a thread; `strip` is the number of the strip of
  /// columns that the block owns, or null.
  void emitThreads(Value strip);

  Value emitI32(int64_t value);
  Value emitIndex(int64_t value);
  /// Columns stay below 2^31: the sum does not wrap, so that a constant part of
  /// it can become the offset of an access.
  Value emitColumnSum(Value lhs, Value rhs);
  /// `value` as an i32.
  Value emitCast(Value value);

  /// `value` of the body of rmsnorm.rows, not of one of its tiles: an argument,
  /// or computed at the entry.
  Value getScalar(Value value);

  /// `value`, an index of the host.
  Value getHostScalar(Value value);
  /// An index constant, at the entry.
  Value getConstant(int64_t value);
  /// M, or the rows of a segment.
  Value getNumRows();
  /// Says which segment the block works on, an index.
  void setSegment(Value number);
  /// The number among all rows of row `row` of the block's segment.
  Value emitRowOfAll(Value row);
  /// Where the row of the block's segment begins in `buffer`, an index, which
  /// has of the leading sizes those that segments are made of.
  Value emitSegmentOffset(Value buffer);
  /// Whether rows side by side in a segment are so among all rows.
  bool hasWholeSegments() const {
    return RowsOp(rows).getSegments().empty() ||
           RowsOp(rows).getSegments().front() == 0;
  }
  /// The leading size `dim`.
  Value getLeadingSize(int64_t dim);
  /// `number`, an index below 2^62, divided by the leading size `dim`, and the
  /// remainder.
  std::pair<Value, Value> emitDivision(Value number, int64_t dim);
  /// The same by `size`.
  std::pair<Value, Value> emitDivisionBy(Value number, int64_t size);
  Value getPointer(Value buffer) {
    return arguments.getPointer(getOperand(buffer));
  }
  Value getStride(Value buffer, int64_t dim) {
    return arguments.getStride(getOperand(buffer), dim);
  }

  /// Rows a thread holds of a value of type `type`: of a tile's row_groups x
  /// rows_per_group the latter, of an accumulator's row_groups one.
  int64_t getNumRows(Type type) const;
  /// What a thread has of the columns of a value of type `type`: vectors, and
  /// elements of each.
  ValueDigits getDigits(Type type, ArrayRef<int64_t> begins = {}) const {
    return {layout, RowsOp(rows).getDigits(), cast<VectorType>(type), begins};
  }
  /// The same, and where a part of a row lies in it.
  ValueDigits getDigits(Value value) const {
    auto begins = partsInPlace.find(value);
    return getDigits(value.getType(), begins == partsInPlace.end()
                                          ? ArrayRef<int64_t>()
                                          : ArrayRef(begins->second));
  }
  int64_t getNumVectors(Type type) const {
    return getDigits(type).getNumFragments();
  }
  int64_t getVectorWidth(Type type) const { return getDigits(type).getWidth(); }
  /// The type of a thread's fragment of one of its vectors, or of a per-row
  /// value.
  Type getFragmentType(Type type) const;
  /// The bytes an access to a vector of `type` in `buffer` may take at a time.
  int64_t getAlignment(Value buffer, Type type, bool partial) const;

  /// Reads a thread's fragment of `type`, a vector, from memory, where a mask
  /// is bytes. The arguments are those of GlobalLoadOp.
  Value emitLoad(TileLoadOp load, VectorType type, Value row, Value column,
                 Value valid, int64_t alignment);
  void emitStore(TileStoreOp store, Value value, Value row, Value column,
                 Value valid, int64_t alignment);

  /// Waits for the kernels before this one, then lets the one after it start:
  /// not earlier, or each kernel that waits lets one more in, and their blocks
  /// fill the places that those of this one need.
  void emitGridWait();

  Value emitIdentity(ReduceKind kind, Type type);
  Value emitCombine(ReduceKind kind, Value lhs, Value rhs);

  RowsOp rows;
  const Layout &layout;
  const ChipInfo &chip;
  const Location loc;
  ImplicitLocOpBuilder builder;
  OpBuilder host;
  KernelArguments arguments;
  WorkgroupPlan workgroup;
  Threads threads;
  /// The fragments that a thread holds of a value of the body: for each of its
  /// rows, its vectors; of a value in a traverse, those of the chunk that is
  /// being emitted.
  DenseMap<Value, SmallVector<Value>> fragments;

private:
  void emitThreadColumns();
  /// The host's value of a buffer of the body.
  Value getOperand(Value buffer) const {
    return RowsOp(rows).getOperandOf(buffer);
  }

  const DenseMap<Value, SmallVector<int64_t>> partsInPlace;
  Value numRows, segment, numSegments;
  DenseMap<int64_t, Value> constants;
  DenseMap<Value, Value> scalars;
  /// Of leading sizes, as the host computes them.
  DenseMap<int64_t, Value> reciprocals;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_KERNEL_H

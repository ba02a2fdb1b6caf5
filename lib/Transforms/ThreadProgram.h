// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgram.h - a tile program as one thread executes it --------===//

#ifndef RMSNORM_LIB_TRANSFORMS_THREADPROGRAM_H
#define RMSNORM_LIB_TRANSFORMS_THREADPROGRAM_H

#include "TileProgram.h"
#include "WorkgroupPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::rmsnorm {

/// What a kernel gets to know of values outside it. Arguments are made when
/// they are first asked for, so that none is dead.
class KernelArguments {
public:
  virtual ~KernelArguments() = default;
  /// The address of `buffer`'s first element, !llvm.ptr<1>.
  virtual Value getPointer(Value buffer) = 0;
  /// The stride of dimension `dim` in elements, index.
  virtual Value getStride(Value buffer, int64_t dim) = 0;
  /// The size of dimension `dim`, index.
  virtual Value getSize(Value buffer, int64_t dim) = 0;
  /// `scalar`, or a copy of it if it is a constant.
  virtual Value getScalar(Value scalar) = 0;
};

/// Emits, at the insertion point of a builder, what a thread does for one tile.
class ThreadProgram {
public:
  ThreadProgram(OpBuilder &builder, Location loc, KernelArguments &arguments,
                ScheduleAttr schedule, const ChipInfo &chip,
                const ProgramFacts &facts);

  /// Thread numbers and what derives from them. Once, at the kernel's entry.
  /// `strip` is the i32 number of the strip of columns the block owns, if
  /// column_sums = strips, else null.
  void emitThreadIds(Value strip);

  /// Begins to prepare what the blocks of a cluster need to exchange values, if
  /// there is one. Once, at the kernel's entry, before emitOnce and
  /// emitTile(program).
  void emitExchangeInit(Block &program);

  /// Whether consecutive tiles must use workgroup memory in turns.
  bool needsToggle() const;
  /// The toggle of the next tile.
  Value emitNextToggle(Value toggle);

  /// Bytes of workgroup memory the kernel needs.
  int64_t getWorkgroupBytes() const { return workgroup.getBytes(); }

  /// Emits `program`. `scalars` maps its index values, the tile's number
  /// included. `toggle` is an i32 that alternates between 0 and 1 from tile to
  /// tile, in clusters their number (null unless needsToggle()).
  LogicalResult emitTile(Block &program, IRMapping &scalars, Value toggle);

  /// Emits `ops`, which stand before or behind the loop over tiles: what a
  /// block does once.
  LogicalResult emitOnce(ArrayRef<Operation *> ops, IRMapping &scalars);

  /// Zeros for what a thread holds of an accumulator of type GxN.
  SmallVector<Value> emitZeros(Type accumulator);
  /// What a thread holds of `value`, a row's vectors after another.
  ArrayRef<Value> getFragments(Value value) { return fragments[value]; }
  void setFragments(Value value, ValueRange held) {
    fragments[value] = SmallVector<Value>(held);
  }
  /// `value` in the kernel: mapped by `scalars`, or an argument.
  Value getScalar(Value value, IRMapping &scalars);

  /// The fragments a thread holds of an accumulator: one for each of its
  /// vectors.
  int64_t getNumAccumulators(Type type) const;

private:
  /// One vector a thread owns of a row: where it starts, how many of its
  /// elements exist (null: all), and which of the thread's vectors it is (in
  /// a loop over columns: of the trip).
  struct VectorPosition {
    Value column;
    Value valid;
    int64_t index = 0;
  };
  using Chunk = ArrayRef<VectorPosition>;

  /// A row_reduce, or the first half of one.
  struct Reduction {
    Operation *op = nullptr;
    ArrayAttr kinds;
    ValueRange inputs;

    explicit operator bool() const { return op; }
    ReduceKind getKind(int64_t index) const {
      return cast<ReduceKindAttr>(kinds[index]).getValue();
    }
    static Reduction get(Operation *op);
  };

  /// The part of a program up to a reduction, or to an op that stands between
  /// traversals of the row and is executed as a whole: `control`.
  struct Segment {
    SmallVector<Operation *> rowOps;
    SmallVector<Operation *> columnOps;
    Reduction reduce;
    Operation *control = nullptr;
  };

  bool isControl(Operation *op) const;
  static SmallVector<Operation *> getOps(iterator_range<Block::iterator> range);
  SmallVector<Segment> getSegments(ArrayRef<Operation *> ops) const;
  LogicalResult emitOps(ArrayRef<Operation *> ops);
  LogicalResult emitSegment(Segment &segment);
  LogicalResult emitControl(Operation *op);
  LogicalResult emitScalarOps(ArrayRef<Operation *> ops);
  LogicalResult emitRowAddresses(ArrayRef<Operation *> ops);

  // Columns.
  int64_t getVectorWidth() const { return schedule.getVectorWidth(); }
  int64_t getColumnStep() const {
    return schedule.getThreadsPerRow() * getVectorWidth();
  }
  Value emitColumnSum(Value lhs, Value rhs);
  VectorPosition getVector(Value firstColumn, int64_t index, bool predicated);
  bool ownsStrip() const {
    return schedule.getColumnSums() == ColumnSums::strips;
  }
  LogicalResult emitStripColumns(Segment &segment);
  LogicalResult emitStaticColumns(Segment &segment,
                                  SmallVectorImpl<Value> &partials);
  LogicalResult emitDynamicColumns(Segment &segment,
                                   SmallVectorImpl<Value> &partials);
  LogicalResult emitColumnLoop(Segment &segment, Value trips,
                               SmallVectorImpl<Value> &partials);
  LogicalResult emitChunk(Segment &segment, Chunk chunk,
                          SmallVectorImpl<Value> &partials);
  LogicalResult emitColumnOp(Operation *op, Chunk chunk);
  void forEachFragment(Type type, int64_t numVectors,
                       function_ref<void(int64_t row, int64_t vector)> visit);
  void emitFragments(Value value, int64_t numVectors,
                     function_ref<Value(int64_t row, int64_t vector)> emit);
  void accumulate(const Reduction &reduce, Chunk chunk,
                  SmallVectorImpl<Value> &partials);

  // Tiles in workgroup memory, per-column operands in registers.
  int64_t getNumVectors() const;
  int64_t getNumFullVectors() const;
  void emitHeldLoad(TileLoadOp load);
  void emitRing(TileRingOp ring);
  LogicalResult emitRingCopy(RingCopyOp copy);
  void emitRingLoad(RingLoadOp load, int64_t numVectors);
  /// After the loop, when no thread reads a tile any more: the bytes of the
  /// rings are free for what meets in workgroup memory in the end.
  void releaseRings();
  /// The offset of a thread's first vector in a slot, and the distance to the
  /// next one.
  std::pair<Value, int64_t> getRingSlot(Value ring, Value slot);

  // Rows.
  LogicalResult emitRowOp(Operation *op);
  SmallVector<Value> combineThreads(const Reduction &reduce,
                                    ArrayRef<Value> partials);
  SmallVector<Value> exchangeSubgroups(const Reduction &reduce,
                                       ArrayRef<Value> totals);
  /// What `publishers` subgroups have, combined: `load` gives the value of the
  /// one of that number.
  Value combineSubgroups(ReduceKind kind, int64_t publishers,
                         function_ref<Value(Value)> load);
  void setResults(ResultRange results, ArrayRef<Value> totals);

  // Rows that the blocks of a cluster share.
  /// The block's rank in its cluster, and its part of the columns.
  void emitRank();
  SmallVector<Value> exchangeCluster(const Reduction &reduce,
                                     ArrayRef<Value> totals);
  SmallVector<Value> await(Location at, ArrayAttr kinds, Value number);
  FailureOr<Value> getNumber(Operation *half, Value number);
  LogicalResult emitBegin(RowReduceBeginOp begin, ArrayRef<Value> totals);
  LogicalResult emitEnd(RowReduceEndOp end);

  // Sums over rows.
  void emitAccumulate(AccumulateOp op, Chunk chunk);
  LogicalResult emitColumnReduce(TileStoreOp store, ColumnReduceOp reduce);

  // Values.
  int64_t getNumRows(Type type) const;
  Type getFragmentType(Type type) const;
  Value getFragment(Value value, int64_t row, int64_t vector,
                    int64_t numVectors);
  LogicalResult emitElementwise(Operation *op, int64_t numVectors);
  bool isZeroOnPadding(Value value) const;
  arith::MulFOp getFusedProduct(Value value) const;
  bool isFusedProduct(Operation *op) const;
  Value emitIdentity(ReduceKind kind, Type type);
  Value emitCombine(ReduceKind kind, Value lhs, Value rhs);
  Value emitI32(int64_t value);
  Value emitIndex(int64_t value);
  int64_t getAlignment(Type elementType, bool predicated, Value base) const;
  template <typename OpTy> Value getRowOffset(OpTy op, int64_t row);
  ArrayRef<Value> getRowLive(Value rows) { return rowLive[rows]; }
  /// `valid` of a store to tile row `row` in vector `position`; null: all.
  Value getStoreValid(TileStoreOp store, int64_t row, Value valid,
                      int64_t count);

  OpBuilder &builder;
  Location loc;
  KernelArguments &arguments;
  ScheduleAttr schedule;
  const ChipInfo &chip;
  const ProgramFacts &facts;

  // Per kernel.
  WorkgroupPlan workgroup;
  // Null unless blocks of a cluster exchange values.
  ExchangeAttr exchange;
  // Whether the next wait for copies is to make the exchange ready, as the loop
  // has reductions in two halves.
  bool readyAtWait = false;
  // Offsets of rings.
  DenseMap<Value, int64_t> rings;
  // Values of which all vectors are held at once, not a chunk at a time.
  DenseSet<Value> held;
  // The number of the first vector of the chunk that is being emitted.
  int64_t chunkBegin = 0;
  // i32, per kernel. The rank and where its part ends: in clusters only.
  Value thread, threadInRow, rowGroup, lane, subgroup, firstColumn, rank,
      endColumn;
  // Per tile.
  IRMapping *scalars = nullptr;
  Value toggle;
  Value columns;
  int64_t reductionNumber = 0;
  /// Whether all vectors of a thread are handled together, whatever the
  /// schedule says of a tile.
  bool isOnce = false;
  /// The row and the vector of the chunk that ops are emitted for, if not all
  /// of the chunk's together.
  std::optional<int64_t> onlyRow, onlyVector;
  DenseMap<Value, SmallVector<Value>> fragments;
  DenseMap<std::pair<Value, Value>, SmallVector<Value>> rowOffsets;
  DenseMap<Value, SmallVector<Value>> rowLive;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_THREADPROGRAM_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramBuilder.h - builds the tile program of a cluster ------------===//

#ifndef RMSNORM_LIB_TILING_PROGRAMBUILDER_H
#define RMSNORM_LIB_TILING_PROGRAMBUILDER_H

#include "ClusterProgram.h"
#include "RowSums.h"
#include "VectorizeLinalg.h"

#include "RMSNorm/IR/AccessMap.h"

#include <list>

namespace mlir::rmsnorm::program {

/// Where an op stands among the rows while its body is vectorized.
struct Frame {
  unsigned member = 0;
  /// The access for which it is computed, if it is no member.
  std::optional<unsigned> computed;
  access::Layout loops;
  /// If it is an op that a norm, the member, consists of.
  const struct NormBody *norm = nullptr;
};

/// The linalg ops that a norm consists of, beside the program.
struct NormBody {
  Block block;
  access::LoopNest nest;
  /// Where rows and columns are in what its ops read and compute.
  DenseMap<Value, access::Layout> layouts;

  /// The operand of the norm that reads `value`, if one does.
  OpOperand *findOperand(Value value) const {
    for (const auto &[operand, map] : nest.reads)
      if (operand->get() == value)
        return operand;
    return nullptr;
  }
};

/// A value that the program writes: elements of `landing`, which `destination`
/// becomes.
struct Written {
  unsigned member;
  Value computed;
  Value landing;
  Value destination;
  access::Layout layout, sourceLayout;
  RowSum sum;
  bool isSum = false;
  /// The dimensions of the rows that a sum is not over, and the destination's
  /// that are one of `landing` each, if it is split.
  SmallVector<int64_t> segments;
  SmallVector<ReassociationIndices> split;
  /// And before that dimensions of one element that are dropped, if there are,
  /// of the destination `whole`.
  SmallVector<ReassociationIndices> dropped;
  Value whole;
  /// What is written into one tensor has one number.
  unsigned number = 0;
  const access::Access *access = nullptr;
  /// Reshapes that lead from what is written to `landing`, the last one first.
  SmallVector<Operation *> views;
};

/// Builds the tile program of a cluster, step by step: what its columns are
/// (ProgramPlaces.cpp), what its members compute (ProgramOps.cpp) of what they
/// read (ProgramReads.cpp), what of it is written where (ProgramResults.cpp),
/// and the op around it (ClusterProgram.cpp). The first step that fails says
/// why.
class ProgramBuilder final : public RowValues {
public:
  ProgramBuilder(RewriterBase &rewriter, const access::Cluster &cluster,
                 bool amongOthers, bool onAllChips)
      : cluster(cluster), digits(cluster.getDigits()), amongOthers(amongOthers),
        onAllChips(onAllChips), rewriter(rewriter),
        builder(rewriter.getContext()), current(cluster.getAnchor()) {
    tile = program.addArgument(builder.getIndexType(),
                               cluster.getAnchor()->getLoc());
    builder.setInsertionPointToStart(&program);
    for (const access::Member &member : cluster.getMembers())
      members.insert(member.op);
  }
  ~ProgramBuilder() override {
    for (Operation *op : created)
      if (op->use_empty())
        rewriter.eraseOp(op);
    program.dropAllReferences();
    for (NormBody &norm : norms)
      norm.block.dropAllReferences();
  }

  /// Puts `rows` in the place of the cluster or, where it is `trial`, nothing.
  std::optional<NoProgram> run(RowsOp &rows, bool trial = false);
  /// The values that its results take the place of.
  auto getLandings() const {
    return llvm::map_range(
        written, [](const Written &output) { return output.landing; });
  }

  FailureOr<SmallVector<int64_t>> getShape(OpOperand &operand) override;
  FailureOr<Value> getVector(OpOperand &operand) override;
  bool isPerColumn(OpOperand &operand) override;
  void setVector(OpResult result, Value vector) override {
    (frame->computed ? computed[*frame->computed] : vectors[result]) = vector;
    origins.try_emplace(vector, frame->member);
  }
  bool sumsRows(linalg::LinalgOp op) override;
  bool isOfOneValue(linalg::LinalgOp op) override;
  bool isIndexing(Operation &payload) override;
  FailureOr<Value>
  gather(tensor::ExtractOp extract,
         function_ref<FailureOr<Value>(Value)> getIndex) override;

private:
  /// What is read at an index of what is computed, or put there, and what does
  /// so.
  struct Inclusion {
    access::Layout index, own;
    Operation *op;
  };

  LogicalResult fail(const Twine &why) {
    if (!problem)
      problem = NoProgram{current, why.str()};
    return failure();
  }

  /// No member is known to be the reason.
  LogicalResult failTogether(const Twine &why) {
    current = nullptr;
    return fail(why);
  }

  LogicalResult failWidest(const Twine &why);
  bool isLonger(Value row) const;
  SmallVector<unsigned> getColumnLeaves(ArrayRef<access::Sum> layout) const;
  int64_t countElements(ArrayRef<unsigned> leaves) const;
  bool isPartial(ArrayRef<unsigned> leaves) const;
  bool isPrefix(ArrayRef<unsigned> part, ArrayRef<unsigned> whole) const {
    return part.size() <= whole.size() && whole.take_front(part.size()) == part;
  }
  access::Layout getOperandLayout(OpOperand &operand);
  const access::Access *findAccess(OpOperand &operand);
  unsigned getNumber(const access::Access &access) const {
    return &access - cluster.getAccesses().data();
  }

  void orderRows();
  LogicalResult findColumns();
  SmallVector<std::pair<int64_t, int64_t>>
  getExtents(ArrayRef<unsigned> leaves) const;
  bool areKnown(ArrayRef<unsigned> leaves) const;
  bool follow(const Inclusion &inclusion);
  std::optional<int64_t> getOffset(const access::Layout &index,
                                   const access::Layout &own) const;
  void addInclusion(const access::Layout &index, const access::Layout *own,
                    Operation *op);
  void addViewInclusion(Value value);
  void collectInclusions();
  bool placeBetween(ArrayRef<unsigned> leaves);
  LogicalResult findDigits();
  void joinDigits();
  FailureOr<SmallVector<int64_t>> getShape(ArrayRef<unsigned> leaves);
  VectorType getVectorType(ArrayRef<int64_t> shape, Type element);
  FailureOr<SmallVector<int64_t>>
  getPartAt(int64_t offset, ArrayRef<int64_t> part, ArrayRef<int64_t> whole);
  LogicalResult emit(linalg::LinalgOp op, Frame where);
  LogicalResult emitNorm(Operation *op, Frame where);
  LogicalResult emitScatter(ScatterOp op, Frame where);
  LogicalResult emitAll();
  FailureOr<Value> getConstant(Value value, ArrayRef<int64_t> shape);
  FailureOr<Value> getMember(const access::Access &access, Location loc,
                             ArrayRef<unsigned> leaves);
  FailureOr<Value> getRead(const access::Access &access, Location loc,
                           ArrayRef<unsigned> leaves);
  /// What an access is to the rows, and its map.
  struct Place {
    TileKind kind;
    int64_t elements;
    /// The digits of what is accessed.
    SmallVector<int64_t> shape;
    AffineMap map;
    bool hasRow;
    /// How many of its columns have to lie side by side in memory, those of its
    /// innermost digit: 1 where each is stored by itself.
    int64_t run = 1;
  };
  /// Whether the innermost columns are in the last dimension of a tensor of
  /// type `type`.
  static bool hasColumnsLast(const Place &place, RankedTensorType type);
  static std::string whyNotInMemory(const Place &place, Value tensor,
                                    bool isLoad);
  std::optional<Place> getPlace(Value tensor, const access::Layout &layout,
                                ArrayRef<unsigned> order, unsigned numIndices,
                                std::string *why = nullptr);
  std::optional<Place> getPlace(const Written &output,
                                std::string *why = nullptr);
  std::string describeMap(StringRef expected, const access::Layout &layout,
                          ArrayRef<unsigned> order, unsigned numIndices) const;
  FailureOr<Value> load(const access::Access &access, ValueRange indices = {});
  Value createLoad(Value tensor, const Place &place, ValueRange indices);
  FailureOr<Value> takePart(Location loc, Value vector,
                            const access::Layout &index,
                            const access::Layout &whole,
                            ArrayRef<unsigned> leaves);
  Value findVector(Value value) const;
  FailureOr<Value> getVectorOfView(Value value);
  const access::Access *findRow(tensor::InsertSliceOp op) const;
  FailureOr<Value> assemble(tensor::InsertSliceOp op,
                            const access::Access *access);
  LogicalResult emitComputed(unsigned member, std::optional<unsigned> below);
  std::optional<std::pair<Value, access::Layout>>
  getAssembled(const access::Access &access) const;
  Value getBuffer(Value tensor, unsigned written = 0);

  Value getDestination(Value landing);
  Value createDestination(Value landing);
  Value createFill(Value scalar, Value into);
  Value fillAround(tensor::InsertSliceOp insertion, Value scalar, Value into);
  LogicalResult fillRest(Written &output);
  bool dependsOnMembers(Value value);
  bool landAtOrigin(Written &output);
  void keepApart(const Written &output);
  Operation *findLast(const Written &output) const;
  void writeWhatIsRead(Written &output);
  bool leaveToOthers(Written &output);
  bool isPutTogetherOutside(const Written &output) const;
  static bool isNewer(const Written &other, const Written &output);
  static bool isOneTensor(const Written &a, const Written &b);
  LogicalResult collectWritten();
  Operation *findCopy(const Written &output) const;
  LogicalResult store(const Written &written);
  LogicalResult placeSum(Written &written);
  LogicalResult sumUp(Written &written);
  SmallVector<Operation *> getNeeded() const;
  Operation *getPosition() const;
  bool moveInFront(Operation *op, const DenseSet<Operation *> &users);
  LogicalResult checkOrder();
  RowsOp createRows();
  LogicalResult checkLimits(RowsOp rows);
  LogicalResult findError(function_ref<LogicalResult()> run, const Twine &what);
  LogicalResult vectorize(linalg::LinalgOp op);
  LogicalResult check(RowsOp rows);
  void replaceMembers(RowsOp rows);
  void moveScalars(RowsOp rows);
  void discard(RowsOp rows);

  const access::Cluster &cluster;
  const access::Digits &digits;
  const bool amongOthers, onAllChips;
  RewriterBase &rewriter;
  OpBuilder builder;
  std::optional<NoProgram> problem;
  /// The member in question.
  Operation *current;
  Block program;
  BlockArgument tile;
  /// Stand for the buffers: their arguments are to come.
  Block buffers;
  llvm::MapVector<std::pair<Value, unsigned>, BlockArgument> arguments;
  const Frame *frame = nullptr;
  DenseMap<Value, Value> vectors;
  DenseMap<unsigned, Value> computed;
  /// Where scatters, members, store their rows.
  DenseMap<Operation *, SmallVector<Value>> indices;
  /// The first member that computes a vector: copies have the same.
  DenseMap<Value, unsigned> origins;
  /// The order of undivided column digits in vectors.
  DenseMap<unsigned, unsigned> ranks;
  /// Column digits of the ops with the most columns.
  SmallVector<SmallVector<unsigned>> widest;
  /// Columns of the longest rows from one of an undivided column digit to the
  /// next.
  DenseMap<unsigned, int64_t> strides;
  /// Those of columns that have nothing to do with the longest rows.
  DenseSet<unsigned> unrelated;
  SmallVector<Inclusion, 0> inclusions;
  /// The digits of rmsnorm.rows.
  SmallVector<int64_t> columnDigits;
  /// Whether pairs of columns side by side are taken apart.
  bool hasPairs = false;
  int64_t columns = 1;
  std::optional<unsigned> dynamicColumns;
  /// Rows' digits that count more than one row.
  SmallVector<unsigned> rowDigits;
  SmallVector<Written, 2> written;
  DenseSet<Operation *> members;
  /// They, and what needs them.
  DenseSet<Operation *> afterMembers;
  std::list<NormBody> norms;
  /// Sums over rows, whose summands are computed last: nothing else uses them.
  std::vector<std::pair<linalg::LinalgOp, Frame>> sums;
  /// The sums that results of norms are.
  SmallVector<std::pair<Value, Value>> summands;
  /// Whether nothing is put in the place of the cluster.
  bool isTrial = false;
  /// What the program stands after, if it is not the last member.
  Operation *position = nullptr;
  /// Destinations that were made.
  SmallVector<Operation *, 1> created;
};

} // namespace mlir::rmsnorm::program

#endif // RMSNORM_LIB_TILING_PROGRAMBUILDER_H

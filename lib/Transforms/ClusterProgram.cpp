// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterProgram.cpp - the tile program of a cluster -----------------===//

#include "ClusterProgram.h"

#include "Decompose.h"
#include "RowOps.h"
#include "RowSums.h"
#include "RowsProgram.h"
#include "TileProgram.h"
#include "VectorizeLinalg.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

#include <list>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using linalg::LinalgOp;

namespace {
/// Where an op stands among the rows while its body is vectorized.
struct Frame {
  unsigned member = 0;
  /// The access for which it is computed, if it is no member.
  std::optional<unsigned> computed;
  Layout loops;
  /// If it is an op that a norm, the member, consists of.
  const struct NormBody *norm = nullptr;
};

/// The linalg ops that a norm consists of, beside the program.
struct NormBody {
  Block block;
  LoopNest nest;
  /// Where rows and columns are in what its ops read and compute.
  DenseMap<Value, Layout> layouts;

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
  Layout layout, sourceLayout;
  RowSum sum;
  bool isSum = false;
};

class ProgramBuilder final : public RowValues {
public:
  ProgramBuilder(RewriterBase &rewriter, const Cluster &cluster)
      : cluster(cluster), digits(cluster.getDigits()), rewriter(rewriter),
        builder(rewriter.getContext()), current(cluster.getAnchor()) {
    tile = program.addArgument(builder.getIndexType(),
                               cluster.getAnchor()->getLoc());
    builder.setInsertionPointToStart(&program);
    for (const Member &member : cluster.getMembers())
      members.insert(member.op);
  }
  ~ProgramBuilder() override {
    program.dropAllReferences();
    for (NormBody &norm : norms)
      norm.block.dropAllReferences();
  }

  std::optional<NoProgram> run();

  int64_t getElements(OpOperand &operand) override;
  FailureOr<Value> getVector(OpOperand &operand) override;
  bool isPerColumn(OpOperand &operand) override;
  void setVector(OpResult result, Value vector) override {
    (frame->computed ? computed[*frame->computed] : vectors[result]) = vector;
    origins.try_emplace(vector, frame->member);
  }
  Value getColumns(OpOperand &) override { return {}; }
  bool sumsRows(LinalgOp op) override;
  bool isIndexing(Operation &payload) override;
  FailureOr<Value>
  gather(LinalgOp op, tensor::ExtractOp extract, int64_t elements,
         Value columns,
         function_ref<FailureOr<Value>(Value)> getIndex) override;

private:
  LogicalResult fail(const Twine &why) {
    if (!problem)
      problem = NoProgram{current, why.str()};
    return failure();
  }

  SmallVector<unsigned> getColumnLeaves(ArrayRef<Sum> layout) const;
  unsigned getRank(unsigned leaf) const {
    auto it = ranks.find(leaf);
    return it == ranks.end() ? ranks.size() : it->second;
  }
  int64_t countElements(ArrayRef<unsigned> leaves) const;
  bool isPrefix(ArrayRef<unsigned> part, ArrayRef<unsigned> whole) const {
    return part.size() <= whole.size() && whole.take_front(part.size()) == part;
  }
  Layout getOperandLayout(OpOperand &operand);
  const Access *findAccess(OpOperand &operand);
  unsigned getNumber(const Access &access) const {
    return &access - cluster.getAccesses().data();
  }

  LogicalResult findColumns();
  LogicalResult emit(LinalgOp op, Frame where);
  LogicalResult emitNorm(Operation *op, Frame where);
  LogicalResult emitAll();
  FailureOr<Value> getConstant(Value value, int64_t elements);
  FailureOr<Value> getMember(const Access &access, OpOperand &operand);
  /// What an access is to the rows, and its map.
  struct Place {
    TileKind kind;
    int64_t elements;
    AffineMap map;
    bool hasRow;
  };
  std::optional<Place> getPlace(Value tensor, const Layout &layout,
                                ArrayRef<unsigned> order, bool hasIndex);
  FailureOr<Value> load(const Access &access, Value index = Value());
  Value createLoad(Value tensor, const Place &place, Value index);
  std::optional<std::pair<int64_t, int64_t>>
  getSteps(const Layout &index, const Layout &own,
           ArrayRef<unsigned> leaves) const;
  FailureOr<Value> takePart(Location loc, Value vector, const Layout &index,
                            const Layout &whole, ArrayRef<unsigned> leaves);
  Value extract(Location loc, Value vector, int64_t offset, int64_t count);
  Value findVector(Value value) const;
  FailureOr<Value> getVectorOfView(Value value);
  LogicalResult assemble(tensor::InsertSliceOp op);
  std::optional<std::pair<Value, Layout>>
  getAssembled(const Access &access) const;
  Value getBuffer(Value tensor, bool isWritten);

  Value getDestination(Value landing);
  bool isNewer(const Written &other, const Written &output);
  LogicalResult collectWritten();
  Operation *findCopy(const Written &output) const;
  LogicalResult store(const Written &written);
  LogicalResult sumUp(const Written &written);
  RowsOp createRows();
  LogicalResult findError(function_ref<LogicalResult()> run, const Twine &what);
  LogicalResult vectorize(LinalgOp op);
  LogicalResult check(RowsOp rows);
  void replaceMembers(RowsOp rows);
  void moveScalars(RowsOp rows);
  void moveUsers(RowsOp rows);

  const Cluster &cluster;
  const Digits &digits;
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
  /// The first member that computes a vector: copies have the same.
  DenseMap<Value, unsigned> origins;
  /// The order of undivided column digits in vectors.
  DenseMap<unsigned, unsigned> ranks;
  /// Column digits of the ops with the most columns.
  SmallVector<SmallVector<unsigned>> widest;
  int64_t columns = 1;
  std::optional<unsigned> dynamicColumns;
  /// Rows' digits that count more than one row.
  SmallVector<unsigned> rowDigits;
  SmallVector<Written, 2> written;
  DenseSet<Operation *> members;
  std::list<NormBody> norms;
  /// Sums over rows, whose summands are computed last: nothing else uses them.
  std::vector<std::pair<LinalgOp, Frame>> sums;
  /// The sums that results of norms are.
  SmallVector<std::pair<Value, Value>> summands;
};
} // namespace

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The undivided digits of columns in `layout`. Their order is the same for all
/// vectors: that in which members first have them.
SmallVector<unsigned>
ProgramBuilder::getColumnLeaves(ArrayRef<Sum> layout) const {
  SmallVector<unsigned> leaves;
  for (const Sum &sum : digits.resolve(Layout(layout)))
    for (const Term &term : sum.terms)
      if (!digits[term.digit].isRow && !llvm::is_contained(leaves, term.digit))
        leaves.push_back(term.digit);
  llvm::stable_sort(
      leaves, [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  return leaves;
}

int64_t ProgramBuilder::countElements(ArrayRef<unsigned> leaves) const {
  Size size;
  for (unsigned leaf : leaves)
    size = size * digits[leaf].size;
  return size.isStatic() ? size.getNumber() : kDynamicColumns;
}

LogicalResult ProgramBuilder::findColumns() {
  // What is divided by a size that only a call knows counts as several rows.
  std::function<void(unsigned)> addRow = [&](unsigned row) {
    const auto &parts = digits[row].parts;
    if (parts && !digits[parts->second].size.isStatic()) {
      addRow(parts->first);
      addRow(parts->second);
    } else if (!digits[row].size.isOne()) {
      rowDigits.push_back(row);
    }
  };
  llvm::for_each(cluster.getRowDigits(), addRow);
  for (unsigned row : rowDigits) {
    const Size &size = digits[row].size;
    const bool isKnown =
        size.isStatic() || llvm::is_contained(cluster.getRowDigits(), row) ||
        (size.getNumber() == 1 && size.getSources().size() == 1 &&
         digits.getSizes().getSource(size.getSources()[0]).value);
    if (digits[row].isPartial || !isKnown)
      return fail("divides rows by what is not known to divide them");
  }
  for (const Member &member : cluster.getMembers())
    for (unsigned leaf : getColumnLeaves(member.loops))
      ranks.try_emplace(leaf, ranks.size());
  for (const Member &member : cluster.getMembers()) {
    current = member.op;
    SmallVector<unsigned> leaves = getColumnLeaves(member.loops);
    const int64_t elements = countElements(leaves);
    for (unsigned leaf : leaves)
      if (const Size &size = digits[leaf].size;
          size.isStatic() && size.getNumber() > kMaxColumns)
        return fail("has rows of " + Twine(size.getNumber()) +
                    " elements, more than " + Twine(kMaxColumns));
    if (elements > columns)
      widest.clear();
    if (elements >= columns) {
      columns = elements;
      if (elements > 1 && !llvm::is_contained(widest, leaves))
        widest.push_back(leaves);
    }
    if (elements != kDynamicColumns)
      continue;
    if (leaves.size() != 1)
      return fail("divides columns of which only a call knows how many");
    if (dynamicColumns &&
        digits[*dynamicColumns].size != digits[leaves[0]].size)
      return fail("has columns of two sizes that only a call knows");
    dynamicColumns = leaves[0];
  }
  return success();
}

/// Where `operand` of the op of the frame lies, in the frame's loops.
Layout ProgramBuilder::getOperandLayout(OpOperand &operand) {
  auto op = cast<LinalgOp>(operand.getOwner());
  return getIndices(op.getMatchingIndexingMap(&operand), frame->loops);
}

int64_t ProgramBuilder::getElements(OpOperand &operand) {
  return countElements(getColumnLeaves(getOperandLayout(operand)));
}

bool ProgramBuilder::sumsRows(LinalgOp op) {
  for (auto [loop, type] :
       llvm::zip_equal(frame->loops, op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction &&
        digits.hasRows(digits.resolve(loop)))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

const Access *ProgramBuilder::findAccess(OpOperand &operand) {
  const OpOperand *read =
      frame->norm ? frame->norm->findOperand(operand.get()) : &operand;
  for (const Access &access : cluster.getAccesses())
    if (access.member == frame->member && access.parent == frame->computed &&
        access.operand == read && access.isRead())
      return &access;
  return nullptr;
}

bool ProgramBuilder::isPerColumn(OpOperand &operand) {
  const Access *access = findAccess(operand);
  if (!access || access->kind != Access::Kind::load)
    return false;
  return !getColumnLeaves(access->layout).empty() &&
         llvm::none_of(access->layout, [&](const Sum &sum) {
           return digits.hasRows(digits.resolve(sum));
         });
}

FailureOr<Value> ProgramBuilder::getConstant(Value value, int64_t elements) {
  auto type =
      VectorType::get({1, elements}, getElementTypeOrSelf(value.getType()));
  Location loc = value.getLoc();
  Attribute attribute;
  DenseElementsAttr splat;
  Value scalar;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat())
    attribute = splat.getSplatValue<Attribute>();
  else if (auto fill = value.getDefiningOp<linalg::FillOp>())
    scalar = fill.value();
  else
    return fail("reads a tensor without contents");
  if (attribute || matchPattern(scalar, m_Constant(&attribute)))
    return Value(arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, attribute)));
  return Value(vector::BroadcastOp::create(builder, loc, type, scalar));
}

/// What another member computes in the same row.
FailureOr<Value> ProgramBuilder::getMember(const Access &access,
                                           OpOperand &operand) {
  Value vector = vectors.lookup(access.value);
  if (!vector)
    return fail("uses what is computed later");
  const int64_t own = cast<VectorType>(vector.getType()).getDimSize(1);
  const SmallVector<unsigned> leaves =
      getColumnLeaves(getOperandLayout(operand));
  switch (cluster.getRelation(access)) {
  case Relation::onePerRow:
    return vector;
  case Relation::groups:
    if (!isPrefix(leaves, getColumnLeaves(frame->loops)))
      return fail("uses a value for each column of a group");
    [[fallthrough]];
  case Relation::sameColumns:
    if (own != countElements(leaves))
      return fail("uses other columns");
    return vector;
  case Relation::part:
    return takePart(operand.getOwner()->getLoc(), vector, access.layout,
                    *cluster.findLayout(access.value), leaves);
  }
  llvm_unreachable("expected a relation");
}

/// Where the elements at `index`, of the columns `leaves`, lie in a row with
/// the layout `own`: the place of the first, and the step to the next.
std::optional<std::pair<int64_t, int64_t>>
ProgramBuilder::getSteps(const Layout &index, const Layout &own,
                         ArrayRef<unsigned> leaves) const {
  const SmallVector<unsigned> ownLeaves = getColumnLeaves(own);
  auto getWeight = [&](ArrayRef<unsigned> all, unsigned leaf) {
    return countElements(
        all.drop_front(llvm::find(all, leaf) - all.begin() + 1));
  };
  int64_t offset = 0;
  DenseMap<unsigned, int64_t> factors;
  for (auto [from, to] :
       llvm::zip_equal(digits.resolve(index), digits.resolve(own))) {
    if (!digits.hasColumns(to)) {
      if (digits.hasColumns(from) || from.offset != to.offset)
        return std::nullopt;
      continue;
    }
    std::optional<int64_t> scale;
    for (const Term &term : to.terms) {
      const int64_t weight = getWeight(ownLeaves, term.digit);
      if (digits[term.digit].isRow || !term.factor.isStatic() ||
          weight % term.factor.getNumber() != 0 ||
          (scale && *scale != weight / term.factor.getNumber()))
        return std::nullopt;
      scale = weight / term.factor.getNumber();
    }
    offset += (from.offset - to.offset) * *scale;
    for (const Term &term : from.terms) {
      if (digits[term.digit].isRow || !term.factor.isStatic())
        return std::nullopt;
      factors[term.digit] += term.factor.getNumber() * *scale;
    }
  }
  std::optional<int64_t> step;
  for (unsigned leaf : leaves) {
    const int64_t weight = getWeight(leaves, leaf);
    const int64_t factor = factors.lookup(leaf);
    if (factor % weight != 0 || (step && *step != factor / weight))
      return std::nullopt;
    step = factor / weight;
  }
  if (!step || factors.size() != leaves.size())
    return std::nullopt;
  return std::make_pair(offset, *step);
}

/// The columns `leaves` of `vector`, which has the layout `whole`, at `index`.
FailureOr<Value> ProgramBuilder::takePart(Location loc, Value vector,
                                          const Layout &index,
                                          const Layout &whole,
                                          ArrayRef<unsigned> leaves) {
  const int64_t own = cast<VectorType>(vector.getType()).getDimSize(1);
  const int64_t count = countElements(leaves);
  auto steps = getSteps(index, whole, leaves);
  if (!steps || own == kDynamicColumns || count == kDynamicColumns)
    return fail("uses a part of a row");
  auto [offset, step] = *steps;
  if (step == 1 && offset == 0 && count == own)
    return vector;
  if (step == 1)
    return extract(loc, vector, offset, count);
  if (step != 2)
    return fail("uses a part of a row");
  Value pairs = extract(loc, vector, offset - offset % 2, 2 * count);
  return Value(vector::DeinterleaveOp::create(builder, loc, pairs)
                   ->getResult(offset % 2));
}

/// `count` columns of `vector` from `offset` on.
Value ProgramBuilder::extract(Location loc, Value vector, int64_t offset,
                              int64_t count) {
  if (cast<VectorType>(vector.getType()).getDimSize(1) == count)
    return vector;
  return vector::ExtractStridedSliceOp::create(
      builder, loc, vector, ArrayRef<int64_t>{0, offset},
      ArrayRef<int64_t>{1, count}, ArrayRef<int64_t>{1, 1});
}

/// The vector of what a member computes, or of a view of all of it.
Value ProgramBuilder::findVector(Value value) const {
  while (true) {
    if (Value vector = vectors.lookup(value))
      return vector;
    Operation *op = value.getDefiningOp();
    if (!op || !isView(op) || isa<tensor::ExtractSliceOp>(op))
      return {};
    value = op->getOperand(0);
  }
}

/// Puts columns into a row, which is not loaded if none of it stays.
LogicalResult ProgramBuilder::assemble(tensor::InsertSliceOp op) {
  const Layout &whole = *cluster.findLayout(op.getResult());
  const Layout *own = cluster.findLayout(op.getSource());
  FailureOr<Value> part = getVectorOfView(op.getSource());
  std::optional<Layout> index =
      own ? writeThrough(op, digits.resolve(*own)) : std::nullopt;
  if (failed(part) || !index)
    return fail("puts together what is not computed");
  auto steps = getSteps(*index, whole, getColumnLeaves(*own));
  const int64_t elements = countElements(getColumnLeaves(whole));
  if (!steps || elements == kDynamicColumns)
    return fail("puts rows together in an order of their own");
  auto [offset, step] = *steps;
  Value row = vectors.lookup(op.getDest());
  if (!row && !isInitRead(op.getDestMutable())) {
    auto type = VectorType::get({1, elements}, op.getType().getElementType());
    row = arith::ConstantOp::create(builder, op.getLoc(),
                                    builder.getZeroAttr(type));
  } else if (!row) {
    std::optional<Place> place =
        getPlace(op.getDest(), whole, getColumnLeaves(whole),
                 /*hasIndex=*/false);
    if (!place || op.getDest().getDefiningOp<tensor::EmptyOp>())
      return fail("puts parts into what is not known");
    row = createLoad(op.getDest(), *place, /*index=*/Value());
  }
  auto insert = [&](Value value, int64_t place) -> Value {
    if (value.getType() == row.getType())
      return value;
    return vector::InsertStridedSliceOp::create(
        builder, op.getLoc(), value, row, ArrayRef<int64_t>{0, place},
        ArrayRef<int64_t>{1, 1});
  };
  if (step == 1) {
    vectors[op.getResult()] = insert(*part, offset);
    return success();
  }
  if (step != 2)
    return fail("puts rows together in an order of their own");
  // The other columns of the pairs stay.
  const int64_t side = offset % 2;
  Value pairs = extract(op.getLoc(), row, offset - side,
                        2 * cast<VectorType>(part->getType()).getDimSize(1));
  auto known = pairs.getDefiningOp<vector::InterleaveOp>();
  Value other =
      known ? known->getOperand(1 - side)
            : vector::DeinterleaveOp::create(builder, op.getLoc(), pairs)
                  ->getResult(1 - side);
  vectors[op.getResult()] =
      insert(vector::InterleaveOp::create(builder, op.getLoc(),
                                          side == 0 ? *part : other,
                                          side == 0 ? other : *part),
             offset - side);
  return success();
}

/// The vector of `value`, a view of what members compute.
FailureOr<Value> ProgramBuilder::getVectorOfView(Value value) {
  if (Value vector = findVector(value))
    return vector;
  const Layout *own = cluster.findLayout(value);
  if (!own)
    return fail("uses a view of what is not known");
  Layout index = digits.resolve(*own);
  Digits scratch = digits;
  Value root = value;
  while (!vectors.contains(root)) {
    Operation *op = root.getDefiningOp();
    std::optional<Layout> next =
        op && isView(op) ? readThrough(scratch, op, index) : std::nullopt;
    if (!next || scratch.size() != digits.size())
      return fail("uses a view of what is not known");
    index = std::move(*next);
    root = op->getOperand(0);
  }
  return takePart(value.getLoc(), vectors.lookup(root), index,
                  *cluster.findLayout(root), getColumnLeaves(*own));
}

/// Whether the columns of `access` lie side by side in a tensor of `shape`:
/// they are the innermost index, and others that are to be counted in one with
/// it.
static bool hasColumnsTogether(const AccessMap &access,
                               ArrayRef<int64_t> shape) {
  int64_t next = 1, place = shape.size();
  for (const AccessMap::Digit &digit :
       access.getDigits(access.getColumnDim())) {
    if (digit.place != --place || digit.factor != 1 || digit.divisor != next)
      return false;
    next *= digit.modulus;
    // All but the outermost one fill their dimension.
    if (digit.modulus != 0 && shape[place] != digit.modulus &&
        access.getPeriod() == 0)
      return false;
  }
  return true;
}

std::optional<ProgramBuilder::Place>
ProgramBuilder::getPlace(Value tensor, const Layout &layout,
                         ArrayRef<unsigned> order, bool hasIndex) {
  // In the order of the vector's elements.
  const SmallVector<unsigned> own = getColumnLeaves(layout);
  SmallVector<unsigned> leaves(order);
  llvm::erase_if(leaves,
                 [&](unsigned leaf) { return !llvm::is_contained(own, leaf); });
  if (leaves.size() != own.size())
    return std::nullopt;
  Place place;
  int64_t period = 0;
  place.elements = countElements(leaves);
  place.hasRow = llvm::any_of(digits.resolve(layout), [&](const Sum &sum) {
    return digits.hasRows(sum);
  });
  // Of a single row the number is that of the first dimension of size 1.
  std::optional<size_t> number;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (rowDigits.empty() && !hasIndex)
    for (auto [dim, sum] : llvm::enumerate(layout))
      if (!number && digits.resolve(sum) == Sum() && type.getDimSize(dim) == 1)
        number = dim;
  place.hasRow |= number.has_value();
  if (leaves.empty()) {
    place.kind = TileKind::row;
  } else if (llvm::is_contained(widest, leaves)) {
    place.kind = place.hasRow || hasIndex ? TileKind::tile : TileKind::column;
  } else if (llvm::any_of(widest, [&](ArrayRef<unsigned> whole) {
               return isPrefix(leaves, whole);
             })) {
    place.kind = TileKind::group;
  } else if (llvm::is_contained(widest, SmallVector<unsigned>(order)) &&
             ArrayRef(order).take_back(leaves.size()) == ArrayRef(leaves)) {
    // One for each column of a group, the same for all groups.
    if (place.hasRow || hasIndex)
      return std::nullopt;
    place.kind = TileKind::column;
    period = place.elements;
    place.elements = countElements(order);
  } else {
    // A part of a row.
    place.kind = place.hasRow || hasIndex ? TileKind::tile : TileKind::column;
  }
  const SmallVector<unsigned> cover = digits.getCover(leaves);
  // All rows by their number, where one index counts them so.
  SmallVector<unsigned> variables;
  Layout rest = digits.resolve(layout);
  if (place.hasRow && rowDigits.size() > 1) {
    SmallVector<Sum> sums;
    SmallVector<Size> sizes;
    for (unsigned row : rowDigits) {
      sums.push_back(digits.getSum(row));
      sizes.push_back(digits[row].size);
    }
    std::optional<Sum> all = digits.join(sums, sizes);
    for (auto [dim, sum] : llvm::enumerate(rest))
      if (all && sum == digits.resolve(*all))
        number = dim;
    if (number)
      rest[*number] = Sum();
  }
  if (place.hasRow && !number)
    variables = rowDigits;
  const unsigned first = variables.size();
  llvm::append_range(variables, cover);
  LayoutMap map = cluster.getMap(rest, variables, hasIndex);
  if (!map.sizes.empty() ||
      llvm::is_contained(map.map.getResults(), AffineExpr()))
    return std::nullopt;
  // One column in place of several digits.
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < first; ++dim)
    dims.push_back(getAffineDimExpr(dim + number.has_value(), context));
  const unsigned rowDims = number ? 1 : first;
  AffineExpr column = getAffineDimExpr(rowDims, context);
  if (period != 0)
    column = column % period;
  int64_t inner = period != 0 ? period : place.elements;
  for (auto [digit, next] : llvm::enumerate(cover)) {
    const Size &size = digits[next].size;
    if (cover.size() == 1) {
      dims.push_back(column);
      break;
    }
    if (!size.isStatic())
      return std::nullopt;
    inner /= size.getNumber();
    AffineExpr part = inner == 1 ? column : column.floorDiv(inner);
    dims.push_back(digit == 0 ? part : part % size.getNumber());
  }
  AffineMap result = map.map.replaceDimsAndSymbols(
      dims, {}, rowDims + !cover.empty(), hasIndex);
  if (number) {
    SmallVector<AffineExpr> exprs(result.getResults());
    exprs[*number] = getAffineDimExpr(0, context);
    result = AffineMap::get(result.getNumDims(), result.getNumSymbols(), exprs,
                            context);
  }
  const bool hasColumn = place.kind != TileKind::row;
  if (AccessMap access(result, hasColumn); access.isValid())
    result = access.joinDigits();
  place.map = result;
  const AccessMap access(place.map, hasColumn);
  const bool isTile =
      place.kind == TileKind::tile || place.kind == TileKind::column;
  if (!access.isValid() ||
      (isTile && !hasColumnsTogether(access, type.getShape())))
    return std::nullopt;
  return place;
}

/// What the body calls `tensor`. What is read and what is written are apart:
/// whether they are one buffer is up to bufferization.
Value ProgramBuilder::getBuffer(Value tensor, bool isWritten) {
  BlockArgument &argument = arguments[{tensor, isWritten}];
  if (!argument)
    argument = buffers.addArgument(RowsOp::getArgumentType(tensor.getType()),
                                   tensor.getLoc());
  return argument;
}

FailureOr<Value> ProgramBuilder::load(const Access &access, Value index) {
  std::optional<Place> place = getPlace(
      access.value, access.layout, getColumnLeaves(frame->loops), bool(index));
  if (!place)
    return fail("reads columns in an order of their own");
  if (auto empty = access.value.getDefiningOp<tensor::EmptyOp>())
    return fail("reads a tensor without contents");
  return createLoad(access.value, *place, index);
}

Value ProgramBuilder::createLoad(Value tensor, const Place &place,
                                 Value index) {
  auto type = VectorType::get({1, place.elements},
                              getElementTypeOrSelf(tensor.getType()));
  auto load = TileLoadOp::create(builder, current->getLoc(), type, place.kind,
                                 getBuffer(tensor, /*isWritten=*/false),
                                 place.hasRow ? Value(tile) : Value(), index,
                                 /*columns=*/Value(),
                                 /*map=*/AffineMapAttr());
  setAccess(load, place.map);
  return load;
}

FailureOr<Value> ProgramBuilder::getVector(OpOperand &operand) {
  auto op = cast<LinalgOp>(operand.getOwner());
  // The summand of one row: RowSum says what is added to.
  if (op.isDpsInit(&operand) && sumsRows(op)) {
    FloatType f32 = builder.getF32Type();
    ReduceKind kind = *getReduceKind(getCombiner(op, operand));
    auto identity =
        FloatAttr::get(f32, getIdentity(kind, f32.getFloatSemantics()));
    return Value(arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(VectorType::get({1, getElements(operand)}, f32),
                               Attribute(identity))));
  }
  const Access *access = findAccess(operand);
  if (!access && frame->norm) {
    if (Value vector = vectors.lookup(operand.get()))
      return vector;
    return getConstant(operand.get(), getElements(operand));
  }
  if (!access)
    return fail("reads what is not known");
  switch (access->kind) {
  case Access::Kind::constant:
    return getConstant(access->value, getElements(operand));
  case Access::Kind::load:
    return load(*access);
  case Access::Kind::member:
    return getMember(*access, operand);
  case Access::Kind::computed:
    if (Value vector = computed.lookup(getNumber(*access)))
      return vector;
    return fail("uses what is computed where it is used");
  case Access::Kind::assembled:
    if (Value vector = vectors.lookup(access->value))
      return takePart(op.getLoc(), vector, access->layout,
                      *cluster.findLayout(access->value),
                      getColumnLeaves(getOperandLayout(operand)));
    return fail("uses rows that are put together");
  default:
    return fail("reads what is not known");
  }
}

/// Whether `payload` counts loops for what reads tables.
bool ProgramBuilder::isIndexing(Operation &payload) {
  if (isa<linalg::IndexOp>(payload))
    return true;
  return isa<arith::AddIOp, affine::AffineApplyOp>(payload) &&
         llvm::any_of(payload.getOperands(), [&](Value operand) {
           Operation *definition = operand.getDefiningOp();
           return definition && definition->getBlock() == payload.getBlock() &&
                  isIndexing(*definition);
         });
}

FailureOr<Value>
ProgramBuilder::gather(LinalgOp op, tensor::ExtractOp extract, int64_t, Value,
                       function_ref<FailureOr<Value>(Value)> getIndex) {
  for (const Access &access : cluster.getAccesses()) {
    if (access.member != frame->member || access.parent != frame->computed ||
        access.extract != extract)
      continue;
    if (access.indices.empty())
      return load(access);
    if (access.indices.size() > 1)
      return fail("gathers by several indices");
    FailureOr<Value> index = getIndex(access.indices.front());
    if (failed(index))
      return failure();
    return load(access, *index);
  }
  return fail("gathers what is not known");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Runs `run`, and takes the error it reports for the problem.
LogicalResult ProgramBuilder::findError(function_ref<LogicalResult()> run,
                                        const Twine &what) {
  std::string message;
  ScopedDiagnosticHandler handler(
      builder.getContext(), [&](Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          message = diagnostic.str();
        return success();
      });
  return succeeded(run()) ? success() : fail(what + message);
}

LogicalResult ProgramBuilder::vectorize(LinalgOp op) {
  if (std::string reason = whyNotVectorizable(op); !reason.empty())
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
      return fail("uses numbers of loops");
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // Reductions along rows leave groups of their columns, if anything.
    const SmallVector<unsigned> kept = getColumnLeaves(getOperandLayout(init));
    if (op.getNumReductionLoops() > 0 &&
        !isPrefix(kept, getColumnLeaves(frame->loops)))
      return fail("reduces other columns than the last of a group");
    if (op.getNumReductionLoops() > 0 && kept.empty() &&
        countElements(getColumnLeaves(frame->loops)) != columns)
      return fail("reduces a part of the columns");
  }
  LogicalResult result = vectorize(op);
  frame = nullptr;
  return result;
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
    LogicalResult result = success();
    // What it needs comes after it in the list.
    for (const Access &access : llvm::reverse(cluster.getAccesses()))
      if (!isa<tensor::InsertSliceOp>(step.op) && succeeded(result) &&
          access.kind == Access::Kind::computed &&
          access.member == step.frame.member)
        result = emit(access.value.getDefiningOp<LinalgOp>(),
                      {access.member, getNumber(access), access.loops});
    if (failed(result))
      return failure();
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(step.op))
      result = assemble(insertion);
    else if (auto op = dyn_cast<LinalgOp>(step.op))
      result = emit(op, step.frame);
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

/// The row that what is written is put into, if it is a row of the cluster that
/// parts are put together to; the last one. And where it lies in the landing.
std::optional<std::pair<Value, Layout>>
ProgramBuilder::getAssembled(const Access &access) const {
  for (Value value = access.value; value != access.landing;) {
    auto insertion = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!insertion)
      break;
    if (const Layout *layout = cluster.findLayout(value))
      return std::make_pair(value, *layout);
    value = insertion.getDest();
  }
  // The row itself may be inserted as a whole.
  SmallVector<Operation *> path;
  Value row = access.landing;
  while (!cluster.findLayout(row)) {
    Operation *op = row.getDefiningOp();
    if (!op || !(isView(op) || isa<tensor::InsertSliceOp>(op)))
      return std::nullopt;
    path.push_back(op);
    row = op->getOperand(0);
  }
  if (!row.getDefiningOp<tensor::InsertSliceOp>())
    return std::nullopt;
  Layout layout = *cluster.findLayout(row);
  Digits scratch = digits;
  for (Operation *op : llvm::reverse(path)) {
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    layout = scratch.resolve(layout);
    std::optional<Layout> next = insertion ? writeThrough(insertion, layout)
                                           : writeThrough(scratch, op, layout);
    if (!next || scratch.size() != digits.size())
      return std::nullopt;
    layout = std::move(*next);
  }
  return std::make_pair(row, layout);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// What the rows of `landing` are written into: the newest tensor that has all
/// else of it.
Value ProgramBuilder::getDestination(Value landing) {
  auto isLanding = [&](Value value) {
    return llvm::any_of(written, [&](const Written &output) {
      return output.landing == value;
    });
  };
  std::function<bool(Value)> isOfMember = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && (members.contains(op) || isLanding(value) ||
                  ((isView(op) || isa<tensor::InsertSliceOp>(op)) &&
                   isOfMember(op->getOperand(0))));
  };
  Value destination = landing;
  bool isWhole = true;
  while (Operation *op = destination.getDefiningOp()) {
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    if (insertion &&
        (isLanding(destination) || cluster.findLayout(destination) ||
         isOfMember(insertion.getSource())))
      destination = insertion.getDest(), isWhole = false;
    else if (auto fill = dyn_cast<linalg::FillOp>(op); fill && isWhole)
      destination = fill.getOutputs().front();
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op);
             dps && (members.contains(op) || isLanding(destination)))
      destination = dps.getTiedOpOperand(cast<OpResult>(destination))->get();
    else if (isView(op) && !isa<tensor::ExtractSliceOp>(op) &&
             isOfMember(op->getOperand(0)))
      destination = op->getOperand(0);
    else
      break;
  }
  auto fits = [&](Value value) {
    return succeeded(verifyCompatibleShape(value.getType(), landing.getType()));
  };
  while (!fits(destination) && isView(destination.getDefiningOp()) &&
         !isa<tensor::ExtractSliceOp>(destination.getDefiningOp()))
    destination = destination.getDefiningOp()->getOperand(0);
  return fits(destination) ? destination : Value();
}

LogicalResult ProgramBuilder::collectWritten() {
  for (const Access &access : cluster.getAccesses()) {
    if (access.isRead())
      continue;
    const Member &member = cluster.getMembers()[access.member];
    current = member.op;
    Written output{access.member,
                   access.source,
                   access.landing,
                   Value(),
                   access.landingLayout,
                   access.sourceLayout,
                   RowSum(),
                   access.kind == Access::Kind::accumulate};
    if (auto assembled = getAssembled(access)) {
      output.computed = assembled->first;
      output.layout = assembled->second;
      output.sourceLayout = *cluster.findLayout(output.computed);
      if (cluster.findLayout(output.landing))
        output.landing = output.computed;
    }
    if (llvm::any_of(written, [&](const Written &other) {
          return other.landing == output.landing &&
                 other.computed == output.computed;
        }))
      continue;
    if (access.kind == Access::Kind::escape) {
      auto source = dyn_cast<OpResult>(access.source);
      output.isSum = source && members.contains(source.getOwner()) &&
                     cluster.isSumOverRows(source);
    }
    if (output.isSum) {
      auto sum = dyn_cast<OpResult>(access.source);
      if (access.landing != access.source)
        return fail("has views of sums");
      for (auto [loop, row] : llvm::zip(member.loops, cluster.getRowDigits()))
        if (!(digits.resolve(loop) == digits.resolve(digits.getSum(row))))
          return fail("sums over rows in another order");
      const int64_t rowDims = cluster.getRowDigits().size();
      output.sum = RowSum::match(sum, rowDims, /*withTail=*/true);
      // Rows have no dimensions of size 1.
      for (int64_t &dim : output.sum.dims) {
        if (digits[cluster.getRowDigits()[dim]].size.isOne())
          return fail("sums over single rows");
        dim -= llvm::count_if(
            cluster.getRowDigits().take_front(dim),
            [&](unsigned row) { return digits[row].size.isOne(); });
      }
      if (llvm::any_of(rowDigits, [&](unsigned row) {
            return !llvm::is_contained(cluster.getRowDigits(), row);
          }))
        return fail("sums over rows that are divided");
      output.landing = output.sum.getResult(sum);
    }
    written.push_back(std::move(output));
  }
  for (Written &output : written) {
    current = cluster.getMembers()[output.member].op;
    if (output.isSum) {
      Value destination = output.computed;
      if (Value last = output.sum.getDestination())
        destination = last;
      while (Operation *op = destination.getDefiningOp()) {
        if (!members.contains(op))
          break;
        destination = cast<DestinationStyleOpInterface>(op)
                          .getTiedOpOperand(cast<OpResult>(destination))
                          ->get();
      }
      if (auto fill = destination.getDefiningOp<linalg::FillOp>();
          fill && !output.sum.init)
        destination = fill.getOutputs().front();
      output.destination = destination;
      continue;
    }
    output.destination = getDestination(output.landing);
    if (!output.destination)
      return fail("writes a view of what is not there");
  }
  // Of several that are put together one after another the last is left.
  for (const Written &output : written)
    for (const Written &other : written)
      if (output.destination == other.destination &&
          output.landing != other.landing && isNewer(other, output) &&
          !output.landing.hasOneUse())
        return fail("uses a tensor before all of it is written");
  return success();
}

/// Whether `other` is inserted into what `output` is inserted into.
bool ProgramBuilder::isNewer(const Written &other, const Written &output) {
  Value value = other.landing;
  while (auto insertion = value.getDefiningOp<tensor::InsertSliceOp>()) {
    value = insertion.getDest();
    if (value == output.landing)
      return true;
  }
  return false;
}

/// The op that copies what is computed to where it is written, or null.
Operation *ProgramBuilder::findCopy(const Written &output) const {
  Value value = output.landing;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<LinalgOp>(op))
      return members.contains(op) ? nullptr : op;
    if (!isView(op) && !isa<tensor::InsertSliceOp>(op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

LogicalResult ProgramBuilder::store(const Written &output) {
  FailureOr<Value> computed = getVectorOfView(output.computed);
  if (failed(computed))
    return failure();
  Value vector = *computed;
  std::optional<Place> place =
      getPlace(output.destination, output.layout,
               getColumnLeaves(output.sourceLayout), /*hasIndex=*/false);
  // The columns of the only row.
  if (place && place->kind == TileKind::column && rowDigits.empty())
    place->kind = TileKind::tile;
  if (!place || place->kind == TileKind::column) {
    if (Operation *copy = findCopy(output))
      current = copy;
    return fail("writes columns in an order of their own");
  }
  if (place->elements != cast<VectorType>(vector.getType()).getDimSize(1))
    return fail("stores a part of a row");
  auto store = TileStoreOp::create(
      builder, current->getLoc(), /*result=*/Type(), place->kind, vector,
      getBuffer(output.destination, /*isWritten=*/true),
      place->hasRow ? Value(tile) : Value(), /*columns=*/Value(),
      /*map=*/AffineMapAttr());
  setAccess(store, place->map);
  return success();
}

LogicalResult ProgramBuilder::sumUp(const Written &output) {
  auto type = cast<RankedTensorType>(output.destination.getType());
  Value vector = vectors.lookup(output.computed);
  if (!getElementTypeOrSelf(vector.getType()).isF32())
    return fail("sums in another type than f32");
  Value dest = getBuffer(output.destination, /*isWritten=*/true);
  Value init;
  if (output.sum.init)
    init = output.sum.init == output.destination
               ? dest
               : getBuffer(output.sum.init, /*isWritten=*/false);
  AccumulateOp::create(builder, current->getLoc(), /*result=*/Type(), vector,
                       dest, /*columns=*/Value(), init, output.sum.kind,
                       output.sum.start,
                       AccessMap::getSum(builder.getContext(), rowDigits.size(),
                                         output.sum.dims, type.getRank()));
  return success();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

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

/// Moves what uses results, and stands in front of `rows`, behind it.
void ProgramBuilder::moveUsers(RowsOp rows) {
  DenseSet<Operation *> users;
  Operation *last = rows;
  for (Operation &op : llvm::make_early_inc_range(*rows->getBlock())) {
    if (&op == rows)
      break;
    bool isUser = false;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *def = operand.getDefiningOp();
        isUser |= def && (def == rows || users.contains(def));
      }
    });
    if (!isUser)
      continue;
    users.insert(&op);
    op.moveAfter(last);
    last = &op;
  }
}

RowsOp ProgramBuilder::createRows() {
  Location loc = cluster.getAnchor()->getLoc();
  Operation *last = cluster.getMembers().back().op;
  for (auto &[key, argument] : arguments)
    if (Operation *op = key.first.getDefiningOp();
        op && op->getBlock() == last->getBlock() && last->isBeforeInBlock(op))
      last = op;
  rewriter.setInsertionPointAfter(last);
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
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> staticSizes, segments;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  SmallVector<Value> operands;
  SmallVector<Attribute> accesses;
  SmallVector<Type> types;
  for (auto [key, argument] : arguments) {
    auto [tensor, isWritten] = key;
    const bool isRead = llvm::any_of(argument.getUsers(),
                                     [&, argument = argument](Operation *user) {
                                       auto sum = dyn_cast<AccumulateOp>(user);
                                       return sum && sum.getInit() == argument;
                                     });
    operands.push_back(tensor);
    accesses.push_back(AccessAttr::get(rewriter.getContext(),
                                       !isWritten ? AccessKind::read
                                       : isRead   ? AccessKind::update
                                                  : AccessKind::write,
                                       /*constant=*/false, /*alias=*/-1));
    if (isWritten)
      types.push_back(tensor.getType());
  }
  for (const Written &output : written)
    if (output.isSum && !output.sum.dims.empty())
      segments = output.sum.dims;
  auto rows =
      RowsOp::create(rewriter, loc, types, dynamicSizes, count, operands,
                     /*scalars=*/ValueRange(), staticSizes, columns,
                     rewriter.getArrayAttr(accesses), ScheduleAttr(), segments);
  for (NormBody &norm : norms)
    rows->getBlock()->getOperations().splice(Block::iterator(rows),
                                             norm.block.getOperations());
  Block &body = createBody(rewriter, rows);
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

/// Whether some kernel holds the program: the verifiers say why not.
LogicalResult ProgramBuilder::check(RowsOp rows) {
  current = cluster.getAnchor();
  return findError([&] { return verify(rows); },
                   "and what is computed with it have no valid program: ");
}

void ProgramBuilder::replaceMembers(RowsOp rows) {
  DenseMap<Value, Value> results;
  unsigned number = 0;
  for (auto &[key, argument] : arguments)
    if (key.second)
      results[key.first] = rows.getResult(number++);
  for (const Written &output : written) {
    if (llvm::any_of(written, [&](const Written &other) {
          return isNewer(other, output);
        }))
      continue;
    Value result = results.lookup(output.destination);
    if (result.getType() != output.landing.getType()) {
      rewriter.setInsertionPointAfter(rows);
      result = tensor::CastOp::create(rewriter, rows.getLoc(),
                                      output.landing.getType(), result);
    }
    rewriter.replaceAllUsesWith(output.landing, result);
  }
  moveUsers(rows);
  // Views and insertions of what is computed, now of use to nobody.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*rows->getBlock())))
    if (isOpTriviallyDead(&op) || (members.contains(&op) && op.use_empty())) {
      members.erase(&op);
      rewriter.eraseOp(&op);
    }
}

std::optional<NoProgram> ProgramBuilder::run() {
  if (failed(findColumns()) || failed(emitAll()) || failed(collectWritten()))
    return problem;
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
    for (const Written &output : written) {
      current = cluster.getMembers()[output.member].op;
      if (output.isSum == sums && failed(sums ? sumUp(output) : store(output)))
        return problem;
    }
  if (arguments.empty())
    return NoProgram{cluster.getAnchor(), "accesses nothing"};
  RowsOp rows = createRows();
  if (failed(check(rows))) {
    rewriter.eraseOp(rows);
    return problem;
  }
  replaceMembers(rows);
  if (!members.empty())
    return NoProgram{*members.begin(), "is used by what has no place"};
  return std::nullopt;
}

std::optional<NoProgram> rmsnorm::buildRows(RewriterBase &rewriter,
                                            const Cluster &cluster) {
  return ProgramBuilder(rewriter, cluster).run();
}

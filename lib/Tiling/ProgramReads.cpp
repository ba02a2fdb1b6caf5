// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramReads.cpp - what a program reads ----------------------------===//

#include "ProgramBuilder.h"

#include "RMSNorm/Rows/RowsProgram.h"
#include "RMSNorm/Source/Destinations.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;
using namespace mlir::rmsnorm::program;
using linalg::LinalgOp;

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
  else if (!(scalar = access::getFilled(value.getDefiningOp())))
    return fail("reads a tensor without contents");
  if (attribute || matchPattern(scalar, m_Constant(&attribute)))
    return Value(arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, attribute)));
  return Value(vector::BroadcastOp::create(builder, loc, type, scalar));
}

/// What another member computes in the same row.
FailureOr<Value> ProgramBuilder::getMember(const Access &access, Location loc,
                                           ArrayRef<unsigned> leaves) {
  Value vector = vectors.lookup(access.value);
  if (!vector)
    return fail("uses what is computed later");
  const int64_t own = cast<VectorType>(vector.getType()).getDimSize(1);
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
    return takePart(loc, vector, access.layout,
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
      if (digits[term.digit].isRow || !term.factor.isStatic())
        return std::nullopt;
      const int64_t weight = getWeight(ownLeaves, term.digit);
      if (weight % term.factor.getNumber() != 0 ||
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

/// Whether MLIR's folding would take `count` columns of `row`, from `offset`
/// on, out of a part that was put into it before one that begins among them:
/// vector.extract_strided_slice takes that one for a part elsewhere.
static bool mayReadOlder(Value row, int64_t offset, int64_t count) {
  bool isCovered = false;
  while (auto insertion = row.getDefiningOp<vector::InsertStridedSliceOp>()) {
    const int64_t begin = cast<IntegerAttr>(insertion.getOffsets()[1]).getInt();
    const int64_t end = begin + insertion.getSourceVectorType().getDimSize(1);
    if (isCovered && begin <= offset && offset < end)
      return true;
    isCovered |= offset < begin && begin < offset + count;
    row = insertion.getDest();
  }
  return false;
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
  if (isPartial(leaves))
    return fail("uses a part of a row whose columns do not divide it");
  auto [offset, step] = *steps;
  if (step == 1 && offset == 0 && count == own)
    return vector;
  if (step != 1 && step != 2)
    return fail("uses a part of a row");
  if (step == 2 && isa<Float4E2M1FNType>(getElementTypeOrSelf(vector)))
    return fail("takes pairs of f4E2M1FN apart, of which two are a byte");
  // Of pairs both are taken out.
  const int64_t begin = offset - offset % step, size = step * count;
  if (mayReadOlder(vector, begin, size))
    return fail("uses a part of a row with some columns of each of two parts "
                "that were put there, one over the other");
  Value part = extract(loc, vector, begin, size);
  if (step == 1)
    return part;
  return Value(vector::DeinterleaveOp::create(builder, loc, part)
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

/// The first access that reads what `op` puts together; null if none does.
const Access *ProgramBuilder::findRow(tensor::InsertSliceOp op) const {
  for (const Access &access : cluster.getAccesses())
    if (access.kind == Access::Kind::assembled &&
        access.value == op.getResult())
      return &access;
  return nullptr;
}

/// Puts columns into a row, which is not loaded if none of it stays. `access`,
/// if there is one, reads it, of the cluster or of its own.
FailureOr<Value> ProgramBuilder::assemble(tensor::InsertSliceOp op,
                                          const Access *access) {
  const Layout *ofCluster = cluster.findLayout(op.getResult());
  const Layout &whole = ofCluster ? *ofCluster : access->loops;
  Frame where;
  if (access) {
    where.member = access->member;
    where.computed = getNumber(*access);
  }
  auto findRead = [&](OpOperand &operand) {
    frame = &where;
    const Access *read = access ? findAccess(operand) : nullptr;
    frame = nullptr;
    return read;
  };
  auto get = [&](const Access &read) {
    where.loops = read.whole;
    frame = &where;
    FailureOr<Value> vector =
        getRead(read, op.getLoc(), getColumnLeaves(read.whole));
    frame = nullptr;
    return vector;
  };
  const Access *source = findRead(op.getSourceMutable());
  const Layout *own = cluster.findLayout(op.getSource());
  if (source)
    own = &source->whole;
  FailureOr<Value> part = failure();
  if (source && (!ofCluster || source->kind != Access::Kind::member))
    part = get(*source);
  else
    part = getVectorOfView(op.getSource());
  std::optional<Layout> index =
      own ? writeThrough(op, digits.resolve(*own)) : std::nullopt;
  if (failed(part) || !index)
    return fail("puts together what is not computed");
  auto steps = getSteps(*index, whole, getColumnLeaves(*own));
  const int64_t elements = countElements(getColumnLeaves(whole));
  if (elements == kDynamicColumns)
    return fail("puts rows together of which only a call knows the columns");
  if (!steps || (steps->second != 1 && steps->second != 2))
    return fail("puts rows together in an order of their own" +
                describeMap("columns side by side or every second one", *index,
                            getColumnLeaves(*own), /*hasIndex=*/false));
  if (cast<VectorType>(part->getType()).getDimSize(1) !=
      countElements(getColumnLeaves(*own)))
    return fail("puts together what is one value of several columns");
  if (isPartial(getColumnLeaves(whole)) || isPartial(getColumnLeaves(*own)))
    return fail("puts columns together that are divided by what does not "
                "divide their number");
  auto [offset, step] = *steps;
  Value row = ofCluster ? vectors.lookup(op.getDest()) : Value();
  const Access *before = findRead(op.getDestMutable());
  if (!row && !isInitRead(op.getDestMutable())) {
    // Nobody looks at what is not put into it: it is a constant of one value
    // with a constant that is.
    Type element = op.getType().getElementType();
    DenseElementsAttr constant;
    Attribute value =
        matchPattern(*part, m_Constant(&constant)) && constant.isSplat()
            ? constant.getSplatValue<Attribute>()
            : builder.getZeroAttr(element);
    row = arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(VectorType::get({1, elements}, element), value));
  } else if (!row && before && before->kind != Access::Kind::load &&
             !op.getDest().getDefiningOp<tensor::EmptyOp>()) {
    FailureOr<Value> vector = get(*before);
    if (failed(vector))
      return failure();
    row = *vector;
  } else if (!row) {
    if (dependsOnMembers(op.getDest()))
      return fail(
          "puts parts into what an op outside computes from the cluster");
    if (access::getFilled(op.getDest().getDefiningOp())) {
      FailureOr<Value> constant = getConstant(op.getDest(), elements);
      if (failed(constant))
        return failure();
      row = *constant;
    }
  }
  if (!row) {
    std::optional<Place> place =
        getPlace(op.getDest(), whole, getColumnLeaves(whole),
                 /*hasIndex=*/false);
    if (!place || op.getDest().getDefiningOp<tensor::EmptyOp>())
      return fail("puts parts into what is not known");
    if (std::string reason =
            whyNotInMemory(*place, op.getDest(), /*isLoad=*/true);
        !reason.empty())
      return fail("puts parts into " + reason);
    row = createLoad(op.getDest(), *place, /*index=*/Value());
  }
  auto insert = [&](Value value, int64_t place) -> Value {
    if (value.getType() == row.getType())
      return value;
    return vector::InsertStridedSliceOp::create(
        builder, op.getLoc(), value, row, ArrayRef<int64_t>{0, place},
        ArrayRef<int64_t>{1, 1});
  };
  if (step == 1)
    return insert(*part, offset);
  if (isa<Float4E2M1FNType>(getElementTypeOrSelf(row)))
    return fail("puts pairs of f4E2M1FN together, of which two are a byte");
  // The other columns of the pairs stay.
  const int64_t side = offset % 2;
  if (mayReadOlder(row, offset - side,
                   2 * cast<VectorType>(part->getType()).getDimSize(1)))
    return fail("puts every second column over parts that lie one over the "
                "other");
  Value pairs = extract(op.getLoc(), row, offset - side,
                        2 * cast<VectorType>(part->getType()).getDimSize(1));
  auto known = pairs.getDefiningOp<vector::InterleaveOp>();
  Value other =
      known ? known->getOperand(1 - side)
            : vector::DeinterleaveOp::create(builder, op.getLoc(), pairs)
                  ->getResult(1 - side);
  return insert(vector::InterleaveOp::create(builder, op.getLoc(),
                                             side == 0 ? *part : other,
                                             side == 0 ? other : *part),
                offset - side);
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

FailureOr<Value> ProgramBuilder::load(const Access &access, Value index) {
  std::string why;
  std::optional<Place> place =
      getPlace(access.value, access.layout, getColumnLeaves(frame->loops),
               bool(index), &why);
  if (!place)
    return fail("reads " + why);
  if (auto empty = access.value.getDefiningOp<tensor::EmptyOp>())
    return fail("reads a tensor without contents");
  // What is read for all rows is of all their columns, or of groups.
  if (place->kind == TileKind::column && columns != kDynamicColumns &&
      columns % place->elements != 0)
    return fail("reads columns that its rows do not have");
  if (std::string reason =
          whyNotInMemory(*place, access.value, /*isLoad=*/true);
      !reason.empty())
    return fail("reads " + reason);
  return createLoad(access.value, *place, index);
}

Value ProgramBuilder::createLoad(Value tensor, const Place &place,
                                 Value index) {
  auto type = VectorType::get({1, place.elements},
                              getElementTypeOrSelf(tensor.getType()));
  auto load = TileLoadOp::create(builder, current->getLoc(), type, place.kind,
                                 getBuffer(tensor),
                                 place.hasRow ? Value(tile) : Value(), index,
                                 /*map=*/AffineMapAttr());
  setAccess(load, place.map);
  return load;
}

/// What an access reads for the op of the frame: the columns `leaves`.
FailureOr<Value> ProgramBuilder::getRead(const Access &access, Location loc,
                                         ArrayRef<unsigned> leaves) {
  switch (access.kind) {
  case Access::Kind::constant:
    return getConstant(access.value, countElements(leaves));
  case Access::Kind::load:
    return load(access);
  case Access::Kind::member:
    return getMember(access, loc, leaves);
  case Access::Kind::computed:
    if (Value vector = computed.lookup(getNumber(access)))
      return vector;
    return fail("uses what is computed where it is used");
  case Access::Kind::assembled: {
    Value vector = computed.lookup(getNumber(access));
    if (!vector)
      vector = vectors.lookup(access.value);
    if (vector)
      return takePart(loc, vector, access.layout, access.loops, leaves);
    return fail("uses rows that are put together");
  }
  default:
    return fail("reads what is not known");
  }
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
  return getRead(*access, op.getLoc(),
                 getColumnLeaves(getOperandLayout(operand)));
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
ProgramBuilder::gather(tensor::ExtractOp extract,
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
    if (cast<VectorType>(index->getType()).getDimSize(1) != 1)
      return fail("gathers by an index for each column");
    return load(access, *index);
  }
  return fail("gathers what is not known");
}
